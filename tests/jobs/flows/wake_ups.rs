//! Wake-ups that are lost: the sweep finds what they were about.

use serde_json::json;
use tests::Lab;

use crate::jobs::{
    begin, cancel, complete, polled_lab, purge_queue, report, save, status, stored, submit_as,
};

async fn sweep_later(lab: &Lab, seconds: i64) {
    lab.advance_seconds(seconds);
    lab.sweep().await;
    lab.cloud.settle().await;
}

#[tokio::test(start_paused = true)]
async fn a_ready_job_whose_wake_up_was_lost_is_handed_out_by_the_sweep() {
    let lab = Lab::new();
    let id = submit_as(&lab, "echo", json!({})).await;
    purge_queue(&lab, "DispatchQueue").await;
    lab.cloud.settle().await;
    assert_eq!(status(&lab, &id).await, "QUEUED");
    sweep_later(&lab, 60).await;
    assert_eq!(status(&lab, &id).await, "COMPLETED");
}

#[tokio::test(start_paused = true)]
async fn an_end_whose_wake_up_was_lost_is_told_by_the_sweep() {
    let lab = polled_lab(1).await;
    let parent = submit_as(&lab, "outside", json!({})).await;
    let child = submit_as(&lab, "echo", json!({ "dependencies": [parent] })).await;
    begin(&lab, "outside", "w").await;
    complete(&lab, &parent, "w", 1).await;
    purge_queue(&lab, "DispatchQueue").await;
    lab.cloud.settle().await;
    assert_eq!(status(&lab, &child).await, "WAITING");
    assert!(!stored(&lab, &parent).await.end_announced);
    sweep_later(&lab, 60).await;
    assert!(stored(&lab, &parent).await.end_announced);
    assert_eq!(status(&lab, &child).await, "COMPLETED");
}

#[tokio::test(start_paused = true)]
async fn a_licence_that_became_free_unheard_goes_to_the_next_by_the_sweep() {
    let lab = Lab::new();
    save(&lab, "echo", &json!({ "maxConcurrent": 1 })).await;
    let first = submit_as(&lab, "echo", json!({})).await;
    lab.cloud.functions.quiesce().await;
    for mapping in lab.cloud.pump.mappings().iter().filter(|to| to.function == "Dispatch") {
        lab.cloud.pump.poll(mapping).await;
    }
    let second = submit_as(&lab, "echo", json!({})).await;
    cancel(&lab, &first).await;
    purge_queue(&lab, "DispatchQueue").await;
    lab.cloud.settle().await;
    assert_eq!(status(&lab, &second).await, "QUEUED");
    sweep_later(&lab, 60).await;
    assert_eq!(status(&lab, &second).await, "COMPLETED");
}

#[tokio::test(start_paused = true)]
async fn a_time_too_far_for_a_wake_up_is_kept_by_the_sweep() {
    let lab = Lab::new();
    let far = json!({ "notBefore": "2026-03-01T13:00:00Z" });
    let id = submit_as(&lab, "echo", far).await;
    sweep_later(&lab, 3_599).await;
    assert_eq!(status(&lab, &id).await, "QUEUED");
    sweep_later(&lab, 60).await;
    assert_eq!(status(&lab, &id).await, "COMPLETED");
}

#[tokio::test(start_paused = true)]
async fn a_backoff_whose_wake_up_was_lost_ends_all_the_same() {
    let lab = polled_lab(1).await;
    let retry = json!({ "maxAttempts": 2, "backoffSeconds": 10 });
    let id = submit_as(&lab, "outside", json!({ "retryPolicy": retry })).await;
    begin(&lab, "outside", "w").await;
    report(&lab, &id, "fail", "w", 1, json!({ "retryable": true })).await;
    save(&lab, "outside", &json!({ "delivery": "sqs" })).await;
    purge_queue(&lab, "DispatchQueue").await;
    sweep_later(&lab, 60).await;
    assert_eq!(status(&lab, &id).await, "FAILED", "the sample worker does not know the type");
}
