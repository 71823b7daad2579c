//! Batches: refused as a whole when malformed, otherwise entry by entry.

use serde_json::{Value, json};

use crate::rig::Rig;

fn entries(bodies: &[&str]) -> Value {
    let entry = |(at, body): (usize, &&str)| json!({"Id": at.to_string(), "MessageBody": body});
    bodies.iter().enumerate().map(entry).collect()
}

#[tokio::test]
async fn ten_messages_go_through_the_queue_in_batches() {
    let rig = Rig::with_queue("q", &[]);
    let batch = json!({"QueueUrl": "q", "Entries": entries(&["x"; 10])});
    let sent = rig.sqs("SendMessageBatch", batch).await.unwrap();
    assert_eq!(sent["Successful"].as_array().unwrap().len(), 10);
    let got = rig.queues.receive("q", 10, None).unwrap();
    let handles = got.iter().enumerate().map(|(at, message)| {
        json!({"Id": at.to_string(), "ReceiptHandle": message.receipt_handle, "VisibilityTimeout": 90})
    });
    let handles: Value = handles.collect();
    let hide = json!({"QueueUrl": "q", "Entries": handles});
    let hidden = rig.sqs("ChangeMessageVisibilityBatch", hide.clone()).await.unwrap();
    assert_eq!(hidden["Successful"].as_array().unwrap().len(), 10);
    rig.pass(89);
    assert_eq!(rig.queues.depth("q").unwrap().in_flight, 10);
    rig.sqs("DeleteMessageBatch", hide.clone()).await.unwrap();
    assert_eq!(rig.queues.depth("q").unwrap(), queues::QueueDepth::default());
    // Once they are gone, hiding fails entry by entry and deleting does not.
    let hidden = rig.sqs("ChangeMessageVisibilityBatch", hide.clone()).await.unwrap();
    assert_eq!(hidden["Failed"][0]["Code"], "AWS.SimpleQueueService.MessageNotInflight");
    let deleted = rig.sqs("DeleteMessageBatch", hide).await.unwrap();
    assert_eq!(deleted["Failed"], json!([]));
}

#[tokio::test]
async fn a_bad_entry_fails_alone() {
    let rig = Rig::with_queue("q", &[("MaximumMessageSize", "1024")]);
    let long = "x".repeat(1_025);
    let batch = json!({"QueueUrl": "q", "Entries": entries(&["good", "", &long, "fine"])});
    let sent = rig.sqs("SendMessageBatch", batch).await.unwrap();
    let ids = |list: &Value| -> Vec<String> {
        let entries = list.as_array().unwrap();
        entries.iter().map(|entry| entry["Id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&sent["Successful"]), ["0", "3"]);
    assert_eq!(ids(&sent["Failed"]), ["1", "2"]);
    assert_eq!(sent["Failed"][1]["Code"], "InvalidParameterValue");
    assert_eq!(rig.bodies("q"), ["good", "fine"]);
}

#[tokio::test]
async fn a_malformed_batch_is_refused_as_a_whole() {
    let rig = Rig::with_queue("q", &[]);
    let half = "x".repeat(600_000);
    let entry = |id: &str| json!({"Id": id, "MessageBody": "x"});
    for (entries, code) in [
        (json!([]), "EmptyBatchRequest"),
        (entries(&["x"; 11]), "TooManyEntriesInBatchRequest"),
        (json!([entry("a"), entry("a")]), "BatchEntryIdsNotDistinct"),
        (json!([entry("a b")]), "InvalidBatchEntryId"),
        (json!([entry("")]), "InvalidBatchEntryId"),
        (entries(&[half.as_str(), half.as_str()]), "BatchRequestTooLong"),
    ] {
        let batch = json!({"QueueUrl": "q", "Entries": entries});
        assert_eq!(rig.sqs("SendMessageBatch", batch).await.unwrap_err().code, code);
    }
    assert_eq!(rig.queues.depth("q").unwrap(), queues::QueueDepth::default());
}
