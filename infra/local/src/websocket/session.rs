//! One connection, from the handshake's end to `$disconnect`.

use std::sync::Arc;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use template::WebSocketApi;
use tokio::io::AsyncReadExt;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

use super::connections::{MESSAGE_CAP, Order};
use super::event::Client;
use super::{Shared, random_id};

/// The largest frame a client may send; a longer message comes in several.
const FRAME_CAP: usize = 32 * 1024;

/// How long a client may take to say goodbye.
const FAREWELL: Duration = Duration::from_secs(1);

type Stream = WebSocketStream<TokioIo<Upgraded>>;

/// A connection and what is known of it.
#[derive(Clone)]
pub(super) struct Session {
    pub(super) shared: Arc<Shared>,
    pub(super) api: WebSocketApi,
    pub(super) client: Client,
}

/// How a connection ended.
struct End {
    code: u16,
    reason: String,
}

impl End {
    /// Nobody said goodbye.
    fn vanished() -> Self {
        Self { code: 1006, reason: "Connection closed abnormally".to_owned() }
    }
}

impl Session {
    /// Carries messages until the end, and tells of it.
    pub(super) async fn run(self, upgrade: OnUpgrade, orders: UnboundedReceiver<Order>) {
        let end = match upgrade.await {
            Ok(stream) => {
                let config = WebSocketConfig::default()
                    .max_message_size(Some(MESSAGE_CAP))
                    .max_frame_size(Some(FRAME_CAP));
                let stream = TokioIo::new(stream);
                let stream =
                    WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
                self.talk(stream, orders).await
            }
            Err(_) => End::vanished(),
        };
        let shared = &self.shared;
        shared.connections.remove(&self.client.connection_id);
        if let Some(route) = self.api.route("$disconnect") {
            let event = self.client.leaving(end.code, &end.reason, shared.connections.now_ms());
            // The client is gone, so there is nobody to tell of a failure.
            let _ = shared.invoke(&route.function, event).await;
        }
    }

    async fn talk(&self, mut stream: Stream, mut orders: UnboundedReceiver<Order>) -> End {
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    Some(Order::Send(data)) => {
                        let message = match Utf8Bytes::try_from(data.clone()) {
                            Ok(text) => Message::Text(text),
                            Err(_) => Message::Binary(data),
                        };
                        if stream.send(message).await.is_err() {
                            return End::vanished();
                        }
                    }
                    Some(Order::Close(code, reason)) => return close(stream, code, reason).await,
                    None => return close(stream, 1001, "Going away").await,
                },
                heard = stream.next() => match heard {
                    Some(Ok(Message::Text(text))) => {
                        self.shared.connections.touch(&self.client.connection_id);
                        tokio::spawn(self.clone().hear(text));
                    }
                    // Pings are answered by the protocol's own rules.
                    Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {
                        self.shared.connections.touch(&self.client.connection_id);
                    }
                    Some(Ok(Message::Binary(_))) => {
                        return close(stream, 1003, "Binary frames are not taken").await;
                    }
                    Some(Ok(Message::Close(frame))) => {
                        // The answer to a goodbye goes out while its echo is waited for.
                        let _ = tokio::time::timeout(FAREWELL, stream.next()).await;
                        return frame.map_or_else(
                            || End { code: 1005, reason: String::new() },
                            |it| End { code: it.code.into(), reason: it.reason.to_string() },
                        );
                    }
                    Some(Err(Error::Capacity(_))) => {
                        return close(stream, 1009, "Message too long").await;
                    }
                    Some(Err(_)) | None => return End::vanished(),
                },
            }
        }
    }

    /// Takes a message to its route; only that there is none, or that it failed, is said in return.
    async fn hear(self, text: Utf8Bytes) {
        let shared = &self.shared;
        let route = self.route_of(&text).and_then(|key| self.api.route(&key));
        let Some(route) = route.or_else(|| self.api.route("$default")) else {
            return self.complain("Forbidden");
        };
        let event = self.client.saying(&route.key, &text, shared.connections.now_ms());
        if shared.invoke(&route.function, event).await.is_err() {
            self.complain("Internal server error");
        }
    }

    /// The route that a message names. Those of the gateway's own are not to be named.
    fn route_of(&self, text: &str) -> Option<String> {
        let message: Value = serde_json::from_str(text).ok()?;
        let named = self.api.selection.iter().try_fold(&message, |value, name| value.get(name))?;
        let key = match named {
            Value::String(key) => key.clone(),
            Value::Number(_) | Value::Bool(_) => named.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        (!key.starts_with('$')).then_some(key)
    }

    fn complain(&self, message: &str) {
        let id = &self.client.connection_id;
        let body = json!({
            "message": message, "connectionId": id, "requestId": random_id::<11>(),
        });
        self.shared.connections.tell(id, body.to_string().into());
    }
}

/// Says goodbye. What the client still sends is read and dropped: a socket that is closed with
/// unread bytes is reset, and the goodbye would be lost with it.
async fn close(mut stream: Stream, code: u16, reason: &'static str) -> End {
    let frame = CloseFrame { code: code.into(), reason: Utf8Bytes::from_static(reason) };
    let _ = stream.send(Message::Close(Some(frame))).await;
    let drained = async {
        let mut rest = [0; 4096];
        while matches!(stream.get_mut().read(&mut rest).await, Ok(read) if read > 0) {}
    };
    let _ = tokio::time::timeout(FAREWELL, drained).await;
    End { code, reason: reason.to_owned() }
}
