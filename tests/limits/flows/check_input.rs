//! A check that is wrong names the field and takes nothing.

use http::Method;
use serde_json::json;
use tests::{Lab, root_key};

use super::{CHECK, RULES, assert_field, check, decide, per_user, usage};

#[tokio::test(start_paused = true)]
async fn a_wrong_check_names_the_field_and_takes_nothing() {
    let lab = Lab::new();
    decide(&lab, &format!("{RULES}/things"), &per_user("/things", 3)).await;
    let long = "x".repeat(257);
    for (change, field) in [
        (json!({ "tokens": 0 }), "tokens"),
        (json!({ "tokens": -1 }), "tokens"),
        (json!({ "tokens": 1_000_001 }), "tokens"),
        (json!({ "tokens": "many" }), "tokens"),
        (json!({ "resource": null }), "resource"),
        (json!({ "resource": "things" }), "resource"),
        (json!({ "resource": "/things?x=1" }), "resource"),
        (json!({ "resource": format!("/{}", "x".repeat(512)) }), "resource"),
        (json!({ "method": "" }), "method"),
        (json!({ "method": "GET /" }), "method"),
        (json!({ "userId": "" }), "userId"),
        (json!({ "userId": long }), "userId"),
        (json!({ "apiKey": ".secret" }), "apiKey"),
        (json!({ "clientIp": "192.0.2.256" }), "clientIp"),
        (json!({ "tenantId": "" }), "tenantId"),
        (json!({ "user": "ada" }), "user"),
    ] {
        let mut body = json!({ "userId": "ada", "resource": "/things" });
        for (name, value) in change.as_object().unwrap() {
            body[name] = value.clone();
        }
        assert_field(&check(&lab, &body).await, field, &change.to_string());
    }
    assert_field(&check(&lab, &json!({ "userId": "ada" })).await, "resource", "none");
    for body in ["", "{", "[1]"] {
        let answer = lab.call(Method::POST, CHECK).by(&root_key()).bytes(body).send().await;
        assert!(answer.status == 400 || answer.status == 422, "{body}: {}", answer.status);
    }
    assert_eq!(usage(&lab, "ada", "/things", "things").await["used"], 0);
}
