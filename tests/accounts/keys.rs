//! API keys: what they open, for how long, and what is shown of them.

use http::Method;
use serde_json::json;
use tests::{Lab, root_key};

async fn status_of(lab: &Lab, key: &str) -> u16 {
    lab.call(Method::GET, "/api/v1/me").by(key).send().await.status.as_u16()
}

#[tokio::test(start_paused = true)]
async fn a_key_speaks_for_its_account_with_no_more_than_its_own_roles() {
    let lab = Lab::new();
    lab.user("ada", &["member", "job-viewer"]).await;
    let narrowed = lab
        .post("/api/v1/accounts/ada/keys", &json!({ "name": "ci", "roles": ["job-viewer"] }))
        .await;
    assert_eq!(narrowed.status, 201);
    let me = lab.call(Method::GET, "/api/v1/me").by(narrowed.text("key")).send().await;
    assert_eq!(me.body["roles"], json!(["job-viewer"]));
    assert_eq!(me.text("keyId"), narrowed.text("keyId"));
    let beyond = lab.post("/api/v1/accounts/ada/keys", &json!({ "roles": ["admin"] })).await;
    assert_eq!(beyond.body["errors"][0]["field"], "roles");
}

#[tokio::test(start_paused = true)]
async fn a_narrowed_or_expiring_key_makes_no_key_that_can_do_more() {
    let lab = Lab::new();
    lab.user("ada", &["member", "job-viewer"]).await;
    let body = json!({ "roles": ["job-viewer"], "expiresAt": "2026-03-02T00:00:00Z" });
    let narrow = lab.post("/api/v1/accounts/ada/keys", &body).await.text("key").to_owned();
    let make = |body: serde_json::Value| {
        lab.call(Method::POST, "/api/v1/accounts/ada/keys").by(&narrow).json(&body).send()
    };
    let heir = make(json!({})).await;
    assert_eq!(heir.body["roles"], json!(["job-viewer"]));
    assert_eq!(heir.text("expiresAt"), "2026-03-02T00:00:00Z");
    assert_eq!(make(json!({ "roles": ["member"] })).await.body["errors"][0]["field"], "roles");
    let longer = make(json!({ "expiresAt": "2026-03-03T00:00:00Z" })).await;
    assert_eq!(longer.body["errors"][0]["field"], "expiresAt");
}

