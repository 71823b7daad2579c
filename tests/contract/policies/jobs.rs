//! Exercises every permission of the functions of jobs once.

use aws_sdk_dynamodb::types::AttributeValue;
use http::Method;
use serde_json::json;
use tests::{Lab, root_key};

use crate::contract::stack;

/// Jobs that depend on others, that fail, that are claimed, and a licence that was not returned.
pub(super) async fn exercise(lab: &Lab) {
    let key = lab.user("sub", &["job-submitter"]).await;
    let submit = |body: serde_json::Value| {
        lab.call(Method::POST, "/api/v1/jobs").by(&key).json(&body).send()
    };
    let job_type = json!({ "delivery": "poll", "maxConcurrent": 1 });
    let saved = lab.call(Method::PUT, "/api/v1/job-types/polled").by(&root_key()).json(&job_type);
    assert_eq!(saved.send().await.status, 201);
    let polled = submit(json!({ "jobType": "polled" })).await;
    let waits = json!({ "jobType": "echo", "dependencies": [polled.text("jobId")] });
    let waits = submit(waits).await.assert_status(201);
    let explain = format!("/api/v1/jobs/{}/explain", waits.text("jobId"));
    assert_eq!(lab.call(Method::GET, &explain).by(&key).send().await.status, 200);
    let trail = format!("/api/v1/jobs/{}/events", waits.text("jobId"));
    assert_eq!(lab.call(Method::GET, &trail).by(&key).send().await.status, 200);
    for caller in [&key, &root_key()] {
        assert_eq!(lab.call(Method::GET, "/api/v1/jobs").by(caller).send().await.status, 200);
    }
    let body = json!({ "workerId": "w", "attempt": 1 });
    lab.post("/api/v1/job-types/polled/claim", &json!({ "workerId": "w" })).await;
    for step in ["start", "heartbeat", "complete"] {
        let path = format!("/api/v1/jobs/{}/{step}", polled.text("jobId"));
        let answer = lab.post(&path, &body).await;
        assert_eq!(answer.status, 200, "{step}: {}", answer.body);
    }
    submit(json!({ "jobType": "echo", "payload": "x".repeat(300_000) })).await;
    let hashed = submit(json!({ "jobType": "hash-file", "payload": { "content": "x" } })).await;
    submit(json!({ "jobType": "fail-n-times", "payload": 1 })).await;
    lab.cloud.settle().await;
    let again = json!({ "jobId": hashed.text("jobId"), "artifact": "sha256.txt" });
    submit(json!({ "jobType": "hash-file", "payload": again })).await;
    let left = lab.aws().dynamodb().put_item().table_name(lab.table("JobsTable"));
    let left = left
        .item("pk", AttributeValue::S("licence#echo#0".to_owned()))
        .item("sk", AttributeValue::S(format!("holder#{}", hashed.text("jobId"))));
    left.send().await.unwrap();
    let later = json!({ "jobType": "echo", "notBefore": "2026-12-01T00:00:00Z" });
    let later = submit(later).await;
    submit(json!({ "jobType": "echo", "dependencies": [later.text("jobId")] })).await;
    for queue in ["DispatchQueue", "WorkQueue"] {
        let poison = queues::NewMessage::text("not json");
        let queue = stack().queues.iter().find(|it| it.logical_id == queue).unwrap();
        lab.cloud.services.queues().send(&queue.name, &poison).unwrap();
    }
    lab.cloud.settle().await;
    lab.sweep().await;
    lab.cloud.settle().await;
}
