//! No admin locks themselves out, and no caller gets around: the edges of the firewall and of quotas.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, root_key};

use super::{
    FIREWALL, RULES, assert_field, assert_problem, check, decide, delete, put, settle, visit,
};

#[tokio::test(start_paused = true)]
async fn a_rule_that_would_turn_its_maker_away_is_refused_and_changes_nothing() {
    let lab = Lab::new();
    for (field, body) in [
        ("cidrs", json!({ "action": "deny", "cidrs": ["0.0.0.0/0", "::/0"] })),
        ("cidrs", json!({ "action": "deny", "cidrs": ["127.0.0.1"], "methods": ["PUT"] })),
        ("paths", json!({ "action": "deny", "paths": ["/admin/{*rest}"] })),
        ("methods", json!({ "action": "deny", "methods": ["put", "DELETE"] })),
        ("headers", json!({ "action": "deny", "headers": [{ "name": "x-none", "absent": true }] })),
    ] {
        let refused = put(&lab, &format!("{FIREWALL}/mine"), &body).await;
        assert_field(&refused, field, &body.to_string());
    }
    let allowed = json!({ "action": "allow", "cidrs": ["0.0.0.0/0"] });
    assert_eq!(put(&lab, &format!("{FIREWALL}/mine"), &allowed).await.status, 201);
    settle(&lab, 6).await;
    assert_eq!(lab.get(FIREWALL).await.body["rules"].as_array().map(Vec::len), Some(1));
}

#[tokio::test(start_paused = true)]
async fn an_admin_can_take_back_a_quota_of_nothing_for_everyone() {
    let lab = Lab::new();
    let nothing = json!({ "dimension": "global", "limit": 0, "windowSeconds": 1 });
    decide(&lab, &format!("{RULES}/nothing"), &nothing).await;
    assert_problem(&lab.get("/api/v1/me").await, 429, "quota-exceeded");
    let member = lab.call(Method::GET, RULES).send().await;
    assert_problem(&member, 429, "quota-exceeded");
    assert_eq!(delete(&lab, &format!("{RULES}/nothing")).await.status, 204);
    settle(&lab, 6).await;
    assert_eq!(lab.get("/api/v1/me").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn who_may_not_read_may_not_ask_for_the_head_of_it() {
    let lab = Lab::new();
    let body = json!({ "action": "deny", "paths": ["/docs", "/{code}"], "methods": ["GET"] });
    decide(&lab, &format!("{FIREWALL}/reads"), &body).await;
    for path in ["/docs", "/abcdefg"] {
        for method in [Method::GET, Method::HEAD] {
            let answer = lab.call(method.clone(), path).send().await;
            assert_eq!(answer.status, 403, "{method} {path}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_header_with_odd_bytes_is_read_all_the_same() {
    let lab = Lab::new();
    let body = json!({ "action": "deny", "userAgents": ["sqlmap"] });
    decide(&lab, &format!("{FIREWALL}/scanners"), &body).await;
    let odd = lab.call(Method::GET, "/docs").header("user-agent", "SQLmap/1.8 é").send().await;
    assert_problem(&odd, 403, "firewall");
}

#[tokio::test(start_paused = true)]
async fn redirects_take_no_header_for_absent_that_they_do_not_see() {
    let lab = Lab::new();
    let made = lab.post("/api/v1/shorten", &json!({ "longUrl": "https://example.org/" })).await;
    let path = format!("/{}", made.text("shortCode"));
    let body = json!({
        "action": "deny", "methods": ["GET"],
        "headers": [{ "name": "accept-language", "absent": true }],
    });
    decide(&lab, &format!("{FIREWALL}/bare"), &body).await;
    assert_eq!(visit(&lab, "192.0.2.9", "/docs").await.status, 403);
    assert_eq!(visit(&lab, "192.0.2.9", &path).await.status, 302);
}

#[tokio::test(start_paused = true)]
async fn what_all_callers_use_up_together_blocks_no_address() {
    let lab = Lab::new();
    let settings =
        json!({ "autoBlock": { "denials": 2, "withinSeconds": 60, "blockSeconds": 600 } });
    decide(&lab, &format!("{RULES}/settings"), &settings).await;
    let shared = json!({
        "resources": ["/shared"], "dimension": "global", "limit": 1, "windowSeconds": 60,
    });
    decide(&lab, &format!("{RULES}/shared"), &shared).await;
    let question = json!({ "clientIp": "192.0.2.7", "resource": "/shared" });
    let mut statuses = Vec::new();
    for _ in 0..6 {
        statuses.push(check(&lab, &question).await.status.as_u16());
    }
    assert_eq!(statuses, [200, 429, 429, 429, 429, 429]);
    settle(&lab, 6).await;
    assert_eq!(lab.get(FIREWALL).await.body["rules"], Value::Array(Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn a_request_larger_than_a_part_of_a_quota_passes_while_the_whole_has_as_many() {
    let lab = Lab::new();
    let body = json!({
        "resources": ["/large"], "dimension": "user", "limit": 1_000, "windowSeconds": 1,
        "algorithm": "fixed-window",
    });
    decide(&lab, &format!("{RULES}/large"), &body).await;
    let question = json!({ "userId": "ada", "resource": "/large", "tokens": 600 });
    for window in 0..3 {
        assert_eq!(check(&lab, &question).await.status, 200, "{window}");
        let refused = check(&lab, &question).await;
        assert_eq!(refused.status, 429, "{window}");
        let wait: i64 = refused.header("retry-after").parse().unwrap();
        assert!((1..=2).contains(&wait), "{wait}");
        lab.cloud.functions.quiesce().await;
        lab.advance_seconds(wait);
    }
    let key = root_key();
    assert!(!lab.lines().iter().any(|line| line.contains(&key)));
}
