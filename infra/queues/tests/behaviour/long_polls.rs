//! Long polls: they end with an arrival, with the clock, or with the caller's wait time.

use std::time::Duration;

use queues::NewMessage;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::rig::Rig;

async fn poll(rig: &Rig, seconds: u32) -> Vec<String> {
    let request = json!({"QueueUrl": "q", "MaxNumberOfMessages": 10, "WaitTimeSeconds": seconds});
    let got = rig.sqs("ReceiveMessage", request).await.unwrap();
    let messages = got["Messages"].as_array().cloned().unwrap_or_default();
    messages.iter().map(|m: &Value| m["Body"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn an_arrival_ends_the_wait_at_once() {
    let rig = Rig::with_queue("q", &[]);
    let begun = Instant::now();
    let send = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        rig.queues.send("q", &NewMessage::text("a")).unwrap();
    };
    let (got, ()) = tokio::join!(poll(&rig, 20), send);
    assert_eq!(got, ["a"]);
    assert_eq!(begun.elapsed().as_secs(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_moved_clock_ends_the_wait_for_a_delayed_message() {
    let rig = Rig::with_queue("q", &[("DelaySeconds", "600")]);
    rig.queues.send("q", &NewMessage::text("a")).unwrap();
    let begun = Instant::now();
    let pass = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        rig.pass(600);
    };
    let (got, ()) = tokio::join!(poll(&rig, 20), pass);
    assert_eq!(got, ["a"]);
    assert_eq!(begun.elapsed().as_secs(), 2);
}

#[tokio::test(start_paused = true)]
async fn patience_runs_out_when_nothing_arrives() {
    let rig =
        Rig::with_queue("q", &[("DelaySeconds", "600"), ("ReceiveMessageWaitTimeSeconds", "4")]);
    rig.queues.send("q", &NewMessage::text("a")).unwrap();
    let begun = Instant::now();
    assert_eq!(poll(&rig, 7).await, [""; 0]);
    assert_eq!(begun.elapsed().as_secs(), 7);
    assert_eq!(rig.sqs("ReceiveMessage", json!({"QueueUrl": "q"})).await.unwrap(), json!({}));
    assert_eq!(begun.elapsed().as_secs(), 11);
}

#[tokio::test(start_paused = true)]
async fn one_message_ends_one_of_two_waits() {
    let rig = Rig::with_queue("q", &[]);
    let send = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        rig.queues.send("q", &NewMessage::text("a")).unwrap();
    };
    let (one, other, ()) = tokio::join!(poll(&rig, 5), poll(&rig, 5), send);
    assert_eq!(one.len() + other.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_wait_for_a_deleted_queue_ends_with_a_refusal() {
    let rig = Rig::with_queue("q", &[]);
    let request = json!({"QueueUrl": "q", "WaitTimeSeconds": 20});
    let delete = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        rig.queues.delete_queue("q").unwrap();
    };
    let (got, ()) = tokio::join!(rig.sqs("ReceiveMessage", request), delete);
    assert_eq!(got.unwrap_err().code, "QueueDoesNotExist");
}

#[tokio::test]
async fn arrivals_change_for_everything_that_can_end_a_wait() {
    let rig = Rig::with_queue("q", &[]);
    let mut arrivals = rig.queues.arrivals();
    let mut rang = || {
        let changed = arrivals.has_changed().unwrap();
        arrivals.mark_unchanged();
        changed
    };
    assert!(!rang());
    rig.queues.send("q", &NewMessage::text("a")).unwrap();
    assert!(rang());
    let got = rig.queues.receive("q", 1, None).unwrap();
    assert!(!rang());
    rig.queues.change_visibility("q", &got[0].receipt_handle, 0).unwrap();
    assert!(rang());
    rig.pass(1);
    assert!(rang());
    rig.queues.send("none", &NewMessage::text("a")).unwrap_err();
    assert!(!rang());
}
