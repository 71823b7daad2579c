//! Functions behind a WebSocket API: connects, messages and disconnects of clients.
//!
//! Guarantee: a client that `connect` refused is not connected; a panic is answered like any other failure.
//! Absent: an answer to a message (API Gateway sends none; a handler posts to the connection with
//! [`Connections`]), order among the messages of a connection, and a `disconnect` that can be relied on.
//!
//! A caller authenticates once, when they connect: with `Authorization: Bearer <key>`, or, since
//! browsers can't set headers there, by offering two subprotocols, `switchyard.v1` and `bearer.<key>`,
//! of which the first is accepted. A key in the URL is not read: URLs are what proxies and access logs
//! keep, headers are not. Messages carry no proof, so `connect` stores whose connection it is.

mod connections;
mod event;

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use domain::accounts::Principal;
use domain::{Result, Timestamp};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use store::capacity;

use crate::http::{Access, Problem};
use crate::identity::Identity;
use crate::telemetry::{InvocationReport, Log, LogFields, Stopwatch, Trace, collect_metrics};
use crate::{Clock, Entropy, Host, Misconfigured};

pub use connections::{Connections, Posted};
use event::EventType;
pub use event::SocketEvent;

/// The subprotocol that is accepted where a client offers it.
pub const PROTOCOL: &str = "switchyard.v1";

/// A connection, as every handler sees it.
#[derive(Debug)]
pub struct Connection {
    /// What it is posted to by.
    pub id: String,
    /// When it was opened.
    pub connected_at: Timestamp,
    /// When this event came in.
    pub now: Timestamp,
    /// The trace this event belongs to.
    pub trace: Trace,
}

/// A client asks to connect.
#[derive(Debug)]
pub struct ConnectRequest {
    /// The connection to be; nothing can be posted to it yet.
    pub connection: Connection,
    /// The caller; there unless access is public.
    pub principal: Option<Principal>,
    query: Vec<(String, String)>,
}

impl ConnectRequest {
    /// A value of the query.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A client sent a message.
#[derive(Debug)]
pub struct SocketMessage {
    pub connection: Connection,
    /// The route that it took; `$default` if none has its name.
    pub route: String,
    /// The text, still to be read.
    pub body: String,
}

/// A connection is gone.
#[derive(Debug)]
pub struct Disconnected {
    pub connection: Connection,
    /// The WebSocket status code; 1006 if the client just vanished.
    pub code: Option<u16>,
}

/// What a function does, by the type of event.
pub struct Handlers<S> {
    /// Lets a client connect, or answers why not.
    pub connect: for<'a> fn(&'a S, &'a ConnectRequest) -> BoxFuture<'a, Result<(), Problem>>,
    /// Handles a message.
    pub message: for<'a> fn(&'a S, &'a SocketMessage) -> BoxFuture<'a, Result>,
    /// Handles the end of a connection, of which API Gateway notifies at best effort.
    pub disconnect: for<'a> fn(&'a S, &'a Disconnected) -> BoxFuture<'a, Result>,
}

/// A function behind a WebSocket API.
pub struct Socket<S> {
    shared: Arc<Shared<S>>,
}

struct Shared<S> {
    name: &'static str,
    access: Access,
    identity: Option<Identity>,
    state: S,
    handlers: Handlers<S>,
    clock: Clock,
    entropy: Entropy,
    log: Log,
    stage: String,
}

impl<S> Clone for Socket<S> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<S> fmt::Debug for Handlers<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handlers")
    }
}

impl<S> fmt::Debug for Socket<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Socket").field("name", &self.shared.name).finish_non_exhaustive()
    }
}

