//! Queues created, changed, listed, tagged and deleted.

use http::StatusCode;
use queues::NewMessage;
use serde_json::json;

use crate::rig::{Refusal, Rig, map, redrive};

#[tokio::test]
async fn creating_a_queue_twice_is_fine_only_when_the_attributes_agree() {
    let rig = Rig::new();
    let request = json!({"QueueName": "q", "Attributes": {"VisibilityTimeout": "5"}});
    let first = rig.sqs("CreateQueue", request.clone()).await.unwrap();
    assert_eq!(first["QueueUrl"], "http://sqs.us-east-1.localhost/000000000000/q");
    assert_eq!(rig.sqs("CreateQueue", request).await.unwrap(), first);
    assert_eq!(rig.sqs("CreateQueue", json!({"QueueName": "q"})).await.unwrap(), first);
    let other = json!({"QueueName": "q", "Attributes": {"VisibilityTimeout": "6"}});
    assert_eq!(rig.sqs("CreateQueue", other).await.unwrap_err().code, "QueueNameExists");
}

#[tokio::test]
async fn the_typed_call_brings_an_existing_queue_up_to_date_and_keeps_its_messages() {
    let rig = Rig::with_queue("q", &[("VisibilityTimeout", "5"), ("DelaySeconds", "0")]);
    rig.queues.send("q", &NewMessage::text("kept")).unwrap();
    rig.queue("q", &[("VisibilityTimeout", "7")]);
    let request = json!({"QueueUrl": "q", "AttributeNames": ["VisibilityTimeout"]});
    let got = rig.sqs("GetQueueAttributes", request).await.unwrap();
    assert_eq!(got, json!({"Attributes": {"VisibilityTimeout": "7"}}));
    assert_eq!(rig.bodies("q"), ["kept"]);
}

#[tokio::test]
async fn a_fifo_queue_is_refused_with_a_clear_error() {
    let rig = Rig::new();
    for request in [
        json!({"QueueName": "q.fifo", "Attributes": {"FifoQueue": "true"}}),
        json!({"QueueName": "q", "Attributes": {"FifoQueue": "true"}}),
    ] {
        let refusal = rig.sqs("CreateQueue", request).await.unwrap_err();
        assert_eq!(refusal.code, "UnsupportedOperation");
    }
}

#[tokio::test]
async fn a_missing_queue_is_named_as_both_protocols_name_it() {
    let rig = Rig::new();
    for (action, request) in [
        ("GetQueueUrl", json!({"QueueName": "none"})),
        ("SendMessage", json!({"QueueUrl": "http://h/0/none", "MessageBody": "a"})),
        ("ReceiveMessage", json!({"QueueUrl": "http://h/0/none"})),
        ("DeleteQueue", json!({"QueueUrl": "http://h/0/none"})),
    ] {
        let expected = Refusal {
            status: StatusCode::BAD_REQUEST,
            code: "QueueDoesNotExist".into(),
            query_error: Some("AWS.SimpleQueueService.NonExistentQueue;Sender".into()),
        };
        assert_eq!(rig.sqs(action, request).await.unwrap_err(), expected, "{action}");
    }
}

#[tokio::test]
async fn attributes_are_changed_within_their_ranges_and_shown() {
    let rig = Rig::with_queue("dead", &[]);
    rig.queue("q", &[("VisibilityTimeout", "5")]);
    rig.queues.send("q", &NewMessage::text("a")).unwrap();
    let policy = redrive("dead", 3);
    let change =
        json!({"QueueUrl": "q", "Attributes": {"DelaySeconds": "3", "RedrivePolicy": policy}});
    rig.sqs("SetQueueAttributes", change).await.unwrap();
    let all = json!({"QueueUrl": "q", "AttributeNames": ["All"]});
    let got = rig.sqs("GetQueueAttributes", all.clone()).await.unwrap()["Attributes"].clone();
    for (name, value) in [
        ("ApproximateNumberOfMessages", "1"),
        ("CreatedTimestamp", "1700000000"),
        ("DelaySeconds", "3"),
        ("MessageRetentionPeriod", "345600"),
        ("QueueArn", "arn:aws:sqs:us-east-1:000000000000:q"),
        ("RedrivePolicy", &policy),
        ("VisibilityTimeout", "5"),
    ] {
        assert_eq!(got[name], value, "{name}");
    }
    let clear = json!({"QueueUrl": "q", "Attributes": {"RedrivePolicy": ""}});
    rig.sqs("SetQueueAttributes", clear).await.unwrap();
    let got = rig.sqs("GetQueueAttributes", all).await.unwrap();
    assert!(got["Attributes"].get("RedrivePolicy").is_none());
}

