//! Reads `AWS::SQS::Queue`.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::field::Field;
use crate::names;
use crate::stack::build::Item;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    /// Its key in the `Resources` section.
    pub logical_id: String,
    /// Its physical name.
    pub name: String,
    pub url: String,
    pub arn: String,
    /// How long a received message is hidden from others.
    pub visibility_seconds: u64,
    /// How long a new message is hidden.
    pub delay_seconds: u64,
    /// How long a message is kept.
    pub retention_seconds: u64,
    /// Where messages go that were received too often.
    pub redrive: Option<Redrive>,
    /// Whether it keeps order.
    pub fifo: bool,
    /// What the template sets, as `CreateQueue` takes it.
    pub attributes: BTreeMap<String, String>,
    /// The line of its key.
    pub line: usize,
}

/// Where messages go that were received too often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redrive {
    /// The ARN of the queue they go to.
    pub target_arn: String,
    /// How often a message is received before it goes.
    pub max_receive_count: u64,
}

/// Properties that are `CreateQueue` attributes of the same name.
const ATTRIBUTES: &[&str] = &[
    "ContentBasedDeduplication",
    "DeduplicationScope",
    "DelaySeconds",
    "FifoQueue",
    "FifoThroughputLimit",
    "KmsDataKeyReusePeriodSeconds",
    "KmsMasterKeyId",
    "MaximumMessageSize",
    "MessageRetentionPeriod",
    "ReceiveMessageWaitTimeSeconds",
    "SqsManagedSseEnabled",
    "VisibilityTimeout",
];

/// The same, but documents, which `CreateQueue` takes as JSON.
const DOCUMENTS: &[&str] = &["RedriveAllowPolicy", "RedrivePolicy"];

pub(crate) fn read(item: &Item<'_>) -> Result<Queue> {
    let properties = &item.properties;
    properties.only(&[ATTRIBUTES, DOCUMENTS, &["QueueName", "Tags"]].concat())?;
    let fifo = properties.flag_at("FifoQueue")?.unwrap_or(false);
    if let Some(name) = properties.get("QueueName")?
        && fifo != item.name.strip_suffix(".fifo").is_some()
    {
        return Err(name.error("the names of FIFO queues, and no others, end in `.fifo`"));
    }
    let seconds = |key: &str, most: u64, default: u64| {
        properties.number_at(key, 0..=most).map(|seconds| seconds.unwrap_or(default))
    };
    Ok(Queue {
        logical_id: item.id(),
        name: item.name.clone(),
        url: names::reference(&item.declaration.kind, &item.name),
        arn: item.attribute("Arn"),
        visibility_seconds: seconds("VisibilityTimeout", 43_200, 30)?,
        delay_seconds: seconds("DelaySeconds", 900, 0)?,
        retention_seconds: seconds("MessageRetentionPeriod", 1_209_600, 345_600)?,
        redrive: properties.get("RedrivePolicy")?.map(|field| redrive(&field)).transpose()?,
        fifo,
        attributes: attributes(properties)?,
        line: item.line(),
    })
}

fn redrive(field: &Field<'_>) -> Result<Redrive> {
    field.only(&["deadLetterTargetArn", "maxReceiveCount"])?;
    Ok(Redrive {
        target_arn: field.required("deadLetterTargetArn")?.text()?,
        max_receive_count: field.required("maxReceiveCount")?.number(1..=1000)?,
    })
}

fn attributes(properties: &Field<'_>) -> Result<BTreeMap<String, String>> {
    let mut attributes = BTreeMap::new();
    for key in ATTRIBUTES {
        if let Some(text) = properties.text_at(key)? {
            attributes.insert((*key).to_owned(), text);
        }
    }
    for key in DOCUMENTS {
        if let Some(document) = properties.get(key)? {
            attributes.insert((*key).to_owned(), document.document()?.to_string());
        }
    }
    Ok(attributes)
}
