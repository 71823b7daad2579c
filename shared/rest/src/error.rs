//! A service's refusal: its code and message, wherever the service puts them.

use std::fmt;

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_types::error::metadata::{ErrorMetadata, ProvideErrorMetadata};
use aws_smithy_types::retry::{ErrorKind, ProvideErrorKind};
use serde_json::Value;

/// An answer of 400 and above.
#[derive(Debug)]
pub struct ServiceError {
    status: u16,
    meta: ErrorMetadata,
}

impl ServiceError {
    /// REST JSON names the code in a header or the body, REST XML in an element.
    pub(crate) fn of(response: &HttpResponse) -> Self {
        let body = response.body().bytes().unwrap_or_default();
        let json: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = String::from_utf8_lossy(body);
        let member = |names: [&str; 2]| names.iter().find_map(|name| json[*name].as_str());
        let code = response
            .headers()
            .get("x-amzn-errortype")
            .or_else(|| member(["code", "__type"]))
            .or_else(|| element(&text, "Code"));
        let message = member(["message", "Message"]).or_else(|| element(&text, "Message"));
        let mut meta = ErrorMetadata::builder();
        if let Some(code) = code {
            // `namespace#Code:http://…`
            let code = code.split(':').next().unwrap_or(code);
            meta = meta.code(code.rsplit('#').next().unwrap_or(code));
        }
        if let Some(message) = message {
            meta = meta.message(message);
        }
        Self { status: response.status().as_u16(), meta: meta.build() }
    }

    pub const fn status(&self) -> u16 {
        self.status
    }
}

/// The text of the first such element; error documents nest nothing below it.
fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    rest.split_once("</").map(|(text, _)| text)
}

impl fmt::Display for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "answered {}: {}", self.status, self.meta)
    }
}

impl std::error::Error for ServiceError {}

impl ProvideErrorMetadata for ServiceError {
    fn meta(&self) -> &ErrorMetadata {
        &self.meta
    }
}

impl ProvideErrorKind for ServiceError {
    fn retryable_error_kind(&self) -> Option<ErrorKind> {
        None
    }

    fn code(&self) -> Option<&str> {
        self.meta.code()
    }
}
