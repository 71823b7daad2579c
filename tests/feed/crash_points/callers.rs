//! Calls: struck anywhere between the request and its answer, and repeated until there is one.

use domain::feed::{PostId, SocialAction};
use http::Method;
use local::faults::Fault;
use serde_json::{Value, json};

use super::{Scene, path_of, sweep};
use crate::feed::faults::PEOPLE;
use crate::feed::faults::harness::person;

#[test]
fn no_call_of_a_writer_can_fail_in_a_way_that_loses_or_doubles_a_post() {
    sweep("write a post that is pushed", 3, |nth, fault| strike_post(2, nth, fault));
    sweep("write a post that is pulled", 3, |nth, fault| strike_post(3, nth, fault));
    sweep("pass a post on", 5, strike_share);
}

#[test]
fn no_call_of_a_change_can_fail_in_a_way_that_lasts() {
    sweep("delete what was pushed", 3, |nth, fault| strike_delete(2, nth, fault));
    sweep("delete what was pulled", 3, |nth, fault| strike_delete(3, nth, fault));
    sweep("open a private post", 3, strike_edit);
}

#[test]
fn no_call_of_an_act_can_fail_in_a_way_that_lasts() {
    sweep("follow a pushed author", 5, |nth, fault| {
        strike_act(1, SocialAction::Follow, nth, fault)
    });
    sweep("follow a pulled author", 5, |nth, fault| {
        strike_act(3, SocialAction::Follow, nth, fault)
    });
    sweep("block a follower", 3, |nth, fault| strike_act(2, SocialAction::Block, nth, fault));
    sweep("unfollow a pulled author", 3, |nth, fault| {
        strike_act(3, SocialAction::Unfollow, nth, fault)
    });
}

#[test]
fn no_call_of_a_like_or_a_comment_can_fail_in_a_way_that_loses_or_doubles_it() {
    sweep("like", 4, |nth, fault| strike_engagement(true, nth, fault));
    sweep("comment", 4, |nth, fault| strike_engagement(false, nth, fault));
}

#[test]
fn no_call_of_a_reader_can_fail_in_a_way_that_lasts() {
    sweep("read a first page", 5, |nth, fault| strike_read(0, nth, fault));
    sweep("come back after hours", 6, |nth, fault| strike_read(7, nth, fault));
    sweep("come back after days", 6, |nth, fault| strike_read(8 * 24, nth, fault));
}

/// An author with so many followers writes.
async fn strike_post(followers: usize, nth: u64, fault: Fault) -> bool {
    let mut scene = Scene::followed(followers, 1).await;
    scene.strike(nth, fault);
    let body = json!({ "text": "once" });
    let made = scene.persist(PEOPLE[0], (Method::POST, "/api/v1/posts"), &body).await;
    let struck = scene.harness.lab.stop_faults();
    let context = format!("post, {followers}, call {nth}, {fault:?}: {}", made.body);
    assert_eq!(made.status, 201, "{context}");
    scene.posts.push(PostId::parse(made.text("postId")).unwrap());
    scene.check(&context).await;
    let listed = scene.get(PEOPLE[0], "/api/v1/users/ada/posts").await;
    assert_eq!(listed.body["items"].as_array().unwrap().len(), 2, "{context}");
    struck
}

async fn strike_share(nth: u64, fault: Fault) -> bool {
    let mut scene = Scene::followed(2, 1).await;
    scene.act("ada", SocialAction::Follow, "bob").await;
    let first = scene.posts[0];
    scene.strike(nth, fault);
    let path = format!("/api/v1/posts/{first}/share");
    let made = scene.persist("bob", (Method::POST, &path), &json!({ "text": "look" })).await;
    let struck = scene.harness.lab.stop_faults();
    let context = format!("share, call {nth}, {fault:?}: {}", made.body);
    assert_eq!(made.status, 201, "{context}");
    scene.posts.push(PostId::parse(made.text("postId")).unwrap());
    scene.check(&context).await;
    let counts = scene.harness.store.post(first).await.unwrap().unwrap().counts;
    assert_eq!(counts.shares, 1, "{context}");
    struck
}

