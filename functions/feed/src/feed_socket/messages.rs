//! What a connection says, and what it is told in return.

use crate::store::Listener;
use boundary::socket::{Posted, SocketMessage};
use domain::Failure;
use domain::feed::{Hint, Said};

use crate::feed_socket::State;

/// Hears a message. What makes no sense is answered, and changes nothing.
pub(crate) async fn hear(state: &State, message: &SocketMessage) -> Result<(), Failure> {
    let (connection, now) = (&message.connection.id, message.connection.now);
    let Some(owner) = state.feed.owner(connection).await? else {
        return state.dismiss(connection, "you are not known any more: connect again").await;
    };
    let who = owner.who;
    let answer = match Said::parse(&message.body, now) {
        Ok(Said::Resume { position }) => {
            state.feed.missed(&who, position, &state.settings, now).await?
        }
        Ok(Said::Ping) => Hint::Pong { v: 1, position: now },
        Err(rejected) => Hint::problem(rejected.to_string()),
    };
    match state.connections.post(connection, answer.text()).await? {
        Posted::Sent => Ok(()),
        Posted::Gone => {
            state.feed.disconnect(&Listener { who, connection: connection.clone() }).await
        }
    }
}
