//! A request as handlers see it, and how its parts are read.

use std::net::IpAddr;
use std::sync::Arc;

use domain::Timestamp;
use domain::accounts::Principal;
use http::{HeaderMap, Method, header};
use lambda_http::RequestExt;
use lambda_http::request::RequestContext;
use serde::de::DeserializeOwned;

use super::{Error, Problem};
use crate::limits::{Limiter, Meter};
use crate::telemetry::Trace;

/// A request on its way to a handler.
#[derive(Debug)]
pub struct Request {
    /// The method as sent.
    pub method: Method,
    /// The path, decoded by the gateway.
    pub path: String,
    /// The query as sent, without the question mark.
    pub query: String,
    /// All headers.
    pub headers: HeaderMap,
    /// The body, decoded from base64 where the gateway encoded it.
    pub body: Vec<u8>,
    /// Who is calling; there unless the operation is public.
    pub principal: Option<Principal>,
    /// When it came in.
    pub now: Timestamp,
    /// When the function will be stopped.
    pub deadline: Timestamp,
    /// The trace it belongs to.
    pub trace: Trace,
    /// The address it came from, as the gateway saw it.
    pub source: String,
    /// The address of whoever sent it, through the content network where there is one.
    pub client: Option<IpAddr>,
    /// Claims that the gateway's JWT authorizer has verified.
    pub claims: Option<std::collections::HashMap<String, String>>,
    pub(super) params: Vec<(String, String)>,
    pub(super) meter: Option<Meter>,
}

/// What `If-None-Match` asks, kept aside while a handler owns the request.
#[derive(Debug)]
pub(super) struct Conditions {
    pub(super) readable: bool,
    pub(super) if_none_match: Option<String>,
}

impl Request {
    pub(super) fn read(
        event: lambda_http::Request,
        now: Timestamp,
        deadline_ms: u64,
        trace: Trace,
    ) -> Self {
        let path = event.raw_http_path().to_owned();
        let (claims, source) = match event.request_context_ref() {
            Some(RequestContext::ApiGatewayV2(context)) => {
                let jwt = context.authorizer.as_ref().and_then(|it| it.jwt.as_ref());
                (jwt.map(|jwt| jwt.claims.clone()), context.http.source_ip.clone())
            }
            _ => (None, None),
        };
        // The path comes decoded and may hold a `?`, so the query is not looked for behind it.
        let query = event
            .query_string_parameters_ref()
            .map(lambda_http::aws_lambda_events::query_map::QueryMap::to_query_string)
            .unwrap_or_default();
        let (parts, body) = event.into_parts();
        let fallback = now.as_millisecond().saturating_add(10_000);
        let deadline = i64::try_from(deadline_ms).ok().filter(|ms| *ms > 0).unwrap_or(fallback);
        Self {
            path: if path.is_empty() { parts.uri.path().to_owned() } else { path },
            method: parts.method,
            query,
            headers: parts.headers,
            body: body.to_vec(),
            principal: None,
            now,
            deadline: Timestamp::from_millisecond(deadline).unwrap_or(now),
            trace,
            source: source.unwrap_or_default(),
            claims,
            client: None,
            params: Vec::new(),
            meter: None,
        }
    }

    /// Takes `units` from the caller's quotas for this resource, or nothing and answers 429.
    pub async fn charge(&self, units: u32) -> Result<(), Error> {
        match &self.meter {
            Some(meter) => meter.charge(units.into()).await,
            None => Ok(()),
        }
    }

    /// What the node knows about limits, for a handler that is asked about others. It is as fresh as
    /// the request, and tidied up after the answer.
    pub fn limiter(&self) -> Option<&Arc<Limiter>> {
        self.meter.as_ref().map(Meter::limiter)
    }

    /// Whose request it is. The content network's word counts only where one is configured: anyone
    /// can send its headers.
    pub(super) fn sender(&self, behind_cloudfront: bool) -> Option<IpAddr> {
        let viewer = self.header("cloudfront-viewer-address").filter(|_| behind_cloudfront);
        // The header has the port behind the last colon.
        let address = viewer.and_then(|text| text.rsplit_once(':')).map(|(address, _)| address);
        address.unwrap_or(&self.source).trim_matches(['[', ']']).parse().ok()
    }

