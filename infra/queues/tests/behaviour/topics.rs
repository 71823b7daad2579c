//! Topics, subscriptions and what is published.

use http::StatusCode;
use queues::{AttributeValue, Publication};
use serde_json::{Value, json};

use crate::rig::{Rig, bodies, map, only};

/// A topic, and a queue subscribed to it with these attributes.
fn subscribed(attributes: &[(&str, &str)]) -> (Rig, String, String) {
    let rig = Rig::with_queue("q", &[]);
    let topic = rig.queues.create_topic("t").unwrap();
    let arn = rig.queues.subscribe(&topic, &queues::queue_arn("q"), &map(attributes)).unwrap();
    (rig, topic, arn)
}

fn publication(message: &str, attributes: &[(&str, &str)]) -> Publication {
    let attribute = |(name, value): &(&str, &str)| ((*name).into(), AttributeValue::string(*value));
    let attributes = attributes.iter().map(attribute).collect();
    Publication { message: message.into(), attributes, ..Publication::default() }
}

#[test]
fn a_raw_subscriber_gets_the_message_as_it_was_published() {
    let (rig, topic, _) = subscribed(&[("RawMessageDelivery", "true")]);
    let sent = Publication { group: Some("g".into()), ..publication("hi", &[("k", "v")]) };
    rig.queues.publish(&topic, &sent).unwrap();
    let (message, attributes) = only(rig.queues.receive("q", 10, None).unwrap());
    assert_eq!(message.body, "hi");
    assert_eq!(message.message_attributes, sent.attributes);
    assert_eq!(attributes["MessageGroupId"], "g");
}

#[test]
fn other_subscribers_get_an_envelope() {
    let (rig, topic, subscription) = subscribed(&[]);
    let sent = Publication { subject: Some("s".into()), ..publication("hi", &[("k", "v")]) };
    let id = rig.queues.publish(&topic, &sent).unwrap();
    let (message, _) = only(rig.queues.receive("q", 10, None).unwrap());
    assert!(message.message_attributes.is_empty());
    let envelope: Value = serde_json::from_str(&message.body).unwrap();
    for (key, value) in [
        ("Type", "Notification"),
        ("MessageId", &id),
        ("TopicArn", &topic),
        ("Subject", "s"),
        ("Message", "hi"),
        ("Timestamp", "2023-11-14T22:13:20.000Z"),
    ] {
        assert_eq!(envelope[key], value, "{key}");
    }
    assert_eq!(envelope["MessageAttributes"], json!({"k": {"Type": "String", "Value": "v"}}));
    assert!(envelope["UnsubscribeURL"].as_str().unwrap().ends_with(&subscription));
}

#[test]
fn a_filter_on_attributes_lets_through_what_it_describes() {
    let policy = r#"{"kind": ["order"], "z": [{"exists": false}]}"#;
    let (rig, topic, _) = subscribed(&[("RawMessageDelivery", "true"), ("FilterPolicy", policy)]);
    for sent in [
        publication("1", &[("kind", "order")]),
        publication("2", &[("kind", "other")]),
        publication("3", &[("kind", "order"), ("z", "1")]),
        publication("4", &[]),
    ] {
        rig.queues.publish(&topic, &sent).unwrap();
    }
    assert_eq!(rig.bodies("q"), ["1"]);
}

