//! WebSocket APIs: handshakes, messages and closures become the events that API Gateway would send.
//!
//! A client connects to `/_ws/{logical id of the API}`, or to the path of a stage as it would when
//! deployed. `$connect` decides about the handshake; each message is an invocation of its own, so two of
//! them may overtake each other; what functions answer to messages is dropped; `$disconnect` comes last,
//! however the connection ended. Absent: authorizers, route responses, throttling.

mod connections;
mod event;
mod session;
#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use serde_json::Value;
use template::{Stack, WebSocketApi};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::functions::Functions;
use crate::gateway::Handled;
pub use connections::Connections;
pub(crate) use connections::{ConnectionAddress, connection_address};
use event::Client;
use session::Session;

/// Where the APIs are found by their names in the template.
pub const PATH_PREFIX: &str = "/_ws/";

/// API Gateway's timeout of an integration.
const INTEGRATION_TIMEOUT: Duration = Duration::from_secs(29);

const EXPIRY_INTERVAL: Duration = Duration::from_secs(1);

/// The WebSocket APIs of a stack.
#[derive(Debug, Clone)]
pub struct WebSockets {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    apis: Vec<WebSocketApi>,
    functions: Functions,
    connections: Connections,
}

impl WebSockets {
    /// The APIs of `stack`, in front of `functions`, with these connections.
    pub fn new(stack: &Stack, functions: Functions, connections: Connections) -> Self {
        let apis = stack.websockets.clone();
        Self { shared: Arc::new(Shared { apis, functions, connections }) }
    }

    pub fn connections(&self) -> &Connections {
        &self.shared.connections
    }

    /// Closes connections that have been idle for 10 minutes or open for 2 hours, every second.
    pub(crate) async fn expire_idle(&self) {
        loop {
            tokio::time::sleep(EXPIRY_INTERVAL).await;
            self.shared.connections.expire();
        }
    }

    /// Whether a request is for one of these APIs. Only a handshake takes the path of a stage, so
    /// that no route of the HTTP API disappears.
    pub(crate) fn handles<B>(&self, request: &Request<B>) -> bool {
        let path = request.uri().path();
        path.starts_with(PATH_PREFIX) || (is_handshake(request) && self.shared.find(path).is_some())
    }

    /// Answers a handshake, and goes on with the connection in the background.
    pub(crate) async fn accept(&self, mut request: Request<Bytes>, source: IpAddr) -> Handled {
        let upgrade = hyper::upgrade::on(&mut request);
        let Some((api, stage)) = self.shared.find(request.uri().path()) else {
            return refused(StatusCode::NOT_FOUND, "There is no such WebSocket API.");
        };
        let key = request.headers().get(header::SEC_WEBSOCKET_KEY);
        let Some(key) = key.filter(|_| is_handshake(&request)) else {
            return refused(StatusCode::UPGRADE_REQUIRED, "Connect with a WebSocket here.");
        };
        let accept = derive_accept_key(key.as_bytes());
        let client = Client {
            api_id: api.id.clone(),
            stage: stage.to_owned(),
            connection_id: random_id::<11>(),
            connected_ms: self.shared.connections.now_ms(),
            source: source.to_string(),
            agent: text(request.headers(), &header::USER_AGENT).unwrap_or_default().to_owned(),
            host: text(request.headers(), &header::HOST).unwrap_or_default().to_owned(),
        };
        let mut protocol = None;
        let route = api.route("$connect");
        if let Some(route) = route {
            let event = client.connect_event(&request);
            let answer = self.shared.invoke(&route.function, event).await;
            let function = Some(route.function.clone());
            match answer
                .map_err(|_| StatusCode::BAD_GATEWAY)
                .and_then(|answer| connect_response(&answer))
            {
                Ok(accepted) => protocol = accepted,
                Err(status) => {
                    return Handled { function, ..refused(status, "The function refused.") };
                }
            }
        }
        let commands = self.shared.connections.add(&client);
        let session = Session { shared: Arc::clone(&self.shared), api: api.clone(), client };
        tokio::spawn(session.run(upgrade, commands));
        let function = route.map(|route| route.function.clone());
        Handled { response: switching_protocols(&accept, protocol), function }
    }
}

impl Shared {
    /// The API and the stage at a path.
    fn find(&self, path: &str) -> Option<(&WebSocketApi, &str)> {
        let Some(named) = path.strip_prefix(PATH_PREFIX) else {
            let wanted = path.trim_matches('/');
            let staged = |api: &WebSocketApi| api.stages.iter().position(|it| it == wanted);
            let mut found = self.apis.iter().filter_map(|api| Some((api, staged(api)?)));
            let (api, at) = found.next()?;
            // With two of them only their own names tell them apart.
            return found.next().is_none().then_some((api, api.stages[at].as_str()));
        };
        let named = named.trim_end_matches('/');
        let (name, stage) = named.split_once('/').unwrap_or((named, ""));
        let api = self.apis.iter().find(|api| api.logical_id == name)?;
        let stage = api.stages.iter().find(|it| stage.is_empty() || *it == stage)?;
        Some((api, stage.as_str()))
    }

    async fn invoke(&self, function: &str, event: Value) -> Result<Value, String> {
        let work = self.functions.invoke(function, event.to_string().into_bytes());
        let answer = tokio::time::timeout(self.functions.timeout(INTEGRATION_TIMEOUT), work)
            .await
            .map_err(|_| "The function took more than 29 seconds.".to_owned())??;
        serde_json::from_slice(&answer).map_err(|error| error.to_string())
    }
}

/// The subprotocol that `$connect` chose, or the status of its refusal.
fn connect_response(answer: &Value) -> Result<Option<HeaderValue>, StatusCode> {
    let status = answer["statusCode"].as_u64().and_then(|code| u16::try_from(code).ok());
    let status = status.and_then(|code| StatusCode::from_u16(code).ok());
    let status = status.unwrap_or(StatusCode::BAD_GATEWAY);
    if !status.is_success() {
        // An answer that neither permits nor refuses, such as a redirection, opens nothing.
        return Err(if status.as_u16() < 400 { StatusCode::BAD_GATEWAY } else { status });
    }
    let mut headers = answer["headers"].as_object().into_iter().flatten();
    let chosen = headers.find(|(name, _)| name.eq_ignore_ascii_case("sec-websocket-protocol"));
    Ok(chosen.and_then(|(_, value)| HeaderValue::from_str(value.as_str()?).ok()))
}

fn switching_protocols(accept: &str, protocol: Option<HeaderValue>) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    if let Ok(accept) = HeaderValue::from_str(accept) {
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    }
    if let Some(protocol) = protocol {
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, protocol);
    }
    response
}

fn refused(status: StatusCode, message: &str) -> Handled {
    let body = serde_json::json!({ "message": message });
    let mut response = Response::new(Bytes::from(body.to_string()));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    Handled { response, function: None }
}

fn is_handshake<B>(request: &Request<B>) -> bool {
    let headers = request.headers();
    request.method() == Method::GET
        && text(headers, &header::UPGRADE).is_some_and(|it| it.eq_ignore_ascii_case("websocket"))
        && text(headers, &header::SEC_WEBSOCKET_VERSION) == Some("13")
}

fn text<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// An id as API Gateway makes them: 11 bytes for a connection, the same for a message.
fn random_id<const BYTES: usize>() -> String {
    let mut bytes = [0; BYTES];
    // Without randomness ids repeat, and the second connection takes the place of the first.
    let _ = getrandom::fill(&mut bytes);
    URL_SAFE.encode(bytes)
}
