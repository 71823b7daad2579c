//! The feed, by what those see who write, follow and read.

mod comments;
mod crossing;
mod fan_out;
mod follows;
mod input;
mod likes;
mod moderation;
mod posts;
mod profiles;
mod returning;
mod scrolling;
mod shares;
mod sockets;
mod trending;

use domain::accounts::UserId;
use domain::feed::{PostId, PostReference};
use feed::store::FeedStore;
use http::Method;
use serde_json::{Value, json};
use store::Bucket;
use tests::{Lab, Response, Setup};

const UNKNOWN: &str = "0000000000000000000000000000";

/// Some people with keys, by their names.
struct People {
    lab: Lab,
    keys: Vec<(String, String)>,
}

impl People {
    async fn called(names: &[&str]) -> Self {
        Self::with(names, "{}").await
    }

    async fn with(names: &[&str], settings: &str) -> Self {
        let lab = Lab::with_parameters(Setup::default(), &[("FeedSettings", settings)]);
        let mut people = Self { lab, keys: Vec::new() };
        for name in names {
            let key = people.lab.user(name, &["member"]).await;
            people.keys.push(((*name).to_owned(), key));
        }
        people
    }

    fn key(&self, who: &str) -> &str {
        let found = self.keys.iter().find(|(name, _)| name == who);
        found.map(|(_, key)| key.as_str()).unwrap()
    }

    async fn call(&self, who: &str, method: Method, path: &str, body: &Value) -> Response {
        let call = self.lab.call(method, path).by(self.key(who));
        if body.is_null() { call.send().await } else { call.json(body).send().await }
    }

    async fn get(&self, who: &str, path: &str) -> Response {
        self.call(who, Method::GET, path, &Value::Null).await
    }

    /// A change to what is between two people that must work: `follow`, `block` or `mute`.
    async fn put(&self, who: &str, act: &str, whom: &str) {
        let path = format!("/api/v1/users/{whom}/{act}");
        self.call(who, Method::PUT, &path, &Value::Null).await.assert_status(200);
    }

    async fn undo(&self, who: &str, act: &str, whom: &str) {
        let path = format!("/api/v1/users/{whom}/{act}");
        self.call(who, Method::DELETE, &path, &Value::Null).await.assert_status(200);
    }

    /// Writes a post that must be accepted, a second after the previous step; its id.
    async fn post(&self, who: &str, body: Value) -> String {
        self.lab.advance_seconds(1);
        let made = self.call(who, Method::POST, "/api/v1/posts", &body).await.assert_status(201);
        made.text("postId").to_owned()
    }

    async fn say(&self, who: &str, text: &str) -> String {
        self.post(who, json!({ "text": text })).await
    }

    async fn delete(&self, who: &str, post: &str) -> Response {
        self.call(who, Method::DELETE, &format!("/api/v1/posts/{post}"), &Value::Null).await
    }

    /// Loses every message that is on its way.
    fn lose_messages(&self) {
        let queues = self.lab.cloud.services.queues();
        for name in queues.queue_names().unwrap() {
            queues.purge(&name).unwrap();
        }
    }

    fn store(&self) -> FeedStore {
        FeedStore::new(self.lab.aws().dynamodb(), self.lab.table("FeedTable"))
    }

    /// References in a reader's timeline, the newest first.
    async fn timeline(&self, who: &str) -> Vec<PostId> {
        let rows = self.store().timeline(&UserId::outside(who), PostId::MAX, 1_000).await.unwrap();
        rows.into_iter().map(|(reference, _)| reference.post_id).collect()
    }

    /// Puts a reference into a timeline, as a fan-out would.
    async fn refer(&self, who: &str, post: &str, author: &str) {
        let post_id = PostId::parse(post).unwrap();
        let reference = PostReference { post_id, author: UserId::outside(author) };
        let now = self.lab.now();
        self.store().add_references([(UserId::outside(who), reference)], now).await.unwrap();
    }

    async fn unfinished(&self) -> usize {
        let mut left = 0;
        for list in 0..FeedStore::WORK_LISTS {
            left += self.store().pending_work(list, None, 1_000).await.unwrap().0.len();
        }
        left
    }

    async fn upload(&self, who: &str, media: &str) {
        let buckets = &self.lab.cloud.stack.buckets;
        let bucket = buckets.iter().find(|bucket| bucket.logical_id == "MediaBucket").unwrap();
        let bucket = Bucket::new(self.lab.aws().bucket(&bucket.name));
        bucket.put(&format!("media/{who}/{media}"), b"png".to_vec()).await.unwrap();
    }

    /// The texts of a user's feed, by time.
    async fn latest(&self, who: &str) -> Vec<String> {
        texts(&self.get(who, "/api/v1/feed?order=latest&limit=50").await)
    }

    /// A user's whole feed, page by page.
    async fn scroll(&self, who: &str, order: &str, limit: usize) -> Vec<Vec<String>> {
        let mut pages = Vec::new();
        let mut cursor = String::new();
        loop {
            let path = format!("/api/v1/feed?order={order}&limit={limit}{cursor}");
            let page = self.get(who, &path).await;
            pages.push(texts(&page));
            assert_eq!(page.body["hasMore"], !page.body["nextCursor"].is_null());
            let Some(next) = page.body["nextCursor"].as_str() else { return pages };
            cursor = format!("&cursor={next}");
        }
    }
}

fn texts(page: &Response) -> Vec<String> {
    assert_eq!(page.status, 200, "{}", page.body);
    let items = page.body["items"].as_array().unwrap().iter();
    items.map(|item| item["text"].as_str().unwrap().to_owned()).collect()
}
