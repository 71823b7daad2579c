//! Where to hear of new posts as they come: a WebSocket API is a server of its own.

use boundary::http::{Answer, Request, Response};
use boundary::socket::PROTOCOL;
use http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use crate::State;

/// How to connect.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RealtimeView {
    /// The WebSocket's URL.
    url: String,
    /// Where a browser can't send an `Authorization` header, offer this subprotocol and `bearer.` followed by
    /// your key.
    protocol: &'static str,
    /// What to resume from, so that nothing is missed from now on.
    position: String,
}

#[expect(clippy::unused_async, reason = "every handler is called alike")]
pub(crate) async fn find(state: &State, request: Request) -> Answer {
    let view = RealtimeView {
        url: state.socket_url.clone(),
        protocol: PROTOCOL,
        position: request.now.to_string(),
    };
    Ok(Response::json(StatusCode::OK, &view))
}
