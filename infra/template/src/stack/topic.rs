//! Reads `AWS::SNS::Topic` and `AWS::SNS::Subscription`.

use serde_json::Value;

use crate::error::Result;
use crate::field::Field;
use crate::stack::build::Item;
use crate::vocabulary;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// Its key in the `Resources` section.
    pub logical_id: String,
    /// Its physical name.
    pub name: String,
    pub arn: String,
    /// Whether it keeps order.
    pub fifo: bool,
    /// The line of its key.
    pub line: usize,
}

/// A subscription to a topic.
#[derive(Debug, Clone, PartialEq)]
pub struct Subscription {
    /// Its key in the `Resources` section, or the topic's for one written inside a topic.
    pub logical_id: String,
    /// The ARN of the topic.
    pub topic_arn: String,
    /// How messages are delivered, such as `sqs`.
    pub protocol: String,
    /// Where they are delivered, for `sqs` the ARN of the queue.
    pub endpoint: String,
    /// Whether the message comes bare instead of in SNS's envelope.
    pub raw: bool,
    /// What a message must match.
    pub filter_policy: Option<Value>,
    /// What the filter looks at.
    pub filter_scope: FilterScope,
    /// The ARN of the queue for messages that cannot be delivered.
    pub dead_letter_arn: Option<String>,
    /// The line of its key.
    pub line: usize,
}

/// What a filter policy looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterScope {
    /// The message's attributes; the default.
    MessageAttributes,
    /// The message itself, which must be JSON.
    MessageBody,
}

pub(crate) fn read(item: &Item<'_>) -> Result<(Topic, Vec<Subscription>)> {
    let properties = &item.properties;
    properties.only(vocabulary::TOPIC)?;
    let topic = Topic {
        logical_id: item.id(),
        name: item.name.clone(),
        arn: item.attribute("TopicArn"),
        fifo: properties.flag_at("FifoTopic")?.unwrap_or(false),
        line: item.line(),
    };
    let inline = properties.items_at("Subscription")?;
    let subscriptions: Result<Vec<_>, _> = inline
        .iter()
        .map(|field| {
            field.only(&["Endpoint", "Protocol"])?;
            subscription(item.id(), topic.arn.clone(), field, field.node.mark.line)
        })
        .collect();
    Ok((topic, subscriptions?))
}

pub(crate) fn read_subscription(item: &Item<'_>) -> Result<Subscription> {
    let properties = &item.properties;
    properties.only(vocabulary::SUBSCRIPTION)?;
    let topic_arn = properties.required("TopicArn")?.text()?;
    subscription(item.id(), topic_arn, properties, item.line())
}

fn subscription(
    logical_id: String,
    topic_arn: String,
    field: &Field<'_>,
    line: usize,
) -> Result<Subscription> {
    Ok(Subscription {
        logical_id,
        topic_arn,
        protocol: field.required("Protocol")?.text()?,
        endpoint: field.required("Endpoint")?.text()?,
        raw: field.flag_at("RawMessageDelivery")?.unwrap_or(false),
        filter_policy: field.get("FilterPolicy")?.map(|policy| policy.document()).transpose()?,
        filter_scope: filter_scope(field)?,
        dead_letter_arn: dead_letter_arn(field)?,
        line,
    })
}

pub(crate) fn filter_scope(field: &Field<'_>) -> Result<FilterScope> {
    let Some(scope) = field.get("FilterPolicyScope")? else {
        return Ok(FilterScope::MessageAttributes);
    };
    scope.choice(&[
        ("MessageAttributes", FilterScope::MessageAttributes),
        ("MessageBody", FilterScope::MessageBody),
    ])
}

pub(crate) fn dead_letter_arn(field: &Field<'_>) -> Result<Option<String>> {
    let Some(policy) = field.get("RedrivePolicy")? else {
        return Ok(None);
    };
    policy.only(&["deadLetterTargetArn"])?;
    policy.required("deadLetterTargetArn")?.text().map(Some)
}
