//! The topic answers nobody: what was accepted still goes out, and what nobody wants any more does not.

use http::Method;
use local::faults::ServiceCall;
use local::services::Service;
use serde_json::{Value, json};
use tests::root_key;

use super::{accepted, carried, put, reachable, read, send, tomorrow};

const WANTED: &str = "/api/v1/users/ada/preferences";

fn of_the_topic(call: &ServiceCall) -> bool {
    call.service == Service::Sns
}

/// The topic's calls, and those that find what waits for somebody.
fn of_the_topic_or_the_list(call: &ServiceCall) -> bool {
    of_the_topic(call) || String::from_utf8_lossy(&call.body).contains("waiting#")
}

#[tokio::test(start_paused = true)]
async fn what_was_accepted_and_not_published_is_found_by_the_sweep() {
    let (lab, providers) = carried();
    reachable(&lab, "ada").await;
    lab.cloud.faults.hang(Some(of_the_topic));
    let mut body = tomorrow("ada");
    body["sendAt"] = Value::Null;
    let id = accepted(&lab, &body).await;
    lab.cloud.faults.hang(None);
    lab.cloud.settle().await;
    assert!(providers.sends().is_empty(), "nobody was told");
    lab.advance_seconds(61);
    lab.sweep().await;
    lab.cloud.settle().await;
    assert_eq!(read(&lab, &id).await["status"], "delivered");
    assert_eq!(providers.sends().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_opt_out_takes_back_everything_that_waits_also_if_nobody_can_be_told() {
    let (lab, providers) = carried();
    reachable(&lab, "ada").await;
    // More than are looked at where somebody else looks at the rest.
    let mut ids = Vec::new();
    for _ in 0..40 {
        ids.push(accepted(&lab, &tomorrow("ada")).await);
    }
    lab.cloud.faults.hang(Some(of_the_topic));
    let off = json!({ "channels": { "email": false } });
    put(&lab, WANTED, &off).await;
    lab.cloud.faults.hang(None);
    for id in &ids {
        let found = read(&lab, id).await;
        let mail = &found["deliveries"][0];
        assert_eq!((&mail["channel"], &mail["status"]), (&json!("email"), &json!("cancelled")));
        assert_eq!(mail["why"]["rule"], "opted-out", "{mail}");
        assert_eq!(found["deliveries"][1]["status"], "pending");
    }
    assert!(providers.sends().is_empty());
}

#[tokio::test(start_paused = true)]
async fn with_the_message_more_than_a_few_are_taken_back_within_the_minute() {
    let (lab, _) = carried();
    reachable(&lab, "ada").await;
    let mut ids = Vec::new();
    for _ in 0..40 {
        ids.push(accepted(&lab, &tomorrow("ada")).await);
    }
    put(&lab, WANTED, &json!({ "enabled": false })).await;
    lab.advance_seconds(59);
    lab.cloud.settle().await;
    for id in &ids {
        assert_eq!(read(&lab, id).await["status"], "cancelled");
    }
}

#[tokio::test(start_paused = true)]
async fn an_opt_out_that_nothing_could_follow_is_not_answered_and_is_said_again() {
    let (lab, _) = carried();
    reachable(&lab, "ada").await;
    let id = accepted(&lab, &tomorrow("ada")).await;
    lab.cloud.faults.hang(Some(of_the_topic_or_the_list));
    let off = json!({ "channels": { "email": false } });
    let failed = send(&lab, Method::PUT, WANTED, &root_key(), &off).await;
    assert!(failed.status.is_server_error(), "{}", failed.body);
    lab.cloud.faults.hang(None);
    let found = read(&lab, &id).await;
    assert_eq!(found["deliveries"][0]["status"], "pending", "nothing could be done about it");
    put(&lab, WANTED, &off).await;
    let found = read(&lab, &id).await;
    assert_eq!(found["deliveries"][0]["why"]["rule"], "opted-out", "{found}");
}
