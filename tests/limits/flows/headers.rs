//! What every answer says about limits, read by a parser that is not ours.

use http::Method;
use serde_json::json;
use sfv::{BareItem, List, ListEntry, Parser};
use tests::{Lab, Response, root_key};

use super::{RULES, assert_problem, decide, per_user, visit};

/// Each policy of a header, with its two numbers.
fn parsed(field: &str, first: &str, second: &str) -> Vec<(String, i64, i64)> {
    let list: List = Parser::new(field).parse().unwrap();
    let item = |entry| {
        let ListEntry::Item(item) = entry else { panic!("{field}: not an item") };
        let BareItem::String(name) = item.bare_item else { panic!("{field}: not a string") };
        let numbers: Vec<(String, i64)> = item
            .params
            .into_iter()
            .map(|(name, value)| {
                let BareItem::Integer(value) = value else { panic!("{field}: {value:?}") };
                (name.as_str().to_owned(), i64::from(value))
            })
            .collect();
        let names: Vec<&str> = numbers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, [first, second], "{field}");
        (name.as_str().to_owned(), numbers[0].1, numbers[1].1)
    };
    list.into_iter().map(item).collect()
}

/// Checks that all headers of an answer say the same, and returns the names of the policies.
fn policies(lab: &Lab, answer: &Response, about: &str) -> Vec<String> {
    let policy = parsed(answer.header("ratelimit-policy"), "q", "w");
    let current = parsed(answer.header("ratelimit"), "r", "t");
    let names: Vec<String> = policy.iter().map(|(name, _, _)| name.clone()).collect();
    assert!(!names.is_empty(), "{about}: no policy");
    assert_eq!(names, current.iter().map(|it| it.0.clone()).collect::<Vec<_>>(), "{about}");
    let number = |name: &str| answer.header(name).parse::<i64>().unwrap();
    let (limit, remaining) = (number("x-ratelimit-limit"), number("x-ratelimit-remaining"));
    let wait = number("x-ratelimit-reset") - lab.clock.now_ms() / 1_000;
    let both = policy.iter().zip(&current);
    let said = both.clone().any(|((_, q, _), (_, r, t))| (*q, *r, *t) == (limit, remaining, wait));
    assert!(said, "{about}: {limit} {remaining} {wait} is none of {policy:?} {current:?}");
    for ((name, q, w), (_, r, t)) in both {
        assert!((0..=*q).contains(r) && (0..=2 * w).contains(t), "{about}: {name} {q} {w} {r} {t}");
        let (ours, theirs) = (i128::from(remaining) * i128::from(*q), i128::from(*r));
        assert!(ours <= theirs * i128::from(limit), "{about}: {name} is tighter");
    }
    names
}

#[tokio::test(start_paused = true)]
async fn every_answer_says_which_quotas_it_was_held_to_and_how_they_stand() {
    let (lab, key) = Lab::with_member().await;
    let link = json!({ "longUrl": "https://example.org/" });
    for (method, path, with_key, status, expected) in [
        (Method::POST, "/api/v1/shorten", true, 201, vec!["links-hour"]),
        (
            Method::POST,
            "/api/v1/shorten",
            false,
            201,
            vec!["anonymous-links-day", "anonymous-links-hour"],
        ),
        (Method::GET, "/api/v1/urls", true, 200, vec!["user-minute"]),
        (Method::GET, "/api/v1/urls", false, 401, vec!["address-minute"]),
        (Method::POST, "/api/v1/ids?count=3", true, 200, vec!["ids-minute"]),
        (Method::GET, "/api/v1/ids/nonsense", true, 422, vec!["ids-minute"]),
        (Method::GET, "/api/v1/me", true, 200, vec!["accounts-minute"]),
        (Method::GET, "/api/v1/accounts", true, 403, vec!["accounts-minute"]),
        (Method::GET, "/docs", false, 200, vec!["address-minute"]),
        (Method::GET, "/openapi.json", false, 200, vec!["address-minute"]),
        (Method::HEAD, "/openapi.json", false, 200, vec!["address-minute"]),
        (Method::GET, "/api/v1/nothing", false, 404, vec!["address-minute"]),
        (Method::DELETE, "/api/v1/ids", false, 405, vec!["address-minute"]),
        (Method::PUT, "/api/v1/me", true, 405, vec!["address-minute"]),
        (Method::GET, "/admin/ratelimits", true, 403, vec!["user-minute"]),
    ] {
        let call = lab.call(method.clone(), path).json(&link);
        let call = if with_key { call.by(&key) } else { call };
        let answer = call.send().await;
        let about = format!("{method} {path}");
        assert_eq!(answer.status, status, "{about}: {}", answer.body);
        assert_eq!(policies(&lab, &answer, &about), expected, "{about}");
        lab.clock.advance_ms(333);
    }
}

