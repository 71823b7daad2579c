//! Messages sent, hidden, shown again, deleted and forgotten.

use queues::{Code, Error, NewMessage, QueueDepth, ReceiptStatus};
use serde_json::json;

use crate::rig::{Rig, START, only};

fn send(rig: &Rig, body: &str) -> String {
    rig.queues.send("q", &NewMessage::text(body)).unwrap()
}

#[test]
fn a_received_message_is_hidden_until_its_timeout_runs_out() {
    let rig = Rig::with_queue("q", &[("VisibilityTimeout", "10")]);
    send(&rig, "a");
    assert_eq!(rig.bodies("q"), ["a"]);
    rig.pass(9);
    assert_eq!(rig.bodies("q"), [""; 0]);
    rig.pass(1);
    let (_, attributes) = only(rig.queues.receive("q", 10, None).unwrap());
    assert_eq!(attributes["ApproximateReceiveCount"], "2");
    assert_eq!(attributes["SentTimestamp"], START.to_string());
    assert_eq!(attributes["ApproximateFirstReceiveTimestamp"], START.to_string());
}

#[test]
fn the_newest_receipt_deletes_and_an_older_one_does_not() {
    let rig = Rig::with_queue("q", &[]);
    send(&rig, "a");
    let (first, _) = only(rig.queues.receive("q", 1, Some(0)).unwrap());
    let (second, _) = only(rig.queues.receive("q", 1, Some(30)).unwrap());
    assert_ne!(first.receipt_handle, second.receipt_handle);
    assert_eq!(rig.queues.delete("q", &first.receipt_handle).unwrap(), ReceiptStatus::Stale);
    assert_eq!(rig.queues.depth("q").unwrap().in_flight, 1);
    assert_eq!(rig.queues.delete("q", &second.receipt_handle).unwrap(), ReceiptStatus::Current);
    assert_eq!(rig.queues.delete("q", &second.receipt_handle).unwrap(), ReceiptStatus::Stale);
    assert_eq!(rig.queues.depth("q").unwrap(), QueueDepth::default());
}

#[test]
fn a_timeout_that_ran_out_still_lets_the_only_receiver_delete() {
    let rig = Rig::with_queue("q", &[]);
    send(&rig, "a");
    let (message, _) = only(rig.queues.receive("q", 1, Some(5)).unwrap());
    rig.pass(6);
    assert_eq!(rig.queues.delete("q", &message.receipt_handle).unwrap(), ReceiptStatus::Current);
}

#[test]
fn a_receipt_fits_only_the_queue_that_gave_it() {
    let rig = Rig::with_queue("q", &[]);
    rig.queue("other", &[]);
    send(&rig, "a");
    let (message, _) = only(rig.queues.receive("q", 1, None).unwrap());
    for handle in [message.receipt_handle.as_str(), "garbage", ""] {
        let error = rig.queues.delete("other", handle).unwrap_err();
        assert!(matches!(error, Error::Refused(r) if r.code == Code::ReceiptHandleIsInvalid));
    }
}

#[test]
fn visibility_can_be_prolonged_and_given_up_by_the_holder_only() {
    let rig = Rig::with_queue("q", &[("VisibilityTimeout", "10")]);
    send(&rig, "a");
    let (first, _) = only(rig.queues.receive("q", 1, None).unwrap());
    let change = |handle: &str, seconds| rig.queues.change_visibility("q", handle, seconds);
    assert_eq!(change(&first.receipt_handle, 60).unwrap(), ReceiptStatus::Current);
    rig.pass(59);
    assert_eq!(rig.bodies("q"), [""; 0]);
    assert_eq!(change(&first.receipt_handle, 0).unwrap(), ReceiptStatus::Current);
    // It is visible again, so the former consumer cannot hide it.
    assert_eq!(change(&first.receipt_handle, 60).unwrap(), ReceiptStatus::Stale);
    let (second, _) = only(rig.queues.receive("q", 1, None).unwrap());
    assert_eq!(change(&first.receipt_handle, 0).unwrap(), ReceiptStatus::Stale);
    assert_eq!(change(&second.receipt_handle, 0).unwrap(), ReceiptStatus::Current);
}

