//! S3 buckets: payloads and artifacts of jobs, media of the feed.

use std::time::Duration;

use domain::jobs::JobId;
use domain::{Failure, Result};
use http::Method;
use rest::{CallError, Client, Request};

/// How long a presigned URL works.
pub const PRESIGNED_SECONDS: u64 = 900;

#[derive(Debug, Clone)]
pub struct Bucket(Client);

impl Bucket {
    /// Works on the bucket whose client this is.
    pub const fn new(client: Client) -> Self {
        Self(client)
    }

    /// The key of a job's payload.
    pub fn payload_key(id: &JobId) -> String {
        format!("payloads/{}", id.as_str())
    }

    /// Writes an object; the same key again replaces it by the same bytes.
    pub async fn put(&self, key: &str, bytes: Vec<u8>) -> Result {
        let sent = self.0.send(request(Method::PUT, key).body(bytes)).await;
        sent.map(drop).map_err(|cause| Failure::new("keep an object", cause))
    }

    /// Reads an object.
    pub async fn read(&self, key: &str) -> Result<Vec<u8>> {
        let found = self.0.send(request(Method::GET, key)).await;
        found
            .map(|found| found.body.to_vec())
            .map_err(|cause| Failure::new("read an object", cause))
    }

    /// A URL that lets its holder upload to `key`.
    pub fn presign_upload(&self, key: &str) -> Result<String> {
        self.presign(&request(Method::PUT, key))
    }

    /// The same for exactly so many bytes of that type.
    pub fn presign_exact_upload(
        &self,
        key: &str,
        content_type: &str,
        bytes: u64,
    ) -> Result<String> {
        let request = request(Method::PUT, key)
            .header("content-type", content_type)
            .header("content-length", bytes.to_string());
        self.presign(&request)
    }

    /// Whether there is an object. S3 says 403 of what is not there to a caller who may not list a bucket.
    pub async fn exists(&self, key: &str) -> Result<bool> {
        match self.0.send(request(Method::HEAD, key)).await {
            Ok(_) => Ok(true),
            Err(CallError::ServiceError(refused))
                if matches!(refused.err().status(), 403 | 404) =>
            {
                Ok(false)
            }
            Err(error) => Err(Failure::new("look for an object", error)),
        }
    }

    /// A URL that lets its holder read `key`.
    pub fn presign_download(&self, key: &str) -> Result<String> {
        self.presign(&request(Method::GET, key))
    }

    fn presign(&self, request: &Request) -> Result<String, Failure> {
        self.0
            .presign(request, Duration::from_secs(PRESIGNED_SECONDS))
            .map_err(|cause| Failure::new("presign a URL", cause))
    }
}

fn request(method: Method, key: &str) -> Request {
    Request::new(method, &format!("/{key}"))
}
