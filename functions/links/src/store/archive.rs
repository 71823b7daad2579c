//! S3 in the domain's language: objects that are written once and kept for a while.

use aws_sdk_s3::Client;
use aws_sdk_s3::primitives::ByteStream;
use domain::Failure;

/// A bucket of raw records.
#[derive(Debug, Clone)]
pub struct Archive {
    client: Client,
    bucket: String,
}

impl Archive {
    /// Writes to `bucket`.
    pub fn new(client: Client, bucket: impl Into<String>) -> Self {
        Self { client, bucket: bucket.into() }
    }

    /// Keeps an object; the same key again replaces it by the same bytes.
    pub async fn keep(&self, key: &str, gzipped: Vec<u8>) -> Result<(), Failure> {
        self.client
            .put_object()
            .bucket(&self.bucket)
            .key(key)
            .content_type("application/x-ndjson")
            .content_encoding("gzip")
            .body(ByteStream::from(gzipped))
            .send()
            .await
            .map_err(|cause| Failure::new("archive the clicks", cause))?;
        Ok(())
    }
}
