//! The feed's messages: post events through an SNS topic that other systems can subscribe to, and internal
//! work straight to the queue of `fan-out`.
//!
//! Absent: anything that a receiver trusts; a message says "look".

use aws_sdk_sns::types::MessageAttributeValue as TopicValue;
use aws_sdk_sqs::types::{
    BatchResultErrorEntry as Unsent, MessageAttributeValue as QueueValue,
    SendMessageBatchRequestEntry,
};
use domain::feed::FeedMessage;
use domain::{Failure, Result};

use crate::TRACEPARENT;
use crate::send::{BuildError, MAX_BATCH, group_id, reject_failed};

/// The topic of post events, which the queue subscribes to.
#[derive(Debug, Clone)]
pub struct FeedTopic {
    client: aws_sdk_sns::Client,
    topic_arn: String,
}

impl FeedTopic {
    /// Publishes to `topic_arn`.
    pub fn new(client: aws_sdk_sns::Client, topic_arn: impl Into<String>) -> Self {
        Self { client, topic_arn: topic_arn.into() }
    }

    /// Publishes a post event; subscriptions filter by `type`. The sweep resends what is lost.
    pub async fn publish(&self, message: &FeedMessage, traceparent: &str) -> Result {
        const ACTION: &str = "publish a post event";
        let failed = |e: BuildError| e.within(ACTION);
        let body = serde_json::to_string(message).map_err(|e| failed(BuildError::new(e)))?;
        let mut request = self
            .client
            .publish()
            .topic_arn(&self.topic_arn)
            .message(body)
            .set_message_group_id(group_id(&message.group_id()));
        for (name, value) in [("type", message.message_type()), (TRACEPARENT, traceparent)] {
            let value = TopicValue::builder().data_type("String").string_value(value).build();
            let value = value.map_err(|e| failed(BuildError::new(e)))?;
            request = request.message_attributes(name, value);
        }
        request.send().await.map_err(|cause| Failure::new(ACTION, cause))?;
        Ok(())
    }
}

/// The queue of `fan-out`.
#[derive(Debug, Clone)]
pub struct FanOutQueue {
    client: aws_sdk_sqs::Client,
    url: String,
}

impl FanOutQueue {
    /// Sends to `url`.
    pub fn new(client: aws_sdk_sqs::Client, url: impl Into<String>) -> Self {
        Self { client, url: url.into() }
    }

    pub async fn send(
        &self,
        messages: impl IntoIterator<Item = FeedMessage>,
        traceparent: &str,
    ) -> Result {
        self.send_delayed(messages, 0, traceparent).await
    }

    /// Sends messages with a delay of so many seconds, ten in a call.
    pub async fn send_delayed(
        &self,
        messages: impl IntoIterator<Item = FeedMessage>,
        delay: u32,
        traceparent: &str,
    ) -> Result {
        const ACTION: &str = "ask for a fan-out";
        let messages: Vec<FeedMessage> = messages.into_iter().collect();
        for batch in messages.chunks(MAX_BATCH) {
            let entries = (0..).zip(batch).map(|(n, said)| entry(n, said, delay, traceparent));
            let entries: Vec<_> =
                entries.collect::<Result<_, _>>().map_err(|e: BuildError| e.within(ACTION))?;
            let sent = self
                .client
                .send_message_batch()
                .queue_url(&self.url)
                .set_entries(Some(entries))
                .send()
                .await
                .map_err(|cause| Failure::new(ACTION, cause))?;
            reject_failed(sent.failed().iter().map(Unsent::code), ACTION)?;
        }
        Ok(())
    }
}

fn entry(
    n: u32,
    message: &FeedMessage,
    delay: u32,
    traceparent: &str,
) -> Result<SendMessageBatchRequestEntry, BuildError> {
    let body = serde_json::to_string(message).map_err(BuildError::new)?;
    let trace = QueueValue::builder().data_type("String").string_value(traceparent).build();
    SendMessageBatchRequestEntry::builder()
        .id(n.to_string())
        .message_body(body)
        .set_delay_seconds((delay > 0).then(|| i32::try_from(delay).unwrap_or(i32::MAX)))
        .set_message_group_id(group_id(&message.group_id()))
        .message_attributes(TRACEPARENT, trace.map_err(BuildError::new)?)
        .build()
        .map_err(BuildError::new)
}
