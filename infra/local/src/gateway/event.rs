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
    pub(super) request_id: &'a str,
}

/// The event for a request, as JSON.
pub(super) fn from_request(parts: &Parts<'_>) -> Vec<u8> {
    let request = parts.request;
    let query = request.uri().query().unwrap_or_default();
    // API Gateway decodes the path.
    let path = percent_encoding::percent_decode_str(request.uri().path()).decode_utf8_lossy();
    let (body, is_base64) = body(request);
    let agent = request.headers().get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    let time = Timestamp::from_millisecond(parts.now_ms).unwrap_or_default();
    let domain = format!("{}.execute-api.localhost", parts.api_id);
    let mut event = json!({
        "version": "2.0",
        "routeKey": parts.route_key,
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers(parts),
        "requestContext": {
            "accountId": template::ACCOUNT,
            "apiId": parts.api_id,
            "domainName": domain,
            "domainPrefix": parts.api_id,
            "http": {
                "method": request.method().as_str(),
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": parts.source.to_string(),
                "userAgent": agent.unwrap_or_default(),
            },
            "requestId": parts.request_id,
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
        event["queryStringParameters"] = json!(query_parameters(query));
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
/// What the gateway adds is there too.
fn headers(parts: &Parts<'_>) -> BTreeMap<String, String> {
    let mut headers: BTreeMap<String, String> = BTreeMap::from([
        ("x-forwarded-for".to_owned(), parts.source.to_string()),
        ("x-forwarded-proto".to_owned(), "http".to_owned()),
        (
            "x-amzn-trace-id".to_owned(),
            format!("Root=1-{:08x}-{}", parts.now_ms / 1000, parts.request_id),
        ),
    ]);
    for (name, value) in parts.request.headers() {
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

fn query_parameters(query: &str) -> BTreeMap<String, String> {
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
fn body(request: &Request<Bytes>) -> (Option<String>, bool) {
    if request.body().is_empty() {
        return (None, false);
    }
    let content_type = request
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|content_type| content_type.to_str().ok());
    let textual = content_type.is_none_or(|content_type| {
        ["text/", "application/json", "application/xml", "application/javascript"]
            .iter()
            .any(|start| content_type.starts_with(start))
            || content_type.contains("+json")
            || content_type.contains("+xml")
    });
    match std::str::from_utf8(request.body()) {
        Ok(text) if textual => (Some(text.to_owned()), false),
        _ => (Some(STANDARD.encode(request.body())), true),
    }
}

/// The answer in a function's JSON.
pub(super) fn to_response(answer: &[u8]) -> Result<Response<Bytes>, String> {
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

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn event(request: &Request<Bytes>) -> Value {
        let json = from_request(&Parts {
            request,
            params: &[("id".to_owned(), "a%20b".to_owned())],
            route_key: "ANY /x/{id}",
            api_id: "api",
            stage: "$default",
            source: IpAddr::V4(Ipv4Addr::LOCALHOST),
            now_ms: 1_772_366_400_000,
            request_id: "0123456789abcdef01234567",
        });
        serde_json::from_slice(&json).unwrap()
    }

    #[test]
    fn a_request_becomes_what_api_gateway_would_send() {
        let request = Request::post("/x/a%20b?q=1&q=2&r=%C3%A4")
            .header("cookie", "a=1; b=2")
            .header("x-twice", "1")
            .header("x-twice", "2")
            .header("content-type", "application/json")
            .body(Bytes::from("{}"))
            .unwrap();
        let event = event(&request);
        assert_eq!(event["rawPath"], "/x/a b");
        assert_eq!(event["rawQueryString"], "q=1&q=2&r=%C3%A4");
        assert_eq!(event["queryStringParameters"], json!({ "q": "1,2", "r": "ä" }));
        assert_eq!(event["pathParameters"], json!({ "id": "a b" }));
        assert_eq!(event["cookies"], json!(["a=1", "b=2"]));
        assert_eq!(event["headers"]["x-twice"], "1,2");
        assert!(event["headers"].get("cookie").is_none());
        assert_eq!((&event["body"], &event["isBase64Encoded"]), (&json!("{}"), &json!(false)));
        assert_eq!(event["requestContext"]["time"], "01/Mar/2026:12:00:00 +0000");
    }

    #[test]
    fn what_is_not_text_travels_as_base64() {
        let binary = Request::post("/x/1").body(Bytes::from_static(&[0xff, 0])).unwrap();
        assert_eq!(
            (&event(&binary)["body"], &event(&binary)["isBase64Encoded"]),
            (&json!("/wA="), &json!(true))
        );
        let image =
            Request::post("/x/1").header("content-type", "image/svg").body("x".into()).unwrap();
        assert_eq!(event(&image)["isBase64Encoded"], true);
    }

    #[test]
    fn an_answer_keeps_its_cookies_and_its_bytes() {
        let answer = json!({
            "statusCode": 201, "headers": { "x-a": "1" }, "multiValueHeaders": { "x-b": ["2", "3"] },
            "cookies": ["a=1", "b=2"], "body": "/wA=", "isBase64Encoded": true,
        });
        let response = to_response(answer.to_string().as_bytes()).unwrap();
        assert_eq!(response.status(), 201);
        assert_eq!(response.body().as_ref(), [0xff, 0]);
        assert_eq!(response.headers().get_all("set-cookie").iter().count(), 2);
        assert_eq!(response.headers().get_all("x-b").iter().count(), 2);
        for wrong in ["", "{}", "{\"statusCode\":9}", "[]"] {
            assert!(to_response(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
