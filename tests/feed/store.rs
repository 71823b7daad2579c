//! The feed: what is shared by the tests of its rows.

mod comments;
mod connections;
mod engagement;
mod fan_out_policy;
mod pending_work;
mod posts;
mod profiles;
mod readers;
mod relationships;
mod reports;
mod timelines;
mod totals;
mod trending;

use domain::accounts::UserId;
use domain::feed::{
    FanOutMode, FeedMessage, FeedSettings, Post, PostAction, PostBody, PostDelivery, PostId,
    Privacy, Relationship, SocialAction,
};
use feed::store::{
    ActionOutcome, AuthorRow, CreateOutcome, EngageOutcome, FeedStore, NewPost, StoredPost,
    StoredRelationship,
};
use local::faults::RecordedCall;
use tests::{Lab, at, token};

fn feed(lab: &Lab) -> FeedStore {
    FeedStore::new(lab.aws().dynamodb(), lab.table("FeedTable"))
}

fn feed_in_lab() -> (Lab, FeedStore) {
    let lab = Lab::new();
    let store = feed(&lab);
    (lab, store)
}

fn user(name: &str) -> UserId {
    UserId::outside(name)
}

fn id(n: u64) -> PostId {
    PostId::made_from(at(0), n.to_be_bytes())
}

fn post(n: u64, author: &str, privacy: Privacy) -> Post {
    let body = PostBody { text: "hello".to_owned(), privacy, ..PostBody::default() };
    Post::new(id(n), user(author), body, PostDelivery::Push, at(0))
}

async fn write(store: &FeedStore, post: &Post) -> StoredPost {
    let author: AuthorRow = store.author(&post.author).await.unwrap();
    let new = NewPost { post, author: &author, once: None };
    let done =
        store.create_post(new, Vec::new(), &FeedSettings::DEFAULT, at(0), &token()).await.unwrap();
    assert!(matches!(done, CreateOutcome::Created(_)), "{done:?}");
    entry(store, post.id).await
}

async fn public(store: &FeedStore, n: u64) -> StoredPost {
    write(store, &post(n, "ada", Privacy::Public)).await
}

async fn entry(store: &FeedStore, id: PostId) -> StoredPost {
    store.post(id).await.unwrap().unwrap()
}

async fn relation(store: &FeedStore, who: &str, entry: &StoredPost) -> StoredRelationship {
    store.relationship(&user(who), &entry.post.author).await.unwrap()
}

/// An action with rows that were just read.
async fn act(store: &FeedStore, who: &str, act: PostAction, on: PostId) -> EngageOutcome {
    let entry = entry(store, on).await;
    let relation = relation(store, who, &entry).await;
    let who = user(who);
    store.engage((&who, act), &entry, &relation, Vec::new(), at(0), &token()).await.unwrap()
}

async fn count(store: &FeedStore, who: &str, what: PostAction, on: PostId) {
    let came = act(store, who, what, on).await;
    assert!(matches!(came, EngageOutcome::Counted { .. }), "{who} {what:?}: {came:?}");
}

/// From one follower on authors rise, and without any they fall.
const FEW: FeedSettings = FeedSettings { pull_from: 1, push_below: 1, ..FeedSettings::DEFAULT };

/// An action that must change the relationship; the relationship then, and the messages to
/// be said.
async fn changed(
    store: &FeedStore,
    who: &str,
    act: SocialAction,
    whom: &str,
) -> (Relationship, Vec<FeedMessage>) {
    match store.apply_action(&user(who), act, &user(whom), at(0), token).await.unwrap() {
        ActionOutcome::Changed(relationship, told) => (relationship, told),
        other @ (ActionOutcome::Unchanged(_) | ActionOutcome::Rejected(_)) => {
            panic!("{who} {act:?} {whom}: {other:?}")
        }
    }
}

/// An author's fan-out mode and epoch.
async fn policy(store: &FeedStore, who: &str) -> (FanOutMode, u64) {
    let policy = store.author(&user(who)).await.unwrap().recents.policy;
    (policy.mode, policy.epoch)
}

/// What begins work that is not done.
async fn unfinished(store: &FeedStore) -> Vec<FeedMessage> {
    let mut all = Vec::new();
    for list in 0..FeedStore::WORK_LISTS {
        let (found, next) = store.pending_work(list, None, 1_000).await.unwrap();
        assert_eq!(next, None);
        all.extend(found.into_iter().map(|work| work.message));
    }
    all
}

/// From now on keeps which transactions were tried.
fn watch_transactions(lab: &Lab) {
    lab.cloud.faults.record(|call| call.operation == "TransactWriteItems");
}

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
