//! What runs behind the answer: handing out, working, telling of ends, watching, sweeping.

use std::collections::BTreeSet;

use domain::jobs::Status;
use local::faults::Fault;
use serde_json::json;

use super::{DONE, check, is_death, stop, sweep, watched};
use crate::jobs::faults::{POLLED, Watch};
use crate::jobs::{lose, submit};

#[test]
fn no_call_of_dispatch_or_of_the_sample_worker_can_fail_in_a_way_that_lasts() {
    sweep("hand out", 8, |nth, fault| strike_queue("Dispatch", nth, fault));
    sweep("work", 5, |nth, fault| strike_queue("Work", nth, fault));
    sweep("tell of an end", 13, strike_end);
    sweep("look for silent workers", 5, strike_watch);
}

#[test]
fn no_call_of_the_sweep_can_fail_in_a_way_that_lasts() {
    sweep("sweep", 20, strike_sweep);
}

/// One turn of a function's queue, without what goes wrong around it.
async fn turn(watch: &Watch, function: &str) -> usize {
    let mut mappings = watch.lab.cloud.pump.mappings().iter();
    let mapping = mappings.find(|mapping| mapping.function == function).unwrap();
    watch.lab.cloud.pump.poll(mapping).await.received
}

/// A job that goes to the worker queue, struck on its way there or there.
async fn strike_queue(function: &str, nth: u64, fault: Fault) -> bool {
    let watch = watched().await;
    let id = submit(&watch.lab, &json!({ "jobType": "echo", "payload": 1 })).await;
    if function == "Work" {
        assert_ne!(turn(&watch, "Dispatch").await, 0);
    }
    watch.lab.cloud.faults.inject(nth, fault);
    assert_ne!(turn(&watch, function).await, 0);
    let struck = stop(&watch);
    let context = format!("{function}, call {nth}, {fault:?}");
    let jobs =
        watch.rest(&BTreeSet::new()).await.map_err(|why| format!("{context}: {why}")).unwrap();
    watch.hold_ends(&jobs).await.map_err(|why| format!("{context}: {why}")).unwrap();
    // A worker that dies while it runs the job has used an attempt up.
    let attempts = if function == "Work" && is_death(fault) { 1..=2 } else { 1..=1 };
    let [job] = jobs.as_slice() else { panic!("{context}: {jobs:?}") };
    assert_eq!((job.id.as_str(), job.status), (id.as_str(), Status::Completed), "{context}");
    assert!(attempts.contains(&job.attempt), "{context}: {job:?}");
    struck
}

/// A job ends for good that two others wait for.
async fn strike_end(nth: u64, fault: Fault) -> bool {
    let watch = watched().await;
    let id = submit(&watch.lab, &json!({ "jobType": POLLED })).await;
    let on = json!([id]);
    let fails = submit(&watch.lab, &json!({ "jobType": POLLED, "dependencies": on })).await;
    let body = json!({ "jobType": POLLED, "dependencies": on, "onDependencyFailure": "run" });
    let runs = submit(&watch.lab, &body).await;
    watch.lab.cloud.settle().await;
    let mut word = json!({ "workerId": "w" });
    watch.lab.post(&format!("/api/v1/job-types/{POLLED}/claim"), &word).await;
    word["attempt"] = json!(1);
    watch.lab.post(&format!("/api/v1/jobs/{id}/start"), &word).await;
    word["retryable"] = json!(false);
    watch.lab.post(&format!("/api/v1/jobs/{id}/fail"), &word).await;
    watch.lab.cloud.faults.inject(nth, fault);
    assert_eq!(turn(&watch, "Dispatch").await, 1);
    let struck = stop(&watch);
    let context = format!("tell of an end, call {nth}, {fault:?}");
    let failed = (Status::Failed, 1);
    let jobs = check(&watch, &context, &[(&id, failed), (&fails, failed), (&runs, DONE)]).await;
    for job in jobs.iter().filter(|job| job.id.as_str() != id) {
        let path = format!("/api/v1/jobs/{}/events", job.id.as_str());
        let trail = watch.lab.get(&path).await;
        let told = trail.body["items"].as_array().unwrap().iter();
        let told = told.filter(|item| item["what"]["event"] == "dependency-ended").count();
        assert_eq!(told, 1, "{context}: {}", trail.body);
    }
    struck
}

/// A worker fell silent.
async fn strike_watch(nth: u64, fault: Fault) -> bool {
    let watch = watched().await;
    let id = submit(&watch.lab, &json!({ "jobType": POLLED })).await;
    let mut word = json!({ "workerId": "w" });
    watch.lab.post(&format!("/api/v1/job-types/{POLLED}/claim"), &word).await;
    word["attempt"] = json!(1);
    watch.lab.post(&format!("/api/v1/jobs/{id}/start"), &word).await;
    watch.lab.cloud.settle().await;
    watch.lab.advance_seconds(61);
    watch.sweep().await;
    watch.lab.cloud.faults.inject(nth, fault);
    assert_ne!(turn(&watch, "Dispatch").await, 0);
    let struck = stop(&watch);
    let context = format!("silence, call {nth}, {fault:?}");
    check(&watch, &context, &[(&id, (Status::Completed, 2))]).await;
    struck
}

/// Every message was lost: of an end, of a job to hand out, of one that waits, of a silent worker.
async fn strike_sweep(nth: u64, fault: Fault) -> bool {
    let watch = watched().await;
    let ended = submit(&watch.lab, &json!({ "jobType": POLLED })).await;
    let child = submit(&watch.lab, &json!({ "jobType": POLLED, "dependencies": [ended] })).await;
    let silent = submit(&watch.lab, &json!({ "jobType": POLLED })).await;
    let mut word = json!({ "workerId": "w", "max": 2 });
    watch.lab.post(&format!("/api/v1/job-types/{POLLED}/claim"), &word).await;
    word = json!({ "workerId": "w", "attempt": 1 });
    for id in [&ended, &silent] {
        watch.lab.post(&format!("/api/v1/jobs/{id}/start"), &word).await;
    }
    watch.lab.post(&format!("/api/v1/jobs/{ended}/complete"), &word).await;
    let queued = submit(&watch.lab, &json!({ "jobType": "echo" })).await;
    lose(&watch.lab, "DispatchQueue").await;
    watch.lab.advance_seconds(61);
    watch.lab.cloud.faults.inject(nth, fault);
    watch.sweep().await;
    let struck = stop(&watch);
    let context = format!("sweep, call {nth}, {fault:?}");
    let again = (Status::Completed, 2);
    let ends = [(&*ended, DONE), (&*child, DONE), (&*silent, again), (&*queued, DONE)];
    check(&watch, &context, &ends).await;
    struck
}
