//! Comments: written once, listed for those who may see them, taken back by two people.

use http::Method;
use serde_json::{Value, json};

use super::{People, UNKNOWN, texts};
use tests::Response;

impl People {
    async fn comment(&self, who: &str, post: &str, text: &str) -> Response {
        self.lab.advance_seconds(1);
        let path = format!("/api/v1/posts/{post}/comments");
        self.call(who, Method::POST, &path, &json!({ "text": text })).await
    }

    async fn comments(&self, who: &str, post: &str) -> Vec<String> {
        texts(&self.get(who, &format!("/api/v1/posts/{post}/comments")).await)
    }
}

#[tokio::test(start_paused = true)]
async fn comments_are_listed_oldest_first_with_their_authors() {
    let people = People::called(&["ada", "bob"]).await;
    let id = people.say("ada", "hello").await;
    let made = people.comment("bob", &id, " hi ").await.assert_status(201);
    let location = format!("/api/v1/posts/{id}/comments/{}", made.text("commentId"));
    assert_eq!(made.header("location"), location);
    assert_eq!((made.text("text"), &made.body["author"]["userId"]), ("hi", &json!("bob")));
    people.comment("ada", &id, "welcome").await;
    people.lab.settle_doubled().await;
    let page = people.get("bob", &format!("/api/v1/posts/{id}/comments")).await;
    assert_eq!(texts(&page), ["hi", "welcome"]);
    assert_eq!(page.body["items"][0], made.body);
    assert_eq!((&page.body["hasMore"], &page.body["nextCursor"]), (&json!(false), &Value::Null));
    let read = people.get("bob", &format!("/api/v1/posts/{id}")).await;
    assert_eq!(read.body["counts"]["comments"], 2);
}

#[tokio::test(start_paused = true)]
async fn a_repeat_with_the_same_key_says_nothing_twice_even_if_the_post_is_gone() {
    let people = People::called(&["ada", "bob"]).await;
    let id = people.say("ada", "hello").await;
    let write = async |key: &str, text: &str| {
        let path = format!("/api/v1/posts/{id}/comments");
        let call = people.lab.call(Method::POST, &path).by(people.key("bob"));
        call.header("idempotency-key", key).json(&json!({ "text": text })).send().await
    };
    let first = write("a", "once").await.assert_status(201);
    let again = write("a", "once").await;
    assert_eq!((again.status, &again.body), (first.status, &first.body));
    assert_eq!(again.header("idempotent-replayed"), "true");
    assert_eq!(again.header("location"), first.header("location"));
    assert_eq!(write("a", "twice").await.status, 422);
    assert_eq!(people.comments("bob", &id).await, ["once"]);
    people.delete("ada", &id).await;
    assert_eq!(write("a", "once").await.body, first.body);
    assert_eq!(write("b", "late").await.status, 404);
}

#[tokio::test(start_paused = true)]
async fn those_of_people_who_are_blocked_or_muted_are_left_out_of_full_pages() {
    let people = People::called(&["ada", "bob", "eve", "joe"]).await;
    let id = people.say("ada", "hello").await;
    for n in 0..7 {
        for who in ["bob", "eve", "joe"] {
            assert_eq!(people.comment(who, &id, &format!("{who} {n}")).await.status, 201);
        }
    }
    people.put("bob", "mute", "eve").await;
    people.put("joe", "block", "bob").await;
    let mut pages = Vec::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/api/v1/posts/{id}/comments?limit=3{cursor}");
        let page = people.get("bob", &path).await;
        pages.push(texts(&page));
        let Some(next) = page.body["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    let sizes: Vec<usize> = pages.iter().map(Vec::len).collect();
    assert_eq!(sizes, [3, 3, 1], "full until the end");
    let expected: Vec<String> = (0..7).map(|n| format!("bob {n}")).collect();
    assert_eq!(pages.concat(), expected);
    assert_eq!(people.comments("ada", &id).await.len(), 20, "as many as a page has");
    let all = people.get("eve", &format!("/api/v1/posts/{id}/comments?limit=100")).await;
    assert_eq!(texts(&all).len(), 21, "who is muted is not told");
}

#[tokio::test(start_paused = true)]
async fn a_comment_is_taken_back_by_its_author_or_the_posts() {
    let people = People::called(&["ada", "bob", "eve"]).await;
    let id = people.say("ada", "hello").await;
    let mut paths = Vec::new();
    for text in ["one", "two", "three"] {
        let made = people.comment("bob", &id, text).await;
        paths.push(made.header("location").to_owned());
    }
    let delete = async |who: &str, path: &str| {
        people.call(who, Method::DELETE, path, &Value::Null).await.status.as_u16()
    };
    assert_eq!(delete("eve", &paths[0]).await, 404);
    for _ in 0..2 {
        assert_eq!(delete("bob", &paths[0]).await, 204);
        assert_eq!(delete("ada", &paths[1]).await, 204);
    }
    for name in [UNKNOWN, "nonsense"] {
        let path = format!("/api/v1/posts/{id}/comments/{name}");
        assert_eq!(delete("ada", &path).await, 404, "{name}");
    }
    people.lab.settle_doubled().await;
    assert_eq!(people.comments("eve", &id).await, ["three"]);
    let read = people.get("eve", &format!("/api/v1/posts/{id}")).await;
    assert_eq!(read.body["counts"]["comments"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_comment_can_be_deleted_by_its_author_also_where_they_may_not_look_any_more() {
    let people = People::called(&["ada", "bob", "eve"]).await;
    let id = people.say("ada", "hello").await;
    let made = people.comment("bob", &id, "too much").await;
    people.put("ada", "block", "bob").await;
    let path = made.header("location").to_owned();
    assert_eq!(people.get("bob", &format!("/api/v1/posts/{id}")).await.status, 404);
    people.call("bob", Method::DELETE, &path, &Value::Null).await.assert_status(204);
    assert!(people.comments("eve", &id).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_says_why() {
    let people = People::called(&["ada", "bob"]).await;
    let private = people.post("ada", json!({ "text": "x", "privacy": "PRIVATE" })).await;
    let id = people.say("ada", "hello").await;
    assert_eq!(people.comment("bob", &private, "hi").await.status, 404);
    let comments = format!("/api/v1/posts/{private}/comments");
    assert_eq!(people.get("bob", &comments).await.status, 404);
    for text in ["", " ", &"x".repeat(2_001)] {
        let refused = people.comment("bob", &id, text).await.assert_status(422);
        assert_eq!(refused.body["errors"][0]["field"], "text");
    }
    for query in ["limit=0", "limit=101", "cursor=x", "page=2"] {
        let path = format!("/api/v1/posts/{id}/comments?{query}");
        assert_eq!(people.get("bob", &path).await.status, 422, "{query}");
    }
}
