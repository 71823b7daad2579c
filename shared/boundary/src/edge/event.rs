//! An API Gateway event, payload 2.0, as far as a hot path looks at it.

use serde::Deserialize;

/// A request; every field that is not here is passed over unread.
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
    /// Whom the request is for.
    pub host: Option<String>,
    /// With what it was made.
    pub user_agent: Option<String>,
    /// Where its maker came from.
    pub referer: Option<String>,
    /// What its maker can read.
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

    /// Who connected: the visitor, or whatever stands in front of this API.
    pub fn source_ip(&self) -> &str {
        &self.request_context.http.source_ip
    }
}
