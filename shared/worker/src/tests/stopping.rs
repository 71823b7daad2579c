//! Workers that are stopped.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep, timeout};

use super::{FakeApi, is_at, worker};
use crate::{JobOutput, StopReason, signal};

/// Stops ten seconds after the beginning.
fn after_ten_seconds() -> impl Future<Output = ()> + Send + 'static {
    sleep(Duration::from_secs(10))
}

#[tokio::test(start_paused = true)]
async fn a_stopped_worker_reports_what_ends_in_time_and_takes_nothing_new() {
    let api = FakeApi::new();
    api.offer("j1", &json!(null));
    let begun = Instant::now();
    let worker = worker(&api).concurrency(2).stop_on(after_ten_seconds());
    worker
        .run(|_, ctx| async move {
            assert_eq!(ctx.cancelled().await, StopReason::WorkerStopping);
            sleep(Duration::from_secs(24)).await;
            Ok(JobOutput::new())
        })
        .await
        .unwrap();
    assert!(is_at(34, begun.elapsed()), "{:?}", begun.elapsed());
    assert_eq!(api.verbs(), ["start", "heartbeat", "complete"]);
    let last = api.calls_to("claim").pop().unwrap();
    assert!(last.at < Duration::from_secs(10), "{last:?}");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_does_not_end_in_time_is_failed_as_retryable() {
    let api = FakeApi::new();
    api.offer("j1", &json!(null));
    let worker = worker(&api).stop_on(after_ten_seconds()).stop_grace(Duration::from_secs(7));
    worker.run(|_, _| std::future::pending()).await.unwrap();
    assert_eq!(api.verbs(), ["start", "fail"]);
    let fail = &api.calls_to("fail")[0];
    assert!(is_at(17, fail.at), "{fail:?}");
    assert_eq!(fail.body["retryable"], true);
    assert_eq!(fail.body["error"], "the worker was stopped");
}

#[tokio::test(start_paused = true)]
async fn a_worker_without_a_job_stops_at_once() {
    let api = FakeApi::new();
    let begun = Instant::now();
    let worker = worker(&api).stop_on(after_ten_seconds());
    worker.run(|_, _| std::future::ready(Ok(JobOutput::new()))).await.unwrap();
    assert!(is_at(10, begun.elapsed()), "{:?}", begun.elapsed());
}

/// In real time: the signal comes from outside.
#[cfg(unix)]
#[tokio::test]
async fn a_termination_signal_stops_a_worker() {
    let mut shutdown = Box::pin(signal::shutdown());
    // Listening begins with the first look; before it the signal would end the tests.
    assert!(timeout(Duration::from_millis(20), &mut shutdown).await.is_err());
    let process = std::process::id().to_string();
    let sent = std::process::Command::new("kill").args(["-TERM", &process]).status().unwrap();
    assert!(sent.success());
    timeout(Duration::from_secs(10), shutdown).await.unwrap();
}
