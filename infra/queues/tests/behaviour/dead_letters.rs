//! Messages that were received too often, and the way back for them.

use queues::{AttributeValue, NewMessage};
use serde_json::json;

use crate::rig::{Rig, START, only, redrive};

fn rig() -> Rig {
    let rig = Rig::with_queue("dead", &[]);
    rig.queue("q", &[("VisibilityTimeout", "1"), ("RedrivePolicy", &redrive("dead", 2))]);
    rig
}

fn receive_in_vain(rig: &Rig, times: usize) {
    for _ in 0..times {
        assert_eq!(rig.bodies("q").len(), 1);
        rig.pass(1);
    }
}

#[test]
fn a_message_received_too_often_becomes_a_dead_letter_as_it_was() {
    let rig = rig();
    let mut message = NewMessage { group: Some("g".into()), ..NewMessage::text("bad") };
    message.attributes.insert("a".into(), AttributeValue::string("v"));
    let id = rig.queues.send("q", &message).unwrap();
    receive_in_vain(&rig, 2);
    assert_eq!(rig.queues.depth("dead").unwrap().visible, 0);
    assert_eq!(rig.bodies("q"), [""; 0]);
    let (dead, attributes) = only(rig.queues.receive("dead", 10, None).unwrap());
    assert_eq!((dead.id, dead.body), (id, "bad".to_owned()));
    assert_eq!(dead.message_attributes, message.attributes);
    assert_eq!(attributes["DeadLetterQueueSourceArn"], queues::queue_arn("q"));
    assert_eq!(attributes["SentTimestamp"], START.to_string());
    assert_eq!(attributes["ApproximateReceiveCount"], "3");
    assert_eq!(attributes["MessageGroupId"], "g");
}

#[test]
fn a_message_deleted_in_time_does_not_become_a_dead_letter() {
    let rig = rig();
    rig.queues.send("q", &NewMessage::text("good")).unwrap();
    receive_in_vain(&rig, 1);
    let (message, _) = only(rig.queues.receive("q", 1, None).unwrap());
    rig.queues.delete("q", &message.receipt_handle).unwrap();
    rig.pass(5);
    assert_eq!(rig.bodies("q"), [""; 0]);
    assert_eq!(rig.bodies("dead"), [""; 0]);
}

#[test]
fn the_receipt_of_the_source_queue_does_not_reach_the_dead_letter() {
    let rig = rig();
    rig.queues.send("q", &NewMessage::text("bad")).unwrap();
    receive_in_vain(&rig, 1);
    let (message, _) = only(rig.queues.receive("q", 1, None).unwrap());
    rig.pass(1);
    assert_eq!(rig.bodies("q"), [""; 0]);
    assert_eq!(
        rig.queues.delete("q", &message.receipt_handle).unwrap(),
        queues::ReceiptStatus::Stale
    );
    assert_eq!(rig.bodies("dead"), ["bad"]);
}

#[test]
fn without_its_dead_letter_queue_a_message_is_delivered_on() {
    let rig = rig();
    rig.queues.delete_queue("dead").unwrap();
    rig.queues.send("q", &NewMessage::text("bad")).unwrap();
    receive_in_vain(&rig, 5);
}

#[test]
fn a_chain_of_dead_letter_queues_counts_the_receives_of_each() {
    let rig = Rig::with_queue("deader", &[]);
    rig.queue("dead", &[("VisibilityTimeout", "1"), ("RedrivePolicy", &redrive("deader", 2))]);
    rig.queue("q", &[("VisibilityTimeout", "1"), ("RedrivePolicy", &redrive("dead", 1))]);
    rig.queues.send("q", &NewMessage::text("bad")).unwrap();
    receive_in_vain(&rig, 1);
    assert_eq!(rig.bodies("q"), [""; 0]);
    for _ in 0..2 {
        assert_eq!(rig.bodies("dead"), ["bad"]);
        rig.pass(1);
    }
    assert_eq!(rig.bodies("dead"), [""; 0]);
    assert_eq!(rig.bodies("deader"), ["bad"]);
}

#[tokio::test]
async fn dead_letters_move_back_and_start_afresh() {
    let rig = rig();
    let id = rig.queues.send("q", &NewMessage::text("bad")).unwrap();
    receive_in_vain(&rig, 2);
    assert_eq!(rig.bodies("q"), [""; 0]);
    let source = queues::queue_arn("dead");
    let sources = rig.sqs("ListDeadLetterSourceQueues", json!({"QueueUrl": "dead"})).await.unwrap();
    assert_eq!(sources["queueUrls"], json!([queues::queue_url("q")]));
    let task = json!({"SourceArn": source});
    let started = rig.sqs("StartMessageMoveTask", task.clone()).await.unwrap();
    let (message, attributes) = only(rig.queues.receive("q", 10, None).unwrap());
    assert_ne!(message.id, id);
    assert_eq!(attributes["ApproximateReceiveCount"], "1");
    assert!(!attributes.contains_key("DeadLetterQueueSourceArn"));
    let listed = rig.sqs("ListMessageMoveTasks", task).await.unwrap();
    assert_eq!(listed["Results"][0]["Status"], "COMPLETED");
    assert_eq!(listed["Results"][0]["ApproximateNumberOfMessagesMoved"], 1);
    let cancel = json!({"TaskHandle": started["TaskHandle"]});
    let refusal = rig.sqs("CancelMessageMoveTask", cancel).await.unwrap_err();
    assert_eq!(refusal.code, "ResourceNotFoundException");
}

#[tokio::test]
async fn a_message_of_unknown_origin_moves_only_to_a_named_queue() {
    let rig = rig();
    rig.queue("elsewhere", &[]);
    rig.queues.send("dead", &NewMessage::text("stray")).unwrap();
    let source = queues::queue_arn("dead");
    rig.sqs("StartMessageMoveTask", json!({"SourceArn": source})).await.unwrap();
    let listed = rig.sqs("ListMessageMoveTasks", json!({"SourceArn": source})).await.unwrap();
    assert_eq!(listed["Results"][0]["FailureReason"], "CouldNotDetermineMessageSource");
    let named = json!({"SourceArn": source, "DestinationArn": queues::queue_arn("elsewhere")});
    rig.sqs("StartMessageMoveTask", named).await.unwrap();
    assert_eq!(rig.bodies("elsewhere"), ["stray"]);
}

#[tokio::test]
async fn only_a_dead_letter_queue_can_be_moved_from() {
    let rig = rig();
    for (name, code) in
        [("q", "InvalidParameterValueException"), ("none", "ResourceNotFoundException")]
    {
        let task = json!({"SourceArn": queues::queue_arn(name)});
        assert_eq!(rig.sqs("StartMessageMoveTask", task).await.unwrap_err().code, code);
    }
}
