//! A queue of one type of message.

use std::marker::PhantomData;

use aws_sdk_sqs::types::{
    BatchResultErrorEntry as Unsent, MessageAttributeValue, SendMessageBatchRequestEntry,
};
use domain::{Failure, Message, Result};

use crate::TRACEPARENT;
use crate::send::{BuildError, MAX_BATCH, group_id, reject_failed};

/// Where messages of type `M` are sent to.
#[derive(Debug, Clone)]
pub struct Queue<M> {
    client: aws_sdk_sqs::Client,
    url: String,
    messages: PhantomData<fn(M)>,
}

impl<M: Message> Queue<M> {
    /// Sends to `url`.
    pub fn new(client: aws_sdk_sqs::Client, url: impl Into<String>) -> Self {
        Self { client, url: url.into(), messages: PhantomData }
    }

    /// Sends one message, which arrives `delay` seconds later at the earliest.
    pub async fn send(&self, message: &M, delay: u32, traceparent: &str) -> Result {
        let built = |error: BuildError| error.within(M::SEND_ACTION);
        let body = serde_json::to_string(message).map_err(|e| built(BuildError::new(e)))?;
        self.client
            .send_message()
            .queue_url(&self.url)
            .message_body(body)
            .set_delay_seconds(seconds(delay))
            .set_message_group_id(message.group().and_then(|name| group_id(&name)))
            .message_attributes(TRACEPARENT, trace(traceparent).map_err(built)?)
            .send()
            .await
            .map_err(|cause| Failure::new(M::SEND_ACTION, cause))?;
        Ok(())
    }

    /// Sends messages, each with its delay, ten in a call.
    pub async fn send_all(
        &self,
        messages: impl IntoIterator<Item = (M, u32)>,
        traceparent: &str,
    ) -> Result {
        let entries = (0_u32..).zip(messages);
        let entries = entries.map(|(n, (message, delay))| entry(n, &message, delay, traceparent));
        let entries: Vec<_> =
            entries.collect::<Result<_, _>>().map_err(|e: BuildError| e.within(M::SEND_ACTION))?;
        for batch in entries.chunks(MAX_BATCH) {
            let request = self.client.send_message_batch().queue_url(&self.url);
            let sent = request
                .set_entries(Some(batch.to_vec()))
                .send()
                .await
                .map_err(|cause| Failure::new(M::SEND_ACTION, cause))?;
            reject_failed(sent.failed().iter().map(Unsent::code), M::SEND_ACTION)?;
        }
        Ok(())
    }
}

fn entry<M: Message>(
    n: u32,
    message: &M,
    delay: u32,
    traceparent: &str,
) -> Result<SendMessageBatchRequestEntry, BuildError> {
    SendMessageBatchRequestEntry::builder()
        .id(n.to_string())
        .message_body(serde_json::to_string(message).map_err(BuildError::new)?)
        .set_delay_seconds(seconds(delay))
        .set_message_group_id(message.group().and_then(|name| group_id(&name)))
        .message_attributes(TRACEPARENT, trace(traceparent)?)
        .build()
        .map_err(BuildError::new)
}

fn seconds(delay: u32) -> Option<i32> {
    (delay > 0).then(|| i32::try_from(delay).unwrap_or(i32::MAX))
}

fn trace(traceparent: &str) -> Result<MessageAttributeValue, BuildError> {
    let trace = MessageAttributeValue::builder().data_type("String").string_value(traceparent);
    trace.build().map_err(BuildError::new)
}
