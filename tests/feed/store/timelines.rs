//! Timelines: references that can be written and taken away as often as messages come.

use domain::Timestamp;
use domain::accounts::UserId;
use domain::feed::{PostId, PostReference};
use feed::store::FeedStore;

use super::{at, feed_in_lab, id, user};

fn reference(n: u64) -> PostReference {
    PostReference { post_id: id(n), author: user("ada") }
}

fn to(who: &str, posts: impl IntoIterator<Item = u64>) -> Vec<(UserId, PostReference)> {
    posts.into_iter().map(|n| (user(who), reference(n))).collect()
}

async fn timeline(store: &FeedStore, who: &str) -> Vec<(PostReference, Timestamp)> {
    store.timeline(&user(who), PostId::MAX, 1_000).await.unwrap()
}

/// The names of the posts in a timeline.
async fn names(store: &FeedStore, who: &str) -> Vec<PostId> {
    timeline(store, who).await.into_iter().map(|(reference, _)| reference.post_id).collect()
}

#[tokio::test(start_paused = true)]
async fn a_doubled_reference_changes_nothing() {
    let (_lab, store) = feed_in_lab();
    store.add_references(to("bob", [1, 2]), at(5)).await.unwrap();
    let once = [(reference(2), at(5)), (reference(1), at(5))];
    assert_eq!(timeline(&store, "bob").await, once);
    store.add_references(to("bob", [1, 2]), at(5)).await.unwrap();
    assert_eq!(timeline(&store, "bob").await, once);
    // A page that is repeated later names the same posts again.
    store.add_references(to("bob", [2]), at(60)).await.unwrap();
    assert_eq!(names(&store, "bob").await, [id(2), id(1)]);
    store.add_references([], at(60)).await.unwrap();
    assert_eq!(timeline(&store, "cid").await, [], "no other timeline has any of it");
}

#[tokio::test(start_paused = true)]
async fn what_is_taken_away_twice_is_gone_and_the_rest_stays() {
    let (_lab, store) = feed_in_lab();
    for who in ["bob", "cid"] {
        store.add_references(to(who, 1..=3), at(0)).await.unwrap();
    }
    for _ in 0..2 {
        store.remove_references([(user("bob"), id(2)), (user("bob"), id(9))]).await.unwrap();
        assert_eq!(names(&store, "bob").await, [id(3), id(1)]);
    }
    assert_eq!(names(&store, "cid").await, [id(3), id(2), id(1)]);
    store.add_references(to("bob", [2]), at(0)).await.unwrap();
    assert_eq!(names(&store, "bob").await, [id(3), id(2), id(1)], "it can come again");
}

#[tokio::test(start_paused = true)]
async fn more_references_than_fit_into_a_batch_are_all_written_and_taken_away() {
    let (lab, store) = feed_in_lab();
    lab.record_calls();
    store.add_references(to("bob", 0..130), at(0)).await.unwrap();
    let calls = lab.cloud.faults.recorded();
    assert_eq!(calls.iter().filter(|call| call.operation == "BatchWriteItem").count(), 6);
    assert_eq!(names(&store, "bob").await, (0..130).rev().map(id).collect::<Vec<_>>());
    store.remove_references((0..101).map(|n| (user("bob"), id(n)))).await.unwrap();
    assert_eq!(names(&store, "bob").await, (101..130).rev().map(id).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_timeline_is_read_from_a_place_down() {
    let (_lab, store) = feed_in_lab();
    store.add_references(to("bob", 0..7), at(0)).await.unwrap();
    let mut below = PostId::MAX;
    let mut pages = Vec::new();
    loop {
        let page = store.timeline(&user("bob"), below, 3).await.unwrap();
        let Some((last, _)) = page.last() else { break };
        below = last.post_id;
        pages.push(page.into_iter().map(|(reference, _)| reference.post_id).collect::<Vec<_>>());
    }
    assert_eq!(pages, [vec![id(6), id(5), id(4)], vec![id(3), id(2), id(1)], vec![id(0)]]);
}