async fn strike_delete(followers: usize, nth: u64, fault: Fault) -> bool {
    let mut scene = Scene::followed(followers, 3).await;
    let path = format!("/api/v1/posts/{}", scene.posts[1]);
    scene.strike(nth, fault);
    let gone = scene.persist(PEOPLE[0], (Method::DELETE, &path), &Value::Null).await;
    let struck = scene.harness.lab.stop_faults();
    let context = format!("delete, {followers}, call {nth}, {fault:?}");
    assert_eq!(gone.status, 204, "{context}: {}", gone.body);
    // At once, although timelines still refer to it.
    assert_eq!(scene.get(PEOPLE[1], &path).await.status, 404, "{context}");
    let page = scene.get(PEOPLE[1], "/api/v1/feed").await;
    assert_eq!(page.body["items"].as_array().unwrap().len(), 2, "{context}: {}", page.body);
    scene.check(&context).await;
    struck
}

async fn strike_edit(nth: u64, fault: Fault) -> bool {
    let mut scene = Scene::followed(2, 0).await;
    let id = scene.write(PEOPLE[0], "PRIVATE").await;
    let path = format!("/api/v1/posts/{id}");
    scene.strike(nth, fault);
    let body = json!({ "privacy": "PUBLIC" });
    let changed = scene.persist(PEOPLE[0], (Method::PATCH, &path), &body).await;
    let struck = scene.harness.lab.stop_faults();
    let context = format!("edit, call {nth}, {fault:?}");
    assert_eq!(changed.status, 200, "{context}: {}", changed.body);
    scene.check(&context).await;
    assert_eq!(scene.kept(PEOPLE[1]).await, 1, "{context}");
    struck
}

/// A user acts on the first of them, who has so many followers.
async fn strike_act(followers: usize, act: SocialAction, nth: u64, fault: Fault) -> bool {
    let mut scene = Scene::followed(followers, 4).await;
    let who = if act == SocialAction::Follow { PEOPLE[followers + 1] } else { PEOPLE[followers] };
    scene.strike(nth, fault);
    let done = scene.persist(who, path_of(act, PEOPLE[0]).as_call(), &Value::Null).await;
    let struck = scene.harness.lab.stop_faults();
    let context = format!("{act:?}, {followers}, call {nth}, {fault:?}");
    assert_eq!(done.status, 200, "{context}: {}", done.body);
    scene.world.act(&person(who), act, &person(PEOPLE[0])).unwrap();
    scene.check(&context).await;
    // The next post reaches all followers, too.
    scene.write(PEOPLE[0], "PUBLIC").await;
    scene.check(&context).await;
    struck
}

async fn strike_engagement(likes: bool, nth: u64, fault: Fault) -> bool {
    let mut scene = Scene::followed(1, 1).await;
    let id = scene.posts[0];
    scene.strike(nth, fault);
    let (name, path, body) = if likes {
        (Method::PUT, format!("/api/v1/posts/{id}/like"), Value::Null)
    } else {
        (Method::POST, format!("/api/v1/posts/{id}/comments"), json!({ "text": "well" }))
    };
    let done = scene.persist(PEOPLE[1], (name, &path), &body).await;
    let struck = scene.harness.lab.stop_faults();
    let context = format!("likes {likes}, call {nth}, {fault:?}: {}", done.body);
    assert!(done.status.is_success(), "{context}");
    scene.check(&context).await;
    let counts = scene.harness.store.post(id).await.unwrap().unwrap().counts;
    let expected = (u64::from(likes), u64::from(!likes));
    assert_eq!((counts.likes, counts.comments), expected, "{context}");
    struck
}

/// A reader comes back after so many hours.
async fn strike_read(hours: i64, nth: u64, fault: Fault) -> bool {
    let mut scene = Scene::followed(2, 9).await;
    assert_eq!(scene.kept(PEOPLE[1]).await, 9);
    scene.harness.lab.advance_seconds(hours * 3_600);
    scene.write(PEOPLE[0], "PUBLIC").await;
    scene.harness.settle().await;
    scene.strike(nth, fault);
    let path = "/api/v1/feed?limit=50&order=latest";
    let page = scene.persist(PEOPLE[1], (Method::GET, path), &Value::Null).await;
    let struck = scene.harness.lab.stop_faults();
    let context = format!("read after {hours}, call {nth}, {fault:?}");
    assert_eq!(page.body["items"].as_array().unwrap().len(), 10, "{context}: {}", page.body);
    scene.check(&context).await;
    struck
}
