//! Submitting: once, with any payload.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, root_key};

use crate::jobs::{
    JOBS, assert_names, claim, job, polled, polled_lab, save, status, submit, submit_as,
};

#[tokio::test(start_paused = true)]
async fn a_job_is_answered_with_its_id_its_place_and_where_to_find_it() {
    let lab = Lab::new();
    let made = lab.post(JOBS, &json!({ "jobType": "echo", "payload": { "a": 1 } })).await;
    assert_eq!(made.status, 201, "{}", made.body);
    let id = made.text("jobId");
    assert_eq!(id.len(), 28);
    assert_eq!(made.header("location"), format!("{JOBS}/{id}"));
    assert_eq!(
        made.body,
        json!({
            "jobId": id, "status": "QUEUED", "queuePosition": 1,
            "createdAt": "2026-03-01T12:00:00Z",
        })
    );
    lab.advance_seconds(6);
    let next = lab.post(JOBS, &json!({ "jobType": "echo" })).await;
    assert_eq!(next.body["queuePosition"], 2);
    let later = json!({ "jobType": "echo", "notBefore": "2026-03-01T13:00:00Z" });
    assert_eq!(lab.post(JOBS, &later).await.body["queuePosition"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn the_same_key_and_body_make_one_job_and_another_body_is_refused() {
    let lab = Lab::new();
    let body = json!({ "jobType": "echo", "payload": 1, "idempotencyKey": "in-the-body" });
    let (first, second) = (lab.post(JOBS, &body).await, lab.post(JOBS, &body).await);
    assert_eq!((first.status.as_u16(), second.status.as_u16()), (201, 201));
    assert_eq!(first.body, second.body);
    assert_eq!(first.header("location"), second.header("location"));
    let other = json!({ "jobType": "echo", "payload": 2, "idempotencyKey": "in-the-body" });
    assert_eq!(lab.post(JOBS, &other).await.status, 422);

    let with_header = |body: Value| {
        let call = lab.call(Method::POST, JOBS).by(&root_key());
        call.header("idempotency-key", "in-the-header").json(&body).send()
    };
    let first = with_header(json!({ "jobType": "echo", "payload": 1 })).await;
    lab.cloud.settle().await;
    let second = with_header(json!({ "jobType": "echo", "payload": 1 })).await;
    assert_eq!(first.body, second.body, "the first answer, though the job has ended since");
    assert_eq!(with_header(json!({ "jobType": "echo", "payload": 2 })).await.status, 422);
    let all = lab.get(JOBS).await;
    assert_eq!(all.body["items"].as_array().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_key_belongs_to_its_caller() {
    let lab = Lab::new();
    let (ada, bob) =
        (lab.user("ada", &["job-submitter"]).await, lab.user("bob", &["job-submitter"]).await);
    let body = json!({ "jobType": "echo", "idempotencyKey": "same" });
    let of_ada = lab.call(Method::POST, JOBS).by(&ada).json(&body).send().await;
    let of_bob = lab.call(Method::POST, JOBS).by(&bob).json(&body).send().await;
    assert_ne!(of_ada.text("jobId"), of_bob.text("jobId"));
}

#[tokio::test(start_paused = true)]
async fn a_payload_too_large_for_a_row_goes_to_the_bucket_and_reaches_the_worker() {
    let lab = Lab::new();
    let large = "x".repeat(300 * 1024);
    let id = submit(&lab, &json!({ "jobType": "echo", "payload": large })).await;
    lab.cloud.settle().await;
    let done = job(&lab, &id).await;
    assert_eq!(done.text("status"), "COMPLETED", "{}", done.body);
    assert_eq!(done.body["result"], json!({ "bytes": 300 * 1024 + 2 }));

    polled(&lab, "outside", 1).await;
    submit_as(&lab, "outside", json!({ "payload": large })).await;
    let body = json!({ "workerId": "w", "max": 1 });
    let given = lab.post("/api/v1/job-types/outside/claim", &body).await;
    let task = &given.body["jobs"][0];
    assert_eq!(task["payload"], Value::Null);
    assert!(task["payloadUrl"].as_str().unwrap().contains("X-Amz-Signature="), "{task}");
}

#[tokio::test(start_paused = true)]
async fn a_small_payload_comes_with_the_claim() {
    let lab = polled_lab(1).await;
    submit_as(&lab, "outside", json!({ "payload": { "deep": [1, "é"] } })).await;
    let body = json!({ "workerId": "w" });
    let given = lab.post("/api/v1/job-types/outside/claim", &body).await;
    let task = &given.body["jobs"][0];
    assert_eq!(task["payload"], json!({ "deep": [1, "é"] }));
    assert_eq!((&task["attempt"], &task["heartbeatSeconds"]), (&json!(1), &json!(20)));
}

#[tokio::test(start_paused = true)]
async fn a_job_takes_from_its_type_what_it_does_not_say() {
    let lab = Lab::new();
    let usual = json!({
        "delivery": "poll", "timeoutSeconds": 77,
        "retryPolicy": { "maxAttempts": 9, "backoffSeconds": 1 },
    });
    save(&lab, "usual", &usual).await;
    let id = submit_as(&lab, "usual", json!({})).await;
    let found = job(&lab, &id).await.body;
    assert_eq!((&found["timeoutSeconds"], &found["lastAttempt"]), (&json!(77), &json!(9)));
    assert_eq!(found["priority"], "P2");
    let own = json!({ "timeoutSeconds": 5, "retryPolicy": { "maxAttempts": 2 } });
    let found = job(&lab, &submit_as(&lab, "usual", own).await).await.body;
    assert_eq!((&found["timeoutSeconds"], &found["lastAttempt"]), (&json!(5), &json!(2)));
}

#[tokio::test(start_paused = true)]
async fn bulk_answers_each_on_its_own() {
    let lab = Lab::new();
    let jobs = json!([
        { "jobType": "echo", "idempotencyKey": "k" },
        { "jobType": "nothing" },
        { "jobType": "echo", "idempotencyKey": "k" },
    ]);
    let answer = lab.post("/api/v1/jobs/bulk", &json!({ "jobs": jobs })).await.assert_status(200);
    let counts = ["created", "repeated", "failed"].map(|name| answer.body[name].as_u64().unwrap());
    assert_eq!(counts, [1, 1, 1], "{}", answer.body);
    let results = &answer.body["results"];
    let statuses = [0, 1, 2].map(|n| results[n]["status"].as_u64().unwrap());
    assert_eq!(statuses, [201, 422, 200]);
    for count in [0, 101] {
        let many = vec![json!({ "jobType": "echo" }); count];
        assert_names(&lab.post("/api/v1/jobs/bulk", &json!({ "jobs": many })).await, "jobs");
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_runs_when_its_time_has_come() {
    let lab = Lab::new();
    let body = json!({ "jobType": "echo", "notBefore": "2026-03-01T12:05:00Z" });
    let id = submit(&lab, &body).await;
    lab.advance_seconds(299);
    lab.cloud.settle().await;
    assert_eq!(status(&lab, &id).await, "QUEUED");
    polled(&lab, "outside", 5).await;
    submit_as(&lab, "outside", json!({ "notBefore": "2026-03-01T12:05:00Z" })).await;
    assert!(claim(&lab, "outside", "w", 5).await.is_empty());
    lab.advance_seconds(1);
    lab.cloud.settle().await;
    assert_eq!(status(&lab, &id).await, "COMPLETED");
    assert_eq!(claim(&lab, "outside", "w", 5).await.len(), 1);
}
