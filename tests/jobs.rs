//! Tests of jobs that need more than one crate: rows, flows, races, faults, crash points, mutations.

mod crash_points;
mod faults;
mod flows;
mod mutations;
mod races;
mod store;

use ::jobs::store::Jobs;
use ::store::{ALWAYS, Key, Table};
use domain::jobs::{Job, JobId};
use http::Method;
use serde_json::{Value, json};
use tests::{Lab, Response, assert_names, root_key, send};

const JOBS: &str = "/api/v1/jobs";

/// The id of no job.
const UNKNOWN_JOB: &str = "0000000000000000000000000000";

/// Submits a job that must be new; its id.
async fn submit(lab: &Lab, body: &Value) -> String {
    let made = lab.post(JOBS, body).await;
    assert_eq!(made.status, 201, "{body}: {}", made.body);
    made.text("jobId").to_owned()
}

/// Submits a job of a type, with some more members.
async fn submit_as(lab: &Lab, job_type: &str, more: Value) -> String {
    let mut body = more;
    body["jobType"] = json!(job_type);
    submit(lab, &body).await
}

async fn job(lab: &Lab, id: &str) -> Response {
    lab.get(&format!("{JOBS}/{id}")).await.assert_status(200)
}

async fn status(lab: &Lab, id: &str) -> String {
    job(lab, id).await.text("status").to_owned()
}

async fn save(lab: &Lab, job_type: &str, body: &Value) -> Response {
    let path = format!("/api/v1/job-types/{job_type}");
    let saved = send(lab, Method::PUT, &path, &root_key(), body).await;
    assert!(saved.status.is_success(), "{body}: {}", saved.body);
    saved
}

/// A lab with a polled type.
async fn polled_lab(max: u32) -> Lab {
    let lab = Lab::new();
    polled(&lab, "outside", max).await;
    lab
}

/// A lab with a job of such a type that the worker `w` has started.
async fn running() -> (Lab, String) {
    let lab = polled_lab(1).await;
    submit_as(&lab, "outside", json!({})).await;
    let id = begin(&lab, "outside", "w").await;
    (lab, id)
}

/// Saves a polled type.
async fn polled(lab: &Lab, job_type: &str, max: u32) {
    save(lab, job_type, &json!({ "delivery": "poll", "maxConcurrent": max })).await;
}

async fn in_use(lab: &Lab, job_type: &str) -> u64 {
    lab.get(&format!("/api/v1/job-types/{job_type}")).await.body["inUse"].as_u64().unwrap()
}

/// Ids and attempts of the jobs that a worker claims.
async fn claim(lab: &Lab, job_type: &str, worker: &str, max: u32) -> Vec<(String, u64)> {
    let body = json!({ "workerId": worker, "max": max });
    let given = lab.post(&format!("/api/v1/job-types/{job_type}/claim"), &body).await;
    assert_eq!(given.status, 200, "{}", given.body);
    let jobs = given.body["jobs"].as_array().unwrap().iter();
    let read = |task: &Value| {
        (task["jobId"].as_str().unwrap().to_owned(), task["attempt"].as_u64().unwrap())
    };
    jobs.map(read).collect()
}

/// The ids alone.
async fn claimed(lab: &Lab, job_type: &str, worker: &str, max: u32) -> Vec<String> {
    claim(lab, job_type, worker, max).await.into_iter().map(|(id, _)| id).collect()
}

/// A worker's `start`, `heartbeat`, `complete`, `fail` or `artifacts`.
async fn report(
    lab: &Lab,
    id: &str,
    operation: &str,
    worker: &str,
    attempt: u64,
    more: Value,
) -> Response {
    let mut body = more;
    body["workerId"] = json!(worker);
    body["attempt"] = json!(attempt);
    lab.post(&format!("{JOBS}/{id}/{operation}"), &body).await
}

async fn start(lab: &Lab, id: &str, worker: &str, attempt: u64) {
    report(lab, id, "start", worker, attempt, json!({})).await.assert_status(200);
}

async fn complete(lab: &Lab, id: &str, worker: &str, attempt: u64) {
    let done = report(lab, id, "complete", worker, attempt, json!({})).await;
    assert_eq!((done.status.as_u16(), done.text("status")), (200, "COMPLETED"), "{}", done.body);
}

/// The worker `w` starts a job that it has claimed, and completes it.
async fn work(lab: &Lab, id: &str) {
    start(lab, id, "w", 1).await;
    complete(lab, id, "w", 1).await;
}

/// A worker claims one job of the type and starts it.
async fn begin(lab: &Lab, job_type: &str, worker: &str) -> String {
    let (id, attempt) = claim(lab, job_type, worker, 1).await.pop().unwrap();
    start(lab, &id, worker, attempt).await;
    id
}

async fn cancel(lab: &Lab, id: &str) -> Response {
    send(lab, Method::DELETE, &format!("{JOBS}/{id}"), &root_key(), &Value::Null).await
}

async fn retry(lab: &Lab, id: &str) -> Response {
    lab.post(&format!("{JOBS}/{id}/retry"), &Value::Null).await
}

/// The names of the events in a job's audit trail.
async fn event_names(lab: &Lab, id: &str) -> Vec<String> {
    let trail = lab.get(&format!("{JOBS}/{id}/events")).await;
    let items = trail.body["items"].as_array().unwrap().iter();
    items.map(|item| item["what"]["event"].as_str().unwrap().to_owned()).collect()
}

fn jobs(lab: &Lab) -> Jobs {
    Jobs::new(Table::new(lab.aws().dynamodb(), lab.table("JobsTable")))
}

/// The row itself.
async fn stored(lab: &Lab, id: &str) -> Job {
    jobs(lab).find(&JobId::parse(id).unwrap()).await.unwrap().unwrap()
}

/// Writes a count into the licence row of the type `outside`, without a condition.
async fn set_licence_count(lab: &Lab, in_use: u64) {
    let table = Table::new(lab.aws().dynamodb(), lab.table("JobsTable"));
    let row = Key::new("licence#outside#0", "licence");
    let wrong = ALWAYS.with(":wrong", in_use);
    table.update(row, "SET in_use = :wrong", wrong, "tamper").await.unwrap();
}

/// Writes a holder row of that type for a job, without a condition.
async fn leave_holder(lab: &Lab, id: &str) {
    let table = Table::new(lab.aws().dynamodb(), lab.table("JobsTable"));
    let row = Key::new("licence#outside#0", format!("holder#{id}"));
    let due = ALWAYS.with(":due", "2026-03-01T12:00:00Z");
    table.update(row, "SET due = :due", due, "leave behind").await.unwrap();
}

async fn purge_queue(lab: &Lab, logical_id: &str) {
    lab.cloud.functions.quiesce().await;
    lab.cloud.services.queues().purge(&lab.queue(logical_id)).unwrap();
}

/// Advances the clock in steps of five seconds, with a sweep each minute since the test began.
async fn pass_time(lab: &Lab, clock: &mut u64, seconds: u64) {
    for _ in 0..seconds / 5 {
        *clock += 5;
        lab.advance_seconds(5);
        if clock.is_multiple_of(60) {
            lab.sweep().await;
        }
        lab.cloud.settle().await;
    }
}
