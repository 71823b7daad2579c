//! The actions on single messages that were or are to be received.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::digest;
use crate::engine::{Queues, Tx};
use crate::error::{Code, Refused, Result, refuse};
use crate::message::{AttributeValue, MessageAttributes, NewMessage};
use crate::names::queue_in_url;
use crate::store::messages::ReceiptStatus;
use crate::store::queues::Queue;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Send {
    #[serde(default)]
    queue_url: String,
    #[serde(flatten)]
    item: SendItem,
}

/// What a message to send looks like, alone or in a batch.
#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct SendItem {
    message_body: String,
    delay_seconds: Option<i64>,
    message_attributes: MessageAttributes,
    message_system_attributes: MessageAttributes,
    message_group_id: Option<String>,
    message_deduplication_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Delete {
    #[serde(default)]
    queue_url: String,
    #[serde(flatten)]
    item: DeleteItem,
}

/// Which receive a message to delete came from.
#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct DeleteItem {
    receipt_handle: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ChangeVisibility {
    #[serde(default)]
    queue_url: String,
    #[serde(flatten)]
    item: ChangeVisibilityItem,
}

/// Which message to hide, and for how long.
#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct ChangeVisibilityItem {
    receipt_handle: String,
    visibility_timeout: i64,
}

pub(super) fn send(engine: &Queues, request: Send) -> Result<Value> {
    let message = request.item.into_message()?;
    engine.transact("send a message", |tx| {
        send_one(tx, &tx.queue(queue_in_url(&request.queue_url)?)?, &message)
    })
}

impl SendItem {
    /// The message that this describes.
    pub(super) fn into_message(self) -> Result<NewMessage, Refused> {
        if self.message_deduplication_id.is_some() {
            let message = "MessageDeduplicationId is only for FIFO queues, which are not offered \
                           here.";
            return refuse(Code::InvalidParameterValue, message);
        }
        let mut system = self.message_system_attributes;
        let trace_header = system.remove("AWSTraceHeader").and_then(|value| value.string_value);
        if let Some(unknown) = system.keys().next() {
            let message = format!("Message system attribute name '{unknown}' is invalid.");
            return refuse(Code::InvalidParameterValue, message);
        }
        Ok(NewMessage {
            body: self.message_body,
            attributes: self.message_attributes,
            // A negative delay becomes one that is refused for being too long.
            delay: self.delay_seconds.map(|seconds| u32::try_from(seconds).unwrap_or(u32::MAX)),
            group: self.message_group_id,
            trace_header,
        })
    }
}

/// Sends one message and tells the sender what it needs to check that it arrived whole.
pub(super) fn send_one(tx: &Tx<'_>, queue: &Queue, message: &NewMessage) -> Result<Value> {
    message.check(queue.settings.max_message_size)?;
    let id = tx.enqueue(queue, message)?;
    let mut answer = Map::new();
    answer.insert("MessageId".into(), json!(id));
    answer.insert("MD5OfMessageBody".into(), json!(digest::of_body(&message.body)));
    if let Some(md5) = digest::of_attributes(&message.attributes) {
        answer.insert("MD5OfMessageAttributes".into(), json!(md5));
    }
    if let Some(header) = &message.trace_header {
        let value = AttributeValue::string(header);
        let md5 = digest::of_attributes(&[("AWSTraceHeader".to_owned(), value)].into());
        answer.insert("MD5OfMessageSystemAttributes".into(), json!(md5));
    }
    Ok(Value::Object(answer))
}

pub(super) fn delete(engine: &Queues, request: &Delete) -> Result<Value> {
    engine.transact("delete a message", |tx| {
        delete_one(tx, &tx.queue(queue_in_url(&request.queue_url)?)?, &request.item)
    })
}

/// Like SQS, calls it a success when the message is gone or was received again.
pub(super) fn delete_one(tx: &Tx<'_>, queue: &Queue, item: &DeleteItem) -> Result<Value> {
    let (ReceiptStatus::Current | ReceiptStatus::Stale) =
        tx.delete_message(queue, &item.receipt_handle)?;
    Ok(json!({}))
}

pub(super) fn change_visibility(engine: &Queues, request: &ChangeVisibility) -> Result<Value> {
    engine.transact("change a visibility timeout", |tx| {
        change_one(tx, &tx.queue(queue_in_url(&request.queue_url)?)?, &request.item)
    })
}

/// Hides one message anew, if it is still this consumer's.
pub(super) fn change_one(tx: &Tx<'_>, queue: &Queue, item: &ChangeVisibilityItem) -> Result<Value> {
    let seconds = within("VisibilityTimeout", item.visibility_timeout, 0, 43_200)?;
    match tx.hide_message(queue, &item.receipt_handle, seconds * 1_000)? {
        ReceiptStatus::Current => Ok(json!({})),
        ReceiptStatus::Stale => Ok(refuse(
            Code::MessageNotInflight,
            "The message does not exist or is not in flight under this receipt handle.",
        )?),
    }
}

/// Refuses a number outside its range.
pub(super) fn within(name: &str, value: i64, min: i64, max: i64) -> Result<i64, Refused> {
    if (min..=max).contains(&value) {
        return Ok(value);
    }
    let message = format!(
        "Value {value} for parameter {name} is invalid. Reason: Must be between {min} and \
         {max}, if provided."
    );
    refuse(Code::InvalidParameterValue, message)
}
