//! Jobs that are cancelled, given to others, or taken for lost.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};

use super::api::Scripted;
use super::{Api, is_at, run_job};
use crate::{Cancelled, Done, Ending};

/// What a handler saw: why it had to stop, and when.
type Seen = Arc<Mutex<Option<(Cancelled, Duration)>>>;

/// Runs a handler that waits until it is told to stop, and stops.
async fn run_waiting(api: &Api) -> (Ending, Cancelled, Duration) {
    let seen = Seen::default();
    let kept = Arc::clone(&seen);
    let begun = Instant::now();
    let ending = run_job(api, move |_, ctx| {
        let kept = Arc::clone(&kept);
        async move {
            assert!(!ctx.is_cancelled());
            let why = ctx.cancelled().await;
            *kept.lock().unwrap() = Some((why, begun.elapsed()));
            ctx.check()?;
            Ok(Done::new())
        }
    })
    .await;
    let (why, at) = seen.lock().unwrap().unwrap();
    (ending, why, at)
}

fn gone() -> Scripted {
    Scripted::Say(409, json!({"title": "Conflict"}))
}

fn busy() -> Scripted {
    Scripted::Say(503, json!({"title": "Busy"}))
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_is_heard_at_the_next_heartbeat() {
    let api = Api::new();
    api.script("heartbeat", 1, &Scripted::Say(200, json!({"action": "cancel"})));
    let (ending, why, at) = run_waiting(&api).await;
    assert_eq!(why, Cancelled::ByOwner);
    assert!(is_at(20, at), "{at:?}");
    assert!(matches!(ending, Ending::Failed(_)), "{ending}");
    assert_eq!(api.verbs(), ["start", "heartbeat", "fail"]);
    assert_eq!(api.heard("fail")[0].body["error"], "the job was cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_handler_that_goes_on_is_stopped_after_its_grace() {
    let api = Api::new();
    api.script("heartbeat", 1, &Scripted::Say(200, json!({"action": "cancel"})));
    run_job(&api, |_, _| std::future::pending()).await;
    assert_eq!(api.verbs(), ["start", "heartbeat", "heartbeat", "fail"]);
    let fail = &api.heard("fail")[0];
    assert!(is_at(45, fail.at), "{fail:?}");
    assert_eq!(fail.body["error"], "the job was cancelled");
}

#[tokio::test(start_paused = true)]
async fn nothing_more_is_said_after_a_heartbeat_met_the_fence() {
    let api = Api::new();
    api.script("heartbeat", 1, &gone());
    let (ending, why, at) = run_waiting(&api).await;
    assert_eq!((ending, why), (Ending::Gone, Cancelled::Gone));
    assert!(is_at(20, at), "{at:?}");
    assert_eq!(api.verbs(), ["start", "heartbeat"]);
}

#[tokio::test(start_paused = true)]
async fn a_success_that_comes_after_the_fence_is_not_reported() {
    let api = Api::new();
    api.script("heartbeat", 1, &gone());
    let ending = run_job(&api, |_, ctx| async move {
        ctx.cancelled().await;
        sleep(Duration::from_secs(3)).await;
        assert!(ctx.upload("late.txt", "late").await.is_err());
        Ok(Done::new())
    })
    .await;
    assert_eq!(ending, Ending::Gone);
    assert_eq!(api.verbs(), ["start", "heartbeat"]);
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_does_not_hear_of_the_fence_is_stopped() {
    struct Fallen(Arc<AtomicBool>);
    impl Drop for Fallen {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let api = Api::new();
    api.script("heartbeat", 1, &gone());
    let (begun, stopped) = (Instant::now(), Arc::new(AtomicBool::new(false)));
    let flag = Arc::clone(&stopped);
    let ending = run_job(&api, move |_, _| {
        let fallen = Fallen(Arc::clone(&flag));
        async move {
            let _fallen = fallen;
            std::future::pending().await
        }
    })
    .await;
    assert_eq!(ending, Ending::Gone);
    assert!(is_at(25, begun.elapsed()));
    assert!(stopped.load(Ordering::SeqCst));
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_refused_at_its_start_is_dropped() {
    for status in [409, 404] {
        let api = Api::new();
        api.script("start", 1, &Scripted::Say(status, json!({})));
        let ran = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&ran);
        let ending = run_job(&api, move |_, _| {
            flag.store(true, Ordering::SeqCst);
            std::future::ready(Ok(Done::new()))
        })
        .await;
        assert_eq!(ending, Ending::Gone);
        assert_eq!(api.verbs(), ["start"]);
        assert!(!ran.load(Ordering::SeqCst));
    }
}

#[tokio::test(start_paused = true)]
async fn an_upload_that_meets_the_fence_ends_the_heartbeats_too() {
    let api = Api::new();
    api.script("artifacts", 1, &gone());
    let ending = run_job(&api, |_, ctx| async move {
        // The next heartbeat would come within the grace.
        sleep(Duration::from_secs(18)).await;
        assert!(ctx.upload("a.txt", "a").await.is_err());
        assert_eq!(ctx.check(), Err(Cancelled::Gone));
        sleep(Duration::from_mins(1)).await;
        Ok(Done::new())
    })
    .await;
    assert_eq!(ending, Ending::Gone);
    assert_eq!(api.verbs(), ["start", "artifacts"]);
}

#[tokio::test(start_paused = true)]
async fn a_completion_that_meets_the_fence_is_not_repeated() {
    let api = Api::new();
    api.script("complete", 1, &gone());
    let ending = run_job(&api, |_, _| std::future::ready(Ok(Done::new()))).await;
    assert_eq!(ending, Ending::Gone);
    assert_eq!(api.verbs(), ["start", "complete"]);
}

#[tokio::test(start_paused = true)]
async fn who_is_not_heard_for_a_minute_takes_the_job_for_lost() {
    let api = Api::new();
    api.script("heartbeat", 1, &Scripted::Say(200, json!({"action": "continue"})));
    api.script("heartbeat", 1_000, &busy());
    let (ending, why, at) = run_waiting(&api).await;
    assert_eq!((ending, why), (Ending::Silent, Cancelled::Silent));
    assert!(is_at(80, at), "the last word was heard at 20 s, not {at:?}");
    let verbs = api.verbs();
    assert!(verbs.len() > 8, "it was tried again and again: {verbs:?}");
    assert!(verbs[1..].iter().all(|verb| verb == "heartbeat"), "{verbs:?}");
}

#[tokio::test(start_paused = true)]
async fn a_job_that_cannot_be_started_is_let_go_after_a_minute() {
    let api = Api::new();
    api.script("start", 1_000, &busy());
    let ending = run_job(&api, |_, _| std::future::ready(Ok(Done::new()))).await;
    assert_eq!(ending, Ending::Silent);
    let last = api.heard("start").pop().unwrap();
    assert!(last.at < Duration::from_mins(1), "{last:?}");
}
