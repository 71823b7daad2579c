//! Jobs that are cancelled, fenced off, or lost to a heartbeat timeout.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};

use super::fake_api::Scripted;
use super::{FakeApi, is_at, run_job};
use crate::{JobOutput, RunOutcome, StopReason};

/// Why a handler had to stop, and when.
type SeenStop = Arc<Mutex<Option<(StopReason, Duration)>>>;

/// Runs a handler that waits until it has to stop, and stops.
async fn run_waiting(api: &FakeApi) -> (RunOutcome, StopReason, Duration) {
    let seen = SeenStop::default();
    let kept = Arc::clone(&seen);
    let begun = Instant::now();
    let outcome = run_job(api, move |_, ctx| {
        let kept = Arc::clone(&kept);
        async move {
            assert!(!ctx.is_cancelled());
            let why = ctx.cancelled().await;
            *kept.lock().unwrap() = Some((why, begun.elapsed()));
            ctx.check()?;
            Ok(JobOutput::new())
        }
    })
    .await;
    let (why, at) = seen.lock().unwrap().unwrap();
    (outcome, why, at)
}

fn gone() -> Scripted {
    Scripted::Respond(409, json!({"title": "Conflict"}))
}

fn busy() -> Scripted {
    Scripted::Respond(503, json!({"title": "Busy"}))
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_arrives_with_the_next_heartbeat() {
    let api = FakeApi::new();
    api.script("heartbeat", 1, &Scripted::Respond(200, json!({"action": "cancel"})));
    let (outcome, why, at) = run_waiting(&api).await;
    assert_eq!(why, StopReason::JobCancelled);
    assert!(is_at(20, at), "{at:?}");
    assert!(matches!(outcome, RunOutcome::Failed(_)), "{outcome}");
    assert_eq!(api.verbs(), ["start", "heartbeat", "fail"]);
    assert_eq!(api.calls_to("fail")[0].body["error"], "the job was cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_handler_that_goes_on_is_stopped_after_its_grace() {
    let api = FakeApi::new();
    api.script("heartbeat", 1, &Scripted::Respond(200, json!({"action": "cancel"})));
    run_job(&api, |_, _| std::future::pending()).await;
    assert_eq!(api.verbs(), ["start", "heartbeat", "heartbeat", "fail"]);
    let fail = &api.calls_to("fail")[0];
    assert!(is_at(45, fail.at), "{fail:?}");
    assert_eq!(fail.body["error"], "the job was cancelled");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_reported_after_a_heartbeat_was_fenced() {
    let api = FakeApi::new();
    api.script("heartbeat", 1, &gone());
    let (outcome, why, at) = run_waiting(&api).await;
    assert_eq!((outcome, why), (RunOutcome::Fenced, StopReason::Fenced));
    assert!(is_at(20, at), "{at:?}");
    assert_eq!(api.verbs(), ["start", "heartbeat"]);
}

#[tokio::test(start_paused = true)]
async fn a_success_that_comes_after_the_fence_is_not_reported() {
    let api = FakeApi::new();
    api.script("heartbeat", 1, &gone());
    let outcome = run_job(&api, |_, ctx| async move {
        ctx.cancelled().await;
        sleep(Duration::from_secs(3)).await;
        assert!(ctx.upload("late.txt", "late").await.is_err());
        Ok(JobOutput::new())
    })
    .await;
    assert_eq!(outcome, RunOutcome::Fenced);
    assert_eq!(api.verbs(), ["start", "heartbeat"]);
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_ignores_the_fence_is_aborted() {
    struct Fallen(Arc<AtomicBool>);
    impl Drop for Fallen {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let api = FakeApi::new();
    api.script("heartbeat", 1, &gone());
    let (begun, stopped) = (Instant::now(), Arc::new(AtomicBool::new(false)));
    let flag = Arc::clone(&stopped);
    let outcome = run_job(&api, move |_, _| {
        let fallen = Fallen(Arc::clone(&flag));
        async move {
            let _fallen = fallen;
            std::future::pending().await
        }
    })
    .await;
    assert_eq!(outcome, RunOutcome::Fenced);
    assert!(is_at(25, begun.elapsed()));
    assert!(stopped.load(Ordering::SeqCst));
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_refused_at_its_start_is_dropped() {
    for status in [409, 404] {
        let api = FakeApi::new();
        api.script("start", 1, &Scripted::Respond(status, json!({})));
        let ran = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&ran);
        let outcome = run_job(&api, move |_, _| {
            flag.store(true, Ordering::SeqCst);
            std::future::ready(Ok(JobOutput::new()))
        })
        .await;
        assert_eq!(outcome, RunOutcome::Fenced);
        assert_eq!(api.verbs(), ["start"]);
        assert!(!ran.load(Ordering::SeqCst));
    }
}

#[tokio::test(start_paused = true)]
async fn an_upload_that_meets_the_fence_ends_the_heartbeats_too() {
    let api = FakeApi::new();
    api.script("artifacts", 1, &gone());
    let outcome = run_job(&api, |_, ctx| async move {
        // The next heartbeat would come within the grace.
        sleep(Duration::from_secs(18)).await;
        assert!(ctx.upload("a.txt", "a").await.is_err());
        assert_eq!(ctx.check(), Err(StopReason::Fenced));
        sleep(Duration::from_mins(1)).await;
        Ok(JobOutput::new())
    })
    .await;
    assert_eq!(outcome, RunOutcome::Fenced);
    assert_eq!(api.verbs(), ["start", "artifacts"]);
}

#[tokio::test(start_paused = true)]
async fn a_completion_that_meets_the_fence_is_not_repeated() {
    let api = FakeApi::new();
    api.script("complete", 1, &gone());
    let outcome = run_job(&api, |_, _| std::future::ready(Ok(JobOutput::new()))).await;
    assert_eq!(outcome, RunOutcome::Fenced);
    assert_eq!(api.verbs(), ["start", "complete"]);
}

#[tokio::test(start_paused = true)]
async fn a_worker_without_a_successful_heartbeat_for_a_minute_gives_the_job_up() {
    let api = FakeApi::new();
    api.script("heartbeat", 1, &Scripted::Respond(200, json!({"action": "continue"})));
    api.script("heartbeat", 1_000, &busy());
    let (outcome, why, at) = run_waiting(&api).await;
    assert_eq!((outcome, why), (RunOutcome::HeartbeatTimeout, StopReason::HeartbeatTimeout));
    assert!(is_at(80, at), "the last heartbeat got through at 20 s, so not {at:?}");
    let verbs = api.verbs();
    assert!(verbs.len() > 8, "it was tried again and again: {verbs:?}");
    assert!(verbs[1..].iter().all(|verb| verb == "heartbeat"), "{verbs:?}");
}

#[tokio::test(start_paused = true)]
async fn a_job_that_cannot_be_started_is_let_go_after_a_minute() {
    let api = FakeApi::new();
    api.script("start", 1_000, &busy());
    let outcome = run_job(&api, |_, _| std::future::ready(Ok(JobOutput::new()))).await;
    assert_eq!(outcome, RunOutcome::HeartbeatTimeout);
    let last = api.calls_to("start").pop().unwrap();
    assert!(last.at < Duration::from_mins(1), "{last:?}");
}
