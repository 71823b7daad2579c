//! `/admin/firewall`: who is refused before anything else is asked, and who is not.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, Response, root_key};

use super::{FIREWALL, assert_problem, decide, delete, metric, put, settle, visit};

const OFFICE: &str = "/admin/firewall/office";

/// A call from an address that no rule is about, with a header.
async fn with_header(lab: &Lab, name: &str, value: &str) -> u16 {
    lab.call(Method::GET, "/docs").header(name, value).send().await.status.as_u16()
}

async fn status(lab: &Lab, address: &str, path: &str) -> u16 {
    visit(lab, address, path).await.status.as_u16()
}

#[tokio::test(start_paused = true)]
async fn a_firewall_rule_is_made_read_listed_replaced_and_deleted() {
    let lab = Lab::new();
    assert_eq!(lab.get(OFFICE).await.status, 404);
    let body = json!({ "action": "deny", "cidrs": ["192.0.2.0/24"], "reason": "Abuse." });
    let made = put(&lab, OFFICE, &body).await;
    assert_eq!((made.status.as_u16(), made.header("location")), (201, OFFICE));
    let expected = json!({
        "id": "office", "action": "deny", "cidrs": ["192.0.2.0/24"], "cidrCount": 1, "paths": [],
        "methods": [], "headers": [], "userAgents": [], "reason": "Abuse.", "expiresAt": null,
        "automatic": false, "version": 1, "changedBy": "root", "changedAt": "2026-03-01T12:00:00Z",
    });
    assert_eq!((made.header("etag"), &made.body), ("\"1\"", &expected));
    assert_eq!(lab.get(OFFICE).await.body, expected);
    assert_eq!(lab.get(FIREWALL).await.body["rules"], json!([expected]));
    let many: Vec<String> = (0..150).map(|n| format!("198.51.100.{n}")).collect();
    let replaced = put(&lab, OFFICE, &json!({ "action": "deny", "cidrs": many })).await;
    assert_eq!((replaced.status.as_u16(), replaced.header("etag")), (200, "\"2\""));
    assert_eq!(lab.get(OFFICE).await.body["cidrs"].as_array().unwrap().len(), 150);
    let listed = lab.get(FIREWALL).await.body["rules"][0].clone();
    assert_eq!(listed["cidrs"].as_array().unwrap().len(), 100, "a list shows the first hundred");
    assert_eq!(listed["cidrCount"], 150);
    let stale = lab.call(Method::DELETE, OFFICE).by(&root_key()).header("if-match", "\"1\"");
    assert_eq!(stale.send().await.status, 412);
    assert_eq!(delete(&lab, OFFICE).await.status, 204);
    assert_eq!(delete(&lab, OFFICE).await.status, 404);
}

#[tokio::test(start_paused = true)]
async fn a_network_is_refused_everywhere_but_at_health() {
    let lab = Lab::new();
    let body = json!({
        "action": "deny", "cidrs": ["192.0.2.0/24", "2001:db8::/32"], "reason": "Abuse.",
    });
    decide(&lab, OFFICE, &body).await;
    for path in ["/docs", "/api/v1/me", "/api/v1/ids/1", "/api/v1/urls", "/admin/firewall", "/abc"]
    {
        let refused = visit(&lab, "192.0.2.9", path).await;
        assert_problem(&refused, 403, "firewall");
        assert_eq!(refused.text("detail"), "Abuse.", "{path}");
        assert_eq!(status(&lab, "2001:db8:ffff::1", path).await, 403, "{path}");
        assert_ne!(status(&lab, "198.51.100.1", path).await, 403, "{path}");
    }
    assert_eq!(status(&lab, "192.0.2.9", "/health").await, 200);
    lab.cloud.functions.retire(std::time::Duration::ZERO).await;
    assert!((metric(&lab, "FirewallRefused") - 12.0).abs() < f64::EPSILON, "redirects included");
    assert_eq!(delete(&lab, OFFICE).await.status, 204);
    settle(&lab, 6).await;
    assert_eq!(status(&lab, "192.0.2.9", "/docs").await, 200);
}

