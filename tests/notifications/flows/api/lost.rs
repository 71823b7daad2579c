//! The topic does not answer: what was accepted still goes out, and what the user opted out of does not.

use http::Method;
use local::faults::ServiceCall;
use local::services::Service;
use serde_json::{Value, json};
use tests::root_key;

use super::{accepted, put, reachable, read, send, tomorrow, with_providers};

const PREFERENCES: &str = "/api/v1/users/ada/preferences";

fn of_the_topic(call: &ServiceCall) -> bool {
    call.service == Service::Sns
}

/// The topic's calls, and those that find what waits for a user.
fn of_the_topic_or_the_list(call: &ServiceCall) -> bool {
    of_the_topic(call) || String::from_utf8_lossy(&call.body).contains("waiting#")
}

#[tokio::test(start_paused = true)]
async fn what_was_accepted_and_not_published_is_found_by_the_sweep() {
    let (lab, providers) = with_providers();
    reachable(&lab, "ada").await;
    lab.cloud.faults.hang(Some(of_the_topic));
    let mut body = tomorrow("ada");
    body["sendAt"] = Value::Null;
    let id = accepted(&lab, &body).await;
    lab.cloud.faults.hang(None);
    lab.cloud.settle().await;
    assert!(providers.sends().is_empty(), "nothing was sent");
    lab.advance_seconds(61);
    lab.sweep().await;
    lab.cloud.settle().await;
    assert_eq!(read(&lab, &id).await["status"], "delivered");
    assert_eq!(providers.sends().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_opt_out_withdraws_everything_that_waits_also_if_it_can_t_be_published() {
    let (lab, providers) = with_providers();
    reachable(&lab, "ada").await;
    // More than are withdrawn where `deliver` withdraws the rest.
    let mut ids = Vec::new();
    for _ in 0..40 {
        ids.push(accepted(&lab, &tomorrow("ada")).await);
    }
    lab.cloud.faults.hang(Some(of_the_topic));
    let off = json!({ "channels": { "email": false } });
    put(&lab, PREFERENCES, &off).await;
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
    let (lab, _) = with_providers();
    reachable(&lab, "ada").await;
    let mut ids = Vec::new();
    for _ in 0..40 {
        ids.push(accepted(&lab, &tomorrow("ada")).await);
    }
    put(&lab, PREFERENCES, &json!({ "enabled": false })).await;
    lab.advance_seconds(59);
    lab.cloud.settle().await;
    for id in &ids {
        assert_eq!(read(&lab, id).await["status"], "cancelled");
    }
}

#[tokio::test(start_paused = true)]
async fn an_opt_out_that_nothing_could_follow_is_not_answered_and_is_said_again() {
    let (lab, _) = with_providers();
    reachable(&lab, "ada").await;
    let id = accepted(&lab, &tomorrow("ada")).await;
    lab.cloud.faults.hang(Some(of_the_topic_or_the_list));
    let off = json!({ "channels": { "email": false } });
    let failed = send(&lab, Method::PUT, PREFERENCES, &root_key(), &off).await;
    assert!(failed.status.is_server_error(), "{}", failed.body);
    lab.cloud.faults.hang(None);
    let found = read(&lab, &id).await;
    assert_eq!(found["deliveries"][0]["status"], "pending", "nothing could be done about it");
    put(&lab, PREFERENCES, &off).await;
    let found = read(&lab, &id).await;
    assert_eq!(found["deliveries"][0]["why"]["rule"], "opted-out", "{found}");
}
