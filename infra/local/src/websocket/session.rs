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

use super::connections::{Command, MESSAGE_CAP};
use super::event::Client;
use super::{Shared, random_id};

/// The largest frame a client may send; a longer message comes in several.
const FRAME_CAP: usize = 32 * 1024;

/// How long a client may take to answer a close frame.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

type Stream = WebSocketStream<TokioIo<Upgraded>>;

/// The task of one connection.
#[derive(Clone)]
pub(super) struct Session {
    pub(super) shared: Arc<Shared>,
    pub(super) api: WebSocketApi,
    pub(super) client: Client,
}

/// How a connection ended.
struct Closure {
    code: u16,
    reason: String,
}

impl Closure {
    /// No close frame arrived.
    fn abnormal() -> Self {
        Self { code: 1006, reason: "Connection closed abnormally".to_owned() }
    }
}

impl Session {
    /// Relays messages until the connection ends, and then invokes `$disconnect`.
    pub(super) async fn run(self, upgrade: OnUpgrade, commands: UnboundedReceiver<Command>) {
        let end = match upgrade.await {
            Ok(stream) => {
                let config = WebSocketConfig::default()
                    .max_message_size(Some(MESSAGE_CAP))
                    .max_frame_size(Some(FRAME_CAP));
                let stream = TokioIo::new(stream);
                let stream =
                    WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
                self.relay(stream, commands).await
            }
            Err(_) => Closure::abnormal(),
        };
        let shared = &self.shared;
        shared.connections.remove(&self.client.connection_id);
        if let Some(route) = self.api.route("$disconnect") {
            let event =
                self.client.disconnect_event(end.code, &end.reason, shared.connections.now_ms());
            // The client is gone, so a failure is reported nowhere.
            let _ = shared.invoke(&route.function, event).await;
        }
    }

    async fn relay(&self, mut stream: Stream, mut commands: UnboundedReceiver<Command>) -> Closure {
        loop {
            tokio::select! {
                command = commands.recv() => match command {
                    Some(Command::Send(data)) => {
                        let message = match Utf8Bytes::try_from(data.clone()) {
                            Ok(text) => Message::Text(text),
                            Err(_) => Message::Binary(data),
                        };
                        if stream.send(message).await.is_err() {
                            return Closure::abnormal();
                        }
                    }
                    Some(Command::Close(code, reason)) => return close(stream, code, reason).await,
                    None => return close(stream, 1001, "Going away").await,
                },
                frame = stream.next() => match frame {
                    Some(Ok(Message::Text(text))) => {
                        self.shared.connections.touch(&self.client.connection_id);
                        tokio::spawn(self.clone().handle_message(text));
                    }
                    // Pings are answered by the protocol's own rules.
                    Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {
                        self.shared.connections.touch(&self.client.connection_id);
                    }
                    Some(Ok(Message::Binary(_))) => {
                        return close(stream, 1003, "Binary frames are not taken").await;
                    }
                    Some(Ok(Message::Close(frame))) => {
                        // The reply to a close frame goes out while the stream is polled once more.
                        let _ = tokio::time::timeout(CLOSE_TIMEOUT, stream.next()).await;
                        return frame.map_or_else(
                            || Closure { code: 1005, reason: String::new() },
                            |it| Closure { code: it.code.into(), reason: it.reason.to_string() },
                        );
                    }
                    Some(Err(Error::Capacity(_))) => {
                        return close(stream, 1009, "Message too long").await;
                    }
                    Some(Err(_)) | None => return Closure::abnormal(),
                },
            }
        }
    }

    /// Invokes the route of a message; the client is answered only if there is none or it failed.
    async fn handle_message(self, text: Utf8Bytes) {
        let shared = &self.shared;
        let route = self.route_of(&text).and_then(|key| self.api.route(&key));
        let Some(route) = route.or_else(|| self.api.route("$default")) else {
            return self.send_error("Forbidden");
        };
        let event = self.client.message_event(&route.key, &text, shared.connections.now_ms());
        if shared.invoke(&route.function, event).await.is_err() {
            self.send_error("Internal server error");
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

    fn send_error(&self, message: &str) {
        let id = &self.client.connection_id;
        let body = json!({
            "message": message, "connectionId": id, "requestId": random_id::<11>(),
        });
        self.shared.connections.send(id, body.to_string().into());
    }
}

/// Sends a close frame. What the client still sends is read and dropped: a socket that is closed with
/// unread bytes is reset, and the close frame would be lost with it.
async fn close(mut stream: Stream, code: u16, reason: &'static str) -> Closure {
    let frame = CloseFrame { code: code.into(), reason: Utf8Bytes::from_static(reason) };
    let _ = stream.send(Message::Close(Some(frame))).await;
    let drained = async {
        let mut rest = [0; 4096];
        while matches!(stream.get_mut().read(&mut rest).await, Ok(read) if read > 0) {}
    };
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, drained).await;
    Closure { code, reason: reason.to_owned() }
}
