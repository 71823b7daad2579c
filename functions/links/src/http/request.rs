//! A request with the origin that it was sent to, which short URLs in the answer have.

use std::ops::Deref;

use axum::extract::FromRequestParts;
use boundary::http::{Call, Problem, Result};
use boundary::openapi::DescribeExtractor;
use domain::limits::caller::ip_network;
use http::request::Parts;

/// An admitted request, and the origin it was sent to.
#[derive(Debug)]
pub(crate) struct Request {
    call: Call,
    host: Option<String>,
    /// Sent without TLS, as to a local cloud.
    is_plain: bool,
}

impl Deref for Request {
    type Target = Call;

    fn deref(&self) -> &Call {
        &self.call
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Request {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let call = Call::from_request_parts(parts, state).await?;
        let header = |name| std::str::from_utf8(parts.headers.get(name)?.as_bytes()).ok();
        let host = header("host").map(str::to_owned);
        Ok(Self { call, host, is_plain: header("x-forwarded-proto") == Some("http") })
    }
}

impl DescribeExtractor for Request {}

impl Request {
    /// Scheme and host that it was sent to.
    pub(crate) fn origin(&self) -> String {
        let scheme = if self.is_plain { "http" } else { "https" };
        format!("{scheme}://{}", self.host.as_deref().unwrap_or("localhost"))
    }

    /// The host that it was sent to, without a port.
    pub(crate) fn host(&self) -> String {
        let host = self.host.as_deref().unwrap_or_default().to_ascii_lowercase();
        host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name).to_owned()
    }

    /// The client's address; of IPv6 the /64, in which a client can choose any.
    pub(crate) fn network(&self) -> String {
        self.client_ip.map_or_else(|| self.source_ip.clone(), |ip| ip_network(ip).to_string())
    }
}
