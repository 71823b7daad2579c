//! The queue between `redirect` and `count-clicks`.

use domain::Result;
use domain::links::ClickBatch;

use crate::send;

/// Sends batches of clicks to the queue `clicks`.
#[derive(Debug, Clone)]
pub struct ClickQueue {
    client: aws_sdk_sqs::Client,
    queue_url: String,
}

impl ClickQueue {
    pub fn new(client: aws_sdk_sqs::Client, queue_url: impl Into<String>) -> Self {
        Self { client, queue_url: queue_url.into() }
    }

    /// Sends a batch. `count-clicks` recognises a second copy by the batch's id.
    pub async fn send(&self, batch: &ClickBatch, traceparent: &str) -> Result {
        let (client, queue, body) = (&self.client, &self.queue_url, batch.to_json());
        send::send(client, queue, body, 0, traceparent, "send a batch of clicks").await
    }
}
