//! Names new posts to connected readers.
//!
//! Trigger: a WebSocket. Effect: the connection is stored, so that fan-outs name new posts
//! to its reader, until it is gone; a client that was connected before asks what it missed. Guarantee: a
//! post is named only to readers in whose feed it belongs at that moment; a client that resumes from its latest
//! position misses nothing; no message can make it fail.

mod messages;

use crate::settings::settings;
use crate::store::{FeedStore, ReaderConnection};
use boundary::http::{Access, Problem};
use boundary::socket::{ConnectRequest, Connection, Connections, Disconnected, Handlers, Socket};
use boundary::telemetry::Log;
use boundary::{Host, Misconfigured};
use domain::Result;
use domain::accounts::Role;
use domain::feed::{FeedMessage, FeedSettings, ServerMessage};
use messaging::FanOutQueue;

/// A fan-out that read the reader's row before the connection was on it has written its references by
/// then.
const RETRY_SECONDS: u32 = 10;

#[derive(Debug)]
pub struct State {
    feed: FeedStore,
    queue: FanOutQueue,
    connections: Connections,
    settings: FeedSettings,
    log: Log,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Socket<State>, Misconfigured> {
    let state = State {
        feed: FeedStore::from_host(host)?,
        queue: FanOutQueue::new(host.aws.sqs(), host.vars.required("FAN_OUT_QUEUE")?),
        connections: host.connections("FEED_SOCKET")?,
        settings: settings(host)?,
        log: host.log.clone(),
    };
    let handlers = Handlers {
        connect: |state, opening| Box::pin(connect(state, opening)),
        message: |state, message| Box::pin(messages::handle(state, message)),
        disconnect: |state, closed| Box::pin(disconnect(state, closed)),
    };
    Socket::new(host, "feedSocket", Access::Role(Role::Member), state, handlers)
}

/// Stores the connection, and queues a check for posts that were on their way.
async fn connect(state: &State, opening: &ConnectRequest) -> Result<(), Problem> {
    let ConnectRequest { connection, principal, .. } = opening;
    let principal = principal.as_ref().ok_or_else(Problem::unauthenticated)?;
    let new =
        ReaderConnection { reader: principal.user_id.clone(), connection: connection.id.clone() };
    for oldest in state.feed.add_connection(&new, connection.now).await? {
        let outcome = state.close_with_problem(&oldest, "you have connected too often").await;
        state.log_failure(outcome, connection);
    }
    let ReaderConnection { reader, connection: id } = new;
    let look = FeedMessage::Connected { v: 1, reader, connection: id, since: connection.now };
    let trace = connection.trace.traceparent();
    // The only retry: if it can't be queued, the client has to connect again.
    Ok(state.queue.send_delayed([look], RETRY_SECONDS, &trace).await?)
}

async fn disconnect(state: &State, closed: &Disconnected) -> Result {
    let connection = closed.connection.id.clone();
    let Some(owner) = state.feed.connection_owner(&connection).await? else { return Ok(()) };
    state.feed.remove_connection(&ReaderConnection { reader: owner.reader, connection }).await
}

impl State {
    /// Sends a problem, and closes the connection.
    async fn close_with_problem(&self, connection: &str, why: &str) -> Result {
        self.connections.post(connection, ServerMessage::problem(why).text()).await?;
        self.connections.close(connection).await
    }

    /// Logs a failure that does not fail the request.
    fn log_failure(&self, outcome: Result, connection: &Connection) {
        if let Err(failure) = outcome {
            self.log.warn(connection.now, &connection.trace, &failure.chain());
        }
    }
}
