//! A request on its way to a handler: its body, caller, time and addresses.

use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use domain::Timestamp;
use domain::accounts::Principal;
use http::uri::PathAndQuery;
use http::{HeaderMap, Uri};
use lambda_http::RequestExt;
use lambda_http::request::RequestContext;
use parking_lot::Mutex;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::de::{DeserializeOwned, IgnoredAny};

use super::{Operation, Problem, Result};
use crate::limits::{Limiter, RequestLimiter};
use crate::telemetry::Trace;

/// What API Gateway has decoded in a path and a URI can't hold as it is.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A request as it arrived. It becomes a [`Call`] when it is admitted.
#[derive(Debug, Clone)]
pub struct IncomingRequest {
    /// The path, decoded by the gateway.
    pub path: String,
    /// The body, decoded from base64 where the gateway encoded it.
    pub body: Bytes,
    /// When it came in.
    pub now: Timestamp,
    /// When the function will be stopped.
    pub deadline: Timestamp,
    /// The trace it belongs to.
    pub trace: Trace,
    /// The address it came from, as the gateway saw it.
    pub source_ip: String,
    /// The visitor's address, from `CloudFront`'s header where it is in front.
    pub client_ip: Option<IpAddr>,
    /// Claims that the gateway's JWT authorizer has verified.
    pub claims: Option<std::collections::HashMap<String, String>>,
    pub(super) principal: Option<Arc<Principal>>,
    pub(super) meter: Option<RequestLimiter>,
    pub(super) request_log: RequestLog,
}

/// An admitted request, as an argument of its handler: cheap to clone.
#[derive(Debug, Clone)]
pub struct Call(Arc<IncomingRequest>);

impl Deref for Call {
    type Target = IncomingRequest;

    fn deref(&self) -> &IncomingRequest {
        &self.0
    }
}

impl Call {
    pub(super) fn new(incoming: IncomingRequest) -> Self {
        Self(Arc::new(incoming))
    }

    /// Takes `units` from the caller's quotas for this resource, or nothing and answers 429.
    pub async fn charge(&self, units: u32) -> Result {
        match &self.meter {
            Some(meter) => meter.charge(units.into()).await,
            None => Ok(()),
        }
    }

    /// The limits that this instance knows, for a handler that answers about others. They are as fresh as the
    /// request, and written back after the response.
    pub fn limiter(&self) -> Option<&Arc<Limiter>> {
        self.meter.as_ref().map(RequestLimiter::limiter)
    }

    pub fn caller(&self) -> Result<&Principal> {
        self.principal.as_deref().ok_or_else(Problem::unauthenticated)
    }

    /// The caller, if the request has a key or a token.
    pub fn principal(&self) -> Option<&Principal> {
        self.principal.as_deref()
    }

    /// The body as JSON of that shape: 400 if it is no JSON, 422 naming the field if it is another.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        read_json(&self.body)
    }
}

/// The request that the router sees, from a gateway's event, with an [`IncomingRequest`] among its extensions.
pub(super) fn from_event(
    event: lambda_http::Request,
    now: Timestamp,
    trace: Trace,
    behind_cloudfront: bool,
) -> axum::extract::Request {
    let (claims, source) = match event.request_context_ref() {
        Some(RequestContext::ApiGatewayV2(context)) => {
            let jwt = context.authorizer.as_ref().and_then(|it| it.jwt.as_ref());
            (jwt.map(|jwt| jwt.claims.clone()), context.http.source_ip.clone())
        }
        _ => (None, None),
    };
    let source = source.unwrap_or_default();
    let path = match event.raw_http_path() {
        "" => event.uri().path().to_owned(),
        path => path.to_owned(),
    };
    // The path comes decoded and may hold a `?`, so the query is not looked for behind it.
    let query = event
        .query_string_parameters_ref()
        .map(lambda_http::aws_lambda_events::query_map::QueryMap::to_query_string)
        .unwrap_or_default();
    let deadline_ms = event.lambda_context_ref().map_or(0, |context| context.deadline);
    let deadline_ms = i64::try_from(deadline_ms).ok().filter(|ms| *ms > 0);
    let deadline_ms = deadline_ms.unwrap_or_else(|| now.as_millisecond().saturating_add(10_000));
    let (mut parts, body) = event.into_parts();
    let body = match body {
        lambda_http::Body::Text(text) => Bytes::from(text),
        lambda_http::Body::Binary(bytes) => Bytes::from(bytes),
        lambda_http::Body::Empty | _ => Bytes::new(),
    };
    parts.uri = to_uri(&path, &query);
    let incoming = IncomingRequest {
        client_ip: client_ip(&parts.headers, &source, behind_cloudfront),
        path,
        body: body.clone(),
        now,
        deadline: Timestamp::from_millisecond(deadline_ms).unwrap_or(now),
        trace,
        source_ip: source,
        claims,
        principal: None,
        meter: None,
        request_log: RequestLog::default(),
    };
    parts.extensions.insert(incoming);
    http::Request::from_parts(parts, Body::from(body))
}

