//! The workers' operations: which jobs they get, and which reports count.

use serde_json::{Value, json};
use tests::Lab;

use crate::jobs::{
    JOBS, UNKNOWN_JOB, cancel, claim, claimed, complete, event_names, in_use, job, polled_lab,
    report, running, save, start, status, stored, submit_as, work,
};

#[tokio::test(start_paused = true)]
async fn the_most_urgent_goes_first_and_then_the_oldest() {
    let lab = polled_lab(10).await;
    let mut ids = Vec::new();
    for priority in ["P3", "P2", "P0", "P1", "P0"] {
        ids.push(submit_as(&lab, "outside", json!({ "priority": priority })).await);
        lab.advance_seconds(1);
    }
    let order = [2, 4, 3, 1, 0].map(|n: usize| ids[n].clone());
    let mut given = claimed(&lab, "outside", "w", 2).await;
    given.extend(claimed(&lab, "outside", "v", 20).await);
    assert_eq!(given, order);
}

#[tokio::test(start_paused = true)]
async fn after_three_steps_of_aging_nothing_overtakes_the_least_urgent() {
    let lab = Lab::new();
    let body = json!({ "delivery": "poll", "maxConcurrent": 10, "agingSeconds": 100 });
    save(&lab, "outside", &body).await;
    let old = submit_as(&lab, "outside", json!({ "priority": "P3" })).await;
    lab.advance_seconds(299);
    let urgent = submit_as(&lab, "outside", json!({ "priority": "P0" })).await;
    assert_eq!(claimed(&lab, "outside", "w", 1).await, [urgent]);
    let urgent = submit_as(&lab, "outside", json!({ "priority": "P0" })).await;
    lab.advance_seconds(1);
    assert_eq!(claimed(&lab, "outside", "w", 1).await, [old]);
    assert_eq!(claimed(&lab, "outside", "w", 1).await, [urgent]);
}

#[tokio::test(start_paused = true)]
async fn no_more_are_given_than_there_are_licences() {
    let lab = polled_lab(3).await;
    for _ in 0..5 {
        submit_as(&lab, "outside", json!({})).await;
    }
    let given = claimed(&lab, "outside", "w", 20).await;
    assert_eq!((given.len(), in_use(&lab, "outside").await), (3, 3));
    assert!(claim(&lab, "outside", "v", 20).await.is_empty());
    work(&lab, &given[0]).await;
    assert_eq!(claim(&lab, "outside", "v", 20).await.len(), 1);
    let queued = lab.get("/api/v1/job-types/outside").await;
    assert_eq!(queued.body["queued"], json!({ "P0": 0, "P1": 0, "P2": 1, "P3": 0 }));
}

#[tokio::test(start_paused = true)]
async fn only_types_that_are_polled_are_claimed() {
    let lab = Lab::new();
    let body = json!({ "workerId": "w" });
    assert_eq!(lab.post("/api/v1/job-types/echo/claim", &body).await.status, 409);
    assert_eq!(lab.post("/api/v1/job-types/nothing/claim", &body).await.status, 404);
}

