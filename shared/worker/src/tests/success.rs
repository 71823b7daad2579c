//! Jobs that complete, and jobs whose handlers fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::time::sleep;

use super::{FakeApi, KEY, is_at, run_job, run_jobs, worker};
use crate::{Error, JobOutput, RunOutcome};

#[derive(Deserialize)]
struct Picture {
    width: u32,
}

#[tokio::test(start_paused = true)]
async fn a_job_is_claimed_started_kept_alive_and_completed() {
    let api = FakeApi::new();
    let outcome = run_job(&api, |job, ctx| async move {
        assert_eq!((job.id.as_str(), job.job_type.as_str(), job.attempt), ("j1", "thumb", 1));
        assert_eq!(job.timeout, Duration::from_hours(1));
        ctx.progress(40);
        sleep(Duration::from_secs(30)).await;
        ctx.progress(80);
        sleep(Duration::from_secs(20)).await;
        Ok(JobOutput::with_result(json!({"width": job.payload::<Picture>()?.width})))
    })
    .await;
    assert_eq!(outcome, RunOutcome::Completed);
    assert_eq!(api.verbs(), ["start", "heartbeat", "heartbeat", "complete"]);
    let calls = api.calls();
    assert!(calls.iter().all(|call| call.key.as_deref() == Some(&format!("Bearer {KEY}"))));
    assert_eq!(calls[0].path, "/api/v1/job-types/thumb/claim");
    assert_eq!(calls[0].body, json!({"workerId": "w1", "max": 1}));
    let start = &api.calls_to("start")[0];
    assert_eq!(start.path, "/api/v1/jobs/j1/start");
    assert_eq!(start.body, json!({"workerId": "w1", "attempt": 1}));
    let beats = api.calls_to("heartbeat");
    assert!(is_at(20, beats[0].at) && is_at(40, beats[1].at), "{beats:?}");
    assert_eq!(beats[0].body, json!({"workerId": "w1", "attempt": 1, "progress": 40}));
    assert_eq!(beats[1].body["progress"], 80);
    let complete = &api.calls_to("complete")[0];
    assert!(is_at(50, complete.at));
    assert_eq!(complete.body, json!({"workerId": "w1", "attempt": 1, "result": {"width": 120}}));
}

#[tokio::test(start_paused = true)]
async fn a_heartbeat_has_no_progress_before_the_handler_reports_any() {
    let api = FakeApi::new();
    run_job(&api, |_, _| async {
        sleep(Duration::from_secs(21)).await;
        Ok(JobOutput::new())
    })
    .await;
    assert_eq!(api.calls_to("heartbeat")[0].body, json!({"workerId": "w1", "attempt": 1}));
}

#[tokio::test(start_paused = true)]
async fn an_error_is_reported_as_retryable_or_not() {
    for (error, retryable) in [(Error::retryable("busy"), true), (Error::permanent("busy"), false)]
    {
        let api = FakeApi::new();
        let given = error.clone();
        let outcome = run_job(&api, move |_, _| std::future::ready(Err(given.clone()))).await;
        assert_eq!(outcome, RunOutcome::Failed(error));
        assert_eq!(api.verbs(), ["start", "fail"]);
        let body = &api.calls_to("fail")[0].body;
        let expected = json!({
            "workerId": "w1", "attempt": 1, "retryable": retryable, "error": "busy",
        });
        assert_eq!(*body, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_retryable_failure() {
    let api = FakeApi::new();
    run_job(&api, |job, _| async move { panic!("no width in {}", job.id) }).await;
    assert_eq!(api.verbs(), ["start", "fail"]);
    let body = &api.calls_to("fail")[0].body;
    assert_eq!(body["retryable"], true);
    assert_eq!(body["error"], "the handler panicked: no width in j1");
}

#[tokio::test(start_paused = true)]
async fn a_payload_of_another_shape_ends_the_job() {
    let api = FakeApi::new();
    run_job(&api, |job, _| async move {
        let _number: u32 = job.payload()?;
        Ok(JobOutput::new())
    })
    .await;
    let body = &api.calls_to("fail")[0].body;
    assert_eq!(body["retryable"], false);
    assert!(body["error"].as_str().unwrap().starts_with("the payload does not fit"));
}

#[tokio::test(start_paused = true)]
async fn no_more_jobs_run_at_once_than_may() {
    let api = FakeApi::new();
    for job in 0..5 {
        api.offer(&format!("j{job}"), &json!(null));
    }
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&most);
    let outcomes = run_jobs(worker(&api).concurrency(2), 5, move |_, _| {
        let (now, most) = (Arc::clone(&now), Arc::clone(&seen));
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            sleep(Duration::from_secs(5)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(JobOutput::new())
        }
    })
    .await;
    assert_eq!(outcomes, vec![RunOutcome::Completed; 5]);
    assert_eq!(most.load(Ordering::SeqCst), 2);
    assert_eq!(api.calls_to("claim")[0].body["max"], 2);
}

#[tokio::test(start_paused = true)]
async fn a_worker_without_jobs_polls_less_and_less_often() {
    let api = FakeApi::new();
    let worker = worker(&api).stop_on(sleep(Duration::from_secs(100)));
    worker.run(|_, _| std::future::ready(Ok(JobOutput::new()))).await.unwrap();
    let claims = api.calls_to("claim");
    let waits: Vec<f64> =
        claims.windows(2).map(|two| two[1].at.as_secs_f64() - two[0].at.as_secs_f64()).collect();
    for (wait, grown) in waits.iter().zip([1.0, 2.0, 4.0, 8.0, 10.0, 10.0, 10.0]) {
        assert!(*wait >= grown / 2.0 && *wait < grown + 0.1, "{waits:?}");
    }
    assert!((10..=23).contains(&claims.len()), "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn types_take_turns_in_being_claimed_first() {
    let api = FakeApi::new();
    let worker = worker(&api).job_type("crop & cut").stop_on(sleep(Duration::from_millis(1_100)));
    worker.run(|_, _| std::future::ready(Ok(JobOutput::new()))).await.unwrap();
    let paths: Vec<String> = api.calls_to("claim").into_iter().map(|call| call.path).collect();
    let (thumb, crop) =
        ("/api/v1/job-types/thumb/claim", "/api/v1/job-types/crop%20%26%20cut/claim");
    assert_eq!(paths[..4], [thumb, crop, crop, thumb]);
}