fn to_uri(path: &str, query: &str) -> Uri {
    let mut text = utf8_percent_encode(path, ENCODED).to_string();
    if !query.is_empty() {
        text.push('?');
        text.push_str(query);
    }
    PathAndQuery::try_from(text).map(Uri::from).unwrap_or_default()
}

/// The visitor's address. `CloudFront`'s header counts only where `CloudFront` is configured: anyone can send it.
fn client_ip(headers: &HeaderMap, source: &str, behind_cloudfront: bool) -> Option<IpAddr> {
    let viewer = headers.get("cloudfront-viewer-address").filter(|_| behind_cloudfront);
    // The header has the port behind the last colon.
    let viewer = viewer.and_then(|value| value.to_str().ok());
    let address = viewer.and_then(|text| text.rsplit_once(':')).map(|(address, _)| address);
    address.unwrap_or(source).trim_matches(['[', ']']).parse().ok()
}

/// What the log line has of a request, recorded before a handler consumes the request or panics.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestLog(Arc<Mutex<RequestLogFields>>);

#[derive(Debug, Clone, Default)]
pub(super) struct RequestLogFields {
    pub(super) path: Option<&'static str>,
    pub(super) operation: Option<&'static str>,
    pub(super) principal: Option<String>,
    pub(super) meter: Option<RequestLimiter>,
}

impl RequestLog {
    pub(super) fn set_operation(&self, operation: &Operation) {
        let mut fields = self.0.lock();
        (fields.path, fields.operation) = (Some(operation.path), Some(operation.id));
    }

    pub(super) fn set_principal(&self, principal: &Principal) {
        let mut fields = self.0.lock();
        fields.principal = Some(principal.user_id.as_str().to_owned());
    }

    pub(super) fn set_meter(&self, meter: &RequestLimiter) {
        self.0.lock().meter = Some(meter.clone());
    }

    pub(super) fn take(&self) -> RequestLogFields {
        std::mem::take(&mut *self.0.lock())
    }
}

/// JSON of that shape: 400 if it is no JSON, 422 naming the field if it is another.
pub(super) fn read_json<T: DeserializeOwned>(body: &[u8]) -> Result<T> {
    if body.is_empty() {
        return Err(Problem::malformed("The body is empty; it should be a JSON object."));
    }
    let malformed = |error| Problem::malformed(format!("The body is not JSON: {error}."));
    let mut reader = serde_json::Deserializer::from_slice(body);
    let value = match serde_path_to_error::deserialize(&mut reader) {
        Ok(value) => value,
        Err(error) => {
            // To serde_json an array in the place of a name is bad syntax.
            serde_json::from_slice::<IgnoredAny>(body).map_err(malformed)?;
            let message = without_position(&error.inner().to_string());
            return Err(invalid_field(&error.path().to_string(), &message));
        }
    };
    reader.end().map_err(malformed)?;
    Ok(value)
}

