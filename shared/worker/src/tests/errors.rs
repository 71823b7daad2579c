//! Servers that are busy, slow, unreachable, or refuse.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::fake_api::Scripted;
use super::{FakeApi, is_at, run_job, run_jobs, worker};
use crate::{ApiError, JobOutput, RunOutcome, WorkerEvent};

fn busy() -> Scripted {
    Scripted::Respond(503, json!({"title": "Busy"}))
}

#[tokio::test(start_paused = true)]
async fn requests_to_a_busy_server_are_repeated() {
    let api = FakeApi::new();
    for verb in ["claim", "start", "heartbeat", "complete"] {
        api.script(verb, 2, &busy());
    }
    let outcome = run_job(&api, |_, _| async {
        sleep(Duration::from_secs(30)).await;
        Ok(JobOutput::new())
    })
    .await;
    assert_eq!(outcome, RunOutcome::Completed);
    for verb in ["claim", "start", "heartbeat", "complete"] {
        assert!(api.calls_to(verb).len() >= 3, "{verb}: {:?}", api.verbs());
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_after_is_obeyed() {
    let api = FakeApi::new();
    api.script("claim", 1, &Scripted::RetryAfter(429, 7));
    api.script("heartbeat", 1, &Scripted::RetryAfter(503, 9));
    run_job(&api, |_, _| async {
        sleep(Duration::from_secs(45)).await;
        Ok(JobOutput::new())
    })
    .await;
    let claims = api.calls_to("claim");
    assert!(is_at(7, claims[1].at), "{claims:?}");
    let beats = api.calls_to("heartbeat");
    assert!(is_at(27, beats[0].at) && is_at(36, beats[1].at), "{beats:?}");
}

#[tokio::test(start_paused = true)]
async fn a_heartbeat_without_an_answer_is_sent_again_after_ten_seconds() {
    let api = FakeApi::new();
    api.script("heartbeat", 1, &Scripted::Hang);
    let outcome = run_job(&api, |_, _| async {
        sleep(Duration::from_secs(45)).await;
        Ok(JobOutput::new())
    })
    .await;
    assert_eq!(outcome, RunOutcome::Completed);
    let beats = api.calls_to("heartbeat");
    assert!(is_at(20, beats[0].at), "{beats:?}");
    let again = beats[1].at;
    assert!(again > Duration::from_secs(30) && again < Duration::from_secs(31), "{beats:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_away_for_a_while_does_not_end_a_job() {
    let api = FakeApi::new();
    let away = api.clone();
    let outcome = run_job(&api, move |_, _| {
        let api = away.clone();
        async move {
            api.set_reachable(false);
            sleep(Duration::from_secs(50)).await;
            api.set_reachable(true);
            sleep(Duration::from_secs(30)).await;
            Ok(JobOutput::new())
        }
    })
    .await;
    assert_eq!(outcome, RunOutcome::Completed);
    let beats = api.calls_to("heartbeat");
    assert!(beats[0].at >= Duration::from_secs(50), "{beats:?}");
}

#[tokio::test(start_paused = true)]
async fn a_job_is_kept_alive_while_its_completion_is_not_taken() {
    let api = FakeApi::new();
    api.script("complete", 40, &busy());
    let outcome = run_job(&api, |_, _| std::future::ready(Ok(JobOutput::new()))).await;
    assert_eq!(outcome, RunOutcome::Completed);
    let last = api.calls_to("complete").pop().unwrap();
    assert!(
        last.at > Duration::from_secs(90),
        "the outage is longer than the heartbeat timeout: {last:?}"
    );
    let beats = api.calls_to("heartbeat");
    assert!(beats.len() > 3, "{beats:?}");
    assert!(beats.windows(2).all(|two| two[1].at < two[0].at + Duration::from_secs(30)));
}

#[tokio::test(start_paused = true)]
async fn a_completion_that_is_refused_for_good_fails_the_job() {
    let api = FakeApi::new();
    api.script("complete", 1, &Scripted::Respond(422, json!({"detail": "the result is too long"})));
    run_job(&api, |_, _| std::future::ready(Ok(JobOutput::new()))).await;
    assert_eq!(api.verbs(), ["start", "complete", "fail"]);
    let body = &api.calls_to("fail")[0].body;
    assert_eq!(body["retryable"], false);
    assert!(body["error"].as_str().unwrap().ends_with("422: the result is too long"), "{body}");
}

#[tokio::test(start_paused = true)]
async fn a_start_that_is_refused_for_good_ends_the_run() {
    let api = FakeApi::new();
    api.script("start", 1, &Scripted::Respond(403, json!({"detail": "no job-worker"})));
    let outcome = run_job(&api, |_, _| std::future::ready(Ok(JobOutput::new()))).await;
    assert!(matches!(outcome, RunOutcome::Refused(_)), "{outcome}");
    assert_eq!(api.verbs(), ["start"]);
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_is_refused_ends_after_what_it_runs() {
    let api = FakeApi::new();
    api.offer("j1", &json!(null));
    api.script("claim", 1, &Scripted::Delay(Duration::ZERO));
    api.script("claim", 1, &Scripted::Respond(403, json!({"detail": "the key has expired"})));
    let refused = worker(&api).concurrency(2).run(|_, _| async {
        sleep(Duration::from_secs(30)).await;
        Ok(JobOutput::new())
    });
    let cause = "the API answered with status 403: the key has expired".to_owned();
    assert_eq!(refused.await, Err(ApiError::Permanent { cause }));
    assert_eq!(api.verbs(), ["start", "heartbeat", "complete"]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_claim_is_an_event() {
    let api = FakeApi::new();
    api.script("claim", 1, &busy());
    let events = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&events);
    let worker = worker(&api).on_event(move |note| kept.lock().unwrap().push(note));
    let worker = worker.stop_on(sleep(Duration::from_secs(5)));
    worker.run(|_, _| std::future::ready(Ok(JobOutput::new()))).await.unwrap();
    let events = events.lock().unwrap();
    assert!(
        matches!(events[..], [WorkerEvent::ClaimFailed(ApiError::Transient { .. })]),
        "{events:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn one_job_s_failure_does_not_affect_another() {
    let api = FakeApi::new();
    for job in ["j1", "j2"] {
        api.offer(job, &json!(job));
    }
    let outcomes = run_jobs(worker(&api).concurrency(2), 2, |job, _| async move {
        assert_ne!(job.payload::<String>()?, "j1", "this one breaks");
        sleep(Duration::from_secs(30)).await;
        Ok(JobOutput::new())
    })
    .await;
    assert!(matches!(outcomes[..], [RunOutcome::Failed(_), RunOutcome::Completed]), "{outcomes:?}");
}
