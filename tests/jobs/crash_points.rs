//! The same for jobs: each call of each function between a submission and an end that was told.
//!
//! Whichever call it was that went wrong, in the end every job has ended once, in the way and with the
//! attempt that it would have without, nobody holds a licence, and the trail says so.

mod behind;

use std::collections::BTreeSet;

use domain::jobs::{Job, Status};
use http::Method;
use local::faults::Fault;
use serde_json::{Value, json};
use tests::{Lab, Response, root_key};

use crate::faults::crash_points::sweep;
use crate::items::text;
use crate::jobs::faults::{POLLED, Watch};
use crate::jobs::submit;

/// How a job may have ended, and with which attempt.
type End = (Status, u32);

#[test]
fn no_call_of_a_submission_can_fail_in_a_way_that_loses_or_doubles_a_job() {
    sweep("submit a job", 4, |nth, fault| strike_submission(false, nth, fault));
    sweep("submit a job that waits", 5, |nth, fault| strike_submission(true, nth, fault));
}

#[test]
fn no_call_of_a_worker_can_fail_in_a_way_that_lasts() {
    sweep("claim", 7, |nth, fault| strike_word("claim", nth, fault));
    sweep("start", 2, |nth, fault| strike_word("start", nth, fault));
    sweep("heartbeat", 1, |nth, fault| strike_word("heartbeat", nth, fault));
    sweep("complete", 3, |nth, fault| strike_word("complete", nth, fault));
    sweep("fail", 3, |nth, fault| strike_word("fail", nth, fault));
    sweep("fail for good", 3, |nth, fault| strike_word("fail for good", nth, fault));
}

#[test]
fn no_call_of_an_owner_can_fail_in_a_way_that_lasts() {
    sweep("cancel what is queued", 3, |nth, fault| strike_cancel(false, nth, fault));
    sweep("cancel what runs", 2, |nth, fault| strike_cancel(true, nth, fault));
    sweep("want again", 3, strike_retry);
    sweep("change a limit", 3, strike_limit);
}

/// A lab with a polled type of two licences and two attempts.
async fn watched() -> Watch {
    let watch = Watch::over(Lab::new());
    let retry = json!({ "maxAttempts": 2, "backoffSeconds": 1 });
    let kind = json!({ "delivery": "poll", "maxConcurrent": 2, "retryPolicy": retry });
    assert_eq!(watch.decide(&kind).await.status, 201);
    watch
}

/// Repeats a call until it has an answer.
async fn persist(watch: &Watch, method: Method, path: &str, body: &Value) -> Response {
    loop {
        let call = watch.lab.call(method.clone(), path).by(&root_key());
        let call = call.header("idempotency-key", "once");
        let call = if body.is_null() { call } else { call.json(body) };
        let answer = call.send().await;
        let in_progress = answer.text("type") == "/docs#in-progress";
        if !answer.status.is_server_error() && !in_progress {
            return answer;
        }
        watch.lab.advance_seconds(3);
    }
}

/// Whether a function died of it, so that nobody was answered.
fn is_death(fault: Fault) -> bool {
    matches!(fault, Fault::CrashBefore | Fault::CrashAfter)
}

/// Whether the fault came; nothing goes wrong from now on.
fn stop(watch: &Watch) -> bool {
    let struck = !watch.lab.cloud.faults.is_pending();
    watch.lab.cloud.faults.stop();
    struck
}

/// Lets everything end and compares how.
async fn check(watch: &Watch, context: &str, ends: &[(&str, End)]) -> Vec<Job> {
    let jobs =
        watch.rest(&BTreeSet::new()).await.map_err(|why| format!("{context}: {why}")).unwrap();
    watch.hold_ends(&jobs).await.map_err(|why| format!("{context}: {why}")).unwrap();
    assert_eq!(jobs.len(), ends.len(), "{context}");
    for (id, end) in ends {
        let job = jobs.iter().find(|job| job.id.as_str() == *id).unwrap();
        assert_eq!((job.status, job.attempt), *end, "{context}: {job:?}");
    }
    jobs
}

const DONE: End = (Status::Completed, 1);

async fn strike_submission(waits: bool, nth: u64, fault: Fault) -> bool {
    let watch = watched().await;
    let parent = submit(&watch.lab, &json!({ "jobType": POLLED })).await;
    let on = if waits { vec![parent.clone()] } else { Vec::new() };
    let body = json!({ "jobType": POLLED, "payload": { "of": "mine" }, "dependencies": on });
    watch.lab.cloud.functions.go_cold();
    watch.lab.cloud.faults.inject(nth, fault);
    let answer = persist(&watch, Method::POST, "/api/v1/jobs", &body).await;
    let struck = stop(&watch);
    let context = format!("submit, {waits}, call {nth}, {fault:?}: {}", answer.body);
    assert_eq!(answer.status, 201, "{context}");
    let payloads = watch.rows().await;
    let payloads = payloads.iter().filter(|row| text(row, "payload").contains("mine")).count();
    assert_eq!(payloads, 1, "{context}");
    check(&watch, &context, &[(&parent, DONE), (answer.text("jobId"), DONE)]).await;
    struck
}

