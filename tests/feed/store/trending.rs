//! What is hot: public posts only, in the order of their heat, and off the lists when it is gone.

use domain::feed::trending::TrendingSnapshot;
use domain::feed::{PostAction, PostId, Privacy};
use feed::store::FeedStore;

use super::{at, count, entry, feed_in_lab, id, post, public, token, write};

async fn hot(store: &FeedStore) -> Vec<PostId> {
    let mut all = Vec::new();
    for list in 0..FeedStore::COUNT_LISTS {
        all.extend(store.top_trending(list).await.unwrap());
    }
    TrendingSnapshot::new(all.iter().map(|(post, people)| (*post, people)), at(0)).posts
}

async fn liked_by(store: &FeedStore, n: u64, people: u64) {
    for person in 0..people {
        count(store, &format!("p{person}"), PostAction::Like, id(n)).await;
    }
    store.aggregate(id(n), at(1)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn posts_stand_by_how_many_people_came() {
    let (_lab, store) = feed_in_lab();
    for n in 1..=3 {
        public(&store, n).await;
    }
    liked_by(&store, 1, 2).await;
    liked_by(&store, 2, 3).await;
    assert_eq!(hot(&store).await, [id(2), id(1)]);
    // One person can't heat a post twice.
    for _ in 0..5 {
        count(&store, "p0", PostAction::Comment, id(1)).await;
    }
    store.aggregate(id(1), at(1)).await.unwrap();
    assert_eq!(hot(&store).await, [id(2), id(1)]);
    // A list has the hottest first.
    public(&store, 17).await;
    liked_by(&store, 17, 4).await;
    let list: Vec<_> =
        store.top_trending(1).await.unwrap().into_iter().map(|(post, _)| post).collect();
    assert_eq!(list, [id(17), id(1)]);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_for_everybody_is_not_hot() {
    let (_lab, store) = feed_in_lab();
    write(&store, &post(1, "ada", Privacy::Friends)).await;
    public(&store, 2).await;
    for n in [1, 2] {
        count(&store, "ada", PostAction::Like, id(n)).await;
        store.aggregate(id(n), at(1)).await.unwrap();
    }
    assert_eq!(hot(&store).await, [id(2)]);
    let before = entry(&store, id(2)).await.post;
    let after = before.hidden(at(2)).unwrap();
    store.update_post(&before, &after, at(2), &token()).await.unwrap();
    assert_eq!(hot(&store).await, []);
    store.aggregate(id(2), at(3)).await.unwrap();
    assert_eq!(hot(&store).await, []);
    // What is shown again is hot again, without anybody doing anything about it.
    let shown = after.unhidden().unwrap();
    store.update_post(&after, &shown, at(4), &token()).await.unwrap();
    store.aggregate(id(2), at(5)).await.unwrap();
    assert_eq!(hot(&store).await, [id(2)]);
}

#[tokio::test(start_paused = true)]
async fn what_has_cooled_leaves_the_list() {
    let (_lab, store) = feed_in_lab();
    public(&store, 1).await;
    liked_by(&store, 1, 2).await;
    assert_eq!(store.remove_cold(1, at(24 * 3_600), 10).await.unwrap(), 0);
    assert_eq!(hot(&store).await, [id(1)]);
    assert_eq!(store.remove_cold(1, at(96 * 3_600), 10).await.unwrap(), 1);
    assert_eq!(hot(&store).await, []);
    assert_eq!(entry(&store, id(1)).await.counts.likes, 2);
}

#[tokio::test(start_paused = true)]
async fn the_first_snapshot_of_a_minute_stands_and_the_newest_is_found() {
    let (_lab, store) = feed_in_lab();
    assert_eq!(store.snapshot(None).await.unwrap(), None);
    let one = TrendingSnapshot { minute: 99, posts: vec![id(2), id(1)] };
    assert!(store.save_snapshot(&one).await.unwrap());
    let other = TrendingSnapshot { minute: 99, posts: vec![id(3)] };
    assert!(!store.save_snapshot(&other).await.unwrap());
    let next = TrendingSnapshot { minute: 100, posts: Vec::new() };
    assert!(store.save_snapshot(&next).await.unwrap());
    assert_eq!(store.snapshot(None).await.unwrap(), Some(next));
    assert_eq!(store.snapshot(Some(99)).await.unwrap(), Some(one));
    assert_eq!(store.snapshot(Some(98)).await.unwrap(), None);
}