/// Every report that a worker may send about a job.
fn reports() -> [(&'static str, Value); 5] {
    [
        ("start", json!({})),
        ("heartbeat", json!({ "progress": 5 })),
        ("complete", json!({})),
        ("fail", json!({ "retryable": true })),
        ("artifacts", json!({ "name": "a.txt" })),
    ]
}

#[tokio::test(start_paused = true)]
async fn no_report_counts_with_another_attempt_or_from_another_worker() {
    let lab = polled_lab(1).await;
    submit_as(&lab, "outside", json!({})).await;
    let (id, _) = claim(&lab, "outside", "w", 1).await.remove(0);
    let early = report(&lab, &id, "start", "v", 1, json!({})).await;
    assert_eq!(early.status, 409, "it is assigned to another");
    start(&lab, &id, "w", 1).await;
    let before = stored(&lab, &id).await;
    for (operation, more) in reports() {
        for (worker, attempt) in [("w", 2), ("w", 0), ("v", 1), ("v", 2)] {
            let answer = report(&lab, &id, operation, worker, attempt, more.clone()).await;
            assert_eq!(answer.status, 409, "{operation} {worker} {attempt}: {}", answer.body);
        }
        assert_eq!(
            report(&lab, UNKNOWN_JOB, operation, "w", 1, more.clone()).await.status,
            404,
            "{operation}"
        );
        assert_eq!(report(&lab, "short", operation, "w", 1, more).await.status, 404, "{operation}");
    }
    assert_eq!(stored(&lab, &id).await, before);
}

#[tokio::test(start_paused = true)]
async fn a_repeated_report_counts_once() {
    let (lab, id) = running().await;
    start(&lab, &id, "w", 1).await;
    let done = json!({ "result": { "n": 1 } });
    for _ in 0..2 {
        let answer = report(&lab, &id, "complete", "w", 1, done.clone()).await;
        assert_eq!((answer.status.as_u16(), &answer.body["result"]), (200, &json!({ "n": 1 })));
    }
    assert_eq!(in_use(&lab, "outside").await, 0);
    report(&lab, &id, "complete", "v", 1, done).await.assert_status(409);
    let failed = report(&lab, &id, "fail", "w", 1, json!({ "retryable": true })).await;
    assert_eq!(failed.status, 409, "it has completed");
    assert_eq!(event_names(&lab, &id).await.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn progress_is_shown_with_an_estimate() {
    let (lab, id) = running().await;
    lab.advance_seconds(20);
    let beat = report(&lab, &id, "heartbeat", "w", 1, json!({ "progress": 25 })).await;
    assert_eq!(beat.body, json!({ "action": "continue" }));
    let shown = job(&lab, &id).await.body;
    assert_eq!((&shown["progress"], &shown["worker"]), (&json!(25), &json!("w")));
    assert_eq!(shown["heartbeatAt"], "2026-03-01T12:00:20Z");
    assert_eq!(shown["estimatedEndAt"], "2026-03-01T12:01:20Z");
    report(&lab, &id, "heartbeat", "w", 1, json!({})).await;
    assert_eq!(job(&lab, &id).await.body["progress"], 25, "without progress it stays");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_is_told_to_stop_at_its_next_heartbeat() {
    let (lab, id) = running().await;
    let asked = cancel(&lab, &id).await;
    assert_eq!((asked.text("status"), &asked.body["cancelRequested"]), ("RUNNING", &json!(true)));
    let beat = report(&lab, &id, "heartbeat", "w", 1, json!({})).await;
    assert_eq!(beat.body, json!({ "action": "cancel" }));
    let stopped = report(&lab, &id, "fail", "w", 1, json!({ "retryable": true })).await;
    assert_eq!(stopped.text("status"), "CANCELLED");
    assert_eq!(in_use(&lab, "outside").await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_completes_before_it_learns_of_its_cancellation_is_completed() {
    let (lab, id) = running().await;
    cancel(&lab, &id).await;
    complete(&lab, &id, "w", 1).await;
    assert_eq!(cancel(&lab, &id).await.status, 409);
    assert_eq!(status(&lab, &id).await, "COMPLETED");
}

#[tokio::test(start_paused = true)]
async fn artifacts_are_linked_from_the_job() {
    let (lab, id) = running().await;
    let place = report(&lab, &id, "artifacts", "w", 1, json!({ "name": "a.txt" })).await;
    let key = format!("artifacts/outside/2026-03-01/{id}/a.txt");
    assert!(place.text("url").contains(&key), "{}", place.body);
    assert_eq!((place.text("method"), place.text("expiresAt")), ("PUT", "2026-03-01T12:15:00Z"));
    let named = json!({ "artifacts": [{ "name": "a.txt" }, { "name": "a.txt" }] });
    report(&lab, &id, "complete", "w", 1, named).await;
    let left = job(&lab, &id).await.body["artifacts"].clone();
    assert_eq!(left.as_array().unwrap().len(), 1);
    assert!(left[0]["url"].as_str().unwrap().contains(&key));
    let listed = lab.get(JOBS).await;
    assert_eq!(listed.body["items"][0]["artifacts"][0].get("url"), None, "lists have no links");
}
