//! Payloads behind URLs, and artifacts.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::fake_api::Scripted;
use super::{FakeApi, is_at, run_job, run_jobs, worker};
use crate::{JobOutput, RunOutcome};

const PLACE: &str = "http://bucket.test/payloads/j1?signature=s";

#[tokio::test(start_paused = true)]
async fn a_payload_behind_a_url_is_fetched_without_the_key() {
    let api = FakeApi::new();
    api.offer_with_url("j1", PLACE);
    api.script("GET", 1, &Scripted::Respond(200, json!({"width": 7})));
    let outcomes = run_jobs(worker(&api), 1, |job, _| async move {
        assert_eq!(job.payload::<serde_json::Value>()?, json!({"width": 7}));
        Ok(JobOutput::new())
    })
    .await;
    assert_eq!(outcomes, [RunOutcome::Completed]);
    let fetched = &api.calls_to("GET")[0];
    assert_eq!((fetched.path.as_str(), fetched.key.as_deref()), ("/payloads/j1", None));
}

#[tokio::test(start_paused = true)]
async fn heartbeats_are_sent_while_a_payload_is_fetched() {
    let api = FakeApi::new();
    api.offer_with_url("j1", PLACE);
    api.script("GET", 1, &Scripted::Respond(503, json!("SlowDown")));
    api.script("GET", 1, &Scripted::Delay(Duration::from_secs(70)));
    let outcomes = run_jobs(worker(&api), 1, |_, _| std::future::ready(Ok(JobOutput::new()))).await;
    assert_eq!(outcomes, [RunOutcome::Completed]);
    let verbs = api.verbs();
    let beats = ["heartbeat", "heartbeat", "heartbeat", "complete"];
    assert_eq!(verbs, [&["start", "GET", "GET"][..], &beats[..]].concat());
}

#[tokio::test(start_paused = true)]
async fn a_payload_that_cannot_be_fetched_is_a_retryable_failure() {
    let api = FakeApi::new();
    api.offer_with_url("j1", PLACE);
    api.script("GET", 100, &Scripted::Respond(403, json!("expired")));
    let outcomes = run_jobs(worker(&api), 1, |_, _| std::future::ready(Ok(JobOutput::new()))).await;
    assert!(matches!(outcomes[..], [RunOutcome::Failed(_)]), "{outcomes:?}");
    assert_eq!(api.calls_to("GET").len(), 5);
    let body = &api.calls_to("fail")[0].body;
    assert_eq!(body["retryable"], true);
    assert!(!body["error"].as_str().unwrap().contains("signature"), "{body}");
}

#[tokio::test(start_paused = true)]
async fn artifacts_are_uploaded_without_the_key_and_listed_once() {
    let api = FakeApi::new();
    let outcome = run_job(&api, |_, ctx| async move {
        ctx.upload("report.csv", "a,b\n").await?;
        ctx.upload("report.csv", "a,b\n1,2\n").await?;
        ctx.upload("picture.png", vec![0_u8, 255]).await?;
        Ok(JobOutput { artifacts: vec!["picture.png".to_owned()], result: None })
    })
    .await;
    assert_eq!(outcome, RunOutcome::Completed);
    let request = &api.calls_to("artifacts")[0];
    assert_eq!(request.path, "/api/v1/jobs/j1/artifacts");
    assert_eq!(request.body, json!({"workerId": "w1", "attempt": 1, "name": "report.csv"}));
    let put = api.calls_to("PUT");
    assert_eq!((put[1].path.as_str(), &put[1].text[..]), ("/report.csv", &b"a,b\n1,2\n"[..]));
    assert_eq!((put[2].path.as_str(), &put[2].text[..]), ("/picture.png", &[0_u8, 255][..]));
    assert!(put.iter().all(|call| call.key.is_none()));
    let listed = &api.calls_to("complete")[0].body["artifacts"];
    assert_eq!(*listed, json!([{"name": "picture.png"}, {"name": "report.csv"}]));
}

#[tokio::test(start_paused = true)]
async fn an_upload_that_the_bucket_refuses_is_signed_and_sent_again() {
    let api = FakeApi::new();
    api.script("PUT", 2, &Scripted::Respond(503, json!("SlowDown")));
    let outcome = run_job(&api, |_, ctx| async move {
        ctx.upload("a.txt", "a").await?;
        Ok(JobOutput::new())
    })
    .await;
    assert_eq!(outcome, RunOutcome::Completed);
    let tried = ["artifacts", "PUT", "artifacts", "PUT", "artifacts", "PUT", "complete"];
    assert_eq!(api.verbs()[1..], tried);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_is_refused_ends_the_job_and_is_not_listed() {
    let api = FakeApi::new();
    api.script("artifacts", 1, &Scripted::Respond(422, json!({"detail": "not a name"})));
    run_job(&api, |_, ctx| async move {
        ctx.upload("../a", "a").await?;
        Ok(JobOutput::new())
    })
    .await;
    assert_eq!(api.verbs(), ["start", "artifacts", "fail"]);
    assert_eq!(api.calls_to("fail")[0].body["retryable"], false);
}

#[tokio::test(start_paused = true)]
async fn heartbeats_are_sent_while_an_artifact_travels() {
    let api = FakeApi::new();
    api.script("PUT", 1, &Scripted::Delay(Duration::from_secs(90)));
    let outcome = run_job(&api, |_, ctx| async move {
        ctx.upload("film.mp4", "film").await?;
        sleep(Duration::from_secs(1)).await;
        Ok(JobOutput::new())
    })
    .await;
    assert_eq!(outcome, RunOutcome::Completed);
    assert_eq!(api.calls_to("heartbeat").len(), 4);
    assert!(is_at(91, api.calls_to("complete")[0].at));
}
