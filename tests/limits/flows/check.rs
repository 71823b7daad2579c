//! `POST /internal/ratelimit/check`: what is answered, and what it takes.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, root_key};

use super::{CHECK, RULES, ask, check, decide, per_user, usage};

#[tokio::test(start_paused = true)]
async fn a_check_passes_until_the_quota_is_used_up_and_says_when_to_come_back() {
    let lab = Lab::new();
    decide(&lab, &format!("{RULES}/things"), &per_user("/things/{id}", 3)).await;
    for left in [2, 1, 0] {
        let passed = ask(&lab, "ada", "/things/1").await.assert_status(200);
        let expected = json!({
            "allowed": true, "limit": 3, "remaining": left, "resetAt": "2026-03-01T12:01:00Z",
            "retryAfter": null, "dimension": "user", "rule": "things", "delayMs": 0,
        });
        assert_eq!(passed.body, expected);
    }
    let refused = ask(&lab, "ada", "/things/2").await.assert_status(429);
    let expected = json!({
        "allowed": false, "limit": 3, "remaining": 0, "resetAt": "2026-03-01T12:01:00Z",
        "retryAfter": 54, "dimension": "user", "rule": "things", "delayMs": 0,
    });
    assert_eq!(refused.body, expected);
    assert_eq!(refused.header("retry-after"), "54");
    assert_eq!(refused.header("content-type"), "application/json");
    assert_eq!(ask(&lab, "bob", "/things/1").await.status, 200, "a neighbour");
    lab.advance_seconds(53);
    assert_eq!(ask(&lab, "ada", "/things/1").await.status, 429);
    lab.advance_seconds(1);
    assert_eq!(ask(&lab, "ada", "/things/1").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_check_takes_all_its_tokens_or_none() {
    let lab = Lab::new();
    decide(&lab, &format!("{RULES}/things"), &per_user("/things/{id}", 10)).await;
    let take = |tokens: i64| {
        let body = json!({ "userId": "ada", "resource": "/things/1", "tokens": tokens });
        let lab = lab.clone();
        async move { check(&lab, &body).await }
    };
    for (tokens, status, left) in [(7, 200, 3), (4, 429, 3), (3, 200, 0), (1, 429, 0)] {
        let answer = take(tokens).await;
        let seen = (answer.status.as_u16(), answer.body["remaining"].as_i64());
        assert_eq!(seen, (status, Some(left)), "{tokens}");
    }
    let never = take(11).await;
    assert_eq!((never.status.as_u16(), &never.body["retryAfter"]), (429, &Value::Null));
    assert_eq!(never.header("retry-after"), "", "it will never have so many");
    assert_eq!(usage(&lab, "ada", "/things/1", "things").await["used"], 10);
}

#[tokio::test(start_paused = true)]
async fn every_way_of_counting_lets_as_many_pass_as_the_rule_says() {
    let lab = Lab::new();
    for algorithm in
        ["fixed-window", "sliding-window", "sliding-log", "token-bucket", "leaky-bucket"]
    {
        let path = format!("/{algorithm}");
        let rule = json!({
            "resources": [path], "dimension": "user", "limit": 5, "windowSeconds": 60,
            "algorithm": algorithm,
        });
        decide(&lab, &format!("{RULES}/{algorithm}"), &rule).await;
        let mut passed = 0;
        let mut wait = 0;
        for _ in 0..8 {
            let answer = ask(&lab, "ada", &path).await;
            passed += u32::from(answer.status == 200);
            wait = answer.body["retryAfter"].as_i64().unwrap_or(0);
        }
        assert_eq!(passed, 5, "{algorithm}");
        lab.advance_seconds(wait - 1);
        assert_eq!(ask(&lab, "ada", &path).await.status, 429, "{algorithm}: {wait} s");
        lab.advance_seconds(1);
        assert_eq!(ask(&lab, "ada", &path).await.status, 200, "{algorithm}: {wait} s");
    }
}

#[tokio::test(start_paused = true)]
async fn a_leaky_bucket_says_how_long_to_hold_the_request_back() {
    let lab = Lab::new();
    let rule = json!({
        "resources": ["/drip"], "dimension": "user", "limit": 60, "windowSeconds": 60,
        "algorithm": "leaky-bucket", "burst": 3,
    });
    decide(&lab, &format!("{RULES}/drip"), &rule).await;
    for delay in [0, 1_000, 2_000] {
        assert_eq!(ask(&lab, "ada", "/drip").await.body["delayMs"], delay);
    }
    assert_eq!(ask(&lab, "ada", "/drip").await.body["retryAfter"], 1);
}

#[tokio::test(start_paused = true)]
async fn each_dimension_is_counted_by_itself() {
    let lab = Lab::new();
    for (dimension, limit) in [("user", 9), ("apiKey", 8), ("ip", 7), ("tenant", 6), ("global", 5)]
    {
        let rule = json!({
            "resources": ["/all"], "dimension": dimension, "limit": limit, "windowSeconds": 60,
        });
        decide(&lab, &format!("{RULES}/{}", dimension.to_lowercase()), &rule).await;
    }
    for (who, dimension, left) in [
        (json!({ "userId": "ada" }), "global", 4),
        (json!({ "tenantId": "acme" }), "global", 3),
        (json!({}), "global", 2),
    ] {
        let mut body = who;
        body["resource"] = json!("/all");
        let answer = check(&lab, &body).await;
        assert_eq!(answer.body["dimension"], dimension, "{body}");
        assert_eq!(answer.body["remaining"], left, "{body}");
    }
    super::delete(&lab, &format!("{RULES}/global")).await.assert_status(204);
    lab.advance_seconds(6);
    for (who, dimension, rest) in [
        (json!({ "userId": "ada" }), "user", 7),
        (json!({ "apiKey": "k1.secret" }), "apiKey", 7),
        (json!({ "apiKey": "k1" }), "apiKey", 6),
        (json!({ "clientIp": "2001:db8:1:2::1" }), "ip", 6),
        (json!({ "clientIp": "2001:db8:1:2:ffff::2" }), "ip", 5),
        (json!({ "clientIp": "2001:db8:1:3::1" }), "ip", 6),
        (json!({ "tenantId": "acme" }), "tenant", 4),
    ] {
        let mut body = who;
        body["resource"] = json!("/all");
        let answer = check(&lab, &body).await;
        let seen = (&answer.body["dimension"], &answer.body["remaining"]);
        assert_eq!(seen, (&json!(dimension), &json!(rest)), "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn where_no_rule_applies_everything_passes() {
    let lab = Lab::new();
    let answer = check(&lab, &json!({ "resource": "/nowhere" })).await;
    let expected = json!({
        "allowed": true, "limit": null, "remaining": null, "resetAt": null, "retryAfter": null,
        "dimension": null, "rule": null, "delayMs": null,
    });
    assert_eq!((answer.status.as_u16(), answer.body), (200, expected));
}

#[tokio::test(start_paused = true)]
async fn a_rule_is_for_its_methods_and_the_nearest_path_has_the_word() {
    let lab = Lab::new();
    let mut writes = per_user("/things/{*rest}", 1);
    writes["methods"] = json!(["POST", "PUT"]);
    decide(&lab, &format!("{RULES}/writes"), &writes).await;
    decide(&lab, &format!("{RULES}/one"), &per_user("/things/special", 2)).await;
    let rule = |method: &'static str, path: &'static str| {
        let body = json!({ "userId": "ada", "resource": path, "method": method });
        let lab = lab.clone();
        async move { check(&lab, &body).await.text("rule").to_owned() }
    };
    assert_eq!(rule("POST", "/things/1/parts").await, "writes");
    assert_eq!(rule("put", "/things/1").await, "writes");
    assert_eq!(rule("GET", "/things/1").await, "user-minute", "what holds where nothing else does");
    assert_eq!(rule("POST", "/things/special").await, "one");
}

#[tokio::test(start_paused = true)]
async fn only_limiters_and_admins_may_check() {
    let lab = Lab::new();
    let body = json!({ "userId": "ada", "resource": "/things" });
    let limiter = lab.user("checker", &["limiter"]).await;
    let member = lab.user("eve", &["member"]).await;
    for (key, status) in [(limiter, 200), (root_key(), 200), (member, 403), (String::new(), 401)] {
        let call = lab.call(Method::POST, CHECK).json(&body);
        let call = if key.is_empty() { call } else { call.by(&key) };
        assert_eq!(call.send().await.status, status);
    }
}
