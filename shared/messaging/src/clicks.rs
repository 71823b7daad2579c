//! What a redirect says of its visitors.

use domain::Failure;
use domain::links::ClickBatch;

use crate::send;

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
        let (client, queue, body) = (&self.client, &self.queue_url, batch.to_json());
        send::send(client, queue, body, 0, traceparent, "send a batch of clicks").await
    }
}
