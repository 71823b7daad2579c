//! Servers that are busy, slow, away, or of another opinion.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::api::Scripted;
use super::{Api, is_at, run_job, run_jobs, worker};
use crate::{Done, Ending, Note, Trouble};

fn busy() -> Scripted {
    Scripted::Say(503, json!({"title": "Busy"}))
}

#[tokio::test(start_paused = true)]
async fn words_that_meet_a_busy_server_are_said_again() {
    let api = Api::new();
    for verb in ["claim", "start", "heartbeat", "complete"] {
        api.script(verb, 2, &busy());
    }
    let ending = run_job(&api, |_, _| async {
        sleep(Duration::from_secs(30)).await;
        Ok(Done::new())
    })
    .await;
    assert_eq!(ending, Ending::Completed);
    for verb in ["claim", "start", "heartbeat", "complete"] {
        assert!(api.heard(verb).len() >= 3, "{verb}: {:?}", api.verbs());
    }
}

#[tokio::test(start_paused = true)]
async fn who_is_told_when_to_come_back_waits_that_long() {
    let api = Api::new();
    api.script("claim", 1, &Scripted::Wait(429, 7));
    api.script("heartbeat", 1, &Scripted::Wait(503, 9));
    run_job(&api, |_, _| async {
        sleep(Duration::from_secs(45)).await;
        Ok(Done::new())
    })
    .await;
    let claims = api.heard("claim");
    assert!(is_at(7, claims[1].at), "{claims:?}");
    let beats = api.heard("heartbeat");
    assert!(is_at(27, beats[0].at) && is_at(36, beats[1].at), "{beats:?}");
}

#[tokio::test(start_paused = true)]
async fn a_heartbeat_without_an_answer_is_sent_again_after_ten_seconds() {
    let api = Api::new();
    api.script("heartbeat", 1, &Scripted::Hang);
    let ending = run_job(&api, |_, _| async {
        sleep(Duration::from_secs(45)).await;
        Ok(Done::new())
    })
    .await;
    assert_eq!(ending, Ending::Completed);
    let beats = api.heard("heartbeat");
    assert!(is_at(20, beats[0].at), "{beats:?}");
    let again = beats[1].at;
    assert!(again > Duration::from_secs(30) && again < Duration::from_secs(31), "{beats:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_away_for_a_while_does_not_end_a_job() {
    let api = Api::new();
    let away = api.clone();
    let ending = run_job(&api, move |_, _| {
        let api = away.clone();
        async move {
            api.be_reachable(false);
            sleep(Duration::from_secs(50)).await;
            api.be_reachable(true);
            sleep(Duration::from_secs(30)).await;
            Ok(Done::new())
        }
    })
    .await;
    assert_eq!(ending, Ending::Completed);
    let beats = api.heard("heartbeat");
    assert!(beats[0].at >= Duration::from_secs(50), "{beats:?}");
}

#[tokio::test(start_paused = true)]
async fn a_job_is_kept_alive_while_its_completion_is_not_taken() {
    let api = Api::new();
    api.script("complete", 40, &busy());
    let ending = run_job(&api, |_, _| std::future::ready(Ok(Done::new()))).await;
    assert_eq!(ending, Ending::Completed);
    let last = api.heard("complete").pop().unwrap();
    assert!(
        last.at > Duration::from_secs(90),
        "the outage is longer than a silence may be: {last:?}"
    );
    let beats = api.heard("heartbeat");
    assert!(beats.len() > 3, "{beats:?}");
    assert!(beats.windows(2).all(|two| two[1].at < two[0].at + Duration::from_secs(30)));
}

#[tokio::test(start_paused = true)]
async fn a_completion_that_is_refused_for_good_fails_the_job() {
    let api = Api::new();
    api.script("complete", 1, &Scripted::Say(422, json!({"detail": "the result is too long"})));
    run_job(&api, |_, _| std::future::ready(Ok(Done::new()))).await;
    assert_eq!(api.verbs(), ["start", "complete", "fail"]);
    let body = &api.heard("fail")[0].body;
    assert_eq!(body["retryable"], false);
    assert!(body["error"].as_str().unwrap().ends_with("422: the result is too long"), "{body}");
}

#[tokio::test(start_paused = true)]
async fn a_start_that_is_refused_for_good_is_told() {
    let api = Api::new();
    api.script("start", 1, &Scripted::Say(403, json!({"detail": "no job-worker"})));
    let ending = run_job(&api, |_, _| std::future::ready(Ok(Done::new()))).await;
    assert!(matches!(ending, Ending::Refused(_)), "{ending}");
    assert_eq!(api.verbs(), ["start"]);
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_is_not_wanted_ends_after_what_it_runs() {
    let api = Api::new();
    api.offer("j1", &json!(null));
    api.script("claim", 1, &Scripted::Late(Duration::ZERO));
    api.script("claim", 1, &Scripted::Say(403, json!({"detail": "the key has expired"})));
    let refused = worker(&api).at_once(2).run(|_, _| async {
        sleep(Duration::from_secs(30)).await;
        Ok(Done::new())
    });
    let cause = "the API answered with status 403: the key has expired".to_owned();
    assert_eq!(refused.await, Err(Trouble::Lasting { cause }));
    assert_eq!(api.verbs(), ["start", "heartbeat", "complete"]);
}

#[tokio::test(start_paused = true)]
async fn trouble_with_claims_is_noted() {
    let api = Api::new();
    api.script("claim", 1, &busy());
    let noted = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&noted);
    let worker = worker(&api).notes(move |note| kept.lock().unwrap().push(note));
    let worker = worker.stop_on(sleep(Duration::from_secs(5)));
    worker.run(|_, _| std::future::ready(Ok(Done::new()))).await.unwrap();
    let noted = noted.lock().unwrap();
    assert!(matches!(noted[..], [Note::Trouble(Trouble::Passing { .. })]), "{noted:?}");
}

#[tokio::test(start_paused = true)]
async fn one_job_s_trouble_is_not_another_s() {
    let api = Api::new();
    for job in ["j1", "j2"] {
        api.offer(job, &json!(job));
    }
    let endings = run_jobs(worker(&api).at_once(2), 2, |job, _| async move {
        assert_ne!(job.payload::<String>()?, "j1", "this one breaks");
        sleep(Duration::from_secs(30)).await;
        Ok(Done::new())
    })
    .await;
    assert!(matches!(endings[..], [Ending::Failed(_), Ending::Completed]), "{endings:?}");
}
