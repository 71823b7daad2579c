//! What is trending: by people, as the caller may see it, and still while paging.

use http::Method;
use serde_json::{Value, json};

use super::{People, texts};

impl People {
    async fn likes(&self, who: &[&str], post: &str) {
        for name in who {
            let path = format!("/api/v1/posts/{post}/like");
            self.call(name, Method::PUT, &path, &Value::Null).await.assert_status(200);
        }
        self.lab.settle_doubled().await;
    }

    async fn minute(&self) {
        self.lab.advance_seconds(60);
        self.lab.sweep().await;
        self.lab.settle_doubled().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_hottest_comes_first_and_pages_hold_still() {
    let people = People::called(&["ada", "bob", "eve", "joe"]).await;
    let empty = people.get("ada", "/api/v1/trending").await;
    assert_eq!(empty.body, json!({ "items": [], "nextCursor": null, "hasMore": false }));
    let mut ids = Vec::new();
    for text in ["one", "two", "three", "none"] {
        ids.push(people.say("ada", text).await);
    }
    people.likes(&["bob"], &ids[0]).await;
    people.likes(&["bob", "eve"], &ids[1]).await;
    people.likes(&["bob", "eve", "joe"], &ids[2]).await;
    people.minute().await;
    let page = people.get("joe", "/api/v1/trending?limit=2").await;
    assert_eq!(texts(&page), ["three", "two"]);
    assert_eq!(page.body["items"][0]["counts"]["likes"], 3);
    people.likes(&["ada", "eve", "joe"], &ids[0]).await;
    people.minute().await;
    let next = page.text("nextCursor");
    let rest = people.get("joe", &format!("/api/v1/trending?limit=2&cursor={next}")).await;
    assert_eq!(texts(&rest), ["one"]);
    assert_eq!((&rest.body["hasMore"], &rest.body["nextCursor"]), (&json!(false), &Value::Null));
    let now = people.get("joe", "/api/v1/trending").await;
    assert_eq!(texts(&now), ["one", "three", "two"]);
    for query in ["limit=0", "limit=51", "cursor=x", "cursor=MTp0cmVuZGluZzoxLjA"] {
        let path = format!("/api/v1/trending?{query}");
        assert_eq!(people.get("joe", &path).await.status, 422, "{query}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_may_not_be_seen_is_left_out_of_full_pages() {
    let people = People::called(&["ada", "bob", "eve", "joe"]).await;
    let friends = people.post("ada", json!({ "text": "friends", "privacy": "FRIENDS" })).await;
    let gone = people.say("ada", "gone").await;
    let closed = people.say("ada", "closed").await;
    let mut ids = vec![gone.clone(), closed.clone()];
    for (who, text) in [("bob", "of bob"), ("eve", "of eve"), ("ada", "of ada")] {
        ids.push(people.say(who, text).await);
    }
    people.likes(&["ada"], &friends).await;
    for id in &ids {
        people.likes(&["joe", "ada"], id).await;
    }
    people.likes(&["bob"], &ids[4]).await;
    people.minute().await;
    people.delete("ada", &gone).await;
    let path = format!("/api/v1/posts/{closed}");
    people.call("ada", Method::PATCH, &path, &json!({ "privacy": "PRIVATE" })).await;
    people.put("joe", "mute", "eve").await;
    let page = people.get("joe", "/api/v1/trending?limit=2").await;
    assert_eq!(texts(&page), ["of ada", "of bob"]);
    assert_eq!(page.body["nextCursor"], Value::Null, "nothing follows that they may see");
    people.put("ada", "block", "joe").await;
    assert_eq!(texts(&people.get("joe", "/api/v1/trending").await), ["of bob"]);
}
