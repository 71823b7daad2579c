//! Where messages go that no retry will ever mend.

use aws_sdk_sqs::types::MessageAttributeValue;
use domain::Failure;

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

    /// Keeps `body` with why it could not be used and where it came from.
    pub async fn send(
        &self,
        body: &str,
        reason: &str,
        message_id: &str,
        source_arn: &str,
    ) -> Result<(), Failure> {
        const ACTION: &str = "keep a dead letter";
        let mut request = self.client.send_message().queue_url(&self.queue_url).message_body(body);
        let notes = [("reason", reason), ("messageId", message_id), ("source", source_arn)];
        for (name, value) in notes.into_iter().filter(|(_, value)| !value.is_empty()) {
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
