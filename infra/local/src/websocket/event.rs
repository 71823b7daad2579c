//! The events of a WebSocket API, as its functions get them.

use std::collections::BTreeMap;

use http::Request;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::random_id;

/// What is known of a client when it connects.
#[derive(Debug, Clone)]
pub(super) struct Client {
    pub(super) api_id: String,
    pub(super) stage: String,
    pub(super) connection_id: String,
    pub(super) connected_ms: i64,
    pub(super) source: String,
    pub(super) agent: String,
    pub(super) host: String,
}

impl Client {
    /// The event of the handshake, which is the only one with the client's headers and its query.
    pub(super) fn connect_event<B>(&self, request: &Request<B>) -> Value {
        let mut event = self.event("$connect", "CONNECT", self.connected_ms);
        let mut headers = Values::default();
        for (name, value) in request.headers() {
            headers.add(name.as_str(), &String::from_utf8_lossy(value.as_bytes()));
        }
        headers.add("X-Forwarded-For", &self.source);
        headers.add("X-Forwarded-Proto", "http");
        (event["headers"], event["multiValueHeaders"]) = headers.into_json();
        let query = request.uri().query().unwrap_or_default();
        if !query.is_empty() {
            let mut values = Values::default();
            for (name, value) in form_urlencoded::parse(query.as_bytes()) {
                values.add(&name, &value);
            }
            let (last, all) = values.into_json();
            event["queryStringParameters"] = last;
            event["multiValueQueryStringParameters"] = all;
        }
        event
    }

    /// The event of a message.
    pub(super) fn message_event(&self, route_key: &str, body: &str, now_ms: i64) -> Value {
        let mut event = self.event(route_key, "MESSAGE", now_ms);
        event["requestContext"]["messageId"] = json!(random_id::<11>());
        event["body"] = json!(body);
        event
    }

    /// The event of the end.
    pub(super) fn disconnect_event(&self, code: u16, reason: &str, now_ms: i64) -> Value {
        let mut event = self.event("$disconnect", "DISCONNECT", now_ms);
        event["requestContext"]["disconnectStatusCode"] = json!(code);
        event["requestContext"]["disconnectReason"] = json!(reason);
        let headers = json!({ "Host": self.host, "x-api-key": "", "x-restapi": "" });
        event["multiValueHeaders"] =
            json!({ "Host": [self.host], "x-api-key": [""], "x-restapi": [""] });
        event["headers"] = headers;
        event
    }

    fn event(&self, route_key: &str, event_type: &str, now_ms: i64) -> Value {
        let time = Timestamp::from_millisecond(now_ms).unwrap_or_default();
        let request_id = random_id::<11>();
        json!({
            "requestContext": {
                "routeKey": route_key,
                "eventType": event_type,
                "extendedRequestId": request_id,
                "requestTime": time.strftime("%d/%b/%Y:%H:%M:%S +0000").to_string(),
                "messageDirection": "IN",
                "stage": self.stage,
                "connectedAt": self.connected_ms,
                "requestTimeEpoch": now_ms,
                "identity": { "sourceIp": self.source, "userAgent": self.agent },
                "requestId": request_id,
                "domainName": format!(
                    "{}.execute-api.{}.amazonaws.com", self.api_id, template::REGION
                ),
                "connectionId": self.connection_id,
                "apiId": self.api_id,
            },
            "isBase64Encoded": false,
        })
    }
}

/// Values by name, of which one field has the last and another has all.
#[derive(Default)]
struct Values(BTreeMap<String, Vec<String>>);

impl Values {
    fn add(&mut self, name: &str, value: &str) {
        self.0.entry(name.to_owned()).or_default().push(value.to_owned());
    }

    fn into_json(self) -> (Value, Value) {
        let last: BTreeMap<_, _> =
            self.0.iter().map(|(name, values)| (name, values.last())).collect();
        (json!(last), json!(self.0))
    }
}
