//! The open connections, and the `@connections` API through which functions post to them.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use jiff::Timestamp;
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::event::Client;

/// The largest message either way.
pub(super) const MESSAGE_CAP: usize = 128 * 1024;

/// API Gateway closes what has been silent for so long.
const IDLE_MS: i64 = 10 * 60 * 1000;

/// API Gateway closes what has been open for so long, however lively.
const MAX_MS: i64 = 2 * 60 * 60 * 1000;

/// The open connections of every API.
#[derive(Clone)]
pub struct Connections {
    open: Arc<Mutex<BTreeMap<String, Open>>>,
    clock_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
}

struct Open {
    client: Client,
    active_ms: i64,
    commands: mpsc::UnboundedSender<Command>,
}

/// A command to the task that owns a connection.
#[derive(Debug)]
pub(super) enum Command {
    Send(Bytes),
    Close(u16, &'static str),
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.open().keys()).finish()
    }
}

impl Connections {
    /// No connections, and this clock.
    pub(crate) fn new(clock_ms: Arc<dyn Fn() -> i64 + Send + Sync>) -> Self {
        Self { open: Arc::default(), clock_ms }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.open().len()
    }

    /// Closes connections that have been idle for 10 minutes or open for 2 hours, by the cloud's
    /// clock. A cloud that serves does so every second; a test that moves the clock need not wait.
    pub fn expire(&self) {
        let now_ms = self.now_ms();
        let overdue = |_: &String, open: &mut Open| {
            now_ms - open.active_ms >= IDLE_MS || now_ms - open.client.connected_ms >= MAX_MS
        };
        for (_, open) in self.open().extract_if(.., overdue) {
            // A connection that ends by itself at this moment needs no command.
            let _ = open.commands.send(Command::Close(1001, "Going away"));
        }
    }

    pub(super) fn now_ms(&self) -> i64 {
        (self.clock_ms)()
    }

    pub(super) fn add(&self, client: &Client) -> mpsc::UnboundedReceiver<Command> {
        let (commands, taken) = mpsc::unbounded_channel();
        let open = Open { client: client.clone(), active_ms: self.now_ms(), commands };
        self.open().insert(client.connection_id.clone(), open);
        taken
    }

    /// Resets a connection's idle time.
    pub(super) fn touch(&self, id: &str) {
        let now_ms = self.now_ms();
        if let Some(open) = self.open().get_mut(id) {
            open.active_ms = now_ms;
        }
    }

    /// Sends something to a connection, if it is still there.
    pub(super) fn send(&self, id: &str, data: Bytes) {
        if let Some(open) = self.open().get(id) {
            let _ = open.commands.send(Command::Send(data));
        }
    }

    pub(super) fn remove(&self, id: &str) {
        self.open().remove(id);
    }

    /// Answers one request to `@connections`.
    pub(crate) fn handle(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let Some(address) = connection_address(request) else {
            return refusal(StatusCode::NOT_FOUND, "NotFoundException", "Not found");
        };
        let now_ms = self.now_ms();
        let mut all = self.open();
        let here = |open: &&mut Open| {
            let Client { api_id, stage, .. } = &open.client;
            *stage == address.stage && address.api.as_ref().is_none_or(|api| api == api_id)
        };
        let Some(open) = all.get_mut(&address.connection).filter(here) else {
            return refusal(StatusCode::GONE, "GoneException", "Gone");
        };
        match *request.method() {
            Method::GET => answer(StatusCode::OK, &open.described()),
            Method::DELETE => {
                let _ = open.commands.send(Command::Close(1000, "Connection closed normally"));
                all.remove(&address.connection);
                answer(StatusCode::NO_CONTENT, &Value::Null)
            }
            Method::POST if request.body().len() > MESSAGE_CAP => refusal(
                StatusCode::PAYLOAD_TOO_LARGE,
                "PayloadTooLargeException",
                "The payload has more than 128 KB",
            ),
            Method::POST => {
                open.active_ms = now_ms;
                match open.commands.send(Command::Send(request.body().clone())) {
                    Ok(()) => answer(StatusCode::OK, &Value::Null),
                    Err(_) => refusal(StatusCode::GONE, "GoneException", "Gone"),
                }
            }
            _ => refusal(StatusCode::FORBIDDEN, "ForbiddenException", "Forbidden"),
        }
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<String, Open>> {
        self.open.lock()
    }
}

impl Open {
    fn described(&self) -> Value {
        let time = |ms| Timestamp::from_millisecond(ms).unwrap_or_default().to_string();
        json!({
            "connectedAt": time(self.client.connected_ms),
            "lastActiveAt": time(self.active_ms),
            "identity": { "sourceIp": self.client.source, "userAgent": self.client.agent },
        })
    }
}

/// Which connection a request to `@connections` is about.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ConnectionAddress {
    /// The API, if the host name says so; one port for everything has no such name.
    pub(crate) api: Option<String>,
    pub(crate) stage: String,
    pub(crate) connection: String,
}

/// Reads `https://{api}.execute-api.{region}…/{stage}/@connections/{id}`.
pub(crate) fn connection_address<B>(request: &Request<B>) -> Option<ConnectionAddress> {
    let mut parts = request.uri().path().trim_start_matches('/').split('/');
    let (stage, marker, id) = (parts.next()?, parts.next()?, parts.next()?);
    if !matches!(marker, "@connections" | "%40connections") || parts.next().is_some() {
        return None;
    }
    let decoded =
        |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let host = request.uri().host().or(host).unwrap_or_default();
    let api = host.split_once(".execute-api.").map(|(api, _)| api.to_owned());
    Some(ConnectionAddress { api, stage: decoded(stage), connection: decoded(id) })
}

fn answer(status: StatusCode, body: &Value) -> Response<Bytes> {
    let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

fn refusal(status: StatusCode, kind: &'static str, message: &str) -> Response<Bytes> {
    let mut response = answer(status, &json!({ "message": message }));
    response.headers_mut().insert("x-amzn-errortype", HeaderValue::from_static(kind));
    response
}
