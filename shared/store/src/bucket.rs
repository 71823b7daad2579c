//! The bucket that jobs leave things in, and large payloads lie in.

use std::time::Duration;

use aws_sdk_s3::Client;
use aws_sdk_s3::presigning::PresigningConfig;
use aws_sdk_s3::primitives::ByteStream;
use domain::Failure;
use domain::jobs::JobId;

/// How long a link to an object works.
pub const LINK_SECONDS: u64 = 900;

/// A bucket of artifacts and payloads.
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

    /// Where a job's payload lies.
    pub fn payload_key(id: &JobId) -> String {
        format!("payloads/{}", id.as_str())
    }

    /// Keeps an object; the same key again replaces it by the same bytes.
    pub async fn keep(&self, key: &str, bytes: Vec<u8>) -> Result<(), Failure> {
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
    pub async fn read(&self, key: &str) -> Result<Vec<u8>, Failure> {
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

    /// A link that lets anyone who has it upload to `key`.
    pub async fn upload_link(&self, key: &str) -> Result<String, Failure> {
        const ACTION: &str = "make a link for uploading";
        let request = self.client.put_object().bucket(&self.name).key(key);
        let link = request
            .presigned(config(ACTION)?)
            .await
            .map_err(|cause| Failure::new(ACTION, cause))?;
        Ok(link.uri().to_owned())
    }

    /// A link that lets anyone who has it read `key`.
    pub async fn download_link(&self, key: &str) -> Result<String, Failure> {
        const ACTION: &str = "make a link for reading";
        let request = self.client.get_object().bucket(&self.name).key(key);
        let link = request
            .presigned(config(ACTION)?)
            .await
            .map_err(|cause| Failure::new(ACTION, cause))?;
        Ok(link.uri().to_owned())
    }
}

fn config(action: &'static str) -> Result<PresigningConfig, Failure> {
    PresigningConfig::expires_in(Duration::from_secs(LINK_SECONDS))
        .map_err(|cause| Failure::new(action, cause))
}
