//! Profiles: written by whom they are of, read by those who may know of them.

use http::Method;
use serde_json::{Value, json};

use super::People;

#[tokio::test(start_paused = true)]
async fn a_profile_says_who_a_user_is_and_the_callers_relationship() {
    let people = People::called(&["ada", "bob", "eve"]).await;
    let unwritten = people.get("bob", "/api/v1/users/ada").await.assert_status(200);
    assert_eq!((unwritten.text("name"), &unwritten.body["version"]), ("ada", &json!(0)));
    let words = json!({ "name": "Ada L.", "bio": "counts" });
    let saved = people.call("ada", Method::PUT, "/api/v1/users/ada", &words).await;
    assert_eq!((saved.status.as_u16(), saved.header("etag")), (200, "\"1\""));
    assert_eq!(saved.body.get("you"), None);
    people.put("bob", "follow", "ada").await;
    people.put("eve", "follow", "ada").await;
    people.put("ada", "follow", "bob").await;
    people.put("bob", "mute", "ada").await;
    let read = people.get("bob", "/api/v1/users/ada").await;
    assert_eq!((read.text("name"), read.text("bio")), ("Ada L.", "counts"));
    assert_eq!((&read.body["followers"], &read.body["following"]), (&json!(2), &json!(1)));
    let you = json!({
        "userId": "ada", "follows": true, "followsYou": true, "blocks": false, "mutes": true,
    });
    assert_eq!(read.body["you"], you);
    assert_eq!(read.header("etag"), "", "what others see changes without a version");
    let id = people.say("ada", "hello").await;
    let post = people.get("eve", &format!("/api/v1/posts/{id}")).await;
    assert_eq!(post.body["author"]["name"], "Ada L.");
}

#[tokio::test(start_paused = true)]
async fn a_blocked_user_finds_no_profile() {
    let people = People::called(&["ada", "bob"]).await;
    people.put("ada", "block", "bob").await;
    let blocked = people.get("bob", "/api/v1/users/ada").await;
    let unknown = people.get("bob", "/api/v1/users/zoe").await;
    assert_eq!((blocked.status.as_u16(), unknown.status.as_u16()), (404, 404));
    assert_eq!(blocked.body["detail"], unknown.body["detail"]);
    assert_eq!(people.get("ada", "/api/v1/users/bob").await.body["you"]["blocks"], true);
}

#[tokio::test(start_paused = true)]
async fn only_ones_own_is_saved_and_only_the_version_that_was_read() {
    let people = People::called(&["ada", "bob"]).await;
    let save = async |who: &str, whose: &str, tag: Option<&str>, body: Value| {
        let path = format!("/api/v1/users/{whose}");
        let call = people.lab.call(Method::PUT, &path).by(people.key(who)).json(&body);
        let call = match tag {
            Some(tag) => call.header("if-match", tag),
            None => call,
        };
        call.send().await.status.as_u16()
    };
    let ada = || json!({ "name": "Ada" });
    assert_eq!(save("bob", "ada", None, ada()).await, 403);
    assert_eq!(save("bob", "zoe", None, ada()).await, 404);
    assert_eq!(save("ada", "ada", Some("\"0\""), ada()).await, 200);
    assert_eq!(save("ada", "ada", Some("\"0\""), ada()).await, 412);
    assert_eq!(save("ada", "ada", Some("\"1\""), ada()).await, 200);
    assert_eq!(save("ada", "ada", None, ada()).await, 200);
    for wrong in [
        json!({}),
        json!({ "name": "" }),
        json!({ "name": "a", "avatar": "a/b" }),
        json!({ "name": "a", "avatar": "unheard-of" }),
        json!({ "name": "a", "age": 7 }),
    ] {
        assert_eq!(save("ada", "ada", None, wrong.clone()).await, 422, "{wrong}");
    }
}
