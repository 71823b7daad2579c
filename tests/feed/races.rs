//! Likes, posts, follows, blocks and deletions at once, while posts are fanned out.

mod posts;

use domain::accounts::UserId;
use domain::feed::{FanOutMode, PostId};
use feed::store::FeedStore;
use futures::future::join_all;
use futures::join;
use http::Method;
use local::faults::{Faults, RecordedCall};
use local::pump::EventSourceMapping;
use serde_json::{Value, json};
use tests::{Lab, Response, Setup};

/// Interleavings that each race is run with.
const SEEDS: u64 = 12;

/// So small that a handful of people is a crowd.
const SETTINGS: &str = r#"{"pullFrom":4,"pushBelow":2,"page":2,"kept":20,"recents":10}"#;

/// Everything is pushed, in pages of one.
const PUSHED: &str = r#"{"page":1}"#;

/// The delivery polls so often while there are no messages.
const IDLE_POLLS: usize = 150;

const READERS: [&str; 6] = ["bob", "cid", "dan", "eli", "fay", "gus"];

/// Some people with keys, in a cloud where nothing goes wrong, but in an order that the seed decides.
struct People {
    lab: Lab,
    keys: Vec<(&'static str, String)>,
}

impl People {
    async fn meet(seed: u64, names: &[&'static str], settings: &str) -> Self {
        let faults = Faults::seeded(seed, 0);
        let setup = Setup { seed, faults, ..Setup::default() };
        let lab = Lab::with_parameters(setup, &[("FeedSettings", settings)]);
        let mut keys = Vec::new();
        for name in names {
            keys.push((*name, lab.user(name, &["member"]).await));
        }
        Self { lab, keys }
    }

    /// Ada, whom some follow, and a post of hers that is on its way to them; its id.
    async fn with_a_post(seed: u64, followers: &[&'static str]) -> (Self, String) {
        let names: Vec<_> = ["ada"].iter().chain(followers).copied().collect();
        let people = Self::meet(seed, &names, PUSHED).await;
        for who in followers {
            people.done(who, Method::PUT, "users/ada/follow").await;
        }
        people.lab.cloud.settle().await;
        let id = people.say("hello").await;
        people.lab.cloud.functions.quiesce().await;
        (people, id)
    }

    async fn call(&self, who: &str, method: Method, path: &str, body: &Value) -> Response {
        let key = self.keys.iter().find(|(name, _)| *name == who).map(|(_, key)| key).unwrap();
        let call = self.lab.call(method, &format!("/api/v1/{path}")).by(key);
        if body.is_null() { call.send().await } else { call.json(body).send().await }
    }

    /// A call without a body that must work.
    async fn done(&self, who: &str, method: Method, path: &str) -> Response {
        let answer = self.call(who, method, path, &Value::Null).await;
        assert!(answer.status.is_success(), "{who} {path}: {}", answer.body);
        answer
    }

    /// Ada writes a post, a second after the previous step; its id.
    async fn say(&self, text: &str) -> String {
        self.lab.advance_seconds(1);
        let made = self.call("ada", Method::POST, "posts", &json!({ "text": text })).await;
        assert_eq!(made.status, 201, "{}", made.body);
        made.text("postId").to_owned()
    }

    async fn feed(&self, who: &str) -> Vec<String> {
        texts(&self.done(who, Method::GET, "feed?order=latest&limit=50").await)
    }

    fn fan_out(&self) -> &EventSourceMapping {
        let name = self.lab.queue("FanOutQueue");
        let mut mappings = self.lab.cloud.pump.mappings().iter();
        mappings.find(|mapping| mapping.queue == name).unwrap()
    }

    /// Messages arrive while others are at work, who may send more.
    async fn deliver(&self) {
        let mut idle = 0;
        while idle < IDLE_POLLS {
            let received = self.lab.cloud.pump.poll(self.fan_out()).await.received;
            idle = if received == 0 { idle + 1 } else { 0 };
            tokio::task::yield_now().await;
        }
    }

    fn store(&self) -> FeedStore {
        FeedStore::new(self.lab.aws().dynamodb(), self.lab.table("FeedTable"))
    }

    async fn followers(&self) -> (u64, usize) {
        let (store, ada) = (self.store(), UserId::outside("ada"));
        let listed = store.followers(&ada, None, 1_000).await.unwrap();
        (store.count_followers(&ada).await.unwrap(), listed.len())
    }

    async fn timeline(&self, who: &str) -> usize {
        self.store().timeline(&UserId::outside(who), PostId::MAX, 1_000).await.unwrap().len()
    }
}

fn texts(page: &Response) -> Vec<String> {
    let items = page.body["items"].as_array().unwrap().iter();
    items.map(|item| item["text"].as_str().unwrap().to_owned()).collect()
}

/// Lets others go ahead, by a few steps more with each seed.
async fn late(seed: u64) {
    for _ in 0..seed * 6 {
        tokio::task::yield_now().await;
    }
}

/// The places among recorded calls of those that were carried out and have something in them.
fn places(lab: &Lab, part: &str) -> Vec<usize> {
    let has = |call: &RecordedCall| call.done && String::from_utf8_lossy(&call.body).contains(part);
    let calls = lab.cloud.faults.recorded();
    (0..).zip(&calls).filter(|(_, call)| has(call)).map(|(place, _)| place).collect()
}

#[tokio::test(start_paused = true)]
async fn of_fifty_likes_by_one_person_at_once_one_counts() {
    for seed in 0..2 {
        let (people, id) = People::with_a_post(seed, &["bob"]).await;
        let path = format!("posts/{id}/like");
        for (method, likes) in [(Method::PUT, 1), (Method::DELETE, 0), (Method::PUT, 1)] {
            join_all((0..50).map(|_| people.done("bob", method.clone(), &path))).await;
            people.lab.cloud.settle().await;
            let post = people.done("ada", Method::GET, &format!("posts/{id}")).await;
            assert_eq!(post.body["counts"]["likes"], likes, "seed {seed}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn fifty_who_write_with_one_key_write_one_post_and_get_one_answer() {
    for seed in 0..4 {
        let people = People::meet(seed, &["ada"], "{}").await;
        let write = |text: &str| {
            let call = people.lab.call(Method::POST, "/api/v1/posts").by(&people.keys[0].1);
            call.header("idempotency-key", "one").json(&json!({ "text": text })).send()
        };
        let answers = join_all((0..50).map(|_| write("hello"))).await;
        for answer in &answers {
            assert_eq!(answer.status, 201, "seed {seed}: {}", answer.body);
            assert_eq!(answer.bytes, answers[0].bytes, "seed {seed}");
            assert_eq!(answer.header("location"), answers[0].header("location"));
            assert_eq!(answer.header("etag"), answers[0].header("etag"));
        }
        assert_eq!(write("something else").await.status, 422);
        let listed = people.done("ada", Method::GET, "users/ada/posts").await;
        assert_eq!(texts(&listed), ["hello"], "seed {seed}");
    }
}

#[tokio::test(start_paused = true)]
async fn fifty_follows_by_one_person_at_once_are_one_follower() {
    for seed in 0..2 {
        let people = People::meet(seed, &["ada", "bob"], "{}").await;
        for (method, count) in [(Method::PUT, 1), (Method::DELETE, 0), (Method::PUT, 1)] {
            let acts = (0..50).map(|_| people.done("bob", method.clone(), "users/ada/follow"));
            join_all(acts).await;
            people.lab.cloud.settle().await;
            let expected = (u64::try_from(count).unwrap(), count);
            assert_eq!(people.followers().await, expected, "seed {seed}");
        }
        people.say("hello").await;
        people.lab.cloud.settle().await;
        assert_eq!(people.feed("bob").await, ["hello"], "seed {seed}");
    }
}

#[tokio::test(start_paused = true)]
async fn everybody_who_follows_while_an_author_crosses_reads_every_post_once() {
    let mut again = 0;
    for seed in 0..SEEDS {
        let names: Vec<_> = ["ada"].iter().chain(&READERS).copied().collect();
        let people = People::meet(seed, &names, SETTINGS).await;
        people.say("before").await;
        people.lab.cloud.faults.record(|call| call.operation == "TransactWriteItems");
        let follows = (0..).zip(READERS).map(async |(n, who)| {
            late(seed * n).await;
            people.done(who, Method::PUT, "users/ada/follow").await
        });
        let meanwhile = async {
            late(seed * 3).await;
            people.say("meanwhile").await
        };
        join!(join_all(follows), people.deliver(), meanwhile);
        people.lab.cloud.settle().await;
        let policy = people.store().author(&UserId::outside("ada")).await.unwrap().recents.policy;
        assert_eq!(policy.mode, FanOutMode::Pull, "seed {seed}");
        people.say("after").await;
        people.lab.cloud.settle().await;
        for who in READERS {
            let read = people.feed(who).await;
            assert_eq!(read, ["after", "meanwhile", "before"], "seed {seed}: {who}");
        }
        assert_eq!(people.followers().await, (6, 6), "seed {seed}");
        again += people.lab.cloud.faults.recorded().iter().filter(|call| !call.done).count();
    }
    assert!(again > 0, "no transaction conflicted");
}
