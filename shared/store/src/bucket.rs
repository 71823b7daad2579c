//! Buckets: what jobs leave and what they are given, and what people show.

use std::time::Duration;

use aws_sdk_s3::Client;
use aws_sdk_s3::presigning::PresigningConfig;
use aws_sdk_s3::primitives::ByteStream;
use domain::Failure;
use domain::jobs::JobId;

/// How long a link to an object works.
pub const LINK_SECONDS: u64 = 900;

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

    /// The same for exactly so many bytes of that type.
    pub async fn upload_link_of(
        &self,
        key: &str,
        content_type: &str,
        bytes: u64,
    ) -> Result<String, Failure> {
        const ACTION: &str = "make a link for uploading";
        let length = i64::try_from(bytes).map_err(|cause| Failure::new(ACTION, cause))?;
        let request = self.client.put_object().bucket(&self.name).key(key);
        let link = request
            .content_type(content_type)
            .content_length(length)
            .presigned(config(ACTION)?)
            .await
            .map_err(|cause| Failure::new(ACTION, cause))?;
        Ok(link.uri().to_owned())
    }

    /// Whether there is an object. S3 says 403 of what is not there to whoever may not list a bucket.
    pub async fn holds(&self, key: &str) -> Result<bool, Failure> {
        let found = self.client.head_object().bucket(&self.name).key(key).send().await;
        match found {
            Ok(_) => Ok(true),
            Err(error) => match error.raw_response().map(|raw| raw.status().as_u16()) {
                Some(403 | 404) => Ok(false),
                _ => Err(Failure::new("look for an object", error)),
            },
        }
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
