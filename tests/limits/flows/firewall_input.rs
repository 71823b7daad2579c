//! Firewall rules that are wrong.

use serde_json::{Value, json};
use tests::Lab;

use super::{FIREWALL, assert_field, put};

#[tokio::test(start_paused = true)]
async fn a_wrong_firewall_rule_names_the_field_and_changes_nothing() {
    let lab = Lab::new();
    let office = format!("{FIREWALL}/office");
    let good = json!({ "action": "deny", "cidrs": ["192.0.2.0/24"] });
    assert_eq!(put(&lab, &office, &good).await.status, 201);
    let long = "x".repeat(257);
    let header = |test: Value| json!({ "headers": [test] });
    for (change, field) in [
        (json!({ "action": "drop" }), "action"),
        (json!({ "cidrs": ["192.0.2.0/24", "192.0.2.0/33"] }), "cidrs[1]"),
        (json!({ "cidrs": ["everyone"] }), "cidrs[0]"),
        (json!({ "cidrs": "192.0.2.1" }), "cidrs"),
        (json!({ "cidrs": vec!["192.0.2.1"; 5_001] }), "cidrs"),
        (json!({ "cidrs": [] }), "cidrs"),
        (json!({ "paths": ["docs"] }), "paths[0]"),
        (json!({ "paths": vec!["/a"; 51] }), "paths"),
        (json!({ "methods": ["GET", "G ET"] }), "methods[1]"),
        (header(json!({ "name": "", "equals": "x" })), "headers[0].name"),
        (header(json!({ "name": "accept" })), "headers[0]"),
        (header(json!({ "name": "accept", "equals": "x", "absent": true })), "headers[0]"),
        (header(json!({ "name": "accept", "contains": "" })), "headers[0].contains"),
        (header(json!({ "name": "accept", "equals": long })), "headers[0].equals"),
        (json!({ "userAgents": [""] }), "userAgents[0]"),
        (json!({ "reason": "x".repeat(201) }), "reason"),
        (json!({ "reason": "two\nlines" }), "reason"),
        (json!({ "expiresAt": "2026-03-01T12:00:00Z" }), "expiresAt"),
        (json!({ "expiresAt": "tomorrow" }), "expiresAt"),
        (json!({ "automatic": true }), "automatic"),
    ] {
        let mut body = good.clone();
        for (name, value) in change.as_object().unwrap() {
            body[name] = value.clone();
        }
        let about = format!("{change:.80}");
        assert_field(&put(&lab, &office, &body).await, field, &about);
    }
    assert_field(&put(&lab, &office, &json!({ "cidrs": ["192.0.2.1"] })).await, "action", "none");
    assert_eq!(lab.get(&office).await.body["version"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_firewall_rule_has_a_name_of_its_own_and_nodes_have_theirs() {
    let lab = Lab::new();
    let body = json!({ "action": "deny", "cidrs": ["192.0.2.0/24"] });
    let long = "x".repeat(65);
    for id in ["Office", "1st", "of%20fice", "auto-192-0-2-1", long.as_str()] {
        assert_field(&put(&lab, &format!("{FIREWALL}/{id}"), &body).await, "rule", id);
    }
    assert_eq!(lab.get(FIREWALL).await.body["rules"], json!([]));
    assert_eq!(lab.get(&format!("{FIREWALL}/{long}")).await.status, 404);
}
