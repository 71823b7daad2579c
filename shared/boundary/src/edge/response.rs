//! A response, written straight as the JSON that API Gateway reads.

use std::borrow::Cow;

use http::HeaderValue;
use serde::ser::{SerializeMap, SerializeStruct};
use serde::{Serialize, Serializer};

use crate::http::{DEFAULT_HEADERS, Problem};

/// What a caller gets.
///
/// Guarantee: no header has a control character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeResponse {
    status: u16,
    headers: Vec<(Cow<'static, str>, Cow<'static, str>)>,
    body: Option<Cow<'static, str>>,
}

impl EdgeResponse {
    /// Only a status.
    pub fn new(status: u16) -> Self {
        Self { status, headers: Vec::with_capacity(8), body: None }
    }

    pub const fn status(&self) -> u16 {
        self.status
    }

    /// Adds a header. A value that has anything but printable ASCII and spaces is left out, and its
    /// header with it.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        let value = value.into();
        if value.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            self.headers.push((Cow::Borrowed(name), value));
        }
        self
    }

    /// Redirects the caller to `url`. Bytes that may not be in a header are percent-encoded.
    #[must_use]
    pub fn location(self, url: impl Into<Cow<'static, str>>) -> Self {
        let url = url.into();
        if url.bytes().all(|byte| byte.is_ascii_graphic()) {
            return self.header("location", url);
        }
        self.header("location", percent_encode(&url))
    }

    /// Adds a body of that media type.
    #[must_use]
    pub fn body(mut self, media_type: &'static str, body: impl Into<Cow<'static, str>>) -> Self {
        self.body = Some(body.into());
        self.header("content-type", media_type)
    }

    /// The same response as `HEAD` has it: all headers, no body.
    #[must_use]
    pub fn without_body(mut self) -> Self {
        self.body = None;
        self
    }

    /// A problem, as the one mapping in [`crate::http`] has it.
    pub fn problem(problem: Problem, instance: &str) -> Self {
        let (mut parts, body) = problem.render(instance).into_parts();
        for (name, value) in DEFAULT_HEADERS {
            parts.headers.entry(name).or_insert(HeaderValue::from_static(value));
        }
        let headers = parts.headers.iter().filter_map(|(name, value)| {
            let value = value.to_str().ok()?;
            Some((Cow::Owned(name.as_str().to_owned()), Cow::Owned(value.to_owned())))
        });
        let (status, headers) = (parts.status.as_u16(), headers.collect());
        Self { status, headers, body: Some(Cow::Owned(body)) }
    }

    /// A header's value.
    pub fn get_header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_ref())
    }

    pub fn text(&self) -> &str {
        self.body.as_deref().unwrap_or_default()
    }
}

/// Every byte that is not printable ASCII, and the space, as `%XX`.
fn percent_encode(url: &str) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut text = String::with_capacity(url.len() + 16);
    for byte in url.bytes() {
        if byte.is_ascii_graphic() {
            text.push(char::from(byte));
        } else {
            text.push('%');
            text.push(char::from(DIGITS[usize::from(byte >> 4)]));
            text.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
    text
}

impl Serialize for EdgeResponse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut answer = serializer.serialize_struct("EdgeResponse", 4)?;
        answer.serialize_field("statusCode", &self.status)?;
        answer.serialize_field("headers", &HeaderMapOf(self))?;
        if let Some(body) = &self.body {
            answer.serialize_field("body", body)?;
        }
        answer.serialize_field("isBase64Encoded", &false)?;
        answer.end()
    }
}

struct HeaderMapOf<'a>(&'a EdgeResponse);

impl Serialize for HeaderMapOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut headers = serializer.serialize_map(Some(self.0.headers.len()))?;
        for (name, value) in &self.0.headers {
            headers.serialize_entry(name, value)?;
        }
        headers.end()
    }
}