#[tokio::test]
async fn attributes_that_make_no_sense_are_refused() {
    let rig =
        Rig::with_queue("closed", &[("RedriveAllowPolicy", r#"{"redrivePermission":"denyAll"}"#)]);
    rig.queue("q", &[]);
    let (missing, closed) = (redrive("none", 3), redrive("closed", 3));
    for (name, value, code) in [
        ("MessageRetentionPeriod", "10", "InvalidAttributeValue"),
        ("Nonsense", "1", "InvalidAttributeName"),
        ("RedrivePolicy", "{}", "InvalidParameterValueException"),
        ("RedrivePolicy", &missing, "InvalidParameterValueException"),
        ("RedrivePolicy", &closed, "InvalidParameterValueException"),
    ] {
        let change = json!({"QueueUrl": "q", "Attributes": {name: value}});
        let refusal = rig.sqs("SetQueueAttributes", change).await.unwrap_err();
        assert_eq!(refusal.code, code, "{name}={value}");
    }
    let unknown = json!({"QueueUrl": "q", "AttributeNames": ["Nonsense"]});
    let refusal = rig.sqs("GetQueueAttributes", unknown).await.unwrap_err();
    assert_eq!(refusal.code, "InvalidAttributeName");
}

#[tokio::test]
async fn queues_are_listed_by_prefix_and_page() {
    let rig = Rig::new();
    for name in ["a1", "a2", "a3", "b1"] {
        rig.queue(name, &[]);
    }
    let first = json!({"QueueNamePrefix": "a", "MaxResults": 2});
    let first = rig.sqs("ListQueues", first).await.unwrap();
    assert_eq!(first["QueueUrls"], json!([queues::queue_url("a1"), queues::queue_url("a2")]));
    let next = json!({"QueueNamePrefix": "a", "MaxResults": 2, "NextToken": first["NextToken"]});
    let next = rig.sqs("ListQueues", next).await.unwrap();
    assert_eq!(next, json!({"QueueUrls": [queues::queue_url("a3")]}));
}

#[tokio::test]
async fn tags_come_and_go() {
    let rig = Rig::new();
    let request = json!({"QueueName": "q", "tags": {"a": "1"}});
    rig.sqs("CreateQueue", request).await.unwrap();
    rig.sqs("TagQueue", json!({"QueueUrl": "q", "Tags": {"b": "2"}})).await.unwrap();
    let tags = rig.sqs("ListQueueTags", json!({"QueueUrl": "q"})).await.unwrap();
    assert_eq!(tags, json!({"Tags": {"a": "1", "b": "2"}}));
    rig.sqs("UntagQueue", json!({"QueueUrl": "q", "TagKeys": ["a"]})).await.unwrap();
    let tags = rig.sqs("ListQueueTags", json!({"QueueUrl": "q"})).await.unwrap();
    assert_eq!(tags, json!({"Tags": {"b": "2"}}));
}

#[tokio::test]
async fn purging_and_deleting_leave_nothing_behind() {
    let rig = Rig::with_queue("q", &[]);
    rig.queues.send("q", &NewMessage::text("a")).unwrap();
    rig.queues.send("q", &NewMessage::text("b")).unwrap();
    rig.queues.receive("q", 1, None).unwrap();
    rig.sqs("PurgeQueue", json!({"QueueUrl": "q"})).await.unwrap();
    assert_eq!(rig.queues.depth("q").unwrap(), queues::QueueDepth::default());
    rig.queues.send("q", &NewMessage::text("c")).unwrap();
    rig.sqs("DeleteQueue", json!({"QueueUrl": "q"})).await.unwrap();
    assert!(rig.queues.queue_names().unwrap().is_empty());
    rig.queues.create_queue("q", &map(&[])).unwrap();
    assert_eq!(rig.bodies("q"), [""; 0]);
}