#[test]
fn a_filter_on_the_body_looks_into_json_only() {
    let (rig, topic, _) = subscribed(&[
        ("RawMessageDelivery", "true"),
        ("FilterPolicyScope", "MessageBody"),
        ("FilterPolicy", r#"{"detail": {"state": ["ok"]}}"#),
    ]);
    let wanted = r#"{"detail":{"state":"ok"}}"#;
    for message in [wanted, r#"{"detail":{"state":"bad"}}"#, "not json"] {
        rig.queues.publish(&topic, &publication(message, &[])).unwrap();
    }
    assert_eq!(rig.bodies("q"), [wanted]);
}

#[test]
fn subscribing_again_by_the_typed_call_replaces_the_attributes() {
    let (rig, topic, first) = subscribed(&[("FilterPolicy", r#"{"k": ["v"]}"#)]);
    let raw = map(&[("RawMessageDelivery", "true")]);
    assert_eq!(rig.queues.subscribe(&topic, &queues::queue_arn("q"), &raw).unwrap(), first);
    rig.queues.publish(&topic, &publication("plain", &[])).unwrap();
    assert_eq!(rig.bodies("q"), ["plain"]);
}

#[test]
fn what_cannot_be_delivered_goes_to_the_dead_letters_of_the_subscription() {
    let policy = json!({"deadLetterTargetArn": queues::queue_arn("dead")}).to_string();
    let (rig, topic, _) = subscribed(&[("RawMessageDelivery", "true"), ("RedrivePolicy", &policy)]);
    rig.queue("dead", &[]);
    rig.queues.publish(&topic, &publication("first", &[])).unwrap();
    assert_eq!(rig.bodies("dead"), [""; 0]);
    rig.queues.delete_queue("q").unwrap();
    rig.queues.publish(&topic, &publication("second", &[])).unwrap();
    assert_eq!(rig.bodies("dead"), ["second"]);
}

#[test]
fn one_lost_queue_does_not_keep_the_message_from_the_others() {
    let (rig, topic, _) = subscribed(&[("RawMessageDelivery", "true")]);
    rig.queue("other", &[]);
    let raw = map(&[("RawMessageDelivery", "true")]);
    rig.queues.subscribe(&topic, &queues::queue_arn("other"), &raw).unwrap();
    rig.queues.delete_queue("q").unwrap();
    rig.queues.publish(&topic, &publication("a", &[])).unwrap();
    assert_eq!(bodies(&rig.queues.receive("other", 10, None).unwrap()), ["a"]);
}

#[tokio::test]
async fn an_sdk_creates_subscribes_and_publishes_in_the_query_protocol() {
    let rig = Rig::with_queue("q", &[]);
    let (_, xml) = rig.sns("CreateTopic", &[("Name", "t")]).await;
    let topic = queues::topic_arn("t");
    assert!(xml.contains(&format!("<CreateTopicResult><TopicArn>{topic}</TopicArn>")), "{xml}");
    let endpoint = queues::queue_arn("q");
    let subscribe = [
        ("TopicArn", topic.as_str()),
        ("Protocol", "sqs"),
        ("Endpoint", &endpoint),
        ("Attributes.entry.1.key", "RawMessageDelivery"),
        ("Attributes.entry.1.value", "true"),
    ];
    let (status, first) = rig.sns("Subscribe", &subscribe).await;
    assert_eq!(status, StatusCode::OK, "{first}");
    let (_, listed) = rig.sns("ListSubscriptionsByTopic", &[("TopicArn", &topic)]).await;
    assert_eq!(listed.matches("<member>").count(), 1, "{listed}");
    let publish = [
        ("TopicArn", topic.as_str()),
        ("PublishBatchRequestEntries.member.1.Id", "a"),
        ("PublishBatchRequestEntries.member.1.Message", "<hi> & bye"),
        ("PublishBatchRequestEntries.member.2.Id", "b"),
        ("PublishBatchRequestEntries.member.2.Message", ""),
    ];
    let (status, xml) = rig.sns("PublishBatch", &publish).await;
    assert_eq!(status, StatusCode::OK, "{xml}");
    assert!(xml.contains("<Successful><member><Id>a</Id><MessageId>"), "{xml}");
    assert!(xml.contains("<Failed><member><Id>b</Id><Code>InvalidParameter</Code>"), "{xml}");
    assert_eq!(rig.bodies("q"), ["<hi> & bye"]);
}

#[tokio::test]
async fn attributes_of_topics_and_subscriptions_are_set_and_shown() {
    let (rig, topic, subscription) = subscribed(&[]);
    let set = [
        ("SubscriptionArn", subscription.as_str()),
        ("AttributeName", "RawMessageDelivery"),
        ("AttributeValue", "true"),
    ];
    assert_eq!(rig.sns("SetSubscriptionAttributes", &set).await.0, StatusCode::OK);
    let get = [("SubscriptionArn", subscription.as_str())];
    let (_, xml) = rig.sns("GetSubscriptionAttributes", &get).await;
    assert!(xml.contains("<key>RawMessageDelivery</key><value>true</value>"), "{xml}");
    let set =
        [("TopicArn", topic.as_str()), ("AttributeName", "DisplayName"), ("AttributeValue", "T")];
    assert_eq!(rig.sns("SetTopicAttributes", &set).await.0, StatusCode::OK);
    let (_, xml) = rig.sns("GetTopicAttributes", &[("TopicArn", &topic)]).await;
    assert!(xml.contains("<key>DisplayName</key><value>T</value>"), "{xml}");
    assert!(xml.contains("<key>SubscriptionsConfirmed</key><value>1</value>"), "{xml}");
}

#[tokio::test]
async fn deleting_a_topic_ends_its_subscriptions() {
    let (rig, topic, _) = subscribed(&[]);
    for _ in 0..2 {
        let (status, _) = rig.sns("DeleteTopic", &[("TopicArn", &topic)]).await;
        assert_eq!(status, StatusCode::OK);
    }
    let (_, xml) = rig.sns("ListSubscriptions", &[]).await;
    assert!(xml.contains("<Subscriptions></Subscriptions>"), "{xml}");
    assert!(rig.queues.topic_arns().unwrap().is_empty());
}
