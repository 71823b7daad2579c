//! What a redirect says of its visitors.

use aws_sdk_sqs::types::MessageAttributeValue;
use domain::Failure;
use domain::links::ClickBatch;

use crate::TRACEPARENT;

/// The queue that hears of clicks.
#[derive(Debug, Clone)]
pub struct Clicks {
    client: aws_sdk_sqs::Client,
    queue_url: String,
}

impl Clicks {
    /// Sends to `queue_url`.
    pub fn new(client: aws_sdk_sqs::Client, queue_url: impl Into<String>) -> Self {
        Self { client, queue_url: queue_url.into() }
    }

    /// Sends a batch. Whoever counts it knows a second copy by the batch's id.
    pub async fn send(&self, batch: &ClickBatch, traceparent: &str) -> Result<(), Failure> {
        const ACTION: &str = "send a batch of clicks";
        let body = batch.to_json().map_err(|cause| Failure::new(ACTION, cause))?;
        let trace = MessageAttributeValue::builder()
            .data_type("String")
            .string_value(traceparent)
            .build()
            .map_err(|cause| Failure::new(ACTION, cause))?;
        self.client
            .send_message()
            .queue_url(&self.queue_url)
            .message_body(body)
            .message_attributes(TRACEPARENT, trace)
            .send()
            .await
            .map_err(|cause| Failure::new(ACTION, cause))?;
        Ok(())
    }
}
