//! Crash points of jobs: a fault at each call of each function between a submission and its announced end.
//!
//! Whichever call failed, every job ends once, with the status and the attempt that it would have without
//! the fault, no job holds a licence, and the audit trail agrees.

mod event_functions;

use std::collections::BTreeSet;

use domain::jobs::{Job, JobStatus};
use http::Method;
use local::faults::Fault;
use serde_json::{Value, json};
use tests::{Lab, Response, root_key};

use crate::faults::crash_points::sweep;
use crate::items::text;
use crate::jobs::faults::{Harness, POLLED};
use crate::jobs::submit;

/// How a job may have ended, and with which attempt.
type End = (JobStatus, u32);

#[test]
fn no_call_of_a_submission_can_fail_in_a_way_that_loses_or_doubles_a_job() {
    sweep("submit a job", 4, |nth, fault| strike_submission(false, nth, fault));
    sweep("submit a job that waits", 5, |nth, fault| strike_submission(true, nth, fault));
}

#[test]
fn no_call_of_a_worker_can_fail_in_a_way_that_lasts() {
    sweep("claim", 7, |nth, fault| strike_worker_call("claim", nth, fault));
    sweep("start", 2, |nth, fault| strike_worker_call("start", nth, fault));
    sweep("heartbeat", 1, |nth, fault| strike_worker_call("heartbeat", nth, fault));
    sweep("complete", 3, |nth, fault| strike_worker_call("complete", nth, fault));
    sweep("fail", 3, |nth, fault| strike_worker_call("fail", nth, fault));
    sweep("fail for good", 3, |nth, fault| strike_worker_call("fail for good", nth, fault));
}

#[test]
fn no_call_of_an_owner_can_fail_in_a_way_that_lasts() {
    sweep("cancel what is queued", 3, |nth, fault| strike_cancel(false, nth, fault));
    sweep("cancel what runs", 2, |nth, fault| strike_cancel(true, nth, fault));
    sweep("retry", 3, strike_retry);
    sweep("change a limit", 3, strike_limit);
}

/// A lab with a polled type of two licences and two attempts.
async fn harness() -> Harness {
    let harness = Harness::new(Lab::new());
    let retry = json!({ "maxAttempts": 2, "backoffSeconds": 1 });
    let job_type = json!({ "delivery": "poll", "maxConcurrent": 2, "retryPolicy": retry });
    assert_eq!(harness.save_type(&job_type).await.status, 201);
    harness
}

/// Repeats a call until it has a definite response.
async fn call_until_answered(lab: &Lab, method: Method, path: &str, body: &Value) -> Response {
    let call = lab.call(method, path).by(&root_key()).header("idempotency-key", "once");
    let call = if body.is_null() { call } else { call.json(body) };
    call.send_until_answered().await
}

/// Whether the function crashed, so that its caller got no response.
fn is_crash(fault: Fault) -> bool {
    matches!(fault, Fault::CrashBefore | Fault::CrashAfter)
}

/// Lets all jobs end and compares their ends.
async fn check(harness: &Harness, context: &str, ends: &[(&str, End)]) -> Vec<Job> {
    let jobs =
        harness.drain(&BTreeSet::new()).await.map_err(|why| format!("{context}: {why}")).unwrap();
    harness.check_ends(&jobs).await.map_err(|why| format!("{context}: {why}")).unwrap();
    assert_eq!(jobs.len(), ends.len(), "{context}");
    for (id, end) in ends {
        let job = jobs.iter().find(|job| job.id.as_str() == *id).unwrap();
        assert_eq!((job.status, job.attempt), *end, "{context}: {job:?}");
    }
    jobs
}

const DONE: End = (JobStatus::Completed, 1);

async fn strike_submission(waits: bool, nth: u64, fault: Fault) -> bool {
    let harness = harness().await;
    let parent = submit(&harness.lab, &json!({ "jobType": POLLED })).await;
    let on = if waits { vec![parent.clone()] } else { Vec::new() };
    let body = json!({ "jobType": POLLED, "payload": { "of": "mine" }, "dependencies": on });
    harness.lab.cloud.functions.go_cold();
    harness.lab.cloud.faults.inject(nth, fault);
    let answer = call_until_answered(&harness.lab, Method::POST, "/api/v1/jobs", &body).await;
    let struck = harness.lab.stop_faults();
    let context = format!("submit, {waits}, call {nth}, {fault:?}: {}", answer.body);
    assert_eq!(answer.status, 201, "{context}");
    let payloads = harness.rows().await;
    let payloads = payloads.iter().filter(|row| text(row, "payload").contains("mine")).count();
    assert_eq!(payloads, 1, "{context}");
    check(&harness, &context, &[(&parent, DONE), (answer.text("jobId"), DONE)]).await;
    struck
}

