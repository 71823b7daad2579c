//! The feed, as authors, followers and readers see it.

mod calls;
mod sockets;

use e2e::{Response, Target, target};
use serde_json::{Value, json};

/// A user with a key.
struct User<'t> {
    target: &'t Target,
    id: String,
    key: String,
}

impl<'t> User<'t> {
    fn new(target: &'t Target, name: &str) -> Self {
        let id = target.fresh(name);
        let account = json!({ "userId": id, "name": name, "roles": ["member"] });
        assert_eq!(target.post("/api/v1/accounts", &account).status, 201);
        let made = target.post(&format!("/api/v1/accounts/{id}/keys"), &json!({}));
        Self { target, key: made.text("key").to_owned(), id }
    }

    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Response {
        self.target.send(method, path, &self.key, &[], body)
    }

    fn get(&self, path: &str) -> Response {
        self.call("GET", path, None)
    }

    /// `PUT` or `DELETE` of `follow`, `block` or `mute`; what is between them then.
    fn set_relationship(&self, method: &str, other: &User<'_>, act: &str) -> Value {
        let done = self.call(method, &format!("/api/v1/users/{}/{act}", other.id), None);
        assert_eq!(done.status, 200, "{method} {act}: {}", done.body);
        done.body
    }

    /// Writes a post that must be accepted; where it is.
    fn post(&self, body: &Value) -> String {
        let made = self.call("POST", "/api/v1/posts", Some(body));
        assert_eq!(made.status, 201, "{}", made.body);
        made.location
    }

    /// The words of the newest posts in the feed.
    fn feed(&self) -> Vec<String> {
        texts(&self.get("/api/v1/feed?order=latest"))
    }

    /// Waits until the feed is as wanted.
    fn await_feed(&self, wanted: &[&str]) {
        let ask = || self.get("/api/v1/feed?order=latest");
        let found = self.target.within(30, ask, |page| texts(page) == wanted);
        assert_eq!(texts(&found), wanted);
    }
}

