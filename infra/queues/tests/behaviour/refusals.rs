//! Requests that AWS would refuse, and the words in which it would.

use queues::Attributes;
use serde_json::{Value, json};

use crate::rig::Rig;

/// One SQS request per line: action, parameters beside the queue, the error's name.
const SQS: &str = r#"
["SendMessage",    {},                                                 "MissingRequiredParameterException"]
["SendMessage",    {"MessageBody": 5},                                 "SerializationException"]
["SendMessage",    {"MessageBody": "\u0001"},                          "InvalidMessageContents"]
["SendMessage",    {"MessageBody": "a", "DelaySeconds": -1},           "InvalidParameterValueException"]
["SendMessage",    {"MessageBody": "a", "DelaySeconds": 901},          "InvalidParameterValueException"]
["SendMessage",    {"MessageBody": "a", "MessageGroupId": ""},         "InvalidParameterValueException"]
["SendMessage",    {"MessageBody": "a", "MessageDeduplicationId": ""}, "InvalidParameterValueException"]
["ReceiveMessage", {"MaxNumberOfMessages": 11},                        "InvalidParameterValueException"]
["ReceiveMessage", {"WaitTimeSeconds": 21},                            "InvalidParameterValueException"]
["ReceiveMessage", {"VisibilityTimeout": 43201},                       "InvalidParameterValueException"]
["DeleteMessage",  {"ReceiptHandle": "x"},                             "ReceiptHandleIsInvalid"]
["AddPermission",  {},                                                 "InvalidAction"]
"#;

/// One SNS request per line: action, parameters, the status and the error's code.
const SNS: &str = r#"
["Publish",      {"TopicArn": "NONE", "Message": "a"},                           404, "NotFound"]
["Publish",      {"TopicArn": "nonsense", "Message": "a"},                       400, "InvalidParameter"]
["Publish",      {"TopicArn": "TOPIC", "Message": ""},                           400, "InvalidParameter"]
["Publish",      {"TopicArn": "TOPIC", "Message": "a", "Subject": ""},           400, "InvalidParameter"]
["Publish",      {"PhoneNumber": "1", "Message": "a"},                           400, "InvalidParameter"]
["PublishBatch", {"TopicArn": "TOPIC"},                                          400, "EmptyBatchRequest"]
["CreateTopic",  {"Name": "t.fifo"},                                             400, "InvalidParameter"]
["CreateTopic",  {"Name": "a b"},                                                400, "InvalidParameter"]
["Subscribe",    {"TopicArn": "TOPIC", "Protocol": "email", "Endpoint": "a@b.c"}, 400, "InvalidParameter"]
["Subscribe",    {"TopicArn": "TOPIC", "Protocol": "sqs", "Endpoint": "q"},      400, "InvalidParameter"]
["Subscribe",    {"TopicArn": "NONE", "Protocol": "sqs", "Endpoint": "QUEUE"},   404, "NotFound"]
["GetSubscriptionAttributes", {"SubscriptionArn": "none"},                       404, "NotFound"]
["SetSubscriptionAttributes", {"SubscriptionArn": "SUBSCRIPTION", "AttributeName": "FilterPolicy",
    "AttributeValue": "{\"a\": {\"b\": [\"c\"]}}"},                              400, "InvalidParameter"]
["SetSubscriptionAttributes", {"SubscriptionArn": "SUBSCRIPTION", "AttributeName": "FilterPolicy",
    "AttributeValue": "not json"},                                               400, "InvalidParameter"]
["TagResource",  {},                                                             400, "InvalidAction"]
"#;

/// A line of [`SNS`].
type Row = (String, Attributes, u16, String);

#[tokio::test]
async fn what_sqs_would_refuse_is_refused_by_its_name() {
    let rig = Rig::with_queue("q", &[]);
    let rows = serde_json::Deserializer::from_str(SQS).into_iter::<(String, Value, String)>();
    for row in rows {
        let (action, mut request, code) = row.unwrap();
        request["QueueUrl"] = json!("q");
        assert_eq!(
            rig.sqs(&action, request.clone()).await.unwrap_err().code,
            code,
            "{action} {request}"
        );
    }
    assert_eq!(rig.queues.depth("q").unwrap(), queues::QueueDepth::default());
}

#[tokio::test]
async fn a_message_of_a_mebibyte_is_taken_and_one_byte_more_is_refused() {
    let rig = Rig::with_queue("q", &[]);
    let request = |bytes: usize| json!({"QueueUrl": "q", "MessageBody": "x".repeat(bytes)});
    assert!(rig.sqs("SendMessage", request(1_048_576)).await.is_ok());
    let refusal = rig.sqs("SendMessage", request(1_048_577)).await.unwrap_err();
    assert_eq!(refusal.code, "InvalidParameterValueException");
}

#[tokio::test]
async fn what_sns_would_refuse_is_refused_in_its_words() {
    let rig = Rig::with_queue("q", &[]);
    let (topic, queue) = (rig.queues.create_topic("t").unwrap(), queues::queue_arn("q"));
    let subscription = rig.queues.subscribe(&topic, &queue, &Attributes::new()).unwrap();
    let table = SNS
        .replace("NONE", &queues::topic_arn("none"))
        .replace("TOPIC", &topic)
        .replace("QUEUE", &queue)
        .replace("SUBSCRIPTION", &subscription);
    for row in serde_json::Deserializer::from_str(&table).into_iter::<Row>() {
        let (action, params, status, code) = row.unwrap();
        let params: Vec<_> = params.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let (got, xml) = rig.sns(&action, &params).await;
        assert_eq!(got.as_u16(), status, "{action} {params:?} {xml}");
        assert!(xml.contains(&format!("<Code>{code}</Code>")), "{action} {params:?} {xml}");
    }
}

#[tokio::test]
async fn a_publication_over_the_limit_of_sns_is_refused() {
    let rig = Rig::new();
    let topic = rig.queues.create_topic("t").unwrap();
    for (bytes, status) in [(262_144, 200), (262_145, 400)] {
        let message = "x".repeat(bytes);
        let (got, _) = rig.sns("Publish", &[("TopicArn", &topic), ("Message", &message)]).await;
        assert_eq!(got.as_u16(), status);
    }
}
