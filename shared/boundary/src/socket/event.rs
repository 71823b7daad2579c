//! What API Gateway sends for a WebSocket, as far as a function needs it.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::Timestamp;
use serde::{Deserialize, Serialize};

/// Before a key among the subprotocols that a browser offers.
const BEARER: &str = "bearer.";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SocketEvent {
    headers: Option<BTreeMap<String, String>>,
    query_string_parameters: Option<BTreeMap<String, String>>,
    request_context: Context,
    body: Option<String>,
    #[serde(default)]
    is_base64_encoded: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    route_key: String,
    event_type: EventType,
    connection_id: String,
    #[serde(default)]
    connected_at: i64,
    disconnect_status_code: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all(deserialize = "SCREAMING_SNAKE_CASE", serialize = "lowercase"))]
pub(super) enum EventType {
    Connect,
    Message,
    Disconnect,
}

impl SocketEvent {
    pub(super) fn event_type(&self) -> EventType {
        self.request_context.event_type
    }

    pub(super) fn route(&self) -> &str {
        &self.request_context.route_key
    }

    pub(super) fn connection_id(&self) -> &str {
        &self.request_context.connection_id
    }

    pub(super) fn connected_at(&self) -> Timestamp {
        Timestamp::from_millisecond(self.request_context.connected_at).unwrap_or_default()
    }

    pub(super) fn close_code(&self) -> Option<u16> {
        self.request_context.disconnect_status_code
    }

    /// A header; API Gateway passes the names on as the client wrote them.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter().flatten();
        let found = headers.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn query(&self) -> Vec<(String, String)> {
        self.query_string_parameters.clone().into_iter().flatten().collect()
    }

    pub(super) fn body(&self) -> String {
        let text = self.body.clone().unwrap_or_default();
        if !self.is_base64_encoded {
            return text;
        }
        let decoded = STANDARD.decode(&text).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        decoded.unwrap_or(text)
    }

    /// Whether the client offers a subprotocol.
    pub(super) fn offers(&self, protocol: &str) -> bool {
        self.protocols().any(|offered| offered == protocol)
    }

    /// The key that the client sent.
    pub(super) fn token(&self) -> Option<&str> {
        match self.header("authorization") {
            Some(header) => crate::identity::bearer(header),
            None => self.protocols().find_map(|offered| offered.strip_prefix(BEARER)),
        }
    }

    fn protocols(&self) -> impl Iterator<Item = &str> {
        let offered = self.header("sec-websocket-protocol").unwrap_or_default();
        offered.split(',').map(str::trim)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(headers: &serde_json::Value) -> SocketEvent {
        serde_json::from_value(json!({
            "headers": headers,
            "requestContext": {
                "routeKey": "$connect", "eventType": "CONNECT", "connectionId": "c=",
                "connectedAt": 1_772_366_400_000_i64, "stage": "live", "apiId": "a",
            },
            "isBase64Encoded": false,
        }))
        .unwrap()
    }

    #[test]
    fn a_key_comes_in_the_header_or_among_the_subprotocols_and_nowhere_else() {
        for (headers, token, offers) in [
            (json!({ "authorization": "Bearer a.b" }), Some("a.b"), false),
            (json!({ "Sec-WebSocket-Protocol": "switchyard.v1, bearer.a.b" }), Some("a.b"), true),
            (json!({ "Sec-WebSocket-Protocol": "bearer.a.b,x" }), Some("a.b"), false),
            // A client that sends the header is held to it.
            (
                json!({ "Authorization": "Basic x", "Sec-WebSocket-Protocol": "bearer.a.b" }),
                None,
                false,
            ),
            (json!({}), None, false),
        ] {
            let event = event(&headers);
            assert_eq!(
                (event.token(), event.offers("switchyard.v1")),
                (token, offers),
                "{headers}"
            );
        }
    }

    #[test]
    fn an_event_without_headers_is_read() {
        let event: SocketEvent = serde_json::from_value(json!({
            "requestContext": {
                "routeKey": "$disconnect", "eventType": "DISCONNECT", "connectionId": "c",
                "disconnectStatusCode": 1001,
            },
        }))
        .unwrap();
        assert_eq!((event.event_type(), event.close_code()), (EventType::Disconnect, Some(1001)));
    }
}
