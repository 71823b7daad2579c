//! Missed heartbeats, and runs that take too long.

use serde_json::json;
use tests::Lab;

use crate::jobs::{
    begin, cancel, claim, event_names, in_use, job, pass_time, polled, purge_queue, report, start,
    status, submit_as,
};

/// Seconds until the job is in that state, from now on.
async fn until(lab: &Lab, clock: &mut u64, id: &str, expected: &str) -> u64 {
    for waited in (5..=300).step_by(5) {
        pass_time(lab, clock, 5).await;
        if status(lab, id).await == expected {
            return waited;
        }
    }
    panic!("it never was {expected}: {}", job(lab, id).await.body);
}

#[tokio::test(start_paused = true)]
async fn a_killed_workers_job_is_queued_again_60_to_75_seconds_after_its_last_heartbeat() {
    for (before, beats) in [(0, 0), (5, 0), (10, 1), (55, 4), (30, 7)] {
        let lab = Lab::new();
        let mut clock = 0;
        polled(&lab, "outside", 1).await;
        submit_as(&lab, "outside", json!({})).await;
        pass_time(&lab, &mut clock, before).await;
        let id = begin(&lab, "outside", "w").await;
        for _ in 0..beats {
            pass_time(&lab, &mut clock, 20).await;
            assert_eq!(report(&lab, &id, "heartbeat", "w", 1, json!({})).await.status, 200);
        }
        let waited = until(&lab, &mut clock, &id, "QUEUED").await;
        assert!((60..=75).contains(&waited), "{before} {beats}: {waited}");
        let again = job(&lab, &id).await.body;
        assert_eq!((&again["attempt"], in_use(&lab, "outside").await), (&json!(2), 0));
        assert_eq!(again["error"], "its worker was silent for 60 s");
        report(&lab, &id, "complete", "w", 1, json!({})).await.assert_status(409);
        assert_eq!(claim(&lab, "outside", "v", 1).await, [(id, 2)]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_that_kills_its_workers_ends_after_its_last_attempt_with_a_dead_letter() {
    let lab = Lab::new();
    let mut clock = 0;
    polled(&lab, "outside", 1).await;
    let id = submit_as(&lab, "outside", json!({ "retryPolicy": { "maxAttempts": 3 } })).await;
    for attempt in 1..=3 {
        assert_eq!(claim(&lab, "outside", "w", 1).await, [(id.clone(), attempt)]);
        start(&lab, &id, "w", attempt).await;
        pass_time(&lab, &mut clock, 75).await;
    }
    assert_eq!(status(&lab, &id).await, "FAILED");
    assert_eq!(in_use(&lab, "outside").await, 0);
    let queue = lab.queue("WorkDeadLetters");
    let dead_letters = lab.cloud.services.queues().receive(&queue, 10, None).unwrap();
    assert_eq!(dead_letters.len(), 1);
    assert!(dead_letters[0].body.contains(&id));
    let reason = dead_letters[0].message_attributes["reason"].string_value.clone().unwrap();
    assert_eq!(reason, "its worker was silent for 60 s");
    pass_time(&lab, &mut clock, 120).await;
    assert_eq!(event_names(&lab, &id).await.len(), 10, "nothing happens any more");
}

#[tokio::test(start_paused = true)]
async fn a_job_that_no_worker_starts_is_queued_again_and_uses_up_no_attempt() {
    let lab = Lab::new();
    let mut clock = 0;
    polled(&lab, "outside", 1).await;
    let id = submit_as(&lab, "outside", json!({})).await;
    claim(&lab, "outside", "w", 1).await;
    let waited = until(&lab, &mut clock, &id, "QUEUED").await;
    assert!((60..=75).contains(&waited), "{waited}");
    assert_eq!(claim(&lab, "outside", "v", 1).await, [(id, 1)]);
}

#[tokio::test(start_paused = true)]
async fn an_assignment_that_was_lost_on_its_way_is_made_again() {
    let lab = Lab::new();
    let mut clock = 0;
    let id = submit_as(&lab, "echo", json!({ "payload": 1 })).await;
    lab.cloud.functions.quiesce().await;
    let mapping = lab.cloud.pump.mappings().iter().find(|to| to.function == "Dispatch").unwrap();
    lab.cloud.pump.poll(mapping).await;
    assert_eq!(status(&lab, &id).await, "ASSIGNED");
    purge_queue(&lab, "WorkQueue").await;
    let waited = until(&lab, &mut clock, &id, "COMPLETED").await;
    assert!((60..=75).contains(&waited), "{waited}");
    assert_eq!(job(&lab, &id).await.body["attempt"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_takes_too_long_is_ended_though_its_worker_sends_heartbeats() {
    let lab = Lab::new();
    let mut clock = 0;
    polled(&lab, "outside", 1).await;
    let retry = json!({ "maxAttempts": 2, "backoffSeconds": 0 });
    let more = json!({ "timeoutSeconds": 90, "retryPolicy": retry });
    let id = submit_as(&lab, "outside", more).await;
    begin(&lab, "outside", "w").await;
    let mut ran = 0;
    while status(&lab, &id).await == "RUNNING" {
        assert_eq!(report(&lab, &id, "heartbeat", "w", 1, json!({})).await.status, 200);
        pass_time(&lab, &mut clock, 5).await;
        ran += 5;
    }
    assert!((90..=105).contains(&ran), "{ran}");
    let found = job(&lab, &id).await.body;
    assert_eq!((&found["status"], &found["attempt"]), (&json!("QUEUED"), &json!(2)));
    assert_eq!(found["error"], "it ran longer than 90 s");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_that_misses_its_heartbeats_is_cancelled() {
    let lab = Lab::new();
    let mut clock = 0;
    polled(&lab, "outside", 1).await;
    submit_as(&lab, "outside", json!({})).await;
    let id = begin(&lab, "outside", "w").await;
    cancel(&lab, &id).await;
    pass_time(&lab, &mut clock, 75).await;
    assert_eq!(status(&lab, &id).await, "CANCELLED");
}
