//! Why a job is not running: each reason there is.

use serde_json::{Value, json};
use tests::Lab;

use crate::jobs::{
    JOBS, begin, cancel, claim, claimed, complete, job, polled, polled_lab, report, retry, save,
    start, submit_as,
};

async fn explained(lab: &Lab, id: &str) -> Value {
    let answer = lab.get(&format!("{JOBS}/{id}/explain")).await.assert_status(200);
    assert!(answer.text("explanation").ends_with('.'), "{}", answer.body);
    answer.body
}

async fn reason(lab: &Lab, id: &str) -> String {
    explained(lab, id).await["reason"].as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn dependencies_are_named_while_they_are_open() {
    let lab = polled_lab(2).await;
    let a = submit_as(&lab, "outside", json!({ "priority": "P0" })).await;
    let b = submit_as(&lab, "outside", json!({})).await;
    let id = submit_as(&lab, "outside", json!({ "dependencies": [a, b] })).await;
    let explanation = explained(&lab, &id).await;
    assert_eq!(
        (&explanation["reason"], &explanation["status"]),
        (&json!("dependencies"), &json!("WAITING"))
    );
    let open = |explanation: &Value| {
        let mut open: Vec<String> =
            serde_json::from_value(explanation["openDependencies"].clone()).unwrap();
        open.sort();
        open
    };
    let mut both = vec![a.clone(), b.clone()];
    both.sort();
    assert_eq!(open(&explanation), both);
    assert_eq!(begin(&lab, "outside", "w").await, a);
    complete(&lab, &a, "w", 1).await;
    lab.cloud.settle().await;
    assert_eq!(open(&explained(&lab, &id).await), [b]);
}

#[tokio::test(start_paused = true)]
async fn a_time_that_has_not_come_is_named_and_told_apart_from_backoff() {
    let lab = polled_lab(2).await;
    let later = json!({ "notBefore": "2026-03-01T13:00:00Z" });
    let id = submit_as(&lab, "outside", later).await;
    let explanation = explained(&lab, &id).await;
    assert_eq!(
        (&explanation["reason"], &explanation["until"], explanation.get("queuePosition")),
        (&json!("not-before"), &json!("2026-03-01T13:00:00Z"), None)
    );
    let slow = json!({ "retryPolicy": { "maxAttempts": 3, "backoffSeconds": 3600 } });
    submit_as(&lab, "outside", slow).await;
    let id = begin(&lab, "outside", "w").await;
    report(&lab, &id, "fail", "w", 1, json!({ "retryable": true, "error": "no" })).await;
    let explanation = explained(&lab, &id).await;
    assert_eq!(explanation["reason"], "backoff", "{explanation}");
    assert!(
        explanation["explanation"].as_str().unwrap().starts_with("Attempt 1 failed"),
        "{explanation}"
    );
    assert_eq!(explanation["until"], json!(job(&lab, &id).await.body["readyAt"]));
}

#[tokio::test(start_paused = true)]
async fn a_limit_is_named_with_who_holds_it() {
    let lab = polled_lab(2).await;
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(submit_as(&lab, "outside", json!({})).await);
        lab.advance_seconds(1);
    }
    assert_eq!(reason(&lab, &ids[0]).await, "waits-for-claim");
    let behind = explained(&lab, &ids[2]).await;
    assert_eq!((&behind["reason"], &behind["queuePosition"]), (&json!("behind"), &json!(3)));
    let held = claimed(&lab, "outside", "w", 5).await;
    let explanation = explained(&lab, &ids[3]).await;
    let facts =
        ["reason", "maxConcurrent", "inUse", "queuePosition"].map(|name| explanation[name].clone());
    assert_eq!(facts, [json!("limit-reached"), json!(2), json!(2), json!(2)]);
    let mut by: Vec<String> = serde_json::from_value(explanation["heldBy"].clone()).unwrap();
    by.sort();
    assert_eq!(by, held);
    save(&lab, "outside", &json!({ "maxConcurrent": 0 })).await;
    let explanation = explained(&lab, &ids[3]).await;
    assert_eq!(
        (&explanation["reason"], &explanation["maxConcurrent"]),
        (&json!("paused"), &json!(0))
    );
}

#[tokio::test(start_paused = true)]
async fn a_job_on_its_way_says_where_it_is() {
    let lab = Lab::new();
    let next = submit_as(&lab, "echo", json!({})).await;
    assert_eq!(reason(&lab, &next).await, "next");
    lab.cloud.settle().await;
    assert_eq!(reason(&lab, &next).await, "ended");

    polled(&lab, "outside", 1).await;
    let id = submit_as(&lab, "outside", json!({})).await;
    claim(&lab, "outside", "w", 1).await;
    let explanation = explained(&lab, &id).await;
    assert_eq!(
        (&explanation["reason"], &explanation["until"]),
        (&json!("assigned"), &json!("2026-03-01T12:01:00Z"))
    );
    start(&lab, &id, "w", 1).await;
    assert_eq!(reason(&lab, &id).await, "running");
    cancel(&lab, &id).await;
    assert_eq!(reason(&lab, &id).await, "stopping");
    report(&lab, &id, "fail", "w", 1, json!({ "retryable": false })).await;
    let explanation = explained(&lab, &id).await;
    assert_eq!(
        (&explanation["reason"], &explanation["explanation"]),
        (&json!("ended"), &json!("It is CANCELLED."))
    );
    lab.cloud.settle().await;
    retry(&lab, &id).await;
    assert_eq!(reason(&lab, &id).await, "waits-for-claim");
}