#[tokio::test(start_paused = true)]
async fn where_no_quota_applies_nothing_is_said() {
    let lab = Lab::new();
    for path in ["/health", "/abc"] {
        let answer = visit(&lab, "192.0.2.1", path).await;
        for name in ["ratelimit", "ratelimit-policy", "x-ratelimit-limit", "retry-after"] {
            assert_eq!(answer.header(name), "", "{path}: {name}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn wrong_methods_and_paths_are_counted_too() {
    let lab = Lab::new();
    let mut rule = per_user("/api/{*rest}", 3);
    rule["dimension"] = json!("ip");
    decide(&lab, &format!("{RULES}/guesses"), &rule).await;
    for (method, path, status) in [
        (Method::DELETE, "/api/v1/shorten", 405),
        (Method::PUT, "/api/v1/shorten", 405),
        (Method::DELETE, "/api/v1/shorten", 405),
        (Method::DELETE, "/api/v1/shorten", 429),
        (Method::GET, "/api/v1/nothing", 429),
    ] {
        let answer = lab.call(method.clone(), path).send().await;
        assert_eq!(answer.status, status, "{method} {path}");
        policies(&lab, &answer, path);
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_says_how_long_to_wait_and_is_right() {
    let (lab, key) = Lab::with_member().await;
    for (rule, method, path) in [
        ("links-hour", Method::POST, "/api/v1/shorten"),
        ("user-minute", Method::GET, "/api/v1/urls"),
        ("ids-minute", Method::POST, "/api/v1/ids"),
        ("accounts-minute", Method::GET, "/api/v1/me"),
    ] {
        let special = format!("{RULES}/overrides/user/ada/{rule}");
        decide(&lab, &special, &json!({ "limit": 3 })).await;
        let body = json!({ "longUrl": "https://example.org/" });
        let call = || lab.call(method.clone(), path).by(&key).json(&body).send();
        for _ in 0..3 {
            let answer = call().await;
            assert!(answer.status.is_success(), "{path}: {}", answer.body);
        }
        let refused = call().await;
        assert_problem(&refused, 429, "quota-exceeded");
        assert_eq!(refused.body["violated-policies"], json!([rule]));
        assert_eq!(refused.text("instance"), path);
        assert_eq!(policies(&lab, &refused, path), [rule]);
        assert_eq!(refused.header("x-ratelimit-remaining"), "0");
        let wait: i64 = refused.header("retry-after").parse().unwrap();
        assert!(wait >= 1, "{path}: {wait}");
        lab.advance_seconds(wait - 1);
        assert_eq!(call().await.status, 429, "{path}: a second too early");
        lab.cloud.functions.quiesce().await;
        lab.advance_seconds(1);
        assert!(call().await.status.is_success(), "{path}: {wait} s");
    }
    let docs = json!({
        "resources": ["/docs"], "dimension": "ip", "limit": 1, "windowSeconds": 1,
    });
    decide(&lab, &format!("{RULES}/docs-address"), &docs).await;
    let statuses = || async { visit(&lab, "192.0.2.1", "/docs").await.status.as_u16() };
    assert_eq!((statuses().await, statuses().await), (200, 429));
    let refused = visit(&lab, "192.0.2.1", "/docs").await;
    assert_problem(&refused, 429, "quota-exceeded");
    lab.advance_seconds(refused.header("retry-after").parse().unwrap());
    assert_eq!(statuses().await, 200);
}

#[tokio::test(start_paused = true)]
async fn a_redirect_is_held_to_a_quota_once_an_admin_sets_one() {
    let lab = Lab::new();
    let body = json!({ "longUrl": "https://example.org/", "customAlias": "mine" });
    let made = lab.call(Method::POST, "/api/v1/shorten").by(&root_key()).json(&body).send().await;
    assert_eq!(made.status, 201);
    let mut rule = per_user("/{code}", 2);
    rule["dimension"] = json!("ip");
    decide(&lab, &format!("{RULES}/visits"), &rule).await;
    for left in ["1", "0"] {
        let answer = visit(&lab, "192.0.2.1", "/mine").await;
        assert_eq!((answer.status.as_u16(), answer.header("x-ratelimit-remaining")), (302, left));
        assert_eq!(policies(&lab, &answer, "/mine"), ["visits"]);
        lab.cloud.functions.quiesce().await;
    }
    let refused = visit(&lab, "192.0.2.1", "/mine").await;
    assert_problem(&refused, 429, "quota-exceeded");
    assert_eq!(policies(&lab, &refused, "/mine"), ["visits"]);
    assert_eq!(visit(&lab, "192.0.2.2", "/mine").await.status, 302);
    lab.cloud.functions.quiesce().await;
    lab.advance_seconds(refused.header("retry-after").parse().unwrap());
    assert_eq!(visit(&lab, "192.0.2.1", "/mine").await.status, 302);
}
