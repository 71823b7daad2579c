//! API Gateway's payload format 2.0, both ways.

use std::collections::BTreeMap;
use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Response, StatusCode, header};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// What an event is made of.
pub(super) struct Parts<'a> {
    pub(super) request: &'a Request<Bytes>,
    pub(super) params: &'a [(String, String)],
    pub(super) route_key: &'a str,
    pub(super) api_id: &'a str,
    pub(super) stage: &'a str,
    pub(super) source: IpAddr,
    pub(super) now_ms: i64,
}

/// The event for a request, as JSON.
pub(super) fn of(parts: &Parts<'_>) -> Vec<u8> {
    let request = parts.request;
    let query = request.uri().query().unwrap_or_default();
    let (body, is_base64) = body_of(request);
    let agent = request.headers().get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    let time = Timestamp::from_millisecond(parts.now_ms).unwrap_or_default();
    let domain = format!("{}.execute-api.localhost", parts.api_id);
    let mut event = json!({
        "version": "2.0",
        "routeKey": parts.route_key,
        "rawPath": request.uri().path(),
        "rawQueryString": query,
        "headers": headers_of(request),
        "requestContext": {
            "accountId": template::ACCOUNT,
            "apiId": parts.api_id,
            "domainName": domain,
            "domainPrefix": parts.api_id,
            "http": {
                "method": request.method().as_str(),
                "path": request.uri().path(),
                "protocol": "HTTP/1.1",
                "sourceIp": parts.source.to_string(),
                "userAgent": agent.unwrap_or_default(),
            },
            "requestId": format!("{:x}", parts.now_ms),
            "routeKey": parts.route_key,
            "stage": parts.stage,
            "time": time.strftime("%d/%b/%Y:%H:%M:%S +0000").to_string(),
            "timeEpoch": parts.now_ms,
        },
        "isBase64Encoded": is_base64,
    });
    if let Some(body) = body {
        event["body"] = json!(body);
    }
    if !query.is_empty() {
        event["queryStringParameters"] = json!(query_of(query));
    }
    if !parts.params.is_empty() {
        event["pathParameters"] = parts
            .params
            .iter()
            .map(|(name, value)| {
                let value = percent_encoding::percent_decode_str(value).decode_utf8_lossy();
                (name.clone(), json!(value))
            })
            .collect::<Map<_, _>>()
            .into();
    }
    let cookies: Vec<&str> = request
        .headers()
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split("; "))
        .collect();
    if !cookies.is_empty() {
        event["cookies"] = json!(cookies);
    }
    event.to_string().into_bytes()
}

/// Headers in lower case, repeated ones joined by commas; cookies have a field of their own.
fn headers_of(request: &Request<Bytes>) -> BTreeMap<String, String> {
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in request.headers() {
        if name == header::COOKIE {
            continue;
        }
        let value = String::from_utf8_lossy(value.as_bytes());
        headers
            .entry(name.as_str().to_owned())
            .and_modify(|joined| {
                joined.push(',');
                joined.push_str(&value);
            })
            .or_insert_with(|| value.into_owned());
    }
    headers
}

fn query_of(query: &str) -> BTreeMap<String, String> {
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        values
            .entry(name.into_owned())
            .and_modify(|joined| {
                joined.push(',');
                joined.push_str(&value);
            })
            .or_insert_with(|| value.clone().into_owned());
    }
    values
}

/// Text stays text; what is not, or says it is not, travels as base64.
fn body_of(request: &Request<Bytes>) -> (Option<String>, bool) {
    if request.body().is_empty() {
        return (None, false);
    }
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let textual = kind.is_none_or(|kind| {
        ["text/", "application/json", "application/xml", "application/javascript"]
            .iter()
            .any(|start| kind.starts_with(start))
            || kind.contains("+json")
            || kind.contains("+xml")
            || kind.starts_with("application/x-www-form-urlencoded")
    });
    match std::str::from_utf8(request.body()) {
        Ok(text) if textual => (Some(text.to_owned()), false),
        _ => (Some(STANDARD.encode(request.body())), true),
    }
}

/// The answer in a function's JSON.
pub(super) fn response(answer: &[u8]) -> Result<Response<Bytes>, String> {
    let answer: Value = serde_json::from_slice(answer)
        .map_err(|error| format!("The function's answer is not JSON: {error}"))?;
    let status = answer["statusCode"]
        .as_u64()
        .and_then(|status| StatusCode::from_u16(u16::try_from(status).ok()?).ok())
        .ok_or("The function's answer has no statusCode.")?;
    let text = answer["body"].as_str().unwrap_or_default();
    let body = if answer["isBase64Encoded"].as_bool() == Some(true) {
        STANDARD.decode(text).map_err(|error| format!("The body is not base64: {error}"))?
    } else {
        text.as_bytes().to_vec()
    };
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let mut add = |name: &str, value: &str| {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            headers.append(name, value);
        }
    };
    for (name, value) in answer["headers"].as_object().into_iter().flatten() {
        add(name, value.as_str().unwrap_or_default());
    }
    for (name, values) in answer["multiValueHeaders"].as_object().into_iter().flatten() {
        if answer["headers"].get(name).is_none() {
            for value in values.as_array().into_iter().flatten() {
                add(name, value.as_str().unwrap_or_default());
            }
        }
    }
    for cookie in answer["cookies"].as_array().into_iter().flatten() {
        add("set-cookie", cookie.as_str().unwrap_or_default());
    }
    Ok(response)
}
