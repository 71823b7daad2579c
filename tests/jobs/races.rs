//! Concurrent submissions, claims and dispatches.

use std::collections::BTreeSet;

use futures::future::join_all;
use http::Method;
use serde_json::{Value, json};
use tests::{Lab, root_key};

use crate::jobs::{JOBS, in_use, save};

/// Saves a polled type.
async fn polled(lab: &Lab, max: u32, shards: u8) {
    let body = json!({ "delivery": "poll", "maxConcurrent": max, "licenceShards": shards });
    save(lab, "outside", &body).await;
}

#[tokio::test(start_paused = true)]
async fn a_thousand_submissions_with_one_key_make_one_job_and_get_one_answer() {
    let lab = Lab::new();
    let body = json!({ "jobType": "echo", "payload": { "a": 1 }, "idempotencyKey": "one" });
    let answers = join_all((0..1_000).map(|_| lab.post(JOBS, &body))).await;
    for answer in &answers {
        assert_eq!(answer.status, 201, "{}", answer.body);
    }
    let bodies: BTreeSet<_> = answers.iter().map(|answer| answer.bytes.clone()).collect();
    assert_eq!(bodies.len(), 1);
    assert_eq!(lab.get(JOBS).await.body["items"].as_array().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn fifty_concurrent_claims_get_as_many_jobs_as_there_are_licences() {
    for shards in [1, 3] {
        let lab = Lab::new();
        polled(&lab, 7, shards).await;
        let jobs = vec![json!({ "jobType": "outside" }); 60];
        lab.post("/api/v1/jobs/bulk", &json!({ "jobs": jobs })).await;
        let mut given: Vec<Value> = Vec::new();
        // A worker that loses its races gets no job and claims again.
        for round in 0..20 {
            let claims = (0..50).map(|worker| {
                let body = json!({ "workerId": format!("w{worker}"), "max": 2 });
                let call = lab.call(Method::POST, "/api/v1/job-types/outside/claim");
                call.by(&root_key()).json(&body).send()
            });
            for answer in join_all(claims).await {
                assert_eq!(answer.status, 200, "{}", answer.body);
                let jobs = answer.body["jobs"].as_array().unwrap().clone();
                given.extend(jobs.into_iter().map(|job| job["jobId"].clone()));
            }
            assert!((1..=7).contains(&given.len()), "{shards}, round {round}: {}", given.len());
        }
        let distinct: BTreeSet<String> = given.iter().map(Value::to_string).collect();
        assert_eq!((given.len(), distinct.len()), (7, 7), "{shards}");
        assert_eq!(in_use(&lab, "outside").await, 7);
    }
}

#[tokio::test(start_paused = true)]
async fn dispatchers_at_once_hand_each_job_out_once_and_keep_to_the_limit() {
    let lab = Lab::new();
    for _ in 0..40 {
        lab.post(JOBS, &json!({ "jobType": "echo" })).await;
    }
    lab.cloud.functions.quiesce().await;
    let dispatch = lab.cloud.pump.mappings().iter().find(|to| to.function == "Dispatch").unwrap();
    let turns = join_all((0..4).map(|_| lab.cloud.pump.poll(dispatch))).await;
    assert!(turns.iter().all(|turn| (turn.received, turn.failed) == (10, 0)), "{turns:?}");
    let assigned = lab.get("/api/v1/jobs?status=ASSIGNED&limit=100").await;
    assert_eq!(assigned.body["items"].as_array().unwrap().len(), 10);
    assert_eq!(in_use(&lab, "echo").await, 10);
    let work = lab.cloud.pump.mappings().iter().find(|to| to.function == "Work").unwrap();
    let sent = lab.cloud.services.queues().depth(&work.queue).unwrap().visible;
    assert_eq!(sent, 10, "one message for each");
    lab.cloud.settle().await;
    let done = lab.get("/api/v1/jobs?status=COMPLETED&limit=100").await;
    assert_eq!(done.body["items"].as_array().unwrap().len(), 40);
}

#[tokio::test(start_paused = true)]
async fn of_a_cancellation_and_a_completion_at_once_one_wins() {
    for seed in 0..10 {
        let lab = Lab::with(tests::Setup { seed, ..tests::Setup::default() });
        polled(&lab, 1, 1).await;
        let made = lab.post(JOBS, &json!({ "jobType": "outside" })).await;
        let one = format!("{JOBS}/{}", made.text("jobId"));
        let claim = json!({ "workerId": "w" });
        lab.post("/api/v1/job-types/outside/claim", &claim).await;
        let body = json!({ "workerId": "w", "attempt": 1 });
        let beginning = format!("{one}/start");
        let (gone, begun) = futures::join!(
            lab.call(Method::DELETE, &one).by(&root_key()).send(),
            lab.post(&beginning, &body),
        );
        assert_eq!(gone.status, 200, "{}", gone.body);
        let found = lab.get(&one).await;
        match found.text("status") {
            "CANCELLED" => assert_eq!(begun.status, 409),
            "RUNNING" => assert_eq!(
                (begun.status.as_u16(), &found.body["cancelRequested"]),
                (200, &json!(true))
            ),
            other => panic!("{other}"),
        }
        let held = u64::from(found.text("status") == "RUNNING");
        assert_eq!(in_use(&lab, "outside").await, held);
    }
}
