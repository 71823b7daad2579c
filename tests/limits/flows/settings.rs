//! `/admin/ratelimits/settings`: whom no rule applies to.

use http::Method;
use serde_json::json;
use tests::{Lab, root_key};

use super::{RULES, ask, assert_field, decide, per_user, put, settle, visit};

const SETTINGS: &str = "/admin/ratelimits/settings";

#[tokio::test(start_paused = true)]
async fn settings_are_read_and_replaced_version_by_version() {
    let lab = Lab::new();
    let usual = json!({
        "exempt": [],
        "autoBlock": { "denials": 100, "withinSeconds": 60, "blockSeconds": 600 },
    });
    let read = lab.get(SETTINGS).await;
    assert_eq!((read.header("etag"), &read.body), ("\"0\"", &usual));
    let body = json!({
        "exempt": [
            { "dimension": "user", "entity": "batch" },
            { "dimension": "ip", "entity": "2001:db8:1:2::7" },
        ],
        "autoBlock": { "denials": 5 },
    });
    let saved = put(&lab, SETTINGS, &body).await;
    assert_eq!((saved.status.as_u16(), saved.header("etag")), (200, "\"1\""));
    assert_eq!(saved.body["exempt"][1]["entity"], "2001:db8:1:2::/64");
    let auto = json!({ "denials": 5, "withinSeconds": 60, "blockSeconds": 600 });
    assert_eq!(saved.body["autoBlock"], auto);
    assert_eq!(lab.get(SETTINGS).await.body, saved.body);
    let stale = lab.call(Method::PUT, SETTINGS).by(&root_key()).header("if-match", "\"0\"");
    assert_eq!(stale.json(&json!({})).send().await.status, 412);
    assert_eq!(put(&lab, SETTINGS, &json!({})).await.body, usual, "what is left out is as it was");
}

#[tokio::test(start_paused = true)]
async fn wrong_settings_name_the_field_and_change_nothing() {
    let lab = Lab::new();
    let exempt = |dimension: &str, entity: &str| {
        let ada = json!({ "dimension": "user", "entity": "ada" });
        json!({ "exempt": [ada, { "dimension": dimension, "entity": entity }] })
    };
    let many = vec![json!({ "dimension": "user", "entity": "ada" }); 101];
    for (body, field) in [
        (exempt("global", "all"), "exempt[1].dimension"),
        (exempt("planet", "earth"), "exempt[1].dimension"),
        (exempt("user", ""), "exempt[1].entity"),
        (exempt("ip", "ada"), "exempt[1].entity"),
        (json!({ "exempt": many }), "exempt"),
        (json!({ "autoBlock": { "denials": 1_000_001 } }), "autoBlock.denials"),
        (json!({ "autoBlock": { "denials": -1 } }), "autoBlock.denials"),
        (json!({ "autoBlock": { "withinSeconds": 0 } }), "autoBlock.withinSeconds"),
        (json!({ "autoBlock": { "blockSeconds": 604_801 } }), "autoBlock.blockSeconds"),
        (json!({ "autoblock": {} }), "autoblock"),
    ] {
        assert_field(&put(&lab, SETTINGS, &body).await, field, &body.to_string());
    }
    assert_eq!(lab.get(SETTINGS).await.header("etag"), "\"0\"");
}

#[tokio::test(start_paused = true)]
async fn no_rule_applies_to_those_who_are_exempt() {
    let lab = Lab::new();
    decide(&lab, &format!("{RULES}/things"), &per_user("/things", 1)).await;
    let mut docs = per_user("/docs", 1);
    docs["dimension"] = json!("ip");
    decide(&lab, &format!("{RULES}/docs-address"), &docs).await;
    let exempt = json!({ "exempt": [
        { "dimension": "user", "entity": "batch" }, { "dimension": "ip", "entity": "192.0.2.7" },
    ] });
    decide(&lab, SETTINGS, &exempt).await;
    for round in 0..4 {
        let late = if round == 0 { 200 } else { 429 };
        assert_eq!(ask(&lab, "batch", "/things").await.status, 200);
        assert_eq!(ask(&lab, "ada", "/things").await.status, late);
        let free = visit(&lab, "192.0.2.7", "/docs").await;
        assert_eq!((free.status.as_u16(), free.header("ratelimit")), (200, ""));
        assert_eq!(visit(&lab, "192.0.2.8", "/docs").await.status, late);
    }
    assert_eq!(put(&lab, SETTINGS, &json!({})).await.status, 200);
    settle(&lab, 6).await;
    assert_eq!(ask(&lab, "batch", "/things").await.status, 200);
    assert_eq!(ask(&lab, "batch", "/things").await.status, 429, "and now it does");
}
