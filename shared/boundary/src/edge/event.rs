//! An API Gateway event, payload 2.0, as far as a hot path looks at it.

use serde::Deserialize;

/// A request; every other field of the event is skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HttpEvent {
    /// The path, decoded.
    pub raw_path: String,
    /// The query as it was sent.
    pub raw_query_string: String,
    pub headers: Headers,
    request_context: RequestContext,
}

/// The headers that matter here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Headers {
    pub host: Option<String>,
    pub user_agent: Option<String>,
    pub referer: Option<String>,
    pub accept: Option<String>,
    /// The country that the content network saw; two letters.
    pub cloudfront_viewer_country: Option<String>,
    /// The address and port that the content network saw.
    pub cloudfront_viewer_address: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct RequestContext {
    http: Http,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Http {
    method: String,
    source_ip: String,
}

impl HttpEvent {
    /// The method, in capitals.
    pub fn method(&self) -> &str {
        &self.request_context.http.method
    }

    /// The address that connected: the visitor's, or that of a proxy in front of this API.
    pub fn source_ip(&self) -> &str {
        &self.request_context.http.source_ip
    }
}
