//! An answer under construction.

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use lambda_http::Body;
use serde::Serialize;

use super::DEFAULT_HEADERS;
use super::request::Conditions;

/// What a handler answers with.
#[derive(Debug)]
pub struct Response {
    status: StatusCode,
    headers: HeaderMap,
    body: Body,
}

impl Response {
    /// A JSON body.
    pub fn json(status: StatusCode, body: &impl Serialize) -> Self {
        Self::typed(status, "application/json", serde_json::to_string(body).unwrap_or_default())
    }

    /// JSON that was rendered before.
    pub fn rendered(status: StatusCode, body: Vec<u8>) -> Self {
        Self::typed(status, "application/json", String::from_utf8(body).unwrap_or_default())
    }

    /// Any text, with its media type.
    pub fn typed(status: StatusCode, media_type: &'static str, body: impl Into<String>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        Self { status, headers, body: Body::Text(body.into()) }
    }

    /// Any bytes, with their media type.
    pub fn bytes(status: StatusCode, media_type: &'static str, body: Vec<u8>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        Self { status, headers, body: Body::Binary(body) }
    }

    /// No body at all.
    pub fn empty(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new(), body: Body::Empty }
    }

    pub(super) fn problem(status: StatusCode, body: &impl Serialize) -> Self {
        let text = serde_json::to_string(body).unwrap_or_default();
        Self::typed(status, "application/problem+json", text)
    }

    /// Whether it is what an earlier request was answered with.
    pub fn is_replay(&self) -> bool {
        self.headers.contains_key("idempotent-replayed")
    }

    /// Adds or replaces a header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Adds a header whose value was built from data; anything a header can't hold is left out.
    #[must_use]
    pub fn with_text(self, name: HeaderName, value: &str) -> Self {
        match HeaderValue::try_from(value) {
            Ok(value) => self.with_header(name, value),
            Err(_) => self,
        }
    }

    /// Adds the version as a strong `ETag`.
    #[must_use]
    pub fn with_version(self, version: u64) -> Self {
        self.with_text(header::ETAG, &format!("\"{version}\""))
    }

    /// The status.
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// The `ETag` header, for answers that are kept.
    pub fn etag(&self) -> Option<&str> {
        self.headers.get(header::ETAG)?.to_str().ok()
    }

    /// The `Location` header, for answers that are kept.
    pub fn location(&self) -> Option<&str> {
        self.headers.get(header::LOCATION)?.to_str().ok()
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.body.as_ref()).into_owned()
    }

    /// 304 without a body when the caller has this very version already.
    pub(super) fn honouring(mut self, conditions: &Conditions) -> Self {
        let wanted = conditions.if_none_match.as_deref().filter(|_| conditions.readable);
        if let (Some(wanted), Some(etag)) = (wanted, self.etag())
            && self.status == StatusCode::OK
            && wanted.split(',').any(|tag| tag.trim().trim_start_matches("W/") == etag)
        {
            self.status = StatusCode::NOT_MODIFIED;
            return self.without_body();
        }
        self
    }

    pub(super) fn without_body(mut self) -> Self {
        self.body = Body::Empty;
        self
    }

    pub(crate) fn into_http(self) -> http::Response<Body> {
        let mut response = http::Response::new(self.body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        for (name, value) in DEFAULT_HEADERS {
            response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
        }
        response
    }
}
