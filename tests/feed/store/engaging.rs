//! Acts: each once, only while everything is as it was decided by.

use domain::feed::{Act, Engage, Privacy};
use feed::store::{Acted, Engagement};
use futures::future::join_all;
use local::faults::Fault;
use tests::Lab;

use super::{act, at, between, count, entry, feed, id, post, public, token, user, write};

#[tokio::test(start_paused = true)]
async fn a_double_like_counts_once_and_so_does_taking_it_back() {
    let lab = Lab::new();
    let store = feed(&lab);
    public(&store, 1).await;
    count(&store, "bob", Engage::Like, id(1)).await;
    assert_eq!(act(&store, "bob", Engage::Like, id(1)).await, Engagement::Same);
    assert_eq!(store.fold(id(1), at(1)).await.unwrap().unwrap().counts.likes, 1);
    count(&store, "bob", Engage::Unlike, id(1)).await;
    assert_eq!(act(&store, "bob", Engage::Unlike, id(1)).await, Engagement::Same);
    let total = store.fold(id(1), at(2)).await.unwrap().unwrap();
    assert_eq!((total.counts.likes, total.acts, total.people.len()), (0, 2, 1));
    let company = store.company(&user("bob"), [], [id(1)]).await.unwrap();
    assert!(!company.engaged[&id(1)].likes);
}

#[tokio::test(start_paused = true)]
async fn of_twenty_likes_at_once_by_one_person_one_counts() {
    let lab = Lab::new();
    let store = feed(&lab);
    let post = public(&store, 1).await;
    let (bob, ada) = (user("bob"), between(&store, "bob", &post).await);
    let tokens: Vec<String> = (0..20).map(|_| token()).collect();
    let likes = tokens
        .iter()
        .map(|token| store.engage((&bob, Engage::Like), &post, &ada, Vec::new(), at(0), token));
    let came: Vec<_> = join_all(likes).await.into_iter().map(Result::unwrap).collect();
    let counted = |came: &&Engagement| matches!(came, Engagement::Counted { .. });
    assert_eq!(came.iter().filter(counted).count(), 1, "{came:?}");
    assert_eq!(store.fold(id(1), at(1)).await.unwrap().unwrap().counts.likes, 1);
}

#[tokio::test(start_paused = true)]
async fn no_like_follows_a_block() {
    let lab = Lab::new();
    let store = feed(&lab);
    let post = public(&store, 1).await;
    let seen = between(&store, "bob", &post).await;
    let blocked = store.act(&user("ada"), Act::Block, &user("bob"), at(0), token).await.unwrap();
    assert!(matches!(blocked, Acted::Changed(..)));
    let bob = user("bob");
    for what in [Engage::Like, Engage::Comment, Engage::Share] {
        let came = store.engage((&bob, what), &post, &seen, Vec::new(), at(1), &token()).await;
        assert_eq!(came.unwrap(), Engagement::Moved, "{what:?}");
    }
    assert_eq!(store.fold(id(1), at(2)).await.unwrap().unwrap().acts, 0);
}

#[tokio::test(start_paused = true)]
async fn what_brings_closer_does_and_nothing_else() {
    let lab = Lab::new();
    let store = feed(&lab);
    let first = public(&store, 1).await;
    let close = async || between(&store, "bob", &first).await.affinity_at(at(0));
    count(&store, "bob", Engage::Like, id(1)).await;
    let liked = close().await;
    assert!((liked - 0.06).abs() < 1e-9);
    count(&store, "bob", Engage::Unlike, id(1)).await;
    assert!((close().await - liked).abs() < 1e-9, "what is taken back leaves it as it was");
    count(&store, "bob", Engage::Share, id(1)).await;
    assert!(close().await > liked);
    count(&store, "ada", Engage::Like, id(1)).await;
    let themselves = store.between(&user("ada"), &user("ada")).await.unwrap();
    assert_eq!(themselves.version, 0, "nobody has anything with themselves");
}

#[tokio::test(start_paused = true)]
async fn what_comes_with_an_act_is_written_with_it_or_not_at_all() {
    let lab = Lab::new();
    let store = feed(&lab);
    let (one, two) = (public(&store, 1).await, public(&store, 2).await);
    let (bob, ada) = (user("bob"), between(&store, "bob", &one).await);
    let other = store.engaging((&bob, Engage::Like), &two, &ada, at(0)).await.unwrap().unwrap();
    // Both would move on what is between the two: that can't be in one transaction twice.
    let with = other.items.into_iter().take(2).collect();
    let came = store.engage((&bob, Engage::Like), &one, &ada, with, at(0), &token()).await;
    assert!(matches!(came.unwrap(), Engagement::Counted { .. }));
    assert_eq!(store.fold(id(2), at(1)).await.unwrap().unwrap().counts.likes, 1);
    let stale = store.engaging((&bob, Engage::Comment), &two, &ada, at(0)).await.unwrap().unwrap();
    count(&store, "bob", Engage::Share, id(2)).await;
    let ada = between(&store, "bob", &one).await;
    let with = stale.items.into_iter().take(2).collect();
    let came = store.engage((&bob, Engage::Share), &one, &ada, with, at(0), &token()).await;
    assert_eq!(came.unwrap(), Engagement::Moved);
    assert_eq!(store.fold(id(1), at(1)).await.unwrap().unwrap().counts.shares, 0);
}

#[tokio::test(start_paused = true)]
async fn who_meets_others_at_a_counter_spreads_the_post_and_counts() {
    let lab = Lab::new();
    let store = feed(&lab);
    let post = public(&store, 1).await;
    assert_eq!(post.width, 1);
    let (bob, ada) = (user("bob"), between(&store, "bob", &post).await);
    // Two reads come first.
    lab.cloud.faults.inject(1, Fault::TransactionConflict);
    let came = store.engage((&bob, Engage::Like), &post, &ada, Vec::new(), at(0), &token()).await;
    assert!(matches!(came.unwrap(), Engagement::Counted { .. }));
    assert!(!lab.cloud.faults.is_pending());
    assert_eq!(entry(&store, id(1)).await.width, 64);
    // Who still knows the post as it was writes to a counter that is added up, too.
    let (eve, ada) = (user("eve"), between(&store, "eve", &post).await);
    store.engage((&eve, Engage::Like), &post, &ada, Vec::new(), at(0), &token()).await.unwrap();
    assert_eq!(store.fold(id(1), at(1)).await.unwrap().unwrap().counts.likes, 2);
    assert_eq!(entry(&store, id(1)).await.width, 64, "it only grows");
}

#[tokio::test(start_paused = true)]
async fn an_act_whose_answer_was_lost_is_recognised() {
    let lab = Lab::new();
    let store = feed(&lab);
    let post = write(&store, &post(1, "ada", Privacy::Public)).await;
    let (bob, ada) = (user("bob"), between(&store, "bob", &post).await);
    lab.cloud.faults.inject(1, Fault::CommitThenTimeout);
    let came = store.engage((&bob, Engage::Share), &post, &ada, Vec::new(), at(0), &token()).await;
    assert!(matches!(came.unwrap(), Engagement::Counted { .. }));
    assert!(!lab.cloud.faults.is_pending());
    assert_eq!(store.fold(id(1), at(1)).await.unwrap().unwrap().counts.shares, 1);
}
