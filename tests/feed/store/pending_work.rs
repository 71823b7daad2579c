//! Work: split once, done once, and found as long as it is not.

use std::collections::BTreeSet;

use domain::feed::fan_out::{FanOutProgress, split_slots};
use domain::feed::{FanOutTask, FeedMessage};
use feed::store::{FanOutState, FeedStore, PendingWork};

use super::{at, feed_in_lab, id, public, unfinished, user};

/// What a post has left to do.
async fn pushing(store: &FeedStore, n: u64) -> String {
    public(store, n).await;
    FanOutTask::Push { post_id: id(n), version: 1 }.work_id(&user("ada"))
}

#[tokio::test(start_paused = true)]
async fn work_is_split_once() {
    let (_lab, store) = feed_in_lab();
    let work = pushing(&store, 1).await;
    let progress = FanOutProgress { ranges: 3, done: BTreeSet::new() };
    let first = FanOutState { progress, followers: 900, since: at(0) };
    assert_eq!(store.start_fan_out(&work, 900, 3).await.unwrap(), Some(first.clone()));
    assert_eq!(store.start_fan_out(&work, 5_000, 13).await.unwrap(), Some(first));
}

#[tokio::test(start_paused = true)]
async fn work_that_is_not_there_is_not_begun() {
    let (_lab, store) = feed_in_lab();
    let work = pushing(&store, 1).await;
    assert!(store.is_pending(&work).await.unwrap());
    store.complete_work(&work).await.unwrap();
    assert_eq!(store.start_fan_out(&work, 9, 1).await.unwrap(), None);
    assert_eq!(store.complete_range(&work, split_slots(1)[0].range).await.unwrap(), None);
    assert!(!store.is_pending(&work).await.unwrap());
    assert_eq!(unfinished(&store).await, []);
}

#[tokio::test(start_paused = true)]
async fn a_range_counts_once_and_only_of_work_that_was_split() {
    let (_lab, store) = feed_in_lab();
    let work = pushing(&store, 1).await;
    let ranges = split_slots(2).into_iter().map(|page| page.range).collect::<Vec<_>>();
    assert_eq!(store.complete_range(&work, ranges[0]).await.unwrap(), None, "it is not split");
    store.start_fan_out(&work, 900, 2).await.unwrap();
    for _ in 0..2 {
        let after = store.complete_range(&work, ranges[0]).await.unwrap().unwrap();
        assert_eq!(after.progress.done, [ranges[0]].into());
        assert!(!after.progress.is_complete());
    }
    let going_on = store.start_fan_out(&work, 900, 2).await.unwrap().unwrap();
    assert_eq!(
        going_on.progress.remaining_pages(),
        [split_slots(2)[1].clone()],
        "what is left is gone on with"
    );
    for _ in 0..2 {
        let after = store.complete_range(&work, ranges[1]).await.unwrap().unwrap();
        assert!(after.progress.is_complete());
        assert_eq!((after.followers, after.since), (900, at(0)));
    }
}

#[tokio::test(start_paused = true)]
async fn work_that_is_done_twice_is_done_and_other_work_is_not() {
    let (_lab, store) = feed_in_lab();
    let (one, other) = (pushing(&store, 1).await, pushing(&store, 2).await);
    for _ in 0..2 {
        store.complete_work(&one).await.unwrap();
        assert!(!store.is_pending(&one).await.unwrap() && store.is_pending(&other).await.unwrap());
    }
    assert_eq!(unfinished(&store).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn all_work_that_is_not_done_is_found_page_by_page() {
    let (_lab, store) = feed_in_lab();
    let mut works = BTreeSet::new();
    for n in 0..30 {
        works.insert(pushing(&store, n).await);
    }
    let mut found = BTreeSet::new();
    for list in 0..FeedStore::WORK_LISTS {
        let mut after: Option<String> = None;
        loop {
            let (page, next) = store.pending_work(list, after.as_deref(), 2).await.unwrap();
            assert!(page.len() <= 2);
            for PendingWork { message, since } in page {
                assert!(matches!(message, FeedMessage::PostCreated { .. }) && since == at(0));
                assert!(found.insert(message.work_id().unwrap()), "each is on one page");
            }
            after = next;
            if after.is_none() {
                break;
            }
        }
    }
    assert_eq!(found, works);
}
