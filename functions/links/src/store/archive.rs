//! The S3 bucket of raw clicks.

use domain::{Failure, Result};
use http::Method;
use rest::{Client, Request};

#[derive(Debug, Clone)]
pub struct ClickArchive(Client);

impl ClickArchive {
    pub const fn new(client: Client) -> Self {
        Self(client)
    }

    /// Puts an object; the same key again replaces it by the same bytes.
    pub async fn put(&self, key: &str, gzipped: Vec<u8>) -> Result {
        let request = Request::new(Method::PUT, &format!("/{key}"))
            .header("content-type", "application/x-ndjson")
            .header("content-encoding", "gzip")
            .body(gzipped);
        let sent = self.0.send(request).await;
        sent.map(drop).map_err(|cause| Failure::new("archive the clicks", cause))
    }
}
