//! Those who are connected hear of new posts, at once or when they come back, over real sockets.

mod clients;
mod limits;
mod privacy;

use std::collections::BTreeSet;

use clients::SocketLab;
use domain::feed::{PostId, ServerMessage};
use serde_json::json;
use tokio::time::{Duration, Instant};

#[tokio::test]
async fn two_followers_hear_of_a_new_post_within_a_second() {
    let town = SocketLab::of(&["ada", "bob", "eve", "ann"], "{}").await;
    for who in ["bob", "eve"] {
        town.follow(who, "ada").await;
    }
    town.settle().await;
    let (mut bob, mut eve) = (town.connect("bob").await, town.connect("eve").await);
    let mut stranger = town.connect("ann").await;
    let report: local::pump::BatchReporter = std::sync::Arc::new(|_, _, _| {});
    town.people.lab.cloud.pump.start(&report);
    let mut shortest = Duration::MAX;
    for n in 0..5 {
        let started = Instant::now();
        let post = town.say("ada", &format!("post {n}")).await;
        assert_eq!(bob.named().await, [post]);
        assert_eq!(eve.named().await, [post]);
        shortest = shortest.min(started.elapsed());
    }
    assert!(shortest < Duration::from_secs(1), "{shortest:?}");
    assert!(stranger.receives_nothing().await);
}

#[tokio::test]
async fn who_was_cut_off_resumes_without_a_gap() {
    let town = SocketLab::of(&["ada", "bob"], "{}").await;
    town.follow("bob", "ada").await;
    town.settle().await;
    let mut bob = town.connect("bob").await;
    let first = town.say("ada", "heard").await;
    town.settle().await;
    let ServerMessage::NewPosts { post_ids, position, .. } = bob.next_message().await else {
        panic!("no names")
    };
    assert_eq!(post_ids, [first]);
    bob.vanish();
    town.disconnected(1).await;

    let mut missed: Vec<PostId> = Vec::new();
    for n in 0..5 {
        town.pass_seconds(50);
        missed.push(town.say("ada", &format!("missed {n}")).await);
        town.settle().await;
    }
    let mut bob = town.connect("bob").await;
    // Nothing that comes in between is lost either.
    missed.push(town.say("ada", "before it asks").await);
    town.settle().await;
    assert_eq!(bob.named().await, missed[5..]);
    bob.say(&json!({ "type": "resume", "position": position })).await;
    let ServerMessage::NewPosts { post_ids, position: next, .. } = bob.next_message().await else {
        panic!()
    };
    assert!(missed.iter().all(|post| post_ids.contains(post)), "{post_ids:?}");
    assert!(next > position);
    // From there on only what came shortly before is named again.
    town.pass_seconds(120);
    bob.say(&json!({ "type": "resume", "position": town.now() })).await;
    assert_eq!(bob.named().await, []);
}

#[tokio::test]
async fn what_was_on_its_way_during_the_handshake_is_named_a_moment_later() {
    let town = SocketLab::of(&["ada", "bob"], "{}").await;
    town.follow("bob", "ada").await;
    town.settle().await;
    // It reaches the timeline, but there is no connection to tell.
    let post = town.say("ada", "just before").await;
    town.settle().await;
    let mut bob = town.connect("bob").await;
    town.settle().await;
    assert!(bob.receives_nothing().await);
    town.pass_seconds(10);
    town.settle().await;
    assert_eq!(bob.named().await, [post]);
    // An empty message is not sent.
    town.pass_seconds(600);
    let mut again = town.connect("bob").await;
    town.pass_seconds(10);
    town.settle().await;
    assert!(again.receives_nothing().await);
}

#[tokio::test]
async fn an_author_whom_many_follow_reaches_connections_through_their_audience() {
    let few = r#"{"pullFrom":2,"pushBelow":1}"#;
    let town = SocketLab::of(&["star", "bob", "eve", "ann"], few).await;
    // Bob is connected before the star rises, eve only afterwards, and ann when she begins to follow.
    let (mut bob, mut ann) = (town.connect("bob").await, town.connect("ann").await);
    for who in ["bob", "eve"] {
        town.follow(who, "star").await;
    }
    town.settle().await;
    let mut eve = town.connect("eve").await;
    town.follow("ann", "star").await;
    town.settle().await;
    let post = town.say("star", "to all").await;
    town.settle().await;
    for target in [&mut bob, &mut eve, &mut ann] {
        assert_eq!(target.named().await, [post]);
    }
    let timeline =
        town.people.store().timeline(&clients::person("bob"), PostId::MAX, 10).await.unwrap();
    assert!(timeline.is_empty(), "it is pulled: {timeline:?}");
    // Who was away is told of it by the author's row.
    let position = town.now();
    eve.vanish();
    town.disconnected(1).await;
    town.pass_seconds(3_600);
    let later = town.say("star", "to those who come back").await;
    town.settle().await;
    let mut eve = town.connect("eve").await;
    eve.say(&json!({ "type": "resume", "position": position })).await;
    assert_eq!(eve.named().await, [post, later]);
}

#[tokio::test]
async fn what_is_said_twice_names_nothing_else() {
    let few = r#"{"pullFrom":2,"pushBelow":1}"#;
    let town = SocketLab::of(&["star", "ada", "bob", "eve"], few).await;
    for (who, whom) in [("bob", "star"), ("eve", "star"), ("bob", "ada")] {
        town.follow(who, whom).await;
    }
    town.people.lab.settle_doubled().await;
    let mut bob = town.connect("bob").await;
    let posts = [town.say("star", "pulled").await, town.say("ada", "pushed").await];
    town.people.lab.settle_doubled().await;
    town.pass_seconds(10);
    town.people.lab.settle_doubled().await;
    let named: BTreeSet<PostId> = bob.all_named().await.into_iter().collect();
    assert_eq!(named, BTreeSet::from(posts));
}
