//! Templates: published, tried out, activated, and checked whenever they are used.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, root_key};

use super::{ALL, accepted, assert_names, lab_with_ada, put, read, send};

const ORDER: &str = "/api/v1/templates/order";

fn draft(text: &str) -> Value {
    json!({
        "defaultLocale": "en",
        "required": ["name"],
        "texts": {
            "en": { "email": { "subject": "Hello {{ name }}", "text": text } },
            "es": { "email": { "subject": "Hola {{ name }}", "text": text } },
        },
    })
}

fn with_data(data: &Value) -> Value {
    json!({
        "userId": "ada", "category": "orders", "template": { "id": "order" }, "data": data,
        "sendAt": "2026-03-02T12:00:00Z",
    })
}

#[tokio::test(start_paused = true)]
async fn versions_never_change_and_one_is_active() {
    let lab = lab_with_ada().await;
    let first = put(&lab, ORDER, &draft("one")).await;
    assert_eq!((first.status.as_u16(), &first.body["activeVersion"]), (201, &json!(1)));
    let again = put(&lab, ORDER, &draft("one")).await;
    assert_eq!((again.status.as_u16(), &again.body["version"]), (200, &json!(1)));
    let second = put(&lab, ORDER, &draft("two")).await;
    assert_eq!((&second.body["version"], &second.body["activeVersion"]), (&json!(2), &json!(1)));
    let before = accepted(&lab, &with_data(&json!({ "name": "Ada" }))).await;
    let path = format!("{ORDER}/versions/2/activate");
    assert_eq!(lab.post(&path, &Value::Null).await.body["activeVersion"], 2);
    lab.advance_seconds(5);
    let after = accepted(&lab, &with_data(&json!({ "name": "Ada" }))).await;
    assert_eq!(read(&lab, &before).await["template"]["version"], 1);
    assert_eq!(read(&lab, &after).await["template"]["version"], 2);
    let shown = lab.get(ORDER).await;
    assert_eq!(shown.body["draft"]["texts"]["en"]["email"]["text"], "two");
    assert_eq!(shown.body["versions"][1]["version"], 1);
    assert_eq!(shown.body["versions"][0]["results"][0]["sent"], 0);
    lab.post(&format!("{ORDER}/versions/3/activate"), &Value::Null).await.assert_status(404);
}

#[tokio::test(start_paused = true)]
async fn what_a_text_uses_has_to_be_declared_and_passed_in() {
    let lab = Lab::new();
    let wrong = draft("{{ surname }}");
    assert_names(&send(&lab, Method::PUT, ORDER, &root_key(), &wrong).await, "required");
    let broken = draft("{{ name ");
    let refused = send(&lab, Method::PUT, ORDER, &root_key(), &broken).await;
    assert_names(&refused, "texts.en.email.text");
    put(&lab, ORDER, &draft("Dear {{ name }}")).await;
    assert_names(&lab.post(ALL, &with_data(&json!({}))).await, "data.name");
    assert_names(&lab.post(ALL, &with_data(&json!([1]))).await, "data");
    let mut by_sms = with_data(&json!({ "name": "Ada" }));
    by_sms["channels"] = json!(["sms"]);
    assert_names(&lab.post(ALL, &by_sms).await, "channels");
    let mut unknown = with_data(&json!({ "name": "Ada" }));
    unknown["template"] = json!({ "id": "none" });
    assert_names(&lab.post(ALL, &unknown).await, "template");
    unknown["template"] = json!({ "id": "order", "version": 9 });
    assert_names(&lab.post(ALL, &unknown).await, "template");
}

#[tokio::test(start_paused = true)]
async fn a_preview_is_what_a_user_would_read() {
    let lab = Lab::new();
    put(&lab, ORDER, &draft("Dear {{ name }}")).await;
    let path = format!("{ORDER}/preview");
    let body = json!({ "locale": "es_MX", "data": { "name": "<Ada>" } });
    let preview = lab.post(&path, &body).await.assert_status(200);
    let shown = &preview.body["previews"][0];
    assert_eq!((&shown["channel"], &shown["locale"]), (&json!("email"), &json!("es")));
    assert_eq!(shown["content"]["subject"], "Hola <Ada>");
    assert_names(&lab.post(&path, &json!({})).await, "data.name");
    assert_names(&lab.post(&path, &json!({ "channel": "fax" })).await, "channel");
}
