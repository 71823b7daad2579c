//! How authors reach people: changed once for each crossing, with everything that is decided by it.

use domain::feed::{Act, Fan, Message, Mode, Post, Privacy, Settings};
use feed::store::Feed;
use feed::store::{Created, NewPost};
use futures::future::join_all;
use futures::join;
use tests::Lab;

use super::{
    FEW, at, changed, feed, id, late, place, post, public, reach, refused, token, unfinished, user,
    watch_transactions,
};

/// Interleavings of two that are tried.
const STEPS: u64 = 12;

async fn recount(store: &Feed, who: &str) -> Option<Message> {
    store.recount(&user(who), &FEW, at(0), token).await.unwrap()
}

/// All followers of `who` are marked, as far as somebody knows who marked them for `epoch`.
async fn risen(store: &Feed, who: &str, epoch: u64) {
    let work = format!("mark#{who}#{epoch}");
    store.risen(&user(who), epoch, &work, at(0), token).await.unwrap();
}

fn crossed(who: &str, epoch: u64) -> Message {
    Message::ReachCrossed { v: 1, author: user(who), epoch }
}

/// Somebody with a follower who does not have to hear of anything.
async fn followed(store: &Feed, who: &str) {
    let (_, told) = changed(store, "bob", Act::Follow, who).await;
    store.done(&told[0].work().unwrap()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_count_over_the_threshold_begins_a_rise_once() {
    let lab = Lab::new();
    let store = feed(&lab);
    assert_eq!(recount(&store, "ada").await, None);
    assert_eq!(store.author(&user("ada")).await.unwrap().version, 0, "nothing is written");
    followed(&store, "ada").await;
    assert_eq!(recount(&store, "ada").await, Some(crossed("ada", 1)));
    assert_eq!(reach(&store, "ada").await, (Mode::Rising, 1));
    assert_eq!(unfinished(&store).await, [crossed("ada", 1)]);
    assert_eq!(recount(&store, "ada").await, None);
    assert_eq!(reach(&store, "ada").await, (Mode::Rising, 1));
    // Who follows from now on by the new epoch puts the mark on themselves.
    changed(&store, "cid", Act::Follow, "ada").await;
    let marks = store.standing(&user("cid"), at(0)).await.unwrap().reader.marks;
    assert_eq!(marks.get(&user("ada")), Some(&1));
}

#[tokio::test(start_paused = true)]
async fn of_many_who_count_at_once_one_crosses() {
    let lab = Lab::new();
    let store = feed(&lab);
    followed(&store, "ada").await;
    watch_transactions(&lab);
    let said = join_all((0..6).map(|_| recount(&store, "ada"))).await;
    assert_eq!(said.into_iter().flatten().collect::<Vec<_>>(), [crossed("ada", 1)]);
    assert_eq!(refused(&lab), 5);
    assert_eq!(reach(&store, "ada").await, (Mode::Rising, 1));
}

#[tokio::test(start_paused = true)]
async fn a_rise_ends_once_and_only_by_its_own_epoch() {
    let lab = Lab::new();
    let store = feed(&lab);
    followed(&store, "ada").await;
    recount(&store, "ada").await.unwrap();
    for other in [0, 2] {
        risen(&store, "ada", other).await;
        assert_eq!(reach(&store, "ada").await, (Mode::Rising, 1), "{other}");
    }
    assert!(store.is_due("mark#ada#1").await.unwrap());
    risen(&store, "ada", 1).await;
    let after = store.author(&user("ada")).await.unwrap();
    assert_eq!(reach(&store, "ada").await, (Mode::Pulled, 2));
    assert!(!store.is_due("mark#ada#1").await.unwrap(), "its work ends with it");
    risen(&store, "ada", 1).await;
    assert_eq!(store.author(&user("ada")).await.unwrap(), after);
    changed(&store, "cid", Act::Follow, "ada").await;
    let marks = store.standing(&user("cid"), at(0)).await.unwrap().reader.marks;
    assert_eq!(marks.get(&user("ada")), Some(&2));
}

#[tokio::test(start_paused = true)]
async fn a_rise_that_was_given_up_is_not_ended_by_a_page_that_comes_late() {
    let lab = Lab::new();
    let store = feed(&lab);
    followed(&store, "ada").await;
    recount(&store, "ada").await.unwrap();
    changed(&store, "bob", Act::Unfollow, "ada").await;
    assert_eq!(recount(&store, "ada").await, None, "falling needs nobody's work");
    assert_eq!(reach(&store, "ada").await, (Mode::Pushed, 2));
    risen(&store, "ada", 1).await;
    assert_eq!(reach(&store, "ada").await, (Mode::Pushed, 2));
    assert!(!store.is_due("mark#ada#1").await.unwrap());
    followed(&store, "ada").await;
    assert_eq!(recount(&store, "ada").await, Some(crossed("ada", 3)));
    risen(&store, "ada", 1).await;
    assert_eq!(reach(&store, "ada").await, (Mode::Rising, 3));
    assert!(store.is_due("mark#ada#3").await.unwrap(), "that is other work");
}

#[tokio::test(start_paused = true)]
async fn a_count_that_meets_a_post_keeps_the_post_and_crosses() {
    let lab = Lab::new();
    let store = feed(&lab);
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
                let done = store.create(new, Vec::new(), &FEW, at(0), &token()).await.unwrap();
                if done != Created::Moved {
                    break;
                }
            }
        };
        let (said, ()) = join!(recount(&store, &who), writes);
        assert_eq!(said, Some(crossed(&who, 1)), "{steps}");
        let row = store.author(&user(&who)).await.unwrap();
        assert_eq!((row.recents.posts, row.version), (vec![id(steps)], 2), "{steps}");
        assert_eq!(reach(&store, &who).await, (Mode::Rising, 1), "{steps}");
        again += refused(&lab);
    }
    assert!(again > 0);
}

