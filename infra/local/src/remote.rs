//! Functions that run behind `cargo lambda watch`: each invocation is a POST to its address.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// The address of `cargo lambda watch`.
#[derive(Debug, Clone)]
pub struct RemoteFunctions {
    authority: String,
}

impl RemoteFunctions {
    /// Reads an address like `http://localhost:9000`.
    pub fn parse(url: &str) -> Result<Self, String> {
        let authority = url
            .strip_prefix("http://")
            .map(|rest| rest.trim_end_matches('/'))
            .filter(|rest| !rest.is_empty() && !rest.contains('/'))
            .ok_or_else(|| "it must be an address like http://localhost:9000".to_owned())?;
        Ok(Self { authority: authority.to_owned() })
    }

    pub(crate) async fn invoke(
        &self,
        function: &str,
        event: Vec<u8>,
        timeout: Duration,
    ) -> Result<Vec<u8>, String> {
        let path = format!("/2015-03-31/functions/{function}/invocations");
        let work = self.post(&path, event);
        let (status, body) = tokio::time::timeout(timeout, work)
            .await
            .map_err(|_| format!("{function} did not answer within {} s", timeout.as_secs()))?
            .map_err(|error| format!("{function} at {}: {error}", self.authority))?;
        if status.is_success() {
            Ok(body.to_vec())
        } else {
            Err(format!("{function}: {status} {}", String::from_utf8_lossy(&body)))
        }
    }

    async fn post(
        &self,
        path: &str,
        body: Vec<u8>,
    ) -> Result<(StatusCode, Bytes), Box<dyn std::error::Error + Send + Sync>> {
        let stream = TcpStream::connect(&self.authority).await?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let request = Request::post(path)
            .header(http::header::HOST, &self.authority)
            .header(http::header::CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))?;
        let response = sender.send_request(request).await?;
        let status = response.status();
        Ok((status, response.into_body().collect().await?.to_bytes()))
    }
}