#[test]
fn delays_are_the_queues_own_unless_the_message_has_one() {
    let rig = Rig::with_queue("q", &[("DelaySeconds", "10")]);
    send(&rig, "queue");
    let message = NewMessage { delay: Some(2), ..NewMessage::text("own") };
    rig.queues.send("q", &message).unwrap();
    assert_eq!(rig.queues.depth("q").unwrap(), QueueDepth { delayed: 2, ..QueueDepth::default() });
    assert_eq!(rig.queues.next_visible_at("q").unwrap(), Some(START + 2_000));
    rig.pass(2);
    assert_eq!(rig.bodies("q"), ["own"]);
    rig.pass(8);
    assert_eq!(rig.bodies("q"), ["queue"]);
    let message = NewMessage { delay: Some(901), ..NewMessage::text("late") };
    assert!(rig.queues.send("q", &message).is_err());
}

#[test]
fn a_message_is_forgotten_when_its_retention_is_over() {
    let rig = Rig::with_queue("q", &[("MessageRetentionPeriod", "60")]);
    send(&rig, "old");
    rig.pass(30);
    send(&rig, "young");
    rig.pass(29);
    assert_eq!(rig.queues.depth("q").unwrap().visible, 2);
    rig.pass(1);
    assert_eq!(rig.bodies("q"), ["young"]);
    rig.pass(30);
    assert_eq!(rig.queues.next_visible_at("q").unwrap(), None);
}

#[test]
fn more_than_ten_can_be_received_by_a_typed_call() {
    let rig = Rig::with_queue("q", &[]);
    (0..25).for_each(|n| drop(send(&rig, &n.to_string())));
    assert_eq!(rig.queues.receive("q", 20, None).unwrap().len(), 20);
    assert_eq!(rig.queues.receive("q", 20, None).unwrap().len(), 5);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed| {
        let rig = Rig::seeded(seed);
        rig.queue("q", &[]);
        send(&rig, "a");
        rig.queues.receive("q", 1, None).unwrap()
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

#[tokio::test]
async fn an_sdk_gets_the_digests_and_attributes_it_checks() {
    let rig = Rig::with_queue("q", &[]);
    let attributes = json!({
        "b": {"DataType": "Binary", "BinaryValue": "AAE="},
        "s": {"DataType": "String", "StringValue": "v"},
    });
    let trace = json!({"AWSTraceHeader": {"DataType": "String", "StringValue": "Root=1"}});
    let sent = rig
        .sqs(
            "SendMessage",
            json!({
                "QueueUrl": "http://anywhere/000000000000/q", "MessageBody": "hello",
                "MessageAttributes": attributes, "MessageSystemAttributes": trace,
                "MessageGroupId": "tenant",
            }),
        )
        .await
        .unwrap();
    assert_eq!(sent["MD5OfMessageBody"], "5d41402abc4b2a76b9719d911017c592");
    assert!(sent["MD5OfMessageSystemAttributes"].is_string());
    let request = json!({
        "QueueUrl": "q", "MessageSystemAttributeNames": ["All"], "MessageAttributeNames": ["All"],
    });
    let got = rig.sqs("ReceiveMessage", request).await.unwrap();
    let message = &got["Messages"][0];
    assert_eq!(message["MD5OfMessageAttributes"], sent["MD5OfMessageAttributes"]);
    assert_eq!(message["MessageAttributes"], attributes);
    assert_eq!(message["Attributes"]["AWSTraceHeader"], "Root=1");
    assert_eq!(message["Attributes"]["MessageGroupId"], "tenant");
}

#[tokio::test]
async fn attributes_that_were_not_asked_for_are_not_shown() {
    let rig = Rig::with_queue("q", &[]);
    let attributes = json!({"s": {"DataType": "String", "StringValue": "v"}});
    let request = json!({"QueueUrl": "q", "MessageBody": "a", "MessageAttributes": attributes});
    rig.sqs("SendMessage", request).await.unwrap();
    let got = rig.sqs("ReceiveMessage", json!({"QueueUrl": "q"})).await.unwrap();
    let message = got["Messages"][0].as_object().unwrap();
    assert!(!message.contains_key("Attributes") && !message.contains_key("MessageAttributes"));
}
