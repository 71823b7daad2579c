//! Every operation of jobs, called without the role, with an invalid body, and about a job that does not exist.

use e2e::target;
use serde_json::{Value, json};

use super::submit;

const UNKNOWN_JOB: &str = "000000000000ffffffffffffffff";

/// A call: its method, its path (with `JOB` for a job's id), and a body that is wrong, if it takes one.
fn calls() -> Vec<(&'static str, &'static str, Value)> {
    let report = |more: Value| {
        let mut body = json!({ "workerId": "w", "attempt": 1 });
        for (name, value) in more.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        body
    };
    vec![
        ("POST", "/api/v1/jobs", json!({ "jobType": "echo", "priority": "P7" })),
        ("POST", "/api/v1/jobs/bulk", json!({ "jobs": [] })),
        ("GET", "/api/v1/jobs?status=LATE", Value::Null),
        ("GET", "/api/v1/jobs/JOB", Value::Null),
        ("GET", "/api/v1/jobs/JOB/explain", Value::Null),
        ("GET", "/api/v1/jobs/JOB/events", Value::Null),
        ("DELETE", "/api/v1/jobs/JOB", Value::Null),
        ("POST", "/api/v1/jobs/JOB/retry", Value::Null),
        ("PUT", "/api/v1/job-types/echo", json!({ "maxConcurrent": 1_000_000 })),
        ("GET", "/api/v1/job-types", Value::Null),
        ("GET", "/api/v1/job-types/echo", Value::Null),
        ("POST", "/api/v1/job-types/echo/claim", json!({ "workerId": "w", "max": 21 })),
        ("POST", "/api/v1/jobs/JOB/start", json!({ "workerId": "", "attempt": 1 })),
        ("POST", "/api/v1/jobs/JOB/heartbeat", report(json!({ "progress": 101 }))),
        ("POST", "/api/v1/jobs/JOB/complete", report(json!({ "artifacts": [{ "name": "../a" }] }))),
        ("POST", "/api/v1/jobs/JOB/fail", report(json!({ "error": "no" }))),
        ("POST", "/api/v1/jobs/JOB/artifacts", report(json!({ "name": "../a" }))),
    ]
}

#[test]
fn every_call_keeps_strangers_out_and_says_what_is_wrong() {
    let target = target();
    let stranger = target.member();
    let id = submit(target, &json!({ "jobType": "sleep", "payload": { "seconds": 1 } }));
    for (method, path, wrong) in calls() {
        let body = (!wrong.is_null()).then_some(&wrong);
        let own = path.replace("JOB", &id);
        let anonymous = target.send(method, &own, "", &[], body);
        assert_eq!(anonymous.status, 401, "{method} {path}: {}", anonymous.body);
        let other = target.send(method, &own, &stranger, &[], body);
        assert_eq!(other.status, 403, "{method} {path}: {}", other.body);
        if body.is_some() || path.contains('?') {
            let refused = target.send(method, &own, &target.admin_key, &[], body);
            assert!([400, 422].contains(&refused.status), "{method} {path}: {}", refused.body);
            assert_eq!(refused.media_type, "application/problem+json", "{method} {path}");
        }
        if path.contains("JOB") {
            let mut right = json!({ "workerId": "w", "attempt": 1 });
            if path.ends_with("fail") {
                right["retryable"] = json!(true);
            }
            if path.ends_with("artifacts") {
                right["name"] = json!("a.txt");
            }
            let right = body.map(|_| &right);
            let path = path.replace("JOB", UNKNOWN_JOB);
            let unknown = target.send(method, &path, &target.admin_key, &[], right);
            assert_eq!(unknown.status, 404, "{method} {path}: {}", unknown.body);
        }
    }
    let kind = format!("/api/v1/job-types/{}", target.fresh("none"));
    assert_eq!(target.get(&kind).status, 404);
    let claim = target.post(&format!("{kind}/claim"), &json!({ "workerId": "w" }));
    assert_eq!(claim.status, 404, "{}", claim.body);
}