    /// A part of the path, by its name in the route.
    pub fn param(&self, name: &str) -> &str {
        self.params.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    /// Who is calling.
    pub fn caller(&self) -> Result<&Principal, Problem> {
        self.principal.as_ref().ok_or_else(Problem::unauthenticated)
    }

    /// Whether the caller says who they are.
    pub(super) fn has_credentials(&self) -> bool {
        self.headers.contains_key(header::AUTHORIZATION)
    }

    /// A header as text; one odd byte in it does not hide the rest from the firewall.
    pub fn header(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.headers.get(name)?.as_bytes()).ok()
    }

    /// The body as JSON of that shape: 400 if it is no JSON, 422 naming the field if it is another.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        if self.body.is_empty() {
            return Err(Problem::malformed("The body is empty; it should be a JSON object."));
        }
        let mut reader = serde_json::Deserializer::from_slice(&self.body);
        let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let path = error.path().to_string();
            let inner = error.into_inner();
            if inner.is_data() {
                unfit(&path, &without_position(&inner.to_string()))
            } else {
                Problem::malformed(format!("The body is not JSON: {inner}."))
            }
        })?;
        reader
            .end()
            .map_err(|error| Problem::malformed(format!("The body is not JSON: {error}.")))?;
        Ok(value)
    }

    /// The body as JSON, or the type's default when there is none.
    pub fn json_or_default<T: DeserializeOwned + Default>(&self) -> Result<T, Problem> {
        if self.body.is_empty() { Ok(T::default()) } else { self.json() }
    }

    /// The query as a struct of that shape.
    pub fn query<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        parse_query(&self.query)
    }

    /// One value of the query, for what every operation of a function understands.
    pub fn query_value(&self, name: &str) -> Option<String> {
        percent_pairs(&self.query).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    }

    /// The version that `If-Match` names, from an `ETag` like `"3"`.
    pub fn if_match(&self) -> Result<u64, Problem> {
        let value = self.header(header::IF_MATCH.as_str()).ok_or_else(Problem::needs_version)?;
        let version = value.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        version.and_then(|text| text.parse().ok()).ok_or_else(Problem::moved)
    }

    /// The caller's `Idempotency-Key`, if they sent one.
    pub fn idempotency_key(&self) -> Result<Option<&str>, Problem> {
        let Some(value) = self.headers.get("idempotency-key") else { return Ok(None) };
        let text = value.to_str().unwrap_or_default();
        if (1..=255).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic()) {
            Ok(Some(text))
        } else {
            Err(Problem::field("Idempotency-Key", "1 to 255 printable ASCII characters, no spaces"))
        }
    }

    pub(super) fn conditions(&self) -> Conditions {
        Conditions {
            readable: matches!(self.method, Method::GET | Method::HEAD),
            if_none_match: self.header(header::IF_NONE_MATCH.as_str()).map(str::to_owned),
        }
    }
}

/// Reads a value that is part of a larger body: 422 naming the field if it has another shape.
pub fn parse_json<T: DeserializeOwned>(value: serde_json::Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        unfit(&path, &error.into_inner().to_string())
    })
}

/// Reads a query string into a struct; every value comes as text, so numbers parse from it.
pub fn parse_query<T: DeserializeOwned>(query: &str) -> Result<T, Problem> {
    let pairs = serde_urlencoded::Deserializer::new(percent_pairs(query));
    serde_path_to_error::deserialize(pairs).map_err(|error| {
        let path = error.path().to_string();
        unfit(&path, &error.into_inner().to_string())
    })
}

fn percent_pairs(query: &str) -> form_urlencoded::Parse<'_> {
    form_urlencoded::parse(query.as_bytes())
}

/// A 422 that names the field: from the path, or from serde's message for fields it doesn't know.
fn unfit(path: &str, message: &str) -> Problem {
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
    Problem::unfit(field, detail)
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

    fn with_body(body: &str) -> Request {
        let event = http::Request::new(lambda_http::Body::from(body));
        let entropy = crate::Entropy::new(|bytes| bytes.fill(1));
        Request::read(event, Timestamp::UNIX_EPOCH, 0, Trace::new(&entropy))
    }

    fn problem_of(body: &str) -> serde_json::Value {
        let problem = with_body(body).json::<Shape>().unwrap_err();
        serde_json::from_str(&problem.into_response("/").text()).unwrap()
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
    fn queries_name_the_field_too() {
        assert_eq!(parse_query::<Shape>("count=3").unwrap().count, Some(3));
        for (query, field) in [("count=x", "count"), ("cuont=3", "cuont")] {
            let problem = parse_query::<Shape>(query).unwrap_err();
            let body: serde_json::Value =
                serde_json::from_str(&problem.into_response("/").text()).unwrap();
            assert_eq!(body["errors"][0]["field"], field, "{body}");
        }
    }
}
