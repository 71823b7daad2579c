//! The feed: what is shared by the tests of its rows.

mod comments;
mod counts;
mod engaging;
mod follows;
mod people;
mod posts;
mod reach;
mod readers;
mod reports;
mod sockets;
mod timelines;
mod trending;
mod work;

use std::sync::atomic::{AtomicU64, Ordering};

use domain::Timestamp;
use domain::accounts::UserId;
use domain::feed::{Act, Body, Engage, Fan, Message, Mode, Post, PostId, Privacy, Settings, Tie};
use feed::store::Feed;
use feed::store::{Acted, Author, Between, Created, Engagement, Entry, NewPost};
use local::faults::RecordedCall;
use tests::Lab;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_772_366_400 + second).unwrap()
}

fn feed(lab: &Lab) -> Feed {
    Feed::new(lab.aws().dynamodb(), lab.table("FeedTable"))
}

/// A name that no other write of the test has.
fn token() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("write-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn user(name: &str) -> UserId {
    UserId::outside(name)
}

fn id(n: u64) -> PostId {
    PostId::made_from(at(0), n.to_be_bytes())
}

fn post(n: u64, author: &str, privacy: Privacy) -> Post {
    let body = Body { text: "hello".to_owned(), privacy, ..Body::default() };
    Post::new(id(n), user(author), body, Fan::Push, at(0))
}

/// Writes a post.
async fn write(store: &Feed, post: &Post) -> Entry {
    let author: Author = store.author(&post.author).await.unwrap();
    let new = NewPost { post, author: &author, once: None };
    let done = store.create(new, Vec::new(), &Settings::DEFAULT, at(0), &token()).await.unwrap();
    assert!(matches!(done, Created::Created(_)), "{done:?}");
    entry(store, post.id).await
}

/// A public post of Ada's.
async fn public(store: &Feed, n: u64) -> Entry {
    write(store, &post(n, "ada", Privacy::Public)).await
}

async fn entry(store: &Feed, id: PostId) -> Entry {
    store.post(id).await.unwrap().unwrap()
}

async fn between(store: &Feed, who: &str, entry: &Entry) -> Between {
    store.between(&user(who), &entry.post.author).await.unwrap()
}

/// An act as somebody would do it who has just looked.
async fn act(store: &Feed, who: &str, act: Engage, on: PostId) -> Engagement {
    let entry = entry(store, on).await;
    let between = between(store, who, &entry).await;
    let who = user(who);
    store.engage((&who, act), &entry, &between, Vec::new(), at(0), &token()).await.unwrap()
}

/// An act that must count.
async fn count(store: &Feed, who: &str, what: Engage, on: PostId) {
    let came = act(store, who, what, on).await;
    assert!(matches!(came, Engagement::Counted { .. }), "{who} {what:?}: {came:?}");
}

/// From one follower on authors rise, and without any they fall.
const FEW: Settings = Settings { pull_from: 1, push_below: 1, ..Settings::DEFAULT };

/// What somebody does about somebody else must change something; what is between them then, and what is to
/// be said.
async fn changed(store: &Feed, who: &str, act: Act, whom: &str) -> (Tie, Vec<Message>) {
    match store.act(&user(who), act, &user(whom), at(0), token).await.unwrap() {
        Acted::Changed(tie, told) => (tie, told),
        other @ (Acted::Same(_) | Acted::Rejected(_)) => panic!("{who} {act:?} {whom}: {other:?}"),
    }
}

/// How somebody reaches people.
async fn reach(store: &Feed, who: &str) -> (Mode, u64) {
    let reach = store.author(&user(who)).await.unwrap().recents.reach;
    (reach.mode, reach.epoch)
}

/// What begins work that is not done.
async fn unfinished(store: &Feed) -> Vec<Message> {
    let mut all = Vec::new();
    for list in 0..Feed::WORK_LISTS {
        let (found, next) = store.unfinished(list, None, 1_000).await.unwrap();
        assert_eq!(next, None);
        all.extend(found.into_iter().map(|work| work.message));
    }
    all
}

/// From now on keeps which transactions were tried.
fn watch_transactions(lab: &Lab) {
    lab.cloud.faults.record(|call| call.operation == "TransactWriteItems");
}

/// How many of them were refused.
fn refused(lab: &Lab) -> usize {
    lab.cloud.faults.recorded().iter().filter(|call| !call.done).count()
}

/// The place of the first that was carried out and has something in it.
fn place(lab: &Lab, part: &str) -> Option<usize> {
    let has = |call: &RecordedCall| call.done && String::from_utf8_lossy(&call.body).contains(part);
    lab.cloud.faults.recorded().iter().position(has)
}

/// Lets others go ahead by so many steps.
async fn late(steps: u64) {
    for _ in 0..steps {
        tokio::task::yield_now().await;
    }
}
