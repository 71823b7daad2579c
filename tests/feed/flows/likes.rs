//! Likes: each once, by those who may see a post, and exact when everything has arrived.

use http::Method;
use serde_json::{Value, json};

use super::{People, UNKNOWN};
use tests::Response;

impl People {
    async fn like(&self, who: &str, post: &str) -> Response {
        self.call(who, Method::PUT, &format!("/api/v1/posts/{post}/like"), &Value::Null).await
    }

    async fn unlike(&self, who: &str, post: &str) -> Response {
        self.call(who, Method::DELETE, &format!("/api/v1/posts/{post}/like"), &Value::Null).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_double_like_counts_once() {
    let people = People::called(&["ada", "bob", "eve"]).await;
    let id = people.say("ada", "hello").await;
    let path = format!("/api/v1/posts/{id}");
    let liked = people.like("bob", &id).await.assert_status(200);
    let counts = json!({ "likes": 1, "comments": 0, "shares": 0 });
    assert_eq!(liked.body, json!({ "postId": id, "userHasLiked": true, "counts": counts }));
    assert_eq!(people.like("bob", &id).await.body["userHasLiked"], true);
    people.like("ada", &id).await;
    people.lab.settle_doubled().await;
    let read = people.get("bob", &path).await;
    assert_eq!(
        (&read.body["counts"]["likes"], &read.body["userHasLiked"]),
        (&json!(2), &json!(true))
    );
    assert_eq!(people.get("eve", &path).await.body["userHasLiked"], false);
    let again = people.like("bob", &id).await;
    assert_eq!(again.body["counts"]["likes"], 2);
    for _ in 0..2 {
        let unliked = people.unlike("bob", &id).await;
        assert_eq!((unliked.status.as_u16(), &unliked.body["userHasLiked"]), (200, &json!(false)));
        people.lab.settle_doubled().await;
    }
    assert_eq!(people.get("bob", &path).await.body["counts"]["likes"], 1);
}

#[tokio::test(start_paused = true)]
async fn likes_whose_messages_are_lost_are_counted_by_the_sweep() {
    let people = People::called(&["ada", "bob"]).await;
    let id = people.say("ada", "hello").await;
    people.like("bob", &id).await;
    people.lose_messages();
    people.lab.settle_doubled().await;
    let path = format!("/api/v1/posts/{id}");
    assert_eq!(people.get("bob", &path).await.body["counts"]["likes"], 0);
    people.lab.run_until_idle().await;
    assert_eq!(people.get("bob", &path).await.body["counts"]["likes"], 1);
}

#[tokio::test(start_paused = true)]
async fn what_may_not_be_seen_can_not_be_liked() {
    let people = People::called(&["ada", "bob"]).await;
    let private = people.post("ada", json!({ "text": "x", "privacy": "PRIVATE" })).await;
    let friends = people.post("ada", json!({ "text": "x", "privacy": "FRIENDS" })).await;
    let public = people.say("ada", "x").await;
    let gone = people.say("ada", "x").await;
    people.delete("ada", &gone).await;
    for post in [private.as_str(), &friends, &gone, UNKNOWN, "nonsense"] {
        for answer in [people.like("bob", post).await, people.unlike("bob", post).await] {
            assert_eq!(answer.status, 404, "{post}");
            assert_eq!(answer.text("detail"), "There is no such post.");
        }
    }
    assert_eq!(people.like("ada", &private).await.status, 200, "their own");
    people.put("ada", "block", "bob").await;
    assert_eq!(people.like("bob", &public).await.status, 404);
    people.lab.settle_doubled().await;
    let read = people.get("ada", &format!("/api/v1/posts/{public}")).await;
    assert_eq!(read.body["counts"]["likes"], 0);
}

#[tokio::test(start_paused = true)]
async fn who_is_liked_comes_closer() {
    let people = People::called(&["ada", "bob"]).await;
    people.put("bob", "follow", "ada").await;
    let id = people.say("ada", "hello").await;
    people.lab.settle_doubled().await;
    people.like("bob", &id).await;
    people.lab.settle_doubled().await;
    let page = people.get("bob", "/api/v1/feed").await;
    let item = &page.body["items"][0];
    assert_eq!((&item["userHasLiked"], &item["counts"]["likes"]), (&json!(true), &json!(1)));
    assert!(item["why"]["affinity"].as_f64().unwrap() > 0.0);
    assert!(item["why"]["engagement"].as_f64().unwrap() > 0.0);
}