/// A worker's call about a job that has come as far as is needed for it.
async fn strike_worker_call(operation: &str, nth: u64, fault: Fault) -> bool {
    let harness = harness().await;
    let id = submit(&harness.lab, &json!({ "jobType": POLLED })).await;
    let say = json!({ "workerId": "w", "attempt": 1 });
    let claim = (format!("/api/v1/job-types/{POLLED}/claim"), json!({ "workerId": "w" }));
    let start = (format!("/api/v1/jobs/{id}/start"), say.clone());
    let fail = |retryable: bool| {
        let mut body = say.clone();
        body["retryable"] = json!(retryable);
        (format!("/api/v1/jobs/{id}/fail"), body)
    };
    let before = match operation {
        "claim" => Vec::new(),
        "start" => vec![claim.clone()],
        _ => vec![claim.clone(), start.clone()],
    };
    for (path, body) in &before {
        assert_eq!(harness.lab.post(path, body).await.status, 200);
    }
    let ((path, body), end) = match operation {
        "claim" => (claim, DONE),
        "start" => (start, DONE),
        "fail" => (fail(true), (JobStatus::Completed, 2)),
        "fail for good" => (fail(false), (JobStatus::Failed, 1)),
        other => ((format!("/api/v1/jobs/{id}/{other}"), say.clone()), DONE),
    };
    harness.lab.cloud.faults.inject(nth, fault);
    let answer = call_until_answered(&harness.lab, Method::POST, &path, &body).await;
    let struck = harness.lab.stop_faults();
    let context = format!("{operation}, call {nth}, {fault:?}: {}", answer.body);
    // A worker that repeats `fail` after a crash is refused: the first one counted.
    let counted = operation == "fail" && is_crash(fault) && answer.status == 409;
    assert!(answer.status == 200 || counted, "{context}");
    if ["start", "heartbeat"].contains(&operation) {
        let done = harness.lab.post(&format!("/api/v1/jobs/{id}/complete"), &say).await;
        assert_eq!(done.status, 200, "{context}: {}", done.body);
    }
    check(&harness, &context, &[(&id, end)]).await;
    struck
}

async fn strike_cancel(running: bool, nth: u64, fault: Fault) -> bool {
    let harness = harness().await;
    let id = submit(&harness.lab, &json!({ "jobType": POLLED })).await;
    let say = json!({ "workerId": "w", "attempt": 1 });
    if running {
        let claim = json!({ "workerId": "w" });
        harness.lab.post(&format!("/api/v1/job-types/{POLLED}/claim"), &claim).await;
        harness.lab.post(&format!("/api/v1/jobs/{id}/start"), &say).await;
    }
    harness.lab.cloud.faults.inject(nth, fault);
    let path = format!("/api/v1/jobs/{id}");
    let answer = call_until_answered(&harness.lab, Method::DELETE, &path, &Value::Null).await;
    let struck = harness.lab.stop_faults();
    let context = format!("cancel, {running}, call {nth}, {fault:?}: {}", answer.body);
    assert!(answer.status.is_success(), "{context}");
    if running {
        let beat = harness.lab.post(&format!("{path}/heartbeat"), &say).await;
        assert_eq!(beat.text("action"), "cancel", "{context}");
    }
    check(&harness, &context, &[(&id, (JobStatus::Cancelled, 1))]).await;
    struck
}

async fn strike_retry(nth: u64, fault: Fault) -> bool {
    let harness = harness().await;
    let id = submit(&harness.lab, &json!({ "jobType": POLLED })).await;
    let path = format!("/api/v1/jobs/{id}");
    harness.lab.call(Method::DELETE, &path).by(&root_key()).send().await;
    harness.lab.cloud.settle().await;
    harness.lab.cloud.faults.inject(nth, fault);
    let answer =
        call_until_answered(&harness.lab, Method::POST, &format!("{path}/retry"), &Value::Null)
            .await;
    let struck = harness.lab.stop_faults();
    let context = format!("retry, call {nth}, {fault:?}: {}", answer.body);
    // A repeat after a crash is refused: the first one counted.
    let counted = is_crash(fault) && answer.status == 409;
    assert!(answer.status == 200 || counted, "{context}");
    check(&harness, &context, &[(&id, (JobStatus::Completed, 2))]).await;
    struck
}

async fn strike_limit(nth: u64, fault: Fault) -> bool {
    let harness = harness().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(submit(&harness.lab, &json!({ "jobType": POLLED })).await);
    }
    let claim = (format!("/api/v1/job-types/{POLLED}/claim"), json!({ "workerId": "w", "max": 5 }));
    assert_eq!(
        harness.lab.post(&claim.0, &claim.1).await.body["jobs"].as_array().unwrap().len(),
        2
    );
    harness.lab.cloud.faults.inject(nth, fault);
    let path = format!("/api/v1/job-types/{POLLED}");
    let answer =
        call_until_answered(&harness.lab, Method::PUT, &path, &json!({ "maxConcurrent": 1 })).await;
    let struck = harness.lab.stop_faults();
    let context = format!("limit, call {nth}, {fault:?}: {}", answer.body);
    assert!(answer.status.is_success(), "{context}");
    let given = harness.lab.post(&claim.0, &claim.1).await;
    assert_eq!(given.body["jobs"], json!([]), "{context}");
    let ends: Vec<(&str, End)> = ids.iter().map(|id| (id.as_str(), DONE)).collect();
    check(&harness, &context, &ends).await;
    struck
}
