//! Jobs, end to end: assigned, worked on, depended on, cancelled and retried.

mod calls;

use e2e::{Response, Target, target};
use serde_json::{Value, json};

/// How long a job may take that takes no time itself.
const SOON: u64 = 30;

fn submit(target: &Target, body: &Value) -> String {
    let made = target.post("/api/v1/jobs", body);
    assert_eq!(made.status, 201, "{}", made.body);
    assert_eq!(made.location, format!("/api/v1/jobs/{}", made.text("jobId")));
    made.text("jobId").to_owned()
}

fn job(target: &Target, id: &str) -> Response {
    target.get(&format!("/api/v1/jobs/{id}"))
}

fn await_status(target: &Target, id: &str, status: &str) -> Response {
    let seen = target.within(SOON, || job(target, id), |job| job.text("status") == status);
    assert_eq!(seen.text("status"), status, "{}", seen.body);
    seen
}

/// A type of its own that workers poll.
fn polled_job_type(target: &Target, max: u32) -> String {
    let job_type = target.fresh("type");
    let body = json!({ "maxConcurrent": max, "delivery": "poll" });
    let path = format!("/api/v1/job-types/{job_type}");
    let made = target.send("PUT", &path, &target.admin_key, &[], Some(&body));
    assert_eq!(made.status, 201, "{}", made.body);
    job_type
}

fn report(target: &Target, id: &str, verb: &str, attempt: u32) -> Response {
    let body = match verb {
        "fail" => json!({ "workerId": "w", "attempt": attempt, "retryable": false, "error": "no" }),
        "artifacts" => json!({ "workerId": "w", "attempt": attempt, "name": "a.txt" }),
        _ => json!({ "workerId": "w", "attempt": attempt }),
    };
    target.post(&format!("/api/v1/jobs/{id}/{verb}"), &body)
}

#[test]
fn a_job_goes_all_the_way_and_its_trail_says_how() {
    let target = target();
    let key = target.fresh("once");
    let body = json!({ "jobType": "echo", "payload": { "n": 1 }, "idempotencyKey": key });
    let id = submit(target, &body);
    assert_eq!(submit(target, &body), id);
    let other = json!({ "jobType": "echo", "payload": { "n": 2 }, "idempotencyKey": key });
    assert_eq!(target.post("/api/v1/jobs", &other).status, 422);
    let done = await_status(target, &id, "COMPLETED");
    assert_eq!(done.body["result"], json!({ "n": 1 }));
    let trail = target.get(&format!("/api/v1/jobs/{id}/events"));
    let events = trail.body["items"].as_array().unwrap().iter();
    let events: Vec<&str> = events.filter_map(|item| item["what"]["event"].as_str()).collect();
    assert_eq!(events, ["submitted", "assigned", "started", "completed"]);
}

#[test]
fn jobs_wait_for_others_and_a_cycle_is_refused() {
    let target = target();
    let sent = target.post(
        "/api/v1/jobs/bulk",
        &json!({ "jobs": [
            { "name": "first", "jobType": "echo" },
            { "name": "last", "jobType": "echo", "dependencies": ["@first", "@shaky"] },
            { "name": "shaky", "jobType": "fail-n-times", "payload": { "times": 1 },
              "retryPolicy": { "maxAttempts": 2, "backoffSeconds": 1 } },
            { "name": "a", "jobType": "echo", "dependencies": ["@b"] },
            { "name": "b", "jobType": "echo", "dependencies": ["@a"] },
        ] }),
    );
    assert_eq!((&sent.body["created"], &sent.body["failed"]), (&json!(3), &json!(2)));
    let refused = sent.body["results"][3]["problem"]["detail"].as_str().unwrap_or_default();
    assert!(refused.contains("a → b → a"), "{refused}");
    let last = sent.body["results"][1]["job"]["jobId"].as_str().unwrap();
    await_status(target, last, "COMPLETED");
}

#[test]
fn a_worker_claims_reports_and_is_held_to_its_attempt() {
    let target = target();
    let job_type = polled_job_type(target, 1);
    let id = submit(target, &json!({ "jobType": job_type, "payload": [1, 2] }));
    let next = submit(target, &json!({ "jobType": job_type, "priority": "P3" }));
    let claim = || {
        let body = json!({ "workerId": "w", "max": 5 });
        target.post(&format!("/api/v1/job-types/{job_type}/claim"), &body)
    };
    let one =
        |answer: &Response| answer.body["jobs"].as_array().is_some_and(|jobs| jobs.len() == 1);
    let claimed = target.within(SOON, claim, one);
    assert_eq!(claimed.body["jobs"][0]["jobId"], json!(id));
    assert_eq!(claimed.body["jobs"][0]["payload"], json!([1, 2]));
    let explained = target.get(&format!("/api/v1/jobs/{next}/explain"));
    assert_eq!(explained.text("reason"), "limit-reached", "{}", explained.body);
    assert_eq!(explained.body["heldBy"], json!([id]));
    for verb in ["start", "heartbeat", "artifacts", "complete"] {
        assert_eq!(report(target, &id, verb, 7).status, 409, "{verb}");
        let reported = report(target, &id, verb, 1);
        assert_eq!(reported.status, 200, "{verb}: {}", reported.body);
        let unknown = report(target, "000000000000ffffffffffffffff", verb, 1);
        assert_eq!(unknown.status, 404, "{verb}");
    }
    assert_eq!(report(target, &id, "complete", 1).status, 200, "the same report again");
    assert_eq!(report(target, &id, "fail", 1).status, 409);
    assert_eq!(job(target, &id).text("status"), "COMPLETED");
    let seen = target.get(&format!("/api/v1/job-types/{job_type}"));
    assert_eq!(seen.body["inUse"], 0, "{}", seen.body);
}

#[test]
fn a_job_is_cancelled_and_retried() {
    let target = target();
    let job_type = polled_job_type(target, 0);
    let id = submit(target, &json!({ "jobType": job_type }));
    let path = format!("/api/v1/jobs/{id}");
    assert_eq!(target.get(&format!("{path}/explain")).text("reason"), "paused");
    let gone = target.send("DELETE", &path, &target.admin_key, &[], None);
    assert_eq!((gone.status, gone.text("status")), (200, "CANCELLED"));
    let retry = || target.post(&format!("{path}/retry"), &Value::Null);
    let again = target.within(SOON, retry, |answer| answer.status == 200);
    assert_eq!((again.text("status"), &again.body["attempt"]), ("QUEUED", &json!(2)));
    let listed = target.get(&format!("/api/v1/jobs?jobType={job_type}&status=QUEUED"));
    assert_eq!(listed.body["items"][0]["jobId"], json!(id), "{}", listed.body);
}
