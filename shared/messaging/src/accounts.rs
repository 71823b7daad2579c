//! What accounts and the gate in front of every function say.

use aws_sdk_sns::types::MessageAttributeValue;
use domain::Timestamp;
use domain::accounts::{AccountChanged, AccountMessage, AuditEntry, KeyId, KeyUsed};
use domain::{Failure, Result};

use crate::{TRACEPARENT, send};

/// The queue that hears of used keys.
#[derive(Debug, Clone)]
pub struct KeyUseQueue {
    client: aws_sdk_sqs::Client,
    queue_url: String,
}

impl KeyUseQueue {
    pub fn new(client: aws_sdk_sqs::Client, queue_url: impl Into<String>) -> Self {
        Self { client, queue_url: queue_url.into() }
    }

    /// Says that `key_id` was used at `at`.
    pub async fn send(&self, key_id: &KeyId, at: Timestamp, traceparent: &str) -> Result {
        let body = serde_json::to_string(&AccountMessage::KeyUsed(KeyUsed::new(key_id, at)));
        let (client, queue) = (&self.client, &self.queue_url);
        send::send(client, queue, body, 0, traceparent, "report a key's use").await
    }
}

/// The topic that tells what happened to accounts and keys.
#[derive(Debug, Clone)]
pub struct AccountEvents {
    client: aws_sdk_sns::Client,
    topic_arn: String,
}

impl AccountEvents {
    pub fn new(client: aws_sdk_sns::Client, topic_arn: impl Into<String>) -> Self {
        Self { client, topic_arn: topic_arn.into() }
    }

    /// Tells what an audit row records; subscriptions filter by the attribute `event`.
    pub async fn publish(&self, audit: &AuditEntry, traceparent: &str) -> Result {
        const ACTION: &str = "publish an account event";
        let body =
            serde_json::to_string(&AccountMessage::AccountChanged(AccountChanged::new(audit)))
                .map_err(|cause| Failure::new(ACTION, cause))?;
        let attribute = |value: &str| {
            MessageAttributeValue::builder()
                .data_type("String")
                .string_value(value)
                .build()
                .map_err(|cause| Failure::new(ACTION, cause))
        };
        self.client
            .publish()
            .topic_arn(&self.topic_arn)
            .message(body)
            .message_attributes("event", attribute(audit.change.name())?)
            .message_attributes(TRACEPARENT, attribute(traceparent)?)
            .send()
            .await
            .map_err(|cause| Failure::new(ACTION, cause))?;
        Ok(())
    }
}
