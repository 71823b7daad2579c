//! Requests and responses, over pooled connections.
//!
//! Guarantee: a request without a response in time is a transient [`ApiError`]; no error message has a key
//! or a signed address. The client is hyper-util's, which the AWS SDK links already: reqwest would compile
//! 39 more crates for the TLS setup below and has no seam for tests in memory; ureq blocks a thread, so that
//! dropping a call would not cancel it.

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

use super::ConnectError;
use super::bodies::Problem;
use crate::ApiError;

const USER_AGENT_NAME: &str = concat!("switchyard-worker/", env!("CARGO_PKG_VERSION"));

/// Less than the time between two heartbeats.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Of a payload or an artifact.
const TRANSFER_TIMEOUT: Duration = Duration::from_mins(5);

/// The longest `Retry-After` that is obeyed.
const MAX_RETRY_AFTER: Duration = Duration::from_mins(1);

type SendResult = Result<Response<Incoming>, Box<dyn std::error::Error + Send + Sync>>;
type SendRequest = dyn Fn(Request<Full<Bytes>>) -> BoxFuture<'static, SendResult> + Send + Sync;

/// An HTTP client over any transport.
#[derive(Clone)]
pub(crate) struct HttpClient(Arc<SendRequest>);

/// A response with its whole body.
pub(super) struct HttpResponse {
    pub(super) status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

/// Whether it is an http or https URL with a host.
pub(super) fn is_http_url(url: &str) -> bool {
    url.parse::<Uri>()
        .is_ok_and(|uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some())
}

impl HttpClient {
    /// Trusts the machine's certificate authorities, or Mozilla's if it has none, as in an empty container.
    pub(crate) fn with_native_roots() -> Result<Self, ConnectError> {
        let provider = ring::default_provider();
        let builder = HttpsConnectorBuilder::new();
        if let Ok(builder) = builder.with_provider_and_native_roots(provider) {
            return Ok(Self::with_connector(builder.https_or_http().enable_http1().build()));
        }
        Self::with_roots(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() })
    }

    pub(crate) fn with_roots(roots: RootCertStore) -> Result<Self, ConnectError> {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(ConnectError::Tls)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let builder = HttpsConnectorBuilder::new().with_tls_config(config);
        Ok(Self::with_connector(builder.https_or_http().enable_http1().build()))
    }

    fn with_connector(connector: HttpsConnector<HttpConnector>) -> Self {
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Self::with_transport(move |request| {
            let response = client.request(request);
            Box::pin(async { response.await.map_err(Into::into) })
        })
    }

    pub(crate) fn with_transport(
        send: impl Fn(Request<Full<Bytes>>) -> BoxFuture<'static, SendResult> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(send))
    }

    /// Posts JSON with a key.
    pub(super) async fn post(
        &self,
        url: &str,
        key: &str,
        body: Vec<u8>,
    ) -> Result<HttpResponse, ApiError> {
        let request = Request::post(url)
            .header(AUTHORIZATION, format!("Bearer {key}"))
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, USER_AGENT_NAME)
            .body(Full::from(body))
            .map_err(|_| ApiError::permanent("the address cannot be used"))?;
        self.send(request, REQUEST_TIMEOUT).await
    }

    /// Uploads to or downloads from a signed address. Any refusal is transient: another signature may work.
    pub(super) async fn transfer(
        &self,
        method: Method,
        url: &str,
        body: Bytes,
    ) -> Result<Bytes, ApiError> {
        let request = Request::builder()
            .method(method)
            .uri(url)
            .header(USER_AGENT, USER_AGENT_NAME)
            .body(Full::new(body))
            .map_err(|_| ApiError::permanent("the signed address cannot be used"))?;
        let response = self.send(request, TRANSFER_TIMEOUT).await?;
        if response.status.is_success() {
            return Ok(response.body);
        }
        let cause = format!("the bucket answered with status {}", response.status.as_u16());
        Err(ApiError::Transient { cause, retry_after: response.retry_after() })
    }

    async fn send(
        &self,
        request: Request<Full<Bytes>>,
        limit: Duration,
    ) -> Result<HttpResponse, ApiError> {
        let exchange = async {
            let (head, body) = (self.0)(request).await?.into_parts();
            let body = body.collect().await?.to_bytes();
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(HttpResponse {
                status: head.status,
                headers: head.headers,
                body,
            })
        };
        match timeout(limit, exchange).await {
            Ok(response) => response.map_err(|cause| ApiError::transient(chain(&*cause))),
            Err(_elapsed) => Err(ApiError::transient("the server did not answer in time")),
        }
    }
}

impl HttpResponse {
    /// The body as a `T`. One that cannot be read may be a proxy's: the request is sent again.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        serde_json::from_slice(&self.body)
            .map_err(|cause| ApiError::transient(format!("the answer cannot be read: {cause}")))
    }

    /// The error that an unsuccessful response stands for.
    pub(super) fn error(&self) -> ApiError {
        let problem: Problem = serde_json::from_slice(&self.body).unwrap_or_default();
        let text = if problem.detail.is_empty() { problem.title } else { problem.detail };
        let status = self.status.as_u16();
        let cause = format!("the API answered with status {status}: {text}");
        let cause = cause.trim_end_matches(": ").to_owned();
        match status {
            408 | 425 | 429 | 500.. => {
                ApiError::Transient { cause, retry_after: self.retry_after() }
            }
            _ => ApiError::Permanent { cause },
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        let seconds = self.headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
        Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
    }
}

/// An error with its causes.
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
