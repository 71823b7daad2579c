//! Input that breaks a rule is refused by name and makes nothing.

use serde_json::{Value, json};
use tests::{Lab, root_key};

use crate::jobs::{JOBS, UNKNOWN_JOB, assert_names, report, running, send};

#[tokio::test(start_paused = true)]
async fn a_submission_that_breaks_a_rule_names_the_field() {
    let lab = Lab::new();
    for (member, value, field) in [
        ("jobType", json!("nothing"), "jobType"),
        ("jobType", json!("Not A Name"), "jobType"),
        ("priority", json!("P4"), "priority"),
        ("priority", json!("p0"), "priority"),
        ("retryPolicy", json!({ "maxAttempts": 0 }), "retryPolicy.maxAttempts"),
        ("retryPolicy", json!({ "maxAttempts": 101 }), "retryPolicy.maxAttempts"),
        ("retryPolicy", json!({ "backoffSeconds": 3601 }), "retryPolicy.backoffSeconds"),
        ("timeoutSeconds", json!(0), "timeoutSeconds"),
        ("timeoutSeconds", json!(86_401), "timeoutSeconds"),
        ("notBefore", json!("2027-03-03T12:00:00Z"), "notBefore"),
        ("notBefore", json!("tomorrow"), "notBefore"),
        ("dependencies", json!([UNKNOWN_JOB]), "dependencies"),
        ("dependencies", json!(["no id"]), "dependencies"),
        ("dependencies", json!(vec![UNKNOWN_JOB; 41]), "dependencies"),
        ("onDependencyFailure", json!("ignore"), "onDependencyFailure"),
        ("colour", json!("red"), "colour"),
    ] {
        let mut body = json!({ "jobType": "echo" });
        body[member] = value;
        let answer = lab.post(JOBS, &body).await;
        assert_names(&answer, field);
    }
    assert_names(&lab.post(JOBS, &json!({})).await, "jobType");
    assert_eq!(lab.get(JOBS).await.body["items"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_type_that_breaks_a_rule_names_the_field() {
    let lab = Lab::new();
    for (member, value, field) in [
        ("maxConcurrent", json!(100_001), "maxConcurrent"),
        ("licenceShards", json!(0), "licenceShards"),
        ("licenceShards", json!(17), "licenceShards"),
        ("timeoutSeconds", json!(0), "timeoutSeconds"),
        ("agingSeconds", json!(0), "agingSeconds"),
        ("retryPolicy", json!({ "maxAttempts": 0 }), "retryPolicy.maxAttempts"),
        ("delivery", json!("pigeon"), "delivery"),
    ] {
        let mut body = json!({});
        body[member] = value;
        let path = "/api/v1/job-types/new";
        let answer = send(&lab, http::Method::PUT, path, &root_key(), &body).await;
        assert_names(&answer, field);
    }
    assert_eq!(lab.get("/api/v1/job-types/new").await.status, 404);
}

#[tokio::test(start_paused = true)]
async fn a_workers_report_that_breaks_a_rule_names_the_field() {
    let (lab, id) = running().await;
    let many: Vec<Value> = (0..21).map(|n| json!({ "name": n.to_string() })).collect();
    for (operation, more, field) in [
        ("heartbeat", json!({ "progress": 101 }), "progress"),
        ("complete", json!({ "result": "x".repeat(4_096) }), "result"),
        ("complete", json!({ "artifacts": many }), "artifacts"),
        ("complete", json!({ "artifacts": [{ "name": ".hidden" }] }), "name"),
        ("fail", json!({ "retryable": true, "error": "x".repeat(1_001) }), "error"),
        ("artifacts", json!({ "name": "a/b" }), "name"),
    ] {
        assert_names(&report(&lab, &id, operation, "w", 1, more).await, field);
    }
    assert_names(&report(&lab, &id, "start", "a b", 1, json!({})).await, "workerId");
    let longest = json!({ "result": "x".repeat(4_094) });
    assert_eq!(report(&lab, &id, "complete", "w", 1, longest).await.status, 200);
    for max in [0, 21] {
        let body = json!({ "workerId": "w", "max": max });
        assert_names(&lab.post("/api/v1/job-types/outside/claim", &body).await, "max");
    }
}
