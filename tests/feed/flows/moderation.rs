//! Reports, and what an admin decides.

use http::Method;
use serde_json::{Value, json};

use super::{People, UNKNOWN, texts};
use tests::Response;

impl People {
    async fn report(&self, who: &str, post: &str, body: &Value) -> Response {
        self.lab.advance_seconds(1);
        self.call(who, Method::POST, &format!("/api/v1/posts/{post}/report"), body).await
    }

    /// What the bootstrap admin decides.
    async fn rule(&self, post: &str, ruling: &str) -> Response {
        let path = format!("/api/v1/moderation/posts/{post}/ruling");
        self.lab.post(&path, &json!({ "ruling": ruling })).await
    }

    async fn open(&self) -> Vec<(String, String)> {
        let page = self.lab.get("/api/v1/moderation/reports").await.assert_status(200);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let items = page.body["items"].as_array().unwrap().iter();
        items.map(|item| (text(&item["reportedBy"]), text(&item["postId"]))).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_ruling_hides_a_post_and_a_later_one_shows_it_again() {
    let people = People::called(&["ada", "bob", "eve"]).await;
    people.put("bob", "follow", "ada").await;
    let id = people.say("ada", "buy this").await;
    people.lab.settle_doubled().await;
    let spam = json!({ "reason": "SPAM", "note": "an advertisement" });
    let reported = people.report("bob", &id, &spam).await.assert_status(202);
    let again = people.report("bob", &id, &json!({ "reason": "ABUSE" })).await;
    assert_eq!(again.body, reported.body, "the first stands");
    people.report("eve", &id, &spam).await;
    let open = |who: &str| (who.to_owned(), id.clone());
    assert_eq!(people.open().await, [open("bob"), open("eve")]);
    let ruled = people.rule(&id, "UPHELD").await;
    assert_eq!(ruled.body, json!({ "postId": id, "settled": 2, "hidden": true }));
    assert_eq!(people.open().await, []);
    let path = format!("/api/v1/posts/{id}");
    assert_eq!(people.get("bob", &path).await.status, 404);
    assert_eq!(people.latest("bob").await, Vec::<String>::new());
    assert_eq!(people.get("ada", &path).await.body["hidden"], true);
    let repeat = people.rule(&id, "UPHELD").await;
    assert_eq!(repeat.body, json!({ "postId": id, "settled": 0, "hidden": true }));
    let other = people.rule(&id, "DISMISSED").await;
    assert_eq!(other.body, json!({ "postId": id, "settled": 0, "hidden": false }));
    assert_eq!(people.latest("bob").await, ["buy this"]);
    // A settled report is not settled again.
    assert_eq!(people.report("bob", &id, &spam).await.status, 202);
    assert_eq!(people.open().await, []);
}

#[tokio::test(start_paused = true)]
async fn what_was_dismissed_stays() {
    let people = People::called(&["ada", "bob"]).await;
    let id = people.say("ada", "fine").await;
    people.report("bob", &id, &json!({ "reason": "OTHER" })).await;
    let ruled = people.rule(&id, "DISMISSED").await;
    assert_eq!(ruled.body, json!({ "postId": id, "settled": 1, "hidden": false }));
    assert_eq!(texts(&people.get("bob", "/api/v1/users/ada/posts").await), ["fine"]);
}

#[tokio::test(start_paused = true)]
async fn open_reports_show_the_post_page_by_page() {
    let people = People::called(&["ada", "bob", "eve"]).await;
    let one = people.say("ada", "one").await;
    let two = people.say("ada", "two").await;
    for (who, id) in [("bob", &one), ("eve", &two), ("eve", &one)] {
        people.report(who, id, &json!({ "reason": "FRAUD" })).await;
    }
    people.delete("ada", &two).await;
    let first = people.lab.get("/api/v1/moderation/reports?limit=2").await;
    let items = first.body["items"].as_array().unwrap();
    assert_eq!((&items[0]["post"]["text"], &items[1]["post"]), (&json!("one"), &Value::Null));
    assert_eq!(
        (&items[0]["reason"], first.body["hasMore"].as_bool()),
        (&json!("FRAUD"), Some(true))
    );
    let next = first.text("nextCursor");
    let rest = people.lab.get(&format!("/api/v1/moderation/reports?limit=2&cursor={next}")).await;
    assert_eq!(rest.body["items"][0]["reportedBy"], "eve");
    assert_eq!(rest.body["nextCursor"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn who_may_not_is_refused() {
    let people = People::called(&["ada", "bob"]).await;
    let id = people.say("ada", "hello").await;
    let private = people.post("ada", json!({ "text": "x", "privacy": "PRIVATE" })).await;
    let spam = json!({ "reason": "SPAM" });
    assert_eq!(people.report("bob", &private, &spam).await.status, 404);
    assert_eq!(people.report("ada", &id, &spam).await.status, 422, "their own");
    let wrong = people.report("bob", &id, &json!({ "reason": "RUDE" })).await;
    assert_eq!(wrong.body["errors"][0]["field"], "reason");
    assert_eq!(people.get("bob", "/api/v1/moderation/reports").await.status, 403);
    let path = format!("/api/v1/moderation/posts/{id}/ruling");
    let body = json!({ "ruling": "UPHELD" });
    assert_eq!(people.call("ada", Method::POST, &path, &body).await.status, 403);
    assert_eq!(people.rule(UNKNOWN, "UPHELD").await.status, 404);
    assert_eq!(people.rule(&id, "MAYBE").await.status, 422);
}
