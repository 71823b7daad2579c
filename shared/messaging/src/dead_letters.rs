//! Dead-letter queues, for messages that no retry will ever make readable.

use aws_sdk_sqs::types::MessageAttributeValue;
use domain::{Failure, Result};

/// A dead-letter queue that a function may send to by itself.
#[derive(Debug, Clone)]
pub struct DeadLetters {
    client: aws_sdk_sqs::Client,
    queue_url: String,
}

impl DeadLetters {
    /// Sends to `queue_url`.
    pub fn new(client: aws_sdk_sqs::Client, queue_url: impl Into<String>) -> Self {
        Self { client, queue_url: queue_url.into() }
    }

    /// Sends `body` with the reason, the id of the message and the queue it came from.
    pub async fn send(
        &self,
        body: &str,
        reason: &str,
        message_id: &str,
        source_arn: &str,
    ) -> Result {
        const ACTION: &str = "keep a dead letter";
        let mut request = self.client.send_message().queue_url(&self.queue_url).message_body(body);
        let attributes = [("reason", reason), ("messageId", message_id), ("source", source_arn)];
        for (name, value) in attributes.into_iter().filter(|(_, value)| !value.is_empty()) {
            let attribute = MessageAttributeValue::builder()
                .data_type("String")
                .string_value(value)
                .build()
                .map_err(|cause| Failure::new(ACTION, cause))?;
            request = request.message_attributes(name, attribute);
        }
        request.send().await.map_err(|cause| Failure::new(ACTION, cause))?;
        Ok(())
    }
}
