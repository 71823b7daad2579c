//! The S3 bucket of raw clicks.

use aws_sdk_s3::Client;
use aws_sdk_s3::primitives::ByteStream;
use domain::{Failure, Result};

#[derive(Debug, Clone)]
pub struct ClickArchive {
    client: Client,
    bucket: String,
}

impl ClickArchive {
    pub fn new(client: Client, bucket: impl Into<String>) -> Self {
        Self { client, bucket: bucket.into() }
    }

    /// Puts an object; the same key again replaces it by the same bytes.
    pub async fn put(&self, key: &str, gzipped: Vec<u8>) -> Result {
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
