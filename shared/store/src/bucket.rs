//! S3 buckets: payloads and artifacts of jobs, media of the feed.

use std::time::Duration;

use aws_sdk_s3::Client;
use aws_sdk_s3::presigning::PresigningConfig;
use aws_sdk_s3::primitives::ByteStream;
use domain::jobs::JobId;
use domain::{Failure, Result};

/// How long a presigned URL works.
pub const PRESIGNED_SECONDS: u64 = 900;

#[derive(Debug, Clone)]
pub struct Bucket {
    client: Client,
    name: String,
}

impl Bucket {
    /// Works on the bucket `name`.
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self { client, name: name.into() }
    }

    /// The key of a job's payload.
    pub fn payload_key(id: &JobId) -> String {
        format!("payloads/{}", id.as_str())
    }

    /// Writes an object; the same key again replaces it by the same bytes.
    pub async fn put(&self, key: &str, bytes: Vec<u8>) -> Result {
        self.client
            .put_object()
            .bucket(&self.name)
            .key(key)
            .body(ByteStream::from(bytes))
            .send()
            .await
            .map_err(|cause| Failure::new("keep an object", cause))?;
        Ok(())
    }

    /// Reads an object.
    pub async fn read(&self, key: &str) -> Result<Vec<u8>> {
        const ACTION: &str = "read an object";
        let found = self
            .client
            .get_object()
            .bucket(&self.name)
            .key(key)
            .send()
            .await
            .map_err(|cause| Failure::new(ACTION, cause))?;
        let bytes = found.body.collect().await.map_err(|cause| Failure::new(ACTION, cause))?;
        Ok(bytes.into_bytes().to_vec())
    }

    /// A URL that lets anyone who has it upload to `key`.
    pub async fn presign_upload(&self, key: &str) -> Result<String> {
        const ACTION: &str = "make a link for uploading";
        let request = self.client.put_object().bucket(&self.name).key(key);
        let link = request
            .presigned(presigning(ACTION)?)
            .await
            .map_err(|cause| Failure::new(ACTION, cause))?;
        Ok(link.uri().to_owned())
    }

    /// The same for exactly so many bytes of that type.
    pub async fn presign_exact_upload(
        &self,
        key: &str,
        content_type: &str,
        bytes: u64,
    ) -> Result<String> {
        const ACTION: &str = "make a link for uploading";
        let length = i64::try_from(bytes).map_err(|cause| Failure::new(ACTION, cause))?;
        let request = self.client.put_object().bucket(&self.name).key(key);
        let link = request
            .content_type(content_type)
            .content_length(length)
            .presigned(presigning(ACTION)?)
            .await
            .map_err(|cause| Failure::new(ACTION, cause))?;
        Ok(link.uri().to_owned())
    }

    /// Whether there is an object. Without the permission to list the bucket, S3 answers 403 if there is none.
    pub async fn exists(&self, key: &str) -> Result<bool> {
        let found = self.client.head_object().bucket(&self.name).key(key).send().await;
        match found {
            Ok(_) => Ok(true),
            Err(error) => match error.raw_response().map(|raw| raw.status().as_u16()) {
                Some(403 | 404) => Ok(false),
                _ => Err(Failure::new("look for an object", error)),
            },
        }
    }

    /// A URL that lets anyone who has it read `key`.
    pub async fn presign_download(&self, key: &str) -> Result<String> {
        const ACTION: &str = "make a link for reading";
        let request = self.client.get_object().bucket(&self.name).key(key);
        let link = request
            .presigned(presigning(ACTION)?)
            .await
            .map_err(|cause| Failure::new(ACTION, cause))?;
        Ok(link.uri().to_owned())
    }
}

fn presigning(action: &'static str) -> Result<PresigningConfig> {
    PresigningConfig::expires_in(Duration::from_secs(PRESIGNED_SECONDS))
        .map_err(|cause| Failure::new(action, cause))
}
