//! What runs behind the answer: struck anywhere between the message and its acknowledgement.

use domain::feed::{FanOutMode, SocialAction};
use http::Method;
use local::faults::Fault;
use serde_json::Value;

use super::{Scene, sweep};
use crate::feed::faults::PEOPLE;
use crate::feed::faults::harness::person;

#[test]
fn no_call_of_a_fan_out_can_fail_in_a_way_that_loses_a_follower() {
    sweep("fan a post out by one range", 6, |nth, fault| strike_push(2, nth, fault));
    sweep("purge a post", 6, strike_purge);
}

#[test]
fn no_call_of_a_crossing_can_fail_in_a_way_that_loses_a_post() {
    sweep("begin to be pulled", 20, |nth, fault| strike_rise(3, nth, fault));
    sweep("begin to be pulled by many", 20, |nth, fault| strike_rise(4, nth, fault));
    sweep("cease to be pulled", 3, strike_fall);
}

#[test]
fn no_call_of_a_follow_can_fail_in_a_way_that_loses_what_was_said_before() {
    sweep("bring what was said before", 6, strike_backfill);
}

#[test]
fn no_call_of_a_rebuild_or_a_trim_can_fail_in_a_way_that_loses_a_post() {
    sweep("rebuild a timeline", 5, strike_rebuild);
    sweep("trim a timeline", 4, strike_trim);
}

#[test]
fn no_call_of_the_sweep_can_fail_in_a_way_that_lasts() {
    sweep("say again what was lost", 8, strike_sweep);
}

/// Strikes while the messages that are on their way are handled.
async fn struck(scene: &mut Scene, nth: u64, fault: Fault, what: &str) -> bool {
    scene.strike(nth, fault);
    scene.harness.settle().await;
    let struck = scene.harness.lab.stop_faults();
    scene.check(&format!("{what}, call {nth}, {fault:?}")).await;
    struck
}

async fn strike_push(followers: usize, nth: u64, fault: Fault) -> bool {
    let mut scene = Scene::followed(followers, 1).await;
    scene.write(PEOPLE[0], "PUBLIC").await;
    struck(&mut scene, nth, fault, "fan-out").await
}

async fn strike_purge(nth: u64, fault: Fault) -> bool {
    let mut scene = Scene::followed(2, 2).await;
    let path = format!("/api/v1/posts/{}", scene.posts[0]);
    let gone = scene.harness.call(PEOPLE[0], (Method::DELETE, &path), &Value::Null, None).await;
    assert_eq!(gone.status, 204);
    let struck = struck(&mut scene, nth, fault, "purge").await;
    assert_eq!(scene.kept(PEOPLE[1]).await, 1, "call {nth}, {fault:?}");
    struck
}

/// So many follow at once, and then she writes.
async fn strike_rise(followers: usize, nth: u64, fault: Fault) -> bool {
    let mut scene = Scene::followed(2, 2).await;
    for who in &PEOPLE[3..=followers] {
        scene.act(who, SocialAction::Follow, PEOPLE[0]).await;
    }
    let struck = struck(&mut scene, nth, fault, "rise").await;
    let policy = scene.harness.store.author(&person(PEOPLE[0])).await.unwrap().recents.policy;
    assert_eq!(policy.mode, FanOutMode::Pull, "call {nth}, {fault:?}");
    scene.write(PEOPLE[0], "PUBLIC").await;
    scene.check("after a rise").await;
    struck
}

async fn strike_fall(nth: u64, fault: Fault) -> bool {
    let mut scene = Scene::followed(3, 4).await;
    for who in &PEOPLE[2..4] {
        scene.act(who, SocialAction::Unfollow, PEOPLE[0]).await;
    }
    let struck = struck(&mut scene, nth, fault, "fall").await;
    let policy = scene.harness.store.author(&person(PEOPLE[0])).await.unwrap().recents.policy;
    assert_eq!(policy.mode, FanOutMode::Push, "call {nth}, {fault:?}");
    scene.write(PEOPLE[0], "PUBLIC").await;
    scene.check("after a fall").await;
    struck
}

async fn strike_backfill(nth: u64, fault: Fault) -> bool {
    let mut scene = Scene::followed(1, 5).await;
    scene.act(PEOPLE[2], SocialAction::Follow, PEOPLE[0]).await;
    struck(&mut scene, nth, fault, "backfill").await
}

async fn strike_rebuild(nth: u64, fault: Fault) -> bool {
    let mut scene = Scene::followed(2, 3).await;
    scene.harness.lab.advance_seconds(8 * 86_400);
    scene.write(PEOPLE[0], "PUBLIC").await;
    scene.harness.settle().await;
    assert_eq!(scene.kept(PEOPLE[1]).await, 3);
    assert_eq!(scene.get(PEOPLE[1], "/api/v1/feed").await.status, 200);
    scene.write(PEOPLE[0], "PUBLIC").await;
    let struck = struck(&mut scene, nth, fault, "rebuild").await;
    scene.check("after a rebuild").await;
    assert_eq!(scene.kept(PEOPLE[1]).await, 5, "call {nth}, {fault:?}");
    struck
}

async fn strike_trim(nth: u64, fault: Fault) -> bool {
    let mut scene = Scene::followed(2, 9).await;
    scene.harness.lab.advance_seconds(7 * 3_600);
    assert_eq!(scene.get(PEOPLE[1], "/api/v1/feed").await.status, 200);
    let struck = struck(&mut scene, nth, fault, "trim").await;
    assert_eq!(scene.kept(PEOPLE[1]).await, 4, "call {nth}, {fault:?}");
    struck
}

/// Every message is lost: of a follow, of a post, of a like.
async fn strike_sweep(nth: u64, fault: Fault) -> bool {
    let mut scene = Scene::followed(1, 1).await;
    scene.act(PEOPLE[2], SocialAction::Follow, PEOPLE[0]).await;
    let id = scene.write(PEOPLE[0], "PUBLIC").await;
    let path = format!("/api/v1/posts/{id}/like");
    let liked = scene.harness.call(PEOPLE[1], (Method::PUT, &path), &Value::Null, None).await;
    assert_eq!(liked.status, 200);
    scene.harness.lose_messages();
    scene.harness.lab.advance_seconds(66);
    scene.strike(nth, fault);
    scene.harness.lab.run_schedule("SweepFeed").await;
    let struck = scene.harness.lab.stop_faults();
    scene.check(&format!("sweep, call {nth}, {fault:?}")).await;
    let counts = scene.harness.store.post(id).await.unwrap().unwrap().counts;
    assert_eq!(counts.likes, 1, "call {nth}, {fault:?}");
    struck
}