#[tokio::test(start_paused = true)]
async fn a_post_is_pushed_or_pulled_by_what_is_true_when_it_is_written() {
    let lab = Lab::new();
    let store = feed(&lab);
    let (mut pushed, mut pulled, mut again) = (0, 0, 0);
    for steps in 0..STEPS {
        let who = format!("author-{steps}");
        followed(&store, &who).await;
        recount(&store, &who).await.unwrap();
        watch_transactions(&lab);
        let writes = async {
            late(steps).await;
            loop {
                let author = store.author(&user(&who)).await.unwrap();
                let fan = author.recents.reach.fan();
                let post = Post { fan, ..post(steps, &who, Privacy::Public) };
                let new = NewPost { post: &post, author: &author, once: None };
                let all = &Settings::DEFAULT;
                let done = store.create(new, Vec::new(), all, at(0), &token()).await.unwrap();
                if done != Created::Moved {
                    return fan;
                }
            }
        };
        let ending = async {
            late(STEPS / 2).await;
            risen(&store, &who, 1).await;
        };
        let (fan, ()) = join!(writes, ending);
        let (written, rose) = (place(&lab, "PostCreated"), place(&lab, "SET epoch = :epoch"));
        assert_eq!(fan == Fan::Pull, rose < written, "{steps}");
        assert_eq!(reach(&store, &who).await, (Mode::Pulled, 2), "{steps}");
        let row = store.author(&user(&who)).await.unwrap().recents;
        assert_eq!(row.last_pulled, (fan == Fan::Pull).then_some(id(steps)), "{steps}");
        let count = if fan == Fan::Pull { &mut pulled } else { &mut pushed };
        *count += 1;
        again += refused(&lab);
    }
    assert!(pushed > 0 && pulled > 0 && again > 0, "{pushed} {pulled} {again}");
}

#[tokio::test(start_paused = true)]
async fn a_crossing_leaves_the_newest_posts_as_they_are() {
    let lab = Lab::new();
    let store = feed(&lab);
    public(&store, 1).await;
    public(&store, 2).await;
    let before = store.author(&user("ada")).await.unwrap();
    followed(&store, "ada").await;
    recount(&store, "ada").await.unwrap();
    risen(&store, "ada", 1).await;
    let after = store.author(&user("ada")).await.unwrap();
    assert_eq!(after.recents.posts, before.recents.posts);
    assert_eq!((after.recents.last_pulled, after.version), (None, before.version + 2));
}
