//! Connections end, are forgotten, and say what makes no sense.

use domain::feed::ServerMessage;
use feed::store::FeedStore;
use local::services::Service;
use serde_json::json;

use super::clients::{SocketLab, person};
use crate::feed::flows::People;

#[tokio::test]
async fn only_members_connect() {
    let town = SocketLab::of(&["bob"], "{}").await;
    assert_eq!(town.refused("").await, 401);
    assert_eq!(town.refused("Bearer no.key").await, 401);
    let worker = town.people.lab.user("worker", &["job-worker"]).await;
    assert_eq!(town.refused(&format!("Bearer {worker}")).await, 403);
}

#[tokio::test]
async fn what_makes_no_sense_is_answered_and_a_ping_keeps_the_line_open() {
    let town = SocketLab::of(&["bob"], "{}").await;
    let mut bob = town.connect("bob").await;
    for wrong in ["hello", "{}", r#"{"type":"resume","position":"soon"}"#] {
        bob.send_text(wrong).await;
        let ServerMessage::Problem { detail, .. } = bob.next_message().await else {
            panic!("{wrong}")
        };
        assert!(detail.starts_with("message: "), "{detail}");
    }
    bob.say(&json!({ "type": "resume", "position": "2999-01-01T00:00:00Z" })).await;
    let ServerMessage::Problem { detail, .. } = bob.next_message().await else {
        panic!("a future")
    };
    assert_eq!(detail, "position: a time that has come");
    for _ in 0..3 {
        town.pass_seconds(540);
        town.people.lab.cloud.sockets.connections().expire();
        let before = town.now();
        bob.say(&json!({ "type": "ping" })).await;
        let ServerMessage::Pong { position, .. } = bob.next_message().await else {
            panic!("no answer")
        };
        assert!((before..=town.now()).contains(&position), "{position}");
    }
    town.pass_seconds(600);
    town.people.lab.cloud.sockets.connections().expire();
    assert_eq!(bob.close_code().await, 1001);
    town.disconnected(1).await;
    assert!(town.connections("bob").await.is_empty());
}

#[tokio::test]
async fn a_connection_that_is_gone_is_forgotten_when_a_function_finds_it_so() {
    let town = SocketLab::of(&["ada", "bob"], "{}").await;
    town.follow("bob", "ada").await;
    town.settle().await;
    // API Gateway has never told of its end.
    let lost =
        feed::store::ReaderConnection { reader: person("bob"), connection: "lost=".to_owned() };
    let then = domain::Timestamp::from_second(town.now().as_second() - 60).unwrap();
    town.people.store().add_connection(&lost, then).await.unwrap();
    let mut bob = town.connect("bob").await;
    assert_eq!(town.connections("bob").await.len(), 2);
    let post = town.say("ada", "hi").await;
    town.settle().await;
    assert_eq!(bob.named().await, [post]);
    assert_eq!(town.connections("bob").await.len(), 1);
    assert_eq!(town.people.store().connection_owner("lost=").await.unwrap(), None);
    let complaints = |line: &String| line.contains("\"level\":\"WARN\"");
    assert!(!town.people.lab.lines().iter().any(complaints), "it is nothing out of the ordinary");
}

#[tokio::test]
async fn the_oldest_is_told_why_it_is_closed() {
    let town = SocketLab::of(&["bob"], "{}").await;
    let mut oldest = town.connect("bob").await;
    let mut others = Vec::new();
    for _ in 0..FeedStore::MAX_CONNECTIONS {
        town.pass_seconds(1);
        others.push(town.connect("bob").await);
    }
    let ServerMessage::Problem { detail, .. } = oldest.next_message().await else {
        panic!("no reason")
    };
    assert!(detail.contains("too often"), "{detail}");
    assert_eq!(oldest.close_code().await, 1000);
    assert_eq!(town.connections("bob").await.len(), FeedStore::MAX_CONNECTIONS);
    others[0].say(&json!({ "type": "ping" })).await;
    assert!(matches!(others[0].next_message().await, ServerMessage::Pong { .. }));
}

#[tokio::test]
async fn a_client_that_is_not_known_any_more_is_asked_to_connect_again() {
    let town = SocketLab::of(&["bob"], "{}").await;
    let mut bob = town.connect("bob").await;
    let known = town.connections("bob").await.remove(0);
    let target = feed::store::ReaderConnection { reader: person("bob"), connection: known };
    town.people.store().remove_connection(&target).await.unwrap();
    bob.say(&json!({ "type": "ping" })).await;
    let ServerMessage::Problem { detail, .. } = bob.next_message().await else {
        panic!("no reason")
    };
    assert!(detail.contains("connect again"), "{detail}");
    assert_eq!(bob.close_code().await, 1000);
}

#[tokio::test(start_paused = true)]
async fn who_can_t_be_reached_is_told_a_moment_later() {
    let people = People::called(&["ada", "bob"]).await;
    people.put("bob", "follow", "ada").await;
    people.lab.cloud.settle().await;
    let target =
        feed::store::ReaderConnection { reader: person("bob"), connection: "c=".to_owned() };
    let now = people.lab.now();
    people.store().add_connection(&target, now).await.unwrap();
    let faults = &people.lab.cloud.faults;
    faults.record(|call| call.service == Service::Connections);
    faults.hang(Some(|call| call.service == Service::Connections));
    let post = people.say("ada", "hi").await;
    people.lab.cloud.settle().await;
    // It is in the timeline all the same, and the message about it is not repeated.
    assert_eq!(people.timeline("bob").await.len(), 1);
    assert_eq!(people.unfinished().await, 0);
    assert_eq!(people.store().connection_owner("c=").await.unwrap().unwrap().reader, person("bob"));
    faults.hang(None);
    people.lab.advance_seconds(10);
    people.lab.cloud.settle().await;
    let told = faults.recorded();
    let named = told.last().map(|call| String::from_utf8_lossy(&call.body).into_owned());
    assert!(named.is_some_and(|hint| hint.contains(&post)), "{told:?}");
    // No client holds the other end, but it could still be on its way to be opened.
    assert_eq!(people.store().connection_owner("c=").await.unwrap().unwrap().reader, person("bob"));
    people.lab.advance_seconds(10);
    people.lab.cloud.settle().await;
    assert_eq!(
        people.store().connection_owner("c=").await.unwrap(),
        None,
        "by now it would be open"
    );
}
