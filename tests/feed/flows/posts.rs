//! Posts: written once, seen by those who may, gone when they are deleted.

use http::Method;
use serde_json::{Value, json};

use super::{People, UNKNOWN, texts};

#[tokio::test(start_paused = true)]
async fn a_post_comes_into_the_feeds_of_those_who_follow() {
    let people = People::called(&["ada", "bob", "eve"]).await;
    people.put("bob", "follow", "ada").await;
    let id = people.say("ada", "hello").await;
    people.lab.settle_doubled().await;
    let page = people.get("bob", "/api/v1/feed").await;
    assert_eq!(texts(&page), ["hello"]);
    let item = &page.body["items"][0];
    assert_eq!(item["postId"], id);
    assert_eq!(item["author"]["userId"], "ada");
    assert_eq!(item["counts"], json!({ "likes": 0, "comments": 0, "shares": 0 }));
    assert_eq!((&item["userHasLiked"], &item["why"]["reason"]), (&json!(false), &json!("recent")));
    assert!(item["relevanceScore"].as_f64().unwrap() > 0.39);
    assert_eq!((&page.body["hasMore"], &page.body["nextCursor"]), (&json!(false), &Value::Null));
    for stranger in ["ada", "eve"] {
        assert_eq!(people.latest(stranger).await, Vec::<String>::new(), "{stranger}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_repeat_with_the_same_key_writes_nothing() {
    let people = People::called(&["ada"]).await;
    let write = async |key: &str, text: &str| {
        let call = people.lab.call(Method::POST, "/api/v1/posts").by(people.key("ada"));
        call.header("idempotency-key", key).json(&json!({ "text": text })).send().await
    };
    let first = write("a", "once").await.assert_status(201);
    assert_eq!(first.header("location"), format!("/api/v1/posts/{}", first.text("postId")));
    let again = write("a", "once").await;
    assert_eq!((again.status, &again.body), (first.status, &first.body));
    assert_eq!(again.header("idempotent-replayed"), "true");
    assert_eq!(write("a", "twice").await.status, 422);
    assert_eq!(write("b", "once").await.status, 201);
    let listed = people.get("ada", "/api/v1/users/ada/posts").await;
    assert_eq!(texts(&listed), ["once", "once"]);
}

#[tokio::test(start_paused = true)]
async fn an_edit_shows_at_once_and_names_its_version() {
    let people = People::called(&["ada", "bob"]).await;
    people.put("bob", "follow", "ada").await;
    let id = people.say("ada", "helo").await;
    people.lab.settle_doubled().await;
    let path = format!("/api/v1/posts/{id}");
    let read = people.get("ada", &path).await;
    assert_eq!(read.header("etag"), "\"1\"");
    let edit = async |who: &str, tag: &str, body: Value| {
        let call = people.lab.call(Method::PATCH, &path).by(people.key(who));
        call.header("if-match", tag).json(&body).send().await
    };
    let edited = edit("ada", "\"1\"", json!({ "text": "hello", "tags": ["#New"] })).await;
    assert_eq!((edited.status.as_u16(), edited.header("etag")), (200, "\"2\""));
    assert_eq!(edited.body["tags"], json!(["#new"]));
    assert!(edited.body["editedAt"].is_string());
    assert_eq!(edit("ada", "\"1\"", json!({ "text": "lost" })).await.status, 412);
    assert_eq!(edit("bob", "\"2\"", json!({ "text": "mine" })).await.status, 403);
    assert_eq!(edit("ada", "\"2\"", json!({ "text": "" })).await.status, 422);
    assert_eq!(people.latest("bob").await, ["hello"]);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_post_is_unreadable_at_its_acknowledgement() {
    let people = People::called(&["ada", "bob"]).await;
    people.put("bob", "follow", "ada").await;
    let id = people.say("ada", "oops").await;
    people.lab.settle_doubled().await;
    assert_eq!(people.delete("bob", &id).await.status, 403);
    assert_eq!(people.delete("ada", &id).await.status, 204);
    // Nothing was purged yet: references are still there.
    for who in ["ada", "bob"] {
        assert_eq!(people.get(who, &format!("/api/v1/posts/{id}")).await.status, 404, "{who}");
        assert_eq!(people.latest(who).await, Vec::<String>::new());
        let listed = people.get(who, "/api/v1/users/ada/posts").await;
        assert_eq!(texts(&listed), Vec::<String>::new());
    }
    assert_eq!(people.delete("ada", &id).await.status, 204, "a repeat changes nothing");
    assert_eq!(people.delete("bob", &id).await.status, 404);
    people.lab.settle_doubled().await;
    assert_eq!(people.get("ada", &format!("/api/v1/posts/{id}")).await.status, 404);
}

#[tokio::test(start_paused = true)]
async fn privacy_is_asked_wherever_a_post_could_show() {
    let people = People::called(&["ada", "bob", "eve"]).await;
    people.put("bob", "follow", "ada").await;
    people.put("ada", "follow", "bob").await;
    people.put("eve", "follow", "ada").await;
    let mut ids = Vec::new();
    for privacy in ["PUBLIC", "FRIENDS", "PRIVATE"] {
        ids.push(people.post("ada", json!({ "text": privacy, "privacy": privacy })).await);
    }
    people.lab.settle_doubled().await;
    for (who, seen) in [
        ("ada", vec!["PRIVATE", "FRIENDS", "PUBLIC"]),
        ("bob", vec!["FRIENDS", "PUBLIC"]),
        ("eve", vec!["PUBLIC"]),
    ] {
        let listed = people.get(who, "/api/v1/users/ada/posts").await;
        assert_eq!(texts(&listed), seen, "{who}");
        if who != "ada" {
            assert_eq!(people.latest(who).await, seen, "{who}");
        }
        for (id, privacy) in ids.iter().zip(["PUBLIC", "FRIENDS", "PRIVATE"]) {
            let expected = if seen.contains(&privacy) { 200 } else { 404 };
            let found = people.get(who, &format!("/api/v1/posts/{id}")).await;
            assert_eq!(found.status, expected, "{who} {privacy}");
        }
    }
    // Friends for as long as both follow.
    people.undo("ada", "follow", "bob").await;
    assert_eq!(people.latest("bob").await, ["PUBLIC"]);
}

#[tokio::test(start_paused = true)]
async fn a_private_post_that_is_opened_comes_into_feeds() {
    let people = People::called(&["ada", "bob"]).await;
    people.put("bob", "follow", "ada").await;
    let id = people.post("ada", json!({ "text": "soon", "privacy": "PRIVATE" })).await;
    people.lab.settle_doubled().await;
    assert_eq!(people.latest("bob").await, Vec::<String>::new());
    let path = format!("/api/v1/posts/{id}");
    let opened = people.call("ada", Method::PATCH, &path, &json!({ "privacy": "PUBLIC" })).await;
    assert_eq!(opened.status, 200, "{}", opened.body);
    people.lab.settle_doubled().await;
    assert_eq!(people.latest("bob").await, ["soon"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_there_is_not_found() {
    let people = People::called(&["ada"]).await;
    for id in [UNKNOWN, "x", &"f".repeat(28)] {
        let path = format!("/api/v1/posts/{id}");
        for (method, body) in [
            (Method::GET, Value::Null),
            (Method::DELETE, Value::Null),
            (Method::PATCH, json!({ "text": "x" })),
        ] {
            assert_eq!(people.call("ada", method, &path, &body).await.status, 404, "{id}");
        }
    }
}
