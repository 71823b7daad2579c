//! The event functions: assigning, working, announcing ends, checking workers, sweeping.

use std::collections::BTreeSet;

use domain::jobs::JobStatus;
use local::faults::Fault;
use serde_json::json;

use super::{DONE, check, harness, is_crash, sweep};
use crate::jobs::faults::{Harness, POLLED};
use crate::jobs::{purge_queue, submit};

#[test]
fn no_call_of_dispatch_or_of_the_sample_worker_can_fail_in_a_way_that_lasts() {
    sweep("assign", 8, |nth, fault| strike_queue("Dispatch", nth, fault));
    sweep("work", 5, |nth, fault| strike_queue("Work", nth, fault));
    sweep("announce an end", 13, strike_end);
    sweep("check workers", 5, strike_worker_check);
}

#[test]
fn no_call_of_the_sweep_can_fail_in_a_way_that_lasts() {
    sweep("sweep", 20, strike_sweep);
}

/// One poll of a function's queue.
async fn turn(harness: &Harness, function: &str) -> usize {
    let mut mappings = harness.lab.cloud.pump.mappings().iter();
    let mapping = mappings.find(|mapping| mapping.function == function).unwrap();
    harness.lab.cloud.pump.poll(mapping).await.received
}

/// A job that goes to the worker queue, struck on its way there or there.
async fn strike_queue(function: &str, nth: u64, fault: Fault) -> bool {
    let harness = harness().await;
    let id = submit(&harness.lab, &json!({ "jobType": "echo", "payload": 1 })).await;
    if function == "Work" {
        assert_ne!(turn(&harness, "Dispatch").await, 0);
    }
    harness.lab.cloud.faults.inject(nth, fault);
    assert_ne!(turn(&harness, function).await, 0);
    let struck = harness.lab.stop_faults();
    let context = format!("{function}, call {nth}, {fault:?}");
    let jobs =
        harness.drain(&BTreeSet::new()).await.map_err(|why| format!("{context}: {why}")).unwrap();
    harness.check_ends(&jobs).await.map_err(|why| format!("{context}: {why}")).unwrap();
    // A worker that crashes while it runs the job has used an attempt up.
    let attempts = if function == "Work" && is_crash(fault) { 1..=2 } else { 1..=1 };
    let [job] = jobs.as_slice() else { panic!("{context}: {jobs:?}") };
    assert_eq!((job.id.as_str(), job.status), (id.as_str(), JobStatus::Completed), "{context}");
    assert!(attempts.contains(&job.attempt), "{context}: {job:?}");
    struck
}

/// A job fails for good that two others depend on.
async fn strike_end(nth: u64, fault: Fault) -> bool {
    let harness = harness().await;
    let id = submit(&harness.lab, &json!({ "jobType": POLLED })).await;
    let on = json!([id]);
    let fails = submit(&harness.lab, &json!({ "jobType": POLLED, "dependencies": on })).await;
    let body = json!({ "jobType": POLLED, "dependencies": on, "onDependencyFailure": "run" });
    let runs = submit(&harness.lab, &body).await;
    harness.lab.cloud.settle().await;
    let mut body = json!({ "workerId": "w" });
    harness.lab.post(&format!("/api/v1/job-types/{POLLED}/claim"), &body).await;
    body["attempt"] = json!(1);
    harness.lab.post(&format!("/api/v1/jobs/{id}/start"), &body).await;
    body["retryable"] = json!(false);
    harness.lab.post(&format!("/api/v1/jobs/{id}/fail"), &body).await;
    harness.lab.cloud.faults.inject(nth, fault);
    assert_eq!(turn(&harness, "Dispatch").await, 1);
    let struck = harness.lab.stop_faults();
    let context = format!("announce an end, call {nth}, {fault:?}");
    let failed = (JobStatus::Failed, 1);
    let jobs = check(&harness, &context, &[(&id, failed), (&fails, failed), (&runs, DONE)]).await;
    for job in jobs.iter().filter(|job| job.id.as_str() != id) {
        let path = format!("/api/v1/jobs/{}/events", job.id.as_str());
        let trail = harness.lab.get(&path).await;
        let counted = trail.body["items"].as_array().unwrap().iter();
        let counted = counted.filter(|item| item["what"]["event"] == "dependency-ended").count();
        assert_eq!(counted, 1, "{context}: {}", trail.body);
    }
    struck
}

/// A worker has missed its heartbeats.
async fn strike_worker_check(nth: u64, fault: Fault) -> bool {
    let harness = harness().await;
    let id = submit(&harness.lab, &json!({ "jobType": POLLED })).await;
    let mut body = json!({ "workerId": "w" });
    harness.lab.post(&format!("/api/v1/job-types/{POLLED}/claim"), &body).await;
    body["attempt"] = json!(1);
    harness.lab.post(&format!("/api/v1/jobs/{id}/start"), &body).await;
    harness.lab.cloud.settle().await;
    harness.lab.advance_seconds(61);
    harness.lab.run_schedule("SweepJobs").await;
    harness.lab.cloud.faults.inject(nth, fault);
    assert_ne!(turn(&harness, "Dispatch").await, 0);
    let struck = harness.lab.stop_faults();
    let context = format!("silence, call {nth}, {fault:?}");
    check(&harness, &context, &[(&id, (JobStatus::Completed, 2))]).await;
    struck
}

/// All messages were lost: of an end, of a ready job, of a waiting one, of missed heartbeats.
async fn strike_sweep(nth: u64, fault: Fault) -> bool {
    let harness = harness().await;
    let ended = submit(&harness.lab, &json!({ "jobType": POLLED })).await;
    let child = submit(&harness.lab, &json!({ "jobType": POLLED, "dependencies": [ended] })).await;
    let silent = submit(&harness.lab, &json!({ "jobType": POLLED })).await;
    let mut body = json!({ "workerId": "w", "max": 2 });
    harness.lab.post(&format!("/api/v1/job-types/{POLLED}/claim"), &body).await;
    body = json!({ "workerId": "w", "attempt": 1 });
    for id in [&ended, &silent] {
        harness.lab.post(&format!("/api/v1/jobs/{id}/start"), &body).await;
    }
    harness.lab.post(&format!("/api/v1/jobs/{ended}/complete"), &body).await;
    let queued = submit(&harness.lab, &json!({ "jobType": "echo" })).await;
    purge_queue(&harness.lab, "DispatchQueue").await;
    harness.lab.advance_seconds(61);
    harness.lab.cloud.faults.inject(nth, fault);
    harness.lab.run_schedule("SweepJobs").await;
    let struck = harness.lab.stop_faults();
    let context = format!("sweep, call {nth}, {fault:?}");
    let again = (JobStatus::Completed, 2);
    let ends = [(&*ended, DONE), (&*child, DONE), (&*silent, again), (&*queued, DONE)];
    check(&harness, &context, &ends).await;
    struck
}