fn texts(page: &Response) -> Vec<String> {
    let items = page.body["items"].as_array().into_iter().flatten();
    items.map(|item| item["text"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_post_comes_to_those_who_follow_and_goes_for_good() {
    let target = target();
    let (ada, bob) = (User::new(target, "ada"), User::new(target, "bob"));
    let before = ada.post(&json!({ "text": "before" }));
    bob.set_relationship("PUT", &ada, "follow");
    bob.await_feed(&["before"]);
    let after = ada.post(&json!({ "text": "after", "tags": ["#News"] }));
    bob.await_feed(&["after", "before"]);
    let realtime = bob.get("/api/v1/feed/realtime");
    assert!(realtime.text("url").starts_with("ws"), "{}", realtime.body);
    let page = bob.get("/api/v1/feed?limit=1");
    assert_eq!(page.body["hasMore"], true, "{}", page.body);
    assert!(page.body["items"][0]["relevanceScore"].as_f64().unwrap() > 0.3);
    assert!(page.body["items"][0]["why"]["reason"].is_string());
    let cursor = page.text("nextCursor");
    let second = bob.get(&format!("/api/v1/feed?limit=1&cursor={cursor}"));
    assert_eq!((second.status, &second.body["nextCursor"]), (200, &Value::Null));
    assert_ne!(texts(&second), texts(&page));

    let edited = ada.call("PATCH", &after, Some(&json!({ "text": "edited" })));
    assert_eq!((edited.status, edited.text("text")), (200, "edited"));
    assert_eq!(bob.feed(), ["edited", "before"]);
    assert_eq!(ada.call("DELETE", &before, None).status, 204);
    assert_eq!(bob.feed(), ["edited"], "at once");
    assert_eq!(bob.get(&before).status, 404);
    assert_eq!(texts(&bob.get(&format!("/api/v1/users/{}/posts", ada.id))), ["edited"]);
}

#[test]
fn relationships_decide_what_is_visible() {
    let target = target();
    let (ada, bob) = (User::new(target, "ada"), User::new(target, "bob"));
    bob.set_relationship("PUT", &ada, "follow");
    let friends = ada.post(&json!({ "text": "friends", "privacy": "FRIENDS" }));
    let private = ada.post(&json!({ "text": "private", "privacy": "PRIVATE" }));
    let public = ada.post(&json!({ "text": "public" }));
    bob.await_feed(&["public"]);
    for path in [&friends, &private] {
        assert_eq!((bob.get(path).status, ada.get(path).status), (404, 200));
    }
    assert_eq!(ada.set_relationship("PUT", &bob, "follow")["followsYou"], true);
    bob.await_feed(&["public", "friends"]);
    bob.set_relationship("PUT", &ada, "mute");
    assert_eq!(bob.feed(), Vec::<String>::new());
    assert_eq!(bob.get(&public).status, 200, "by its name");
    bob.set_relationship("DELETE", &ada, "mute");
    let listed = bob.get(&format!("/api/v1/users/{}/followers", ada.id));
    assert_eq!(listed.body["items"][0]["userId"], bob.id, "{}", listed.body);
    let listed = ada.get(&format!("/api/v1/users/{}/following", ada.id));
    assert_eq!(listed.body["items"][0]["userId"], bob.id);
    ada.set_relationship("PUT", &bob, "block");
    assert_eq!(bob.feed(), Vec::<String>::new());
    for path in [public, format!("/api/v1/users/{}", ada.id)] {
        assert_eq!(bob.get(&path).status, 404, "{path}");
    }
    ada.set_relationship("DELETE", &bob, "block");
    assert_eq!(bob.set_relationship("DELETE", &ada, "follow")["follows"], false);
}

#[test]
fn likes_comments_and_shares_count_once() {
    let target = target();
    let (ada, bob) = (User::new(target, "ada"), User::new(target, "bob"));
    let post = ada.post(&json!({ "text": "like me" }));
    for _ in 0..2 {
        let liked = bob.call("PUT", &format!("{post}/like"), None);
        assert_eq!((liked.status, &liked.body["userHasLiked"]), (200, &json!(true)));
    }
    let said = json!({ "text": "well said" });
    let once = [("Idempotency-Key", "once")];
    let comments = format!("{post}/comments");
    let comment = target.send("POST", &comments, &bob.key, &once, Some(&said));
    assert_eq!(comment.status, 201, "{}", comment.body);
    let again = target.send("POST", &comments, &bob.key, &once, Some(&said));
    assert_eq!(again.body, comment.body);
    let shared = bob.call("POST", &format!("{post}/share"), Some(&json!({ "text": "look" })));
    assert_eq!((shared.status, &shared.body["shared"]["text"]), (201, &json!("like me")));
    let one_each = json!({ "likes": 1, "comments": 1, "shares": 1 });
    let counted = target.within(90, || ada.get(&post), |it| it.body["counts"] == one_each);
    assert_eq!(counted.body["counts"], one_each);
    assert_eq!(counted.body["userHasLiked"], false, "another user does");
    let listed = ada.get(&comments);
    assert_eq!(listed.body["items"][0]["text"], "well said", "{}", listed.body);
    let comment = format!("{comments}/{}", comment.text("commentId"));
    assert_eq!(bob.call("DELETE", &comment, None).status, 204);
    assert_eq!(bob.call("DELETE", &format!("{post}/like"), None).status, 200);
    assert_eq!(bob.call("DELETE", &shared.location, None).status, 204);
    let none = json!({ "likes": 0, "comments": 0, "shares": 0 });
    let counted = target.within(90, || ada.get(&post), |it| it.body["counts"] == none);
    assert_eq!(counted.body["counts"], none);
}

#[test]
fn what_people_report_is_decided_and_what_is_trending_can_be_read() {
    let target = target();
    let (ada, bob) = (User::new(target, "ada"), User::new(target, "bob"));
    let post = ada.post(&json!({ "text": "buy this" }));
    let id = post.rsplit('/').next().unwrap().to_owned();
    let has = |page: &Response| page.body["items"].to_string().contains(&id);
    // It is written down once a minute, which is too long for this test.
    let trending = bob.get("/api/v1/trending?limit=50");
    assert_eq!((trending.status, trending.body["items"].is_array()), (200, true));

    let reason = json!({ "reason": "SPAM", "note": "it sells something" });
    let report = bob.call("POST", &format!("{post}/report"), Some(&reason));
    assert!([200, 201, 202].contains(&report.status), "{}", report.body);
    let queue = "/api/v1/moderation/reports?limit=50";
    assert_eq!(bob.get(queue).status, 403);
    let mut path = queue.to_owned();
    loop {
        let page = target.get(&path);
        assert_eq!(page.status, 200, "{}", page.body);
        if has(&page) {
            break;
        }
        let next = page.body["nextCursor"].as_str().expect("the report is listed");
        path = format!("{queue}&cursor={next}");
    }
    let ruling = format!("/api/v1/moderation/posts/{id}/ruling");
    let upheld = target.post(&ruling, &json!({ "ruling": "UPHELD" }));
    assert!([200, 204].contains(&upheld.status), "{}", upheld.body);
    assert_eq!(bob.get(&post).status, 404);
    let own = ada.get(&post);
    assert_eq!((own.status, &own.body["hidden"]), (200, &json!(true)));
}

#[test]
fn people_say_who_they_are_and_upload_pictures() {
    let target = target();
    let ada = User::new(target, "ada");
    let path = format!("/api/v1/users/{}", ada.id);
    let saved = ada.call("PUT", &path, Some(&json!({ "name": "Ada", "bio": "Numbers." })));
    assert!([200, 201].contains(&saved.status), "{}", saved.body);
    let read = ada.get(&path);
    assert_eq!((read.text("name"), read.text("bio")), ("Ada", "Numbers."));
    let wanted = json!({ "contentType": "image/png", "bytes": 3 });
    let upload = ada.call("POST", "/api/v1/media", Some(&wanted));
    assert_eq!(upload.status, 201, "{}", upload.body);
    let media = upload.text("mediaId").to_owned();
    let early = ada.call("POST", "/api/v1/posts", Some(&json!({ "media": [media] })));
    assert_eq!(early.status, 422, "nothing is uploaded yet");
}
