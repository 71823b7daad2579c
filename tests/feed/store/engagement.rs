//! Acts: each once, only while everything is as it was decided by.

use domain::feed::{PostAction, Privacy, SocialAction};
use feed::store::{ActionOutcome, EngageOutcome};
use futures::future::join_all;
use local::faults::Fault;

use super::{act, at, count, entry, feed_in_lab, id, post, public, relation, token, user, write};

#[tokio::test(start_paused = true)]
async fn a_double_like_counts_once_and_so_does_taking_it_back() {
    let (_lab, store) = feed_in_lab();
    public(&store, 1).await;
    count(&store, "bob", PostAction::Like, id(1)).await;
    assert_eq!(act(&store, "bob", PostAction::Like, id(1)).await, EngageOutcome::Unchanged);
    assert_eq!(store.aggregate(id(1), at(1)).await.unwrap().unwrap().counts.likes, 1);
    count(&store, "bob", PostAction::Unlike, id(1)).await;
    assert_eq!(act(&store, "bob", PostAction::Unlike, id(1)).await, EngageOutcome::Unchanged);
    let total = store.aggregate(id(1), at(2)).await.unwrap().unwrap();
    assert_eq!((total.counts.likes, total.acts, total.hourly_users.len()), (0, 2, 1));
    let context = store.post_context(&user("bob"), [], [id(1)]).await.unwrap();
    assert!(!context.engagements[&id(1)].likes);
}

#[tokio::test(start_paused = true)]
async fn of_twenty_likes_at_once_by_one_person_one_counts() {
    let (_lab, store) = feed_in_lab();
    let post = public(&store, 1).await;
    let (bob, ada) = (user("bob"), relation(&store, "bob", &post).await);
    let tokens: Vec<String> = (0..20).map(|_| token()).collect();
    let likes = tokens
        .iter()
        .map(|token| store.engage((&bob, PostAction::Like), &post, &ada, Vec::new(), at(0), token));
    let came: Vec<_> = join_all(likes).await.into_iter().map(Result::unwrap).collect();
    let counted = |came: &&EngageOutcome| matches!(came, EngageOutcome::Counted { .. });
    assert_eq!(came.iter().filter(counted).count(), 1, "{came:?}");
    assert_eq!(store.aggregate(id(1), at(1)).await.unwrap().unwrap().counts.likes, 1);
}

#[tokio::test(start_paused = true)]
async fn no_like_follows_a_block() {
    let (_lab, store) = feed_in_lab();
    let post = public(&store, 1).await;
    let seen = relation(&store, "bob", &post).await;
    let blocked = store
        .apply_action(&user("ada"), SocialAction::Block, &user("bob"), at(0), token)
        .await
        .unwrap();
    assert!(matches!(blocked, ActionOutcome::Changed(..)));
    let bob = user("bob");
    for what in [PostAction::Like, PostAction::Comment, PostAction::Share] {
        let came = store.engage((&bob, what), &post, &seen, Vec::new(), at(1), &token()).await;
        assert_eq!(came.unwrap(), EngageOutcome::Conflict, "{what:?}");
    }
    assert_eq!(store.aggregate(id(1), at(2)).await.unwrap().unwrap().acts, 0);
}

#[tokio::test(start_paused = true)]
async fn what_brings_closer_does_and_nothing_else() {
    let (_lab, store) = feed_in_lab();
    let first = public(&store, 1).await;
    let close = async || relation(&store, "bob", &first).await.affinity_at(at(0));
    count(&store, "bob", PostAction::Like, id(1)).await;
    let liked = close().await;
    assert!((liked - 0.06).abs() < 1e-9);
    count(&store, "bob", PostAction::Unlike, id(1)).await;
    assert!((close().await - liked).abs() < 1e-9, "what is taken back leaves it as it was");
    count(&store, "bob", PostAction::Share, id(1)).await;
    assert!(close().await > liked);
    count(&store, "ada", PostAction::Like, id(1)).await;
    let themselves = store.relationship(&user("ada"), &user("ada")).await.unwrap();
    assert_eq!(themselves.version, 0, "no relationship with oneself");
}

#[tokio::test(start_paused = true)]
async fn what_comes_with_an_act_is_written_with_it_or_not_at_all() {
    let (_lab, store) = feed_in_lab();
    let (one, two) = (public(&store, 1).await, public(&store, 2).await);
    let (bob, ada) = (user("bob"), relation(&store, "bob", &one).await);
    let other =
        store.prepare_action((&bob, PostAction::Like), &two, &ada, at(0)).await.unwrap().unwrap();
    // Both would move on what is between the two: that can't be in one transaction twice.
    let with = other.items.into_iter().take(2).collect();
    let came = store.engage((&bob, PostAction::Like), &one, &ada, with, at(0), &token()).await;
    assert!(matches!(came.unwrap(), EngageOutcome::Counted { .. }));
    assert_eq!(store.aggregate(id(2), at(1)).await.unwrap().unwrap().counts.likes, 1);
    let stale = store
        .prepare_action((&bob, PostAction::Comment), &two, &ada, at(0))
        .await
        .unwrap()
        .unwrap();
    count(&store, "bob", PostAction::Share, id(2)).await;
    let ada = relation(&store, "bob", &one).await;
    let with = stale.items.into_iter().take(2).collect();
    let came = store.engage((&bob, PostAction::Share), &one, &ada, with, at(0), &token()).await;
    assert_eq!(came.unwrap(), EngageOutcome::Conflict);
    assert_eq!(store.aggregate(id(1), at(1)).await.unwrap().unwrap().counts.shares, 0);
}

#[tokio::test(start_paused = true)]
async fn who_meets_others_at_a_counter_spreads_the_post_and_counts() {
    let (lab, store) = feed_in_lab();
    let post = public(&store, 1).await;
    assert_eq!(post.shard_count, 1);
    let (bob, ada) = (user("bob"), relation(&store, "bob", &post).await);
    // Two reads come first.
    lab.cloud.faults.inject(1, Fault::TransactionConflict);
    let came =
        store.engage((&bob, PostAction::Like), &post, &ada, Vec::new(), at(0), &token()).await;
    assert!(matches!(came.unwrap(), EngageOutcome::Counted { .. }));
    assert!(!lab.cloud.faults.is_pending());
    assert_eq!(entry(&store, id(1)).await.shard_count, 64);
    // Who still knows the post as it was writes to a counter that is added up, too.
    let (eve, ada) = (user("eve"), relation(&store, "eve", &post).await);
    store.engage((&eve, PostAction::Like), &post, &ada, Vec::new(), at(0), &token()).await.unwrap();
    assert_eq!(store.aggregate(id(1), at(1)).await.unwrap().unwrap().counts.likes, 2);
    assert_eq!(entry(&store, id(1)).await.shard_count, 64, "it only grows");
}

#[tokio::test(start_paused = true)]
async fn an_act_whose_answer_was_lost_is_recognised() {
    let (lab, store) = feed_in_lab();
    let post = write(&store, &post(1, "ada", Privacy::Public)).await;
    let (bob, ada) = (user("bob"), relation(&store, "bob", &post).await);
    lab.cloud.faults.inject(1, Fault::CommitThenTimeout);
    let came =
        store.engage((&bob, PostAction::Share), &post, &ada, Vec::new(), at(0), &token()).await;
    assert!(matches!(came.unwrap(), EngageOutcome::Counted { .. }));
    assert!(!lab.cloud.faults.is_pending());
    assert_eq!(store.aggregate(id(1), at(1)).await.unwrap().unwrap().counts.shares, 1);
}