#[tokio::test(start_paused = true)]
async fn a_wrong_secret_costs_the_store_what_an_unknown_key_does() {
    let lab = Lab::new();
    let key = lab.user("ada", &[]).await;
    let wrong = format!("{}.wrong", key.split_once('.').unwrap().0);
    for guess in [wrong.as_str(), "unknown.wrong"] {
        lab.record_calls();
        assert_eq!(status_of(&lab, guess).await, 401);
        // One look for the key, and a debit from what strangers may ask of the address.
        let cost = (lab.count_calls_to("AccountsTable"), lab.count_calls_to("LimitsTable"));
        assert_eq!(cost, (1, 1), "{guess}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_revoked_key_stops_within_a_minute_even_while_in_use() {
    let (lab, key) = Lab::with_member().await;
    assert_eq!(status_of(&lab, &key).await, 200);
    let path = format!("/api/v1/accounts/ada/keys/{}", key.split_once('.').unwrap().0);
    let revoke = || lab.call(Method::DELETE, &path).by(&root_key()).send();
    assert_eq!(revoke().await.status, 204);
    assert_eq!(revoke().await.status, 204);
    for _ in 0..12 {
        lab.advance_seconds(5);
        status_of(&lab, &key).await;
    }
    assert_eq!(status_of(&lab, &key).await, 401);
}

#[tokio::test(start_paused = true)]
async fn a_revoked_key_stops_within_a_minute_on_every_node_of_every_function() {
    const PATHS: [(Method, &str); 4] = [
        (Method::POST, "/api/v1/ids"),
        (Method::GET, "/api/v1/urls"),
        (Method::GET, "/api/v1/me"),
        (Method::POST, "/internal/ratelimit/check"),
    ];
    let lab = Lab::new();
    let key = lab.user("ada", &["member", "limiter"]).await;
    let body = json!({ "resource": "/things" });
    let on_all_nodes = || async {
        let calls = PATHS.iter().flat_map(|(method, path)| {
            // Three at once make three instances, each with a memory of its own.
            (0..3).map(|_| lab.call(method.clone(), path).by(&key).json(&body).send())
        });
        let answers = futures::future::join_all(calls).await;
        lab.cloud.functions.quiesce().await;
        answers.into_iter().map(|answer| answer.status.as_u16()).collect::<Vec<_>>()
    };
    assert_eq!(on_all_nodes().await, [200; 12]);
    lab.advance_seconds(5);
    let path = format!("/api/v1/accounts/ada/keys/{}", key.split_once('.').unwrap().0);
    assert_eq!(lab.call(Method::DELETE, &path).by(&root_key()).send().await.status, 204);
    for _ in 0..12 {
        on_all_nodes().await;
        lab.advance_seconds(5);
    }
    assert_eq!(on_all_nodes().await, [401; 12]);
}

#[tokio::test(start_paused = true)]
async fn a_key_expires_to_the_second_even_when_remembered() {
    let lab = Lab::new();
    lab.user("ada", &[]).await;
    let body = json!({ "expiresAt": "2026-03-01T12:00:30Z" });
    let key = lab.post("/api/v1/accounts/ada/keys", &body).await.text("key").to_owned();
    assert_eq!(status_of(&lab, &key).await, 200);
    lab.advance_seconds(31);
    assert_eq!(status_of(&lab, &key).await, 401);
    for wrong in ["2020-01-01T00:00:00Z", "tomorrow", ""] {
        let body = json!({ "expiresAt": wrong });
        let answer = lab.post("/api/v1/accounts/ada/keys", &body).await;
        assert_eq!(answer.body["errors"][0]["field"], "expiresAt", "{wrong}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_key_is_looked_up_once_in_five_seconds() {
    let lab = Lab::new();
    lab.record_calls();
    let guess = "abcDEF123.secret";
    for _ in 0..10 {
        assert_eq!(status_of(&lab, guess).await, 401);
    }
    assert_eq!(lab.count_calls_to("AccountsTable"), 1);
    lab.advance_seconds(6);
    status_of(&lab, guess).await;
    assert_eq!(lab.count_calls_to("AccountsTable"), 2);
}

#[tokio::test(start_paused = true)]
async fn a_repeated_key_request_makes_one_key_and_shows_the_secret_once() {
    let lab = Lab::new();
    lab.user("ada", &[]).await;
    let make = || {
        lab.call(Method::POST, "/api/v1/accounts/ada/keys")
            .by(&root_key())
            .header("idempotency-key", "once")
            .json(&json!({ "name": "ci" }))
            .send()
    };
    let (first, second) = (make().await, make().await);
    assert_eq!(first.text("keyId"), second.text("keyId"));
    assert!(!first.text("key").is_empty());
    assert!(second.body.get("key").is_none(), "the secret was kept: {}", second.body);
    let listed = lab.get("/api/v1/accounts/ada/keys").await;
    assert_eq!(listed.body["items"].as_array().unwrap().len(), 2);
    assert!(!listed.body.to_string().contains(first.text("key").split_once('.').unwrap().1));
}

#[tokio::test(start_paused = true)]
async fn no_secret_address_or_token_reaches_the_log() {
    let lab = Lab::new();
    let body = json!({ "userId": "ada", "name": "Ada", "email": "canary@example.org" });
    lab.post("/api/v1/accounts", &body).await;
    let key = lab.post("/api/v1/accounts/ada/keys", &json!({})).await.text("key").to_owned();
    status_of(&lab, &key).await;
    lab.call(Method::POST, "/api/v1/accounts").by(&key).json(&body).send().await;
    lab.cloud.settle().await;
    let log = lab.lines().join("\n");
    assert!(log.contains("readMe"));
    for canary in ["canary@example.org", key.split_once('.').unwrap().1, tests::ROOT_SECRET] {
        assert!(!log.contains(canary), "{canary} was logged");
    }
}

#[tokio::test(start_paused = true)]
async fn disabled_accounts_get_no_keys_and_enabling_revives_none() {
    let (lab, key) = Lab::with_member().await;
    lab.call(Method::DELETE, "/api/v1/accounts/ada").by(&root_key()).send().await;
    assert_eq!(lab.post("/api/v1/accounts/ada/keys", &json!({})).await.status, 409);
    assert_eq!(status_of(&lab, &key).await, 401);
    lab.advance_seconds(1);
    let enabled = lab
        .call(Method::PATCH, "/api/v1/accounts/ada")
        .by(&root_key())
        .header("if-match", "\"2\"")
        .json(&json!({ "state": "active" }))
        .send()
        .await;
    assert_eq!(enabled.text("state"), "active");
    lab.advance_seconds(61);
    assert_eq!(status_of(&lab, &key).await, 401);
    let fresh = lab.post("/api/v1/accounts/ada/keys", &json!({})).await;
    assert_eq!(status_of(&lab, fresh.text("key")).await, 200);
}
