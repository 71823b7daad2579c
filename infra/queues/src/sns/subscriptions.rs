//! The actions on subscriptions, and the rules for their attributes.

use serde_json::Value;

use super::topics::page;
use super::{Params, xml};
use crate::engine::Queues;
use crate::error::{Code, Refused, Result, refuse};
use crate::filter::FilterPolicy;
use crate::names;
use crate::settings::Attributes;
use crate::store::subscriptions::Subscription;

pub(super) fn subscribe(engine: &Queues, params: &Params) -> Result<String> {
    let arn = params.required("TopicArn")?;
    let endpoint = params.required("Endpoint")?;
    let attributes = params.attributes();
    let protocol = params.required("Protocol")?;
    if protocol != "sqs" {
        let message = format!(
            "Invalid parameter: Protocol Reason: {protocol} is not offered here, only sqs is"
        );
        return Ok(refuse(Code::InvalidTopicParameter, message)?);
    }
    check_endpoint(endpoint)?;
    check(&attributes)?;
    engine.transact("subscribe a queue", |tx| {
        let (topic, _) = tx.topic(arn)?;
        let subscription = match tx.find_subscription(topic, endpoint)? {
            None => tx.add_subscription(topic, endpoint, &attributes)?,
            Some(present) if present.agrees_with(&attributes) => present.arn,
            Some(_) => {
                let message = "Invalid parameter: Attributes Reason: Subscription already exists \
                               with different attributes";
                return Ok(refuse(Code::InvalidTopicParameter, message)?);
            }
        };
        Ok(xml::element("SubscriptionArn", &subscription))
    })
}

impl Subscription {
    fn agrees_with(&self, attributes: &Attributes) -> bool {
        attributes.iter().all(|(key, value)| self.attributes.get(key) == Some(value))
    }
}

/// Refuses an endpoint that is not a queue. Whether the queue exists matters only on delivery.
pub(crate) fn check_endpoint(endpoint: &str) -> Result<(), Refused> {
    if names::queue_in_arn(endpoint).is_some() {
        return Ok(());
    }
    refuse(Code::InvalidTopicParameter, "Invalid parameter: SQS endpoint ARN")
}

/// Refuses attributes that SNS would refuse.
pub(crate) fn check(attributes: &Attributes) -> Result<(), Refused> {
    let in_body = attributes.get("FilterPolicyScope").is_some_and(|scope| scope == "MessageBody");
    for (key, value) in attributes {
        let fits = match key.as_str() {
            "RawMessageDelivery" => matches!(value.as_str(), "true" | "false"),
            "FilterPolicyScope" => matches!(value.as_str(), "MessageAttributes" | "MessageBody"),
            "FilterPolicy" => {
                check_policy(value, in_body)?;
                true
            }
            "RedrivePolicy" => has_target(value),
            "DeliveryPolicy" => true,
            _ => {
                let message = format!("Invalid parameter: AttributeName Reason: {key}");
                return refuse(Code::InvalidTopicParameter, message);
            }
        };
        if !fits {
            let message = format!("Invalid parameter: Attributes Reason: {key}: {value}");
            return refuse(Code::InvalidTopicParameter, message);
        }
    }
    Ok(())
}

fn check_policy(text: &str, in_body: bool) -> Result<(), Refused> {
    let reason = match serde_json::from_str(text).map(|policy: Value| FilterPolicy::read(&policy)) {
        Ok(Ok(policy)) if policy.is_nested() && !in_body => {
            "Filter policy scope MessageAttributes does not support nested filter policy".into()
        }
        Ok(Ok(_)) => return Ok(()),
        Ok(Err(malformed)) => malformed.to_string(),
        Err(not_json) => format!("failed to parse JSON. {not_json}"),
    };
    refuse(Code::InvalidTopicParameter, format!("Invalid parameter: FilterPolicy: {reason}"))
}

fn has_target(text: &str) -> bool {
    let policy: Option<Value> = serde_json::from_str(text).ok();
    let arn = policy.as_ref().and_then(|policy| policy.get("deadLetterTargetArn")?.as_str());
    arn.and_then(names::queue_in_arn).is_some()
}

/// Ending a subscription that is gone is a success, as in SNS.
pub(super) fn unsubscribe(engine: &Queues, params: &Params) -> Result<String> {
    let arn = params.required("SubscriptionArn")?;
    engine.transact("unsubscribe", |tx| tx.remove_subscription(arn))?;
    Ok(String::new())
}

/// Lists the subscriptions to the topic that is named, or to all.
pub(super) fn list(engine: &Queues, params: &Params) -> Result<String> {
    let subscriptions = engine.transact("list subscriptions", |tx| {
        let topic = params.text("TopicArn").map(|arn| tx.topic(arn)).transpose()?;
        tx.subscriptions(topic.map(|(name, _)| name))
    })?;
    let (page, token) = page(subscriptions, |one| &one.arn, params);
    Ok(xml::list("Subscriptions", page.iter().map(show)) + &token)
}

fn show(subscription: &Subscription) -> String {
    [
        ("SubscriptionArn", subscription.arn.as_str()),
        ("Owner", names::ACCOUNT),
        ("Protocol", "sqs"),
        ("Endpoint", &subscription.endpoint),
        ("TopicArn", &names::topic_arn(&subscription.topic)),
    ]
    .map(|(name, text)| xml::element(name, text))
    .concat()
}

pub(super) fn attributes(engine: &Queues, params: &Params) -> Result<String> {
    let arn = params.required("SubscriptionArn")?;
    let subscription = engine.transact("read a subscription", |tx| tx.subscription(arn))?;
    let mut attributes = subscription.attributes;
    if attributes.contains_key("FilterPolicy") {
        attributes.entry("FilterPolicyScope".into()).or_insert("MessageAttributes".into());
    }
    attributes.entry("RawMessageDelivery".into()).or_insert("false".into());
    let computed = [
        ("SubscriptionArn", arn),
        ("TopicArn", &names::topic_arn(&subscription.topic)),
        ("Owner", names::ACCOUNT),
        ("Protocol", "sqs"),
        ("Endpoint", &subscription.endpoint),
        ("PendingConfirmation", "false"),
        ("ConfirmationWasAuthenticated", "true"),
    ];
    attributes.extend(computed.map(|(key, value)| (key.to_owned(), value.to_owned())));
    Ok(xml::map("Attributes", &attributes))
}

/// Sets one attribute; an empty value takes it away.
pub(super) fn set_attribute(engine: &Queues, params: &Params) -> Result<String> {
    let (arn, key) = (params.required("SubscriptionArn")?, params.required("AttributeName")?);
    let value = params.text("AttributeValue").unwrap_or_default();
    engine.transact("set a subscription attribute", |tx| {
        let mut attributes = tx.subscription(arn)?.attributes;
        if value.is_empty() {
            attributes.remove(key);
        } else {
            attributes.insert(key.into(), value.into());
        }
        check(&attributes)?;
        tx.replace_subscription_attributes(arn, &attributes)?;
        Ok(String::new())
    })
}
