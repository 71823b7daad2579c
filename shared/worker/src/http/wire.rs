//! Requests and their answers, over connections that are kept for the next request.
//!
//! Guarantee: whatever keeps an answer from coming in time is a passing [`Trouble`]. Nothing of a
//! key or of a signed address is part of what a trouble says.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::NotConnected;
use super::words::Problem;
use crate::Trouble;

const AGENT: &str = concat!("switchyard-worker/", env!("CARGO_PKG_VERSION"));

/// How long the API may take to answer: less than there is between two heartbeats.
const ANSWER: Duration = Duration::from_secs(10);

/// How long a payload or an artifact may take.
const TRANSFER: Duration = Duration::from_mins(5);

/// The longest that is waited because a server says so.
const MAX_WAIT: Duration = Duration::from_mins(1);

type Exchanged = Result<Response<Incoming>, Box<dyn std::error::Error + Send + Sync>>;
type Exchange = dyn Fn(Request<Full<Bytes>>) -> BoxFuture<'static, Exchanged> + Send + Sync;

/// The way to a server.
#[derive(Clone)]
pub(crate) struct Wire(Arc<Exchange>);

/// An answer, read to its end.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

/// Whether it is an http or https URL with a host.
pub(super) fn is_address(url: &str) -> bool {
    url.parse::<Uri>()
        .is_ok_and(|uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some())
}

impl Wire {
    /// The machine's own network and certificate authorities; those that browsers trust if the
    /// machine has none, as in an empty container.
    pub(crate) fn system() -> Result<Self, NotConnected> {
        let provider = ring::default_provider();
        let builder = HttpsConnectorBuilder::new();
        if let Ok(trusting) = builder.with_provider_and_native_roots(provider) {
            return Ok(Self::connecting(trusting.https_or_http().enable_http1().build()));
        }
        Self::trusting(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() })
    }

    /// The machine's own network, with these authorities.
    pub(crate) fn trusting(roots: RootCertStore) -> Result<Self, NotConnected> {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(NotConnected::Tls)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let builder = HttpsConnectorBuilder::new().with_tls_config(config);
        Ok(Self::connecting(builder.https_or_http().enable_http1().build()))
    }

    fn connecting(connector: HttpsConnector<HttpConnector>) -> Self {
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Self::through(move |request| {
            let answer = client.request(request);
            Box::pin(async { answer.await.map_err(Into::into) })
        })
    }

    /// Whatever carries requests.
    pub(crate) fn through(
        exchange: impl Fn(Request<Full<Bytes>>) -> BoxFuture<'static, Exchanged> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(exchange))
    }

    /// Posts JSON with a key.
    pub(super) async fn post(&self, url: &str, key: &str, body: Vec<u8>) -> Result<Reply, Trouble> {
        let request = Request::post(url)
            .header(AUTHORIZATION, format!("Bearer {key}"))
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, AGENT)
            .body(Full::from(body))
            .map_err(|_| Trouble::lasting("the address cannot be used"))?;
        self.ask(request, ANSWER).await
    }

    /// Sends or fetches by a signed address. Any refusal is passing: another signature may do.
    pub(super) async fn transfer(
        &self,
        method: Method,
        url: &str,
        body: Bytes,
    ) -> Result<Bytes, Trouble> {
        let request = Request::builder()
            .method(method)
            .uri(url)
            .header(USER_AGENT, AGENT)
            .body(Full::new(body))
            .map_err(|_| Trouble::lasting("the signed address cannot be used"))?;
        let reply = self.ask(request, TRANSFER).await?;
        if reply.status.is_success() {
            return Ok(reply.body);
        }
        let cause = format!("the bucket answered with status {}", reply.status.as_u16());
        Err(Trouble::Passing { cause, wait: reply.wait() })
    }

    async fn ask(&self, request: Request<Full<Bytes>>, limit: Duration) -> Result<Reply, Trouble> {
        let answer = async {
            let (head, body) = (self.0)(request).await?.into_parts();
            let body = body.collect().await?.to_bytes();
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(Reply {
                status: head.status,
                headers: head.headers,
                body,
            })
        };
        match timeout(limit, answer).await {
            Ok(reply) => reply.map_err(|cause| Trouble::passing(chain(&*cause))),
            Err(_elapsed) => Err(Trouble::passing("the server did not answer in time")),
        }
    }
}

impl Reply {
    /// The body as a `T`. An answer that cannot be read may be a proxy's: it is asked for again.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, Trouble> {
        serde_json::from_slice(&self.body)
            .map_err(|cause| Trouble::passing(format!("the answer cannot be read: {cause}")))
    }

    /// What a refusal means.
    pub(super) fn trouble(&self) -> Trouble {
        let problem: Problem = serde_json::from_slice(&self.body).unwrap_or_default();
        let said = if problem.detail.is_empty() { problem.title } else { problem.detail };
        let status = self.status.as_u16();
        let cause = format!("the API answered with status {status}: {said}");
        let cause = cause.trim_end_matches(": ").to_owned();
        match status {
            408 | 425 | 429 | 500.. => Trouble::Passing { cause, wait: self.wait() },
            _ => Trouble::Lasting { cause },
        }
    }

    fn wait(&self) -> Option<Duration> {
        let seconds = self.headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
        Some(Duration::from_secs(seconds).min(MAX_WAIT))
    }
}

/// What happened, down to its cause: "client error" alone helps nobody.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = format!("the server cannot be reached: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
