//! Where to hear of new posts as they come: a WebSocket API is a server of its own.

use std::sync::Arc;

use boundary::http::{Call, Json, Operation, Result, State};
use boundary::socket::PROTOCOL;
use domain::accounts::Role;
use schemars::JsonSchema;
use serde::Serialize;

use crate::http::state::App;

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

pub(super) const FIND: Operation =
    Operation::get("/api/v1/feed/realtime", "findRealtime", "Find the WebSocket for new posts")
        .description(
            "Connect there with the same key. You are sent `{\"type\":\"newPosts\",\"postIds\":[…],\
             \"position\":…}` when a user whom you follow writes; the latest position, sent as \
             `{\"type\":\"resume\",\"position\":…}` after you were cut off, brings what you missed. \
             Say `{\"type\":\"ping\"}` every few minutes to keep the line open; after two hours it \
             is cut.",
        )
        .role(Role::Member);

pub(super) async fn find(State(app): State<Arc<App>>, call: Call) -> Result<Json<RealtimeView>> {
    Ok(Json(RealtimeView {
        url: app.socket_url.clone(),
        protocol: PROTOCOL,
        position: call.now.to_string(),
    }))
}