/// The same where only an object will do: serde takes an array for a struct.
pub(super) fn read_object<T: DeserializeOwned>(body: &[u8]) -> Result<T> {
    let is_object = body.trim_ascii_start().first() == Some(&b'{');
    if !is_object && serde_json::from_slice::<IgnoredAny>(body).is_ok() {
        return Err(Problem::invalid_field("body", "The body must be a JSON object."));
    }
    read_json(body)
}

/// Reads a value that is part of a larger body: 422 naming the field if it has another shape.
pub fn parse_json<T: DeserializeOwned>(value: serde_json::Value) -> Result<T> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        invalid_field(&path, &error.into_inner().to_string())
    })
}

/// Reads a query string into a struct; every value comes as text, so numbers parse from it.
pub fn parse_query<T: DeserializeOwned>(query: &str) -> Result<T> {
    let pairs = serde_urlencoded::Deserializer::new(form_urlencoded::parse(query.as_bytes()));
    serde_path_to_error::deserialize(pairs).map_err(|error| {
        let path = error.path().to_string();
        invalid_field(&path, &error.into_inner().to_string())
    })
}

/// A 422 that names the field: from the path, or from serde's message for fields it doesn't know.
fn invalid_field(path: &str, message: &str) -> Problem {
    let mentioned = message.split('`').nth(1);
    let about_name = ["unknown field", "missing field", "duplicate field"]
        .iter()
        .any(|start| message.starts_with(start));
    let field = match (about_name, mentioned) {
        (true, Some(name)) => {
            let parent = path.rsplit_once('.').map_or("", |(parent, _)| parent);
            if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") }
        }
        _ => path.to_owned(),
    };
    let detail = if about_name { format!("{message}.") } else { format!("`{field}`: {message}.") };
    Problem::invalid_field(field, detail)
}

/// Line and column say nothing once the field is named.
fn without_position(message: &str) -> String {
    message.split(" at line ").next().unwrap_or(message).to_owned()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, Default, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Shape {
        count: Option<u32>,
        inner: Option<Inner>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        name: String,
    }

    fn problem_of(body: &str) -> serde_json::Value {
        read_json::<Shape>(body.as_bytes()).unwrap_err().to_json("/")
    }

    #[test]
    fn what_is_not_json_is_malformed() {
        for body in ["", "{", "nonsense", "{\"count\":1} x", "[1,"] {
            assert_eq!(problem_of(body)["status"], 400, "{body}");
        }
    }

    #[test]
    fn what_is_json_of_another_shape_names_the_field() {
        for (body, field) in [
            ("{\"cuont\":1}", "cuont"),
            ("{\"count\":\"x\"}", "count"),
            ("{\"count\":-1}", "count"),
            ("{\"inner\":{\"nam\":1}}", "inner.nam"),
            ("{\"inner\":{\"name\":1}}", "inner.name"),
            ("{\"inner\":{}}", "name"),
            ("{\"count\":1,\"count\":2}", "count"),
        ] {
            let problem = problem_of(body);
            assert_eq!(problem["status"], 422, "{body}");
            assert_eq!(problem["errors"][0]["field"], field, "{body}: {problem}");
        }
    }

    #[test]
    fn a_path_is_found_as_the_gateway_decoded_it() {
        for (path, query, uri) in [
            ("/api/v1/jobs", "limit=1", "/api/v1/jobs?limit=1"),
            ("/a b?c%2F#d", "", "/a%20b%3Fc%252F%23d"),
            ("/käse", "q=%C3%A4", "/k%C3%A4se?q=%C3%A4"),
        ] {
            assert_eq!(to_uri(path, query).to_string(), uri);
        }
    }

    #[test]
    fn queries_name_the_field_too() {
        assert_eq!(parse_query::<Shape>("count=3").unwrap().count, Some(3));
        for (query, field) in [("count=x", "count"), ("cuont=3", "cuont")] {
            let problem = parse_query::<Shape>(query).unwrap_err();
            let body = problem.to_json("/");
            assert_eq!(body["errors"][0]["field"], field, "{body}");
        }
    }
}