/// A worker's word about a job that has come as far as is needed for it.
async fn strike_word(word: &str, nth: u64, fault: Fault) -> bool {
    let watch = watched().await;
    let id = submit(&watch.lab, &json!({ "jobType": POLLED })).await;
    let say = json!({ "workerId": "w", "attempt": 1 });
    let claim = (format!("/api/v1/job-types/{POLLED}/claim"), json!({ "workerId": "w" }));
    let start = (format!("/api/v1/jobs/{id}/start"), say.clone());
    let fail = |retryable: bool| {
        let mut body = say.clone();
        body["retryable"] = json!(retryable);
        (format!("/api/v1/jobs/{id}/fail"), body)
    };
    let before = match word {
        "claim" => Vec::new(),
        "start" => vec![claim.clone()],
        _ => vec![claim.clone(), start.clone()],
    };
    for (path, body) in &before {
        assert_eq!(watch.lab.post(path, body).await.status, 200);
    }
    let ((path, body), end) = match word {
        "claim" => (claim, DONE),
        "start" => (start, DONE),
        "fail" => (fail(true), (Status::Completed, 2)),
        "fail for good" => (fail(false), (Status::Failed, 1)),
        other => ((format!("/api/v1/jobs/{id}/{other}"), say.clone()), DONE),
    };
    watch.lab.cloud.faults.inject(nth, fault);
    let answer = persist(&watch, Method::POST, &path, &body).await;
    let struck = stop(&watch);
    let context = format!("{word}, call {nth}, {fault:?}: {}", answer.body);
    // Who failed and asks again has been heard: that run is over.
    let heard = word == "fail" && is_death(fault) && answer.status == 409;
    assert!(answer.status == 200 || heard, "{context}");
    if ["start", "heartbeat"].contains(&word) {
        let done = watch.lab.post(&format!("/api/v1/jobs/{id}/complete"), &say).await;
        assert_eq!(done.status, 200, "{context}: {}", done.body);
    }
    check(&watch, &context, &[(&id, end)]).await;
    struck
}

async fn strike_cancel(running: bool, nth: u64, fault: Fault) -> bool {
    let watch = watched().await;
    let id = submit(&watch.lab, &json!({ "jobType": POLLED })).await;
    let say = json!({ "workerId": "w", "attempt": 1 });
    if running {
        let claim = json!({ "workerId": "w" });
        watch.lab.post(&format!("/api/v1/job-types/{POLLED}/claim"), &claim).await;
        watch.lab.post(&format!("/api/v1/jobs/{id}/start"), &say).await;
    }
    watch.lab.cloud.faults.inject(nth, fault);
    let path = format!("/api/v1/jobs/{id}");
    let answer = persist(&watch, Method::DELETE, &path, &Value::Null).await;
    let struck = stop(&watch);
    let context = format!("cancel, {running}, call {nth}, {fault:?}: {}", answer.body);
    assert!(answer.status.is_success(), "{context}");
    if running {
        let beat = watch.lab.post(&format!("{path}/heartbeat"), &say).await;
        assert_eq!(beat.text("action"), "cancel", "{context}");
    }
    check(&watch, &context, &[(&id, (Status::Cancelled, 1))]).await;
    struck
}

async fn strike_retry(nth: u64, fault: Fault) -> bool {
    let watch = watched().await;
    let id = submit(&watch.lab, &json!({ "jobType": POLLED })).await;
    let path = format!("/api/v1/jobs/{id}");
    watch.lab.call(Method::DELETE, &path).by(&root_key()).send().await;
    watch.lab.cloud.settle().await;
    watch.lab.cloud.faults.inject(nth, fault);
    let answer = persist(&watch, Method::POST, &format!("{path}/retry"), &Value::Null).await;
    let struck = stop(&watch);
    let context = format!("retry, call {nth}, {fault:?}: {}", answer.body);
    // Who asks again meets what the first try made of it.
    let heard = is_death(fault) && answer.status == 409;
    assert!(answer.status == 200 || heard, "{context}");
    check(&watch, &context, &[(&id, (Status::Completed, 2))]).await;
    struck
}

async fn strike_limit(nth: u64, fault: Fault) -> bool {
    let watch = watched().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(submit(&watch.lab, &json!({ "jobType": POLLED })).await);
    }
    let claim = (format!("/api/v1/job-types/{POLLED}/claim"), json!({ "workerId": "w", "max": 5 }));
    assert_eq!(watch.lab.post(&claim.0, &claim.1).await.body["jobs"].as_array().unwrap().len(), 2);
    watch.lab.cloud.faults.inject(nth, fault);
    let path = format!("/api/v1/job-types/{POLLED}");
    let answer = persist(&watch, Method::PUT, &path, &json!({ "maxConcurrent": 1 })).await;
    let struck = stop(&watch);
    let context = format!("limit, call {nth}, {fault:?}: {}", answer.body);
    assert!(answer.status.is_success(), "{context}");
    let given = watch.lab.post(&claim.0, &claim.1).await;
    assert_eq!(given.body["jobs"], json!([]), "{context}");
    let ends: Vec<(&str, End)> = ids.iter().map(|id| (id.as_str(), DONE)).collect();
    check(&watch, &context, &ends).await;
    struck
}
