//! How authors reach people: changed once for each crossing, with everything that is decided by it.

use domain::feed::{
    FanOutMode, FeedMessage, FeedSettings, Post, PostDelivery, Privacy, SocialAction,
};
use feed::store::{CreateOutcome, FeedStore, NewPost};
use futures::future::join_all;
use futures::join;

use super::{
    FEW, at, changed, feed_in_lab, id, late, place, policy, post, public, refused, token,
    unfinished, user, watch_transactions,
};

/// Interleavings of two that are tried.
const STEPS: u64 = 12;

async fn update(store: &FeedStore, who: &str) -> Option<FeedMessage> {
    store.update_fan_out_policy(&user(who), &FEW, at(0), token).await.unwrap()
}

/// All followers of `who` were marked for `epoch`.
async fn finish(store: &FeedStore, who: &str, epoch: u64) {
    let work = format!("mark#{who}#{epoch}");
    store.finish_switch_to_pull(&user(who), epoch, &work, at(0), token).await.unwrap();
}

fn crossed(who: &str, epoch: u64) -> FeedMessage {
    FeedMessage::ReachCrossed { v: 1, author: user(who), epoch }
}

/// An author with a follower whose work is done.
async fn followed(store: &FeedStore, who: &str) {
    let (_, told) = changed(store, "bob", SocialAction::Follow, who).await;
    store.complete_work(&told[0].work_id().unwrap()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_count_over_the_threshold_begins_a_rise_once() {
    let (_lab, store) = feed_in_lab();
    assert_eq!(update(&store, "ada").await, None);
    assert_eq!(store.author(&user("ada")).await.unwrap().version, 0, "nothing is written");
    followed(&store, "ada").await;
    assert_eq!(update(&store, "ada").await, Some(crossed("ada", 1)));
    assert_eq!(policy(&store, "ada").await, (FanOutMode::Switching, 1));
    assert_eq!(unfinished(&store).await, [crossed("ada", 1)]);
    assert_eq!(update(&store, "ada").await, None);
    assert_eq!(policy(&store, "ada").await, (FanOutMode::Switching, 1));
    // Who follows from now on by the new epoch puts the mark on themselves.
    changed(&store, "cid", SocialAction::Follow, "ada").await;
    let marks = store.reader_state(&user("cid"), at(0)).await.unwrap().reader.pull_marks;
    assert_eq!(marks.get(&user("ada")), Some(&1));
}

#[tokio::test(start_paused = true)]
async fn of_many_who_count_at_once_one_crosses() {
    let (lab, store) = feed_in_lab();
    followed(&store, "ada").await;
    watch_transactions(&lab);
    let said = join_all((0..6).map(|_| update(&store, "ada"))).await;
    assert_eq!(said.into_iter().flatten().collect::<Vec<_>>(), [crossed("ada", 1)]);
    assert_eq!(refused(&lab), 5);
    assert_eq!(policy(&store, "ada").await, (FanOutMode::Switching, 1));
}

#[tokio::test(start_paused = true)]
async fn a_rise_ends_once_and_only_by_its_own_epoch() {
    let (_lab, store) = feed_in_lab();
    followed(&store, "ada").await;
    update(&store, "ada").await.unwrap();
    for other in [0, 2] {
        finish(&store, "ada", other).await;
        assert_eq!(policy(&store, "ada").await, (FanOutMode::Switching, 1), "{other}");
    }
    assert!(store.is_pending("mark#ada#1").await.unwrap());
    finish(&store, "ada", 1).await;
    let after = store.author(&user("ada")).await.unwrap();
    assert_eq!(policy(&store, "ada").await, (FanOutMode::Pull, 2));
    assert!(!store.is_pending("mark#ada#1").await.unwrap(), "its work ends with it");
    finish(&store, "ada", 1).await;
    assert_eq!(store.author(&user("ada")).await.unwrap(), after);
    changed(&store, "cid", SocialAction::Follow, "ada").await;
    let marks = store.reader_state(&user("cid"), at(0)).await.unwrap().reader.pull_marks;
    assert_eq!(marks.get(&user("ada")), Some(&2));
}

#[tokio::test(start_paused = true)]
async fn a_rise_that_was_given_up_is_not_ended_by_a_page_that_comes_late() {
    let (_lab, store) = feed_in_lab();
    followed(&store, "ada").await;
    update(&store, "ada").await.unwrap();
    changed(&store, "bob", SocialAction::Unfollow, "ada").await;
    assert_eq!(update(&store, "ada").await, None, "falling needs no work");
    assert_eq!(policy(&store, "ada").await, (FanOutMode::Push, 2));
    finish(&store, "ada", 1).await;
    assert_eq!(policy(&store, "ada").await, (FanOutMode::Push, 2));
    assert!(!store.is_pending("mark#ada#1").await.unwrap());
    followed(&store, "ada").await;
    assert_eq!(update(&store, "ada").await, Some(crossed("ada", 3)));
    finish(&store, "ada", 1).await;
    assert_eq!(policy(&store, "ada").await, (FanOutMode::Switching, 3));
    assert!(store.is_pending("mark#ada#3").await.unwrap(), "that is other work");
}

#[tokio::test(start_paused = true)]
async fn a_count_that_meets_a_post_keeps_the_post_and_crosses() {
    let (lab, store) = feed_in_lab();
    let mut again = 0;
    for steps in 0..STEPS {
        let who = format!("author-{steps}");
        followed(&store, &who).await;
        watch_transactions(&lab);
        let post = post(steps, &who, Privacy::Public);
        let writes = async {
            late(steps).await;
            loop {
                let author = store.author(&user(&who)).await.unwrap();
                let new = NewPost { post: &post, author: &author, once: None };
                let done = store.create_post(new, Vec::new(), &FEW, at(0), &token()).await.unwrap();
                if done != CreateOutcome::Conflict {
                    break;
                }
            }
        };
        let (said, ()) = join!(update(&store, &who), writes);
        assert_eq!(said, Some(crossed(&who, 1)), "{steps}");
        let row = store.author(&user(&who)).await.unwrap();
        assert_eq!((row.recents.posts, row.version), (vec![id(steps)], 2), "{steps}");
        assert_eq!(policy(&store, &who).await, (FanOutMode::Switching, 1), "{steps}");
        again += refused(&lab);
    }
    assert!(again > 0);
}

#[tokio::test(start_paused = true)]
async fn a_post_is_pushed_or_pulled_by_what_is_true_when_it_is_written() {
    let (lab, store) = feed_in_lab();
    let (mut pushed, mut pulled, mut again) = (0, 0, 0);
    for steps in 0..STEPS {
        let who = format!("author-{steps}");
        followed(&store, &who).await;
        update(&store, &who).await.unwrap();
        watch_transactions(&lab);
        let writes = async {
            late(steps).await;
            loop {
                let author = store.author(&user(&who)).await.unwrap();
                let delivery = author.recents.policy.post_delivery();
                let post = Post { delivery, ..post(steps, &who, Privacy::Public) };
                let new = NewPost { post: &post, author: &author, once: None };
                let all = &FeedSettings::DEFAULT;
                let done = store.create_post(new, Vec::new(), all, at(0), &token()).await.unwrap();
                if done != CreateOutcome::Conflict {
                    return delivery;
                }
            }
        };
        let ending = async {
            late(STEPS / 2).await;
            finish(&store, &who, 1).await;
        };
        let (delivery, ()) = join!(writes, ending);
        let (written, rose) = (place(&lab, "PostCreated"), place(&lab, "SET epoch = :epoch"));
        assert_eq!(delivery == PostDelivery::Pull, rose < written, "{steps}");
        assert_eq!(policy(&store, &who).await, (FanOutMode::Pull, 2), "{steps}");
        let row = store.author(&user(&who)).await.unwrap().recents;
        assert_eq!(
            row.last_pulled,
            (delivery == PostDelivery::Pull).then_some(id(steps)),
            "{steps}"
        );
        let count = if delivery == PostDelivery::Pull { &mut pulled } else { &mut pushed };
        *count += 1;
        again += refused(&lab);
    }
    assert!(pushed > 0 && pulled > 0 && again > 0, "{pushed} {pulled} {again}");
}

#[tokio::test(start_paused = true)]
async fn a_crossing_leaves_the_newest_posts_as_they_are() {
    let (_lab, store) = feed_in_lab();
    public(&store, 1).await;
    public(&store, 2).await;
    let before = store.author(&user("ada")).await.unwrap();
    followed(&store, "ada").await;
    update(&store, "ada").await.unwrap();
    finish(&store, "ada", 1).await;
    let after = store.author(&user("ada")).await.unwrap();
    assert_eq!(after.recents.posts, before.recents.posts);
    assert_eq!((after.recents.last_pulled, after.version), (None, before.version + 2));
}
