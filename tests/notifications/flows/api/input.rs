//! Wrong input: each field is named.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, root_key};

use super::{ALL, assert_names, send, tomorrow};

#[tokio::test(start_paused = true)]
async fn each_wrong_field_of_a_notification_is_named() {
    let lab = Lab::new();
    for (field, value, named) in [
        ("userId", json!("no spaces"), "userId"),
        ("userId", Value::Null, "userId"),
        ("userIds", json!(["bob"]), "userId"),
        ("category", json!("Not A Name"), "category"),
        ("category", Value::Null, "category"),
        ("priority", json!("urgent"), "priority"),
        ("channels", json!(["fax"]), "channels"),
        ("channels", json!([]), "channels"),
        ("channels", json!(["push"]), "content"),
        ("template", json!({ "id": "x" }), "template"),
        ("content", Value::Null, "template"),
        ("content", json!({}), "content"),
        ("data", json!({}), "data"),
        ("sendAt", json!("tomorrow"), "sendAt"),
        ("sendAt", json!("2028-03-02T12:00:00Z"), "sendAt"),
        ("expiresAt", json!("2026-03-01T00:00:00Z"), "expiresAt"),
        ("collapseKey", json!(""), "collapseKey"),
        ("idempotencyKey", json!("with space"), "idempotencyKey"),
        ("other", json!(1), "other"),
    ] {
        let mut body = tomorrow("ada");
        body[field] = value;
        assert_names(&lab.post(ALL, &body).await, named);
    }
    let many: Vec<String> = (0..1_001).map(|n| format!("u{n}")).collect();
    let mut body = tomorrow("ada");
    body["userId"] = Value::Null;
    body["userIds"] = json!(many);
    assert_names(&lab.post(ALL, &body).await, "userIds");
}

#[tokio::test(start_paused = true)]
async fn each_wrong_field_of_a_person_is_named() {
    let lab = Lab::new();
    for (what, body, named) in [
        ("preferences", json!({ "timeZone": "Mars/Base" }), "timeZone"),
        ("preferences", json!({ "language": "english" }), "language"),
        (
            "preferences",
            json!({ "doNotDisturb": { "start": "25:00", "end": "07:00" } }),
            "doNotDisturb.start",
        ),
        (
            "preferences",
            json!({ "doNotDisturb": { "start": "22:00", "end": "07:00", "days": [] } }),
            "doNotDisturb.days",
        ),
        ("preferences", json!({ "categories": { "Not A Name": {} } }), "category"),
        ("preferences", json!({ "other": 1 }), "other"),
        ("contacts", json!({ "email": "ada" }), "email"),
        ("contacts", json!({ "phone": "600" }), "phone"),
        ("contacts", json!({ "devices": { "d": { "kind": "apns", "token": "x" } } }), "devices"),
    ] {
        let path = format!("/api/v1/users/ada/{what}");
        let refused = send(&lab, Method::PUT, &path, &root_key(), &body).await;
        assert_names(&refused, named);
    }
}

#[tokio::test(start_paused = true)]
async fn each_wrong_field_about_dead_letters_is_named() {
    let lab = Lab::new();
    for (query, named) in [
        ("channel=fax", "channel"),
        ("class=bad", "class"),
        ("limit=0", "limit"),
        ("cursor=x", "cursor"),
    ] {
        assert_names(&lab.get(&format!("/api/v1/dead-letters?{query}")).await, named);
    }
    for (body, named) in [
        (json!({ "name": "" }), "name"),
        (json!({ "name": "r", "max": 101 }), "max"),
        (json!({ "name": "r", "deliveryIds": [] }), "deliveryIds"),
        (json!({ "name": "r", "deliveryIds": ["x"] }), "deliveryIds"),
        (json!({ "name": "r", "class": "bad" }), "class"),
    ] {
        assert_names(&lab.post("/api/v1/dead-letters/replay", &body).await, named);
    }
}
