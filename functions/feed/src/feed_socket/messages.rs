//! A client's message, and the response to it.

use crate::store::ReaderConnection;
use boundary::socket::{Posted, SocketMessage};
use domain::Result;
use domain::feed::{ClientMessage, ServerMessage};

use crate::feed_socket::State;

/// Handles a message. A malformed one is answered with a problem, and changes nothing.
pub(crate) async fn handle(state: &State, message: &SocketMessage) -> Result {
    let (connection, now) = (&message.connection.id, message.connection.now);
    let Some(owner) = state.feed.connection_owner(connection).await? else {
        return state
            .close_with_problem(connection, "this connection is not known any more: connect again")
            .await;
    };
    let who = owner.reader;
    let answer = match ClientMessage::parse(&message.body, now) {
        Ok(ClientMessage::Resume { position }) => {
            state.feed.missed(&who, position, &state.settings, now).await?
        }
        Ok(ClientMessage::Ping) => ServerMessage::Pong { v: 1, position: now },
        Err(rejected) => ServerMessage::problem(rejected.to_string()),
    };
    match state.connections.post(connection, answer.text()).await? {
        Posted::Sent => Ok(()),
        Posted::Gone => {
            state
                .feed
                .remove_connection(&ReaderConnection {
                    reader: who,
                    connection: connection.clone(),
                })
                .await
        }
    }
}