#[tokio::test(start_paused = true)]
async fn a_path_and_a_method_are_refused() {
    let lab = Lab::new();
    decide(&lab, OFFICE, &json!({ "action": "deny", "paths": ["/api/v1/ids/{id}"] })).await;
    assert_eq!(status(&lab, "192.0.2.1", "/api/v1/ids/7").await, 403);
    assert_eq!(status(&lab, "192.0.2.1", "/api/v1/urls").await, 401);
    let body = json!({ "action": "deny", "methods": ["post", "PATCH"], "paths": ["/api/{*rest}"] });
    decide(&lab, OFFICE, &body).await;
    for (method, path, refused) in [
        (Method::POST, "/api/v1/ids", true),
        (Method::PATCH, "/api/v1/accounts/ada", true),
        (Method::GET, "/api/v1/me", false),
        (Method::POST, "/docs", false),
    ] {
        let answer = lab.call(method.clone(), path).send().await;
        assert_eq!(answer.text("type") == "/docs#firewall", refused, "{method} {path}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_header_and_a_user_agent_are_refused() {
    let lab = Lab::new();
    let headers = |tests: Value| json!({ "action": "deny", "headers": tests });
    decide(&lab, OFFICE, &headers(json!([{ "name": "X-Odd", "equals": "yes" }]))).await;
    assert_eq!(with_header(&lab, "x-odd", "yes").await, 403);
    assert_eq!(with_header(&lab, "x-odd", "yes!").await, 200);
    decide(&lab, OFFICE, &headers(json!([{ "name": "referer", "contains": "spam" }]))).await;
    assert_eq!(with_header(&lab, "referer", "https://spam.example/").await, 403);
    assert_eq!(with_header(&lab, "x-odd", "yes").await, 200, "replaced");
    let body = json!({
        "action": "deny", "paths": ["/docs"], "headers": [{ "name": "accept", "absent": true }],
    });
    decide(&lab, OFFICE, &body).await;
    assert_eq!(with_header(&lab, "accept", "text/html").await, 200);
    assert_eq!(with_header(&lab, "x-odd", "yes").await, 403);
    decide(&lab, OFFICE, &json!({ "action": "deny", "userAgents": ["BadBot"] })).await;
    assert_eq!(with_header(&lab, "user-agent", "Mozilla/5.0 badbot/2.0").await, 403);
    assert_eq!(with_header(&lab, "user-agent", "Mozilla/5.0").await, 200);
    let visitor = lab.call(Method::GET, "/abc").header("user-agent", "badbot").send().await;
    assert_problem(&visitor, 403, "firewall");
}

#[tokio::test(start_paused = true)]
async fn an_allow_rule_wins_and_every_list_must_match() {
    let lab = Lab::new();
    decide(&lab, OFFICE, &json!({ "action": "deny", "cidrs": ["192.0.2.0/24"] })).await;
    let friend = json!({ "action": "allow", "cidrs": ["192.0.2.7"], "paths": ["/docs"] });
    decide(&lab, "/admin/firewall/friend", &friend).await;
    assert_eq!(status(&lab, "192.0.2.7", "/docs").await, 200);
    assert_eq!(status(&lab, "192.0.2.7", "/openapi.json").await, 403, "only there");
    assert_eq!(status(&lab, "192.0.2.8", "/docs").await, 403, "only they");
}

#[tokio::test(start_paused = true)]
async fn a_firewall_rule_ends_by_itself_to_the_second() {
    let lab = Lab::new();
    let body = json!({
        "action": "deny", "cidrs": ["192.0.2.0/24"], "expiresAt": "2026-03-01T12:10:00Z",
    });
    decide(&lab, OFFICE, &body).await;
    lab.advance_seconds(593);
    assert_eq!(status(&lab, "192.0.2.9", "/docs").await, 403);
    assert_eq!(lab.get(OFFICE).await.text("expiresAt"), "2026-03-01T12:10:00Z");
    lab.cloud.functions.quiesce().await;
    lab.advance_seconds(1);
    assert_eq!(status(&lab, "192.0.2.9", "/docs").await, 200);
    assert_eq!(lab.get(OFFICE).await.status, 404);
    assert_eq!(lab.get(FIREWALL).await.body["rules"], json!([]));
    assert_eq!(delete(&lab, OFFICE).await.status, 404);
    let again = put(&lab, OFFICE, &json!({ "action": "deny", "cidrs": ["192.0.2.0/24"] })).await;
    assert_eq!(again.status, 201, "the name is free again");
}

#[tokio::test(start_paused = true)]
async fn who_is_refused_is_neither_counted_nor_asked_for_a_key() {
    let lab = Lab::new();
    decide(&lab, OFFICE, &json!({ "action": "deny", "cidrs": ["192.0.2.0/24"] })).await;
    lab.record_calls();
    let refused: Response = visit(&lab, "192.0.2.9", "/api/v1/me").await;
    assert_eq!((refused.status.as_u16(), refused.header("ratelimit")), (403, ""));
    // The version of the rules and the firewall itself, which is new to this node.
    let read = lab.cloud.faults.recorded();
    assert!(read.iter().all(|call| ["GetItem", "Query"].contains(&call.operation.as_str())));
    assert_eq!(lab.count_calls_to("AccountsTable"), 0);
}
