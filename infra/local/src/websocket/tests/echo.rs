//! The fixture's function: echoes messages, and posts to other connections.

use boundary::http::{Access, Problem};
use boundary::socket::{ConnectRequest, Connections, Handlers, Socket, SocketMessage};
use boundary::{Host, Misconfigured};
use domain::{Failure, Result};
use serde_json::Value;

/// What the handlers share.
pub(super) struct State {
    connections: Connections,
    foreign: Connections,
}

pub(super) fn function(host: &Host) -> Result<Socket<State>, Misconfigured> {
    let state = State {
        connections: host.connections("SOCKET_URL")?,
        foreign: host.connections("FOREIGN_URL")?,
    };
    let handlers = Handlers {
        connect: |_, opening| Box::pin(std::future::ready(connect(opening))),
        message: |state, message| Box::pin(echo(state, message)),
        disconnect: |_, _| Box::pin(std::future::ready(Ok(()))),
    };
    Socket::new(host, "echo", Access::Key, state, handlers)
}

fn connect(opening: &ConnectRequest) -> Result<(), Problem> {
    match opening.query("since") {
        Some("never") => Err(Problem::field("since", "a number")),
        _ => Ok(()),
    }
}

async fn echo(state: &State, message: &SocketMessage) -> Result {
    let id = message.connection.id.as_str();
    let answer = match (message.route.as_str(), message.body.as_str()) {
        ("post", body) => {
            let body: Value = serde_json::from_str(body).unwrap_or_default();
            let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
            format!("{:?}", state.connections.post(&text("to"), text("text")).await?)
        }
        (_, "who am I") => id.to_owned(),
        (_, "leave") => return state.connections.close(id).await,
        (_, "fail") => return Err(Failure::new("be of use", "a test")),
        (_, "foreign") => match state.foreign.post(id, "x").await {
            Ok(posted) => format!("{posted:?}"),
            Err(failure) => failure.chain(),
        },
        (_, "grow") => match state.connections.post(id, "x".repeat(128 * 1024 + 1)).await {
            Err(failure) if failure.chain().contains("PayloadTooLarge") => {
                "PayloadTooLargeException".to_owned()
            }
            other => format!("{other:?}"),
        },
        (route, body) => format!("{route}: {body}"),
    };
    state.connections.post(id, answer).await.map(|_| ())
}
