//! A job's whole life through the queues, and the trail that it leaves.

use std::collections::BTreeSet;

use domain::jobs::{Job, JobId, replay};
use http::Method;
use serde_json::{Value, json};
use tests::{Lab, root_key};

use crate::jobs::{
    JOBS, begin, cancel, claim, complete, event_names, in_use, job, jobs, polled_lab, purge_queue,
    report, retry, start, status, stored, submit_as,
};

/// A job without the fields that change without an audit record.
fn audited(job: Job) -> Job {
    Job { heartbeat_at: None, progress: 0, end_announced: false, ..job }
}

async fn assert_replays(lab: &Lab, id: &str) {
    let trail = jobs(lab).audit_trail(&JobId::parse(id).unwrap(), 100, None).await.unwrap();
    let replayed = replay(&trail.items).unwrap();
    assert_eq!(audited(replayed), audited(stored(lab, id).await));
}

/// Delivers every message twice: the copy of each comes later.
async fn settle_twice(lab: &Lab) {
    let queues = lab.cloud.services.queues();
    let mut copied = BTreeSet::new();
    loop {
        let mut received = 0;
        lab.cloud.functions.quiesce().await;
        for mapping in lab.cloud.pump.mappings() {
            for message in queues.receive(&mapping.queue, 1000, Some(0)).unwrap() {
                if copied.insert(message.id.clone()) {
                    let copy = queues::NewMessage {
                        attributes: message.message_attributes.clone(),
                        ..queues::NewMessage::text(message.body)
                    };
                    copied.insert(queues.send(&mapping.queue, &copy).unwrap());
                }
            }
            loop {
                let turn = lab.cloud.pump.poll(mapping).await;
                assert_eq!((turn.failed, turn.error), (0, None));
                received += turn.received;
                if turn.received == 0 {
                    break;
                }
            }
        }
        if received == 0 {
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_goes_through_dispatch_and_work_and_its_trail_says_so() {
    let lab = Lab::new();
    let id = submit_as(&lab, "echo", json!({ "payload": { "a": 1 }, "priority": "P1" })).await;
    lab.cloud.settle().await;
    let done = job(&lab, &id).await.body;
    assert_eq!((&done["status"], &done["result"]), (&json!("COMPLETED"), &json!({ "a": 1 })));
    assert_eq!((&done["attempt"], &done["priority"]), (&json!(1), &json!("P1")));
    assert_eq!(event_names(&lab, &id).await, ["submitted", "assigned", "started", "completed"]);
    let trail = lab.get(&format!("{JOBS}/{id}/events?limit=3")).await;
    let by = |n: usize| trail.body["items"][n]["by"].as_str().unwrap().to_owned();
    assert_eq!((by(0), by(1)), ("user root".to_owned(), "system".to_owned()));
    assert!(by(2).starts_with("worker work-"));
    let next = trail.body["nextCursor"].as_str().unwrap();
    let rest = lab.get(&format!("{JOBS}/{id}/events?limit=3&cursor={next}")).await;
    assert_eq!(rest.body["items"].as_array().unwrap().len(), 1);
    assert_replays(&lab, &id).await;
    assert!(stored(&lab, &id).await.end_announced);
}

#[tokio::test(start_paused = true)]
async fn every_message_delivered_twice_changes_nothing() {
    let lab = Lab::new();
    let parent = submit_as(&lab, "echo", json!({ "payload": 1 })).await;
    let child = submit_as(&lab, "echo", json!({ "dependencies": [parent] })).await;
    let retry = json!({ "maxAttempts": 2, "backoffSeconds": 0 });
    let more = json!({ "payload": { "times": 1 }, "retryPolicy": retry });
    let failing = submit_as(&lab, "fail-n-times", more).await;
    settle_twice(&lab).await;
    assert_eq!(event_names(&lab, &parent).await, ["submitted", "assigned", "started", "completed"]);
    assert_eq!(
        event_names(&lab, &child).await,
        ["submitted", "dependency-ended", "assigned", "started", "completed"]
    );
    let twice = ["submitted", "assigned", "started", "failed", "assigned", "started", "completed"];
    assert_eq!(event_names(&lab, &failing).await, twice);
    for id in [&parent, &child, &failing] {
        assert_replays(&lab, id).await;
    }
    for job_type in ["echo", "fail-n-times"] {
        assert_eq!(in_use(&lab, job_type).await, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn the_demo_types_do_what_they_say() {
    let lab = Lab::new();
    let slept = submit_as(&lab, "sleep", json!({ "payload": { "seconds": 3 } })).await;
    let hashed = submit_as(&lab, "hash-file", json!({ "payload": { "content": "abc" } })).await;
    let wrong = submit_as(&lab, "sleep", json!({ "payload": { "seconds": 91 } })).await;
    lab.cloud.settle().await;
    assert_eq!(job(&lab, &slept).await.body["result"], json!({ "slept": 3 }));
    let hashed = job(&lab, &hashed).await.body;
    let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(hashed["result"], json!({ "sha256": sum, "bytes": 3 }));
    assert_eq!(hashed["artifacts"][0]["name"], "sha256.txt");
    assert!(hashed["artifacts"][0]["url"].as_str().unwrap().contains("X-Amz-Signature="));
    let wrong = job(&lab, &wrong).await.body;
    assert_eq!((&wrong["status"], &wrong["attempt"]), (&json!("FAILED"), &json!(1)));
}

#[tokio::test(start_paused = true)]
async fn a_retried_job_keeps_its_id_and_counts_its_attempts_on() {
    let lab = polled_lab(1).await;
    let id = submit_as(&lab, "outside", json!({ "retryPolicy": { "maxAttempts": 1 } })).await;
    begin(&lab, "outside", "w").await;
    let given_up = json!({ "retryable": true, "error": "no luck" });
    report(&lab, &id, "fail", "w", 1, given_up).await;
    let early = retry(&lab, &id).await;
    assert_eq!(early.status, 409, "its end is not announced yet: {}", early.body);
    lab.cloud.settle().await;
    let again = retry(&lab, &id).await.body;
    assert_eq!((&again["status"], &again["attempt"]), (&json!("QUEUED"), &json!(2)));
    assert_eq!(again["lastAttempt"], 2);
    assert_eq!(claim(&lab, "outside", "w", 1).await, [(id.clone(), 2)]);
    start(&lab, &id, "w", 2).await;
    complete(&lab, &id, "w", 2).await;
    assert_replays(&lab, &id).await;
    assert_eq!(retry(&lab, &id).await.status, 409, "what completed is done");
}

#[tokio::test(start_paused = true)]
async fn what_does_not_run_is_cancelled_at_once() {
    let lab = polled_lab(1).await;
    let (first, second) = (
        submit_as(&lab, "outside", json!({ "priority": "P0" })).await,
        submit_as(&lab, "outside", json!({})).await,
    );
    claim(&lab, "outside", "w", 1).await;
    for id in [&first, &second] {
        let gone = cancel(&lab, id).await;
        assert_eq!((gone.status.as_u16(), gone.text("status")), (200, "CANCELLED"));
        assert_eq!(cancel(&lab, id).await.status, 200, "again is the same");
    }
    assert_eq!(in_use(&lab, "outside").await, 0);
    assert_eq!(report(&lab, &first, "start", "w", 1, json!({})).await.status, 409);
    lab.cloud.settle().await;
    assert_eq!(retry(&lab, &second).await.text("status"), "QUEUED");
    assert_replays(&lab, &second).await;
}

/// Subscribes a queue to the topic.
fn subscribe(lab: &Lab) {
    let queues = lab.cloud.services.queues();
    let address = queues.create_queue("witness", &queues::Attributes::new()).unwrap();
    let raw = [("RawMessageDelivery".to_owned(), "true".to_owned())].into();
    let topics = &lab.cloud.stack.topics;
    let topic = topics.iter().find(|topic| topic.logical_id == "JobEventsTopic").unwrap();
    queues.subscribe(&topic.arn, &address.arn, &raw).unwrap();
}

#[tokio::test(start_paused = true)]
async fn each_end_is_published_once_with_attributes_to_filter_by() {
    let lab = Lab::new();
    subscribe(&lab);
    let done = submit_as(&lab, "echo", json!({ "priority": "P0" })).await;
    let policy = json!({ "maxAttempts": 1 });
    let more = json!({ "payload": { "times": 1 }, "retryPolicy": policy });
    let failed = submit_as(&lab, "fail-n-times", more).await;
    let gone = submit_as(&lab, "echo", json!({ "notBefore": "2026-03-02T00:00:00Z" })).await;
    cancel(&lab, &gone).await;
    settle_twice(&lab).await;
    let received = lab.cloud.services.queues().receive("witness", 100, None).unwrap();
    let mut published: Vec<[String; 4]> = received
        .iter()
        .map(|message| {
            let notice: Value = serde_json::from_str(&message.body).unwrap();
            assert_eq!(notice["type"], "JobEnded");
            let attribute = |name: &str| {
                assert_eq!(
                    notice[name].as_str(),
                    message.message_attributes[name].string_value.as_deref()
                );
                notice[name].as_str().unwrap().to_owned()
            };
            let id = notice["jobId"].as_str().unwrap().to_owned();
            [id, attribute("jobType"), attribute("status"), attribute("priority")]
        })
        .collect();
    published.sort();
    let mut expected = vec![
        [done, "echo".to_owned(), "COMPLETED".to_owned(), "P0".to_owned()],
        [failed, "fail-n-times".to_owned(), "FAILED".to_owned(), "P2".to_owned()],
        [gone, "echo".to_owned(), "CANCELLED".to_owned(), "P2".to_owned()],
    ];
    expected.sort();
    assert_eq!(published, expected);
    purge_queue(&lab, "WorkQueue").await;
    let dead_letters = lab.cloud.services.queues();
    assert_eq!(dead_letters.depth(&lab.queue("WorkDeadLetters")).unwrap().visible, 1);
    lab.call(Method::GET, &format!("{JOBS}/x")).by(&root_key()).send().await.assert_status(404);
    assert_eq!(status(&lab, &published[0][0]).await, published[0][2]);
}
