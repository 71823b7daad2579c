//! Wrong input is refused with a reason, and changes nothing.

use http::Method;
use serde_json::{Value, json};

use super::{People, texts};

#[tokio::test(start_paused = true)]
async fn a_post_that_breaks_a_rule_is_refused_and_not_written() {
    let people = People::called(&["ada"]).await;
    let many: Vec<String> = (0..11).map(|n| format!("m{n}")).collect();
    for (body, status, field) in [
        (json!({}), 422, "text"),
        (json!({ "text": "  " }), 422, "text"),
        (json!({ "text": "x".repeat(5_001) }), 422, "text"),
        (json!({ "text": "a\u{0}b" }), 422, "text"),
        (json!({ "text": "x", "privacy": "SECRET" }), 422, "privacy"),
        (json!({ "text": "x", "tags": ["plain"] }), 422, "tags"),
        (json!({ "text": "x", "location": "x".repeat(101) }), 422, "location"),
        (json!({ "text": "x", "media": many }), 422, "media"),
        (json!({ "text": "x", "media": ["never-uploaded"] }), 422, "media"),
        (json!({ "text": "x", "authorId": "bob" }), 422, "authorId"),
        (json!({ "text": 7 }), 422, "text"),
        (json!([]), 422, ""),
    ] {
        let refused = people.call("ada", Method::POST, "/api/v1/posts", &body).await;
        assert_eq!(refused.status.as_u16(), status, "{body}: {}", refused.body);
        if !field.is_empty() {
            assert_eq!(refused.body["errors"][0]["field"], field, "{}", refused.body);
        }
    }
    let call = people.lab.call(Method::POST, "/api/v1/posts").by(people.key("ada"));
    assert_eq!(call.bytes("{").send().await.status, 400);
    let listed = people.get("ada", "/api/v1/users/ada/posts").await;
    assert_eq!(texts(&listed), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn five_thousand_characters_of_any_script_are_a_post() {
    let people = People::called(&["ada"]).await;
    let words = "語".repeat(5_000);
    let id = people.say("ada", &words).await;
    let read = people.get("ada", &format!("/api/v1/posts/{id}")).await;
    assert_eq!(read.text("text"), words);
}

#[tokio::test(start_paused = true)]
async fn people_who_are_not_there_are_not_found() {
    let people = People::called(&["ada"]).await;
    for (method, path) in [
        (Method::PUT, "/api/v1/users/zoe/follow"),
        (Method::PUT, "/api/v1/users/NO/follow"),
        (Method::GET, "/api/v1/users/zoe/posts"),
        (Method::GET, "/api/v1/users/zoe/followers"),
        (Method::GET, "/api/v1/users/zoe/following"),
    ] {
        let found = people.call("ada", method.clone(), path, &Value::Null).await;
        assert_eq!(found.status, 404, "{method} {path}: {}", found.body);
    }
}