impl<S: Send + Sync + 'static> Socket<S> {
    /// A function on `host`, for the callers that `access` lets connect.
    pub fn new(
        host: &Host,
        name: &'static str,
        access: Access,
        state: S,
        handlers: Handlers<S>,
    ) -> Result<Self, Misconfigured> {
        let identity = match access {
            Access::Public => None,
            Access::Key | Access::Role(_) | Access::Optional(_) => Some(Identity::from_host(host)?),
        };
        Ok(Self {
            shared: Arc::new(Shared {
                name,
                access,
                identity,
                state,
                handlers,
                clock: host.clock.clone(),
                entropy: host.entropy.clone(),
                log: host.log.clone(),
                stage: host.vars.optional("STAGE").unwrap_or("local").to_owned(),
            }),
        })
    }

    /// Handles one event. A client that may not connect gets a status; any other problem fails the invocation,
    /// of which API Gateway notifies the client.
    pub async fn handle(&self, event: SocketEvent) -> Result<Value, String> {
        let shared = &self.shared;
        let stopwatch = Stopwatch::start();
        let now = shared.clock.now();
        let header = ["traceparent", "x-amzn-trace-id"].iter().find_map(|name| event.header(name));
        let trace = Trace::continue_or_start(header, &shared.entropy);
        let mut fields = LogFields::new();
        fields.insert("event".to_owned(), json!(event.event_type()));
        fields.insert("connection".to_owned(), json!(event.connection_id()));
        let work = shared.answer(&event, now, &trace, &mut fields);
        let work = AssertUnwindSafe(work).catch_unwind();
        let ((outcome, capacity), metrics) =
            Box::pin(collect_metrics(capacity::metered(work))).await;
        let outcome = outcome.unwrap_or_else(|_| Err(Problem::panicked()));
        let (answer, fault) = match outcome {
            Ok(()) => (accept(&event), None),
            Err(problem) => {
                let fault = problem.fault().map(str::to_owned);
                let (status, body) = (problem.status(), problem.render("").into_body());
                (json!({ "statusCode": status, "body": body }), fault)
            }
        };
        fields.insert("status".to_owned(), answer["statusCode"].clone());
        shared.log.report(&InvocationReport {
            at: now,
            milliseconds: stopwatch.milliseconds(),
            stage: &shared.stage,
            operation: shared.name,
            message: format!("{} {}", shared.name, event.route()),
            trace: &trace,
            capacity,
            fault: fault.as_deref(),
            fields,
            metrics,
        });
        match (event.event_type(), fault) {
            (EventType::Message | EventType::Disconnect, Some(fault)) => Err(fault),
            _ => Ok(answer),
        }
    }
}

impl<S> Shared<S> {
    async fn answer(
        &self,
        event: &SocketEvent,
        now: Timestamp,
        trace: &Trace,
        fields: &mut LogFields,
    ) -> Result<(), Problem> {
        let connection = Connection {
            id: event.connection_id().to_owned(),
            connected_at: event.connected_at(),
            now,
            trace: trace.clone(),
        };
        match event.event_type() {
            EventType::Connect => {
                let principal = self.authenticate(event, &connection).await?;
                if let Some(principal) = &principal {
                    fields.insert("principal".to_owned(), json!(principal.user_id.as_str()));
                }
                let request = ConnectRequest { connection, principal, query: event.query() };
                (self.handlers.connect)(&self.state, &request).await
            }
            EventType::Message => {
                let (route, body) = (event.route().to_owned(), event.body());
                let message = SocketMessage { connection, route, body };
                Ok((self.handlers.message)(&self.state, &message).await?)
            }
            EventType::Disconnect => {
                let disconnected = Disconnected { connection, code: event.close_code() };
                Ok((self.handlers.disconnect)(&self.state, &disconnected).await?)
            }
        }
    }

    /// The caller; `None` for an anonymous one where that is allowed.
    async fn authenticate(
        &self,
        event: &SocketEvent,
        connection: &Connection,
    ) -> Result<Option<Principal>, Problem> {
        let token = event.token();
        let role = match self.access {
            Access::Public => return Ok(None),
            Access::Optional(_) if token.is_none() => return Ok(None),
            Access::Key => None,
            Access::Role(role) | Access::Optional(role) => Some(role),
        };
        let identity = self.identity.as_ref().ok_or_else(Problem::unauthenticated)?;
        let token = token.ok_or_else(Problem::unauthenticated)?;
        let Connection { now, trace, .. } = connection;
        let principal = identity.authenticate_key(token, *now, trace, &self.log).await?;
        match role {
            Some(role) if !principal.is_admin() && !principal.roles.contains(role) => {
                Err(Problem::role_missing(role))
            }
            _ => Ok(Some(principal)),
        }
    }
}

/// A browser that offers subprotocols hangs up unless one of them is accepted.
fn accept(event: &SocketEvent) -> Value {
    if event.offers(PROTOCOL) {
        json!({ "statusCode": 200, "headers": { "Sec-WebSocket-Protocol": PROTOCOL } })
    } else {
        json!({ "statusCode": 200 })
    }
}
