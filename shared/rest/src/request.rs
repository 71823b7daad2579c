//! What is sent, and what comes back.

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse, OrchestratorError};
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use http::Method;
use http::header::CONTENT_LENGTH;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::ServiceError;

/// What a path may hold as it is: RFC 3986's unreserved characters and the slash.
const PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');

/// A request to a service, its body in memory.
#[derive(Debug, Clone)]
pub struct Request {
    pub(crate) method: Method,
    /// Encoded.
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    body: Bytes,
}

impl Request {
    /// A request for `path`, which is encoded here.
    pub fn new(method: Method, path: &str) -> Self {
        let path = utf8_percent_encode(path, PATH).to_string();
        Self { method, path, headers: Vec::new(), body: Bytes::new() }
    }

    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }
}

/// An answer below 400.
#[derive(Debug, Clone)]
pub struct Response {
    pub body: Bytes,
}

pub(crate) fn serialize(request: Request) -> Result<HttpRequest, BoxError> {
    let mut http = http::Request::builder().method(request.method).uri(request.path);
    for (name, value) in request.headers {
        http = http.header(name, value);
    }
    let http = http.header(CONTENT_LENGTH, request.body.len());
    Ok(HttpRequest::try_from(http.body(SdkBody::from(request.body))?)?)
}

pub(crate) fn deserialize(
    response: &HttpResponse,
) -> Result<Response, OrchestratorError<ServiceError>> {
    if response.status().as_u16() >= 400 {
        return Err(OrchestratorError::operation(ServiceError::of(response)));
    }
    let body = response.body().bytes().unwrap_or_default();
    Ok(Response { body: Bytes::copy_from_slice(body) })
}
