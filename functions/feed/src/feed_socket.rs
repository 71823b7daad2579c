//! Tells those who are connected what is new.
//!
//! Trigger: a WebSocket. Effect: whoever connects is noted as a listener, so that fan-outs name new posts
//! to them, until the connection is gone; whoever was here before asks what they missed. Guarantee: a
//! post is named only to those in whose feed it belongs at that moment; who resumes from the latest position
//! that they were told misses nothing; nothing that is said can make it fail.

mod messages;

use crate::settings::settings;
use crate::store::Feed;
use crate::store::Listener;
use boundary::http::{Access, Problem};
use boundary::socket::{ConnectRequest, Connection, Connections, Disconnected, Handlers, Socket};
use boundary::telemetry::Log;
use boundary::{Host, Misconfigured};
use domain::Failure;
use domain::accounts::Role;
use domain::feed::{Hint, Message, Settings};
use messaging::FanOutQueue;

/// A fan-out that read the reader's row before the connection was on it has written its references by
/// then.
const LOOK_AGAIN_SECONDS: u32 = 10;

/// What the handlers share.
#[derive(Debug)]
pub struct State {
    feed: Feed,
    queue: FanOutQueue,
    connections: Connections,
    settings: Settings,
    log: Log,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Socket<State>, Misconfigured> {
    let state = State {
        feed: Feed::from_host(host)?,
        queue: FanOutQueue::new(host.aws.sqs(), host.vars.required("FAN_OUT_QUEUE")?),
        connections: host.connections("FEED_SOCKET")?,
        settings: settings(host)?,
        log: host.log.clone(),
    };
    let handlers = Handlers {
        connect: |state, opening| Box::pin(connect(state, opening)),
        message: |state, message| Box::pin(messages::hear(state, message)),
        disconnect: |state, closed| Box::pin(disconnect(state, closed)),
    };
    Socket::new(host, "feedSocket", Access::Role(Role::Member), state, handlers)
}

/// Notes who listens, and has looked again a moment later.
async fn connect(state: &State, opening: &ConnectRequest) -> Result<(), Problem> {
    let ConnectRequest { connection, principal, .. } = opening;
    let principal = principal.as_ref().ok_or_else(Problem::unauthenticated)?;
    let new = Listener { who: principal.user_id.clone(), connection: connection.id.clone() };
    for oldest in state.feed.connect(&new, connection.now).await? {
        let outcome = state.dismiss(&oldest, "you have connected too often").await;
        state.note(outcome, connection);
    }
    let Listener { who: reader, connection: id } = new;
    let look = Message::Connected { v: 1, reader, connection: id, since: connection.now };
    let trace = connection.trace.traceparent();
    // Nobody else looks again, so whoever can't be looked after has to come back.
    Ok(state.queue.say_later([look], LOOK_AGAIN_SECONDS, &trace).await?)
}

async fn disconnect(state: &State, closed: &Disconnected) -> Result<(), Failure> {
    let connection = closed.connection.id.clone();
    let Some(owner) = state.feed.owner(&connection).await? else { return Ok(()) };
    state.feed.disconnect(&Listener { who: owner.who, connection }).await
}

impl State {
    /// Says why, and closes a connection.
    async fn dismiss(&self, connection: &str, why: &str) -> Result<(), Failure> {
        self.connections.post(connection, Hint::problem(why).text()).await?;
        self.connections.close(connection).await
    }

    /// Notes what went wrong without anybody having to be told.
    fn note(&self, outcome: Result<(), Failure>, connection: &Connection) {
        if let Err(failure) = outcome {
            self.log.warn(connection.now, &connection.trace, &failure.chain());
        }
    }
}
