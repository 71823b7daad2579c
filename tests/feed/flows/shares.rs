//! Shares: a post of one's own that shows another, counted with the first one.

use http::Method;
use serde_json::{Value, json};

use super::{People, texts};
use tests::Response;

impl People {
    async fn share(&self, who: &str, post: &str, body: &Value) -> Response {
        self.lab.advance_seconds(1);
        self.call(who, Method::POST, &format!("/api/v1/posts/{post}/share"), body).await
    }

    async fn shares(&self, post: &str) -> Value {
        self.lab.settle_doubled().await;
        let read = self.get("ada", &format!("/api/v1/posts/{post}")).await;
        read.body["counts"]["shares"].clone()
    }
}

#[tokio::test(start_paused = true)]
async fn a_share_is_a_post_that_shows_another_and_counts_until_it_is_deleted() {
    let people = People::called(&["ada", "bob", "eve"]).await;
    people.put("eve", "follow", "bob").await;
    let id = people.say("ada", "hello").await;
    let made = people.share("bob", &id, &json!({ "text": "look" })).await.assert_status(201);
    assert_eq!(made.header("location"), format!("/api/v1/posts/{}", made.text("postId")));
    assert_eq!(made.body["shared"]["text"], "hello");
    assert_eq!(people.shares(&id).await, 1);
    let page = people.get("eve", "/api/v1/feed").await;
    assert_eq!(texts(&page), ["look"]);
    assert_eq!(page.body["items"][0]["shared"]["author"]["userId"], "ada");
    // Without words, and of what was passed on: the first is counted.
    let again = people.share("eve", made.text("postId"), &Value::Null).await.assert_status(201);
    assert_eq!(again.body["shared"]["postId"], id);
    assert_eq!(people.shares(&id).await, 2);
    for _ in 0..2 {
        assert_eq!(people.delete("bob", made.text("postId")).await.status, 204);
        assert_eq!(people.shares(&id).await, 1);
    }
    people.delete("ada", &id).await;
    let read = people.get("eve", &format!("/api/v1/posts/{}", again.text("postId"))).await;
    assert_eq!((read.status.as_u16(), &read.body["shared"]), (200, &Value::Null));
}

#[tokio::test(start_paused = true)]
async fn a_repeat_with_the_same_key_shares_once() {
    let people = People::called(&["ada", "bob"]).await;
    let id = people.say("ada", "hello").await;
    let share = async || {
        let path = format!("/api/v1/posts/{id}/share");
        let call = people.lab.call(Method::POST, &path).by(people.key("bob"));
        call.header("idempotency-key", "a").send().await
    };
    let first = share().await;
    let again = share().await;
    assert_eq!((first.status.as_u16(), &again.body), (201, &first.body));
    assert_eq!(again.header("idempotent-replayed"), "true");
    assert_eq!(people.shares(&id).await, 1);
    assert_eq!(texts(&people.get("ada", "/api/v1/users/bob/posts").await), [""]);
}

#[tokio::test(start_paused = true)]
async fn only_what_everybody_may_see_is_passed_on() {
    let people = People::called(&["ada", "bob", "eve"]).await;
    people.put("ada", "follow", "bob").await;
    people.put("bob", "follow", "ada").await;
    let friends = people.post("ada", json!({ "text": "x", "privacy": "FRIENDS" })).await;
    let public = people.say("ada", "x").await;
    assert_eq!(people.share("bob", &friends, &Value::Null).await.status, 409);
    assert_eq!(people.share("eve", &friends, &Value::Null).await.status, 404);
    let made = people.share("bob", &public, &Value::Null).await;
    people.put("ada", "block", "eve").await;
    assert_eq!(people.share("eve", &public, &Value::Null).await.status, 404);
    // Bob's post may be seen, but not what it passes on.
    people.share("eve", made.text("postId"), &Value::Null).await.assert_status(409);
    assert_eq!(people.shares(&public).await, 1);
    let wrong = people.share("bob", &public, &json!({ "text": "x", "privacy": "SOME" })).await;
    assert_eq!(wrong.body["errors"][0]["field"], "privacy");
}
