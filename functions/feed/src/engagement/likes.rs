//! Likes: each person's counts once, however often it is sent.

use boundary::http::{Answer, Request, Response};
use domain::feed::{Counts, Engage, PostId};
use http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use store::feed::Engagement;

use super::{TRIES, counts_moved, meet};
use crate::State;
use crate::posts::busy;
use crate::state::post_named;
use crate::view::CountsView;

/// What somebody thinks of a post.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LikeView {
    post_id: String,
    /// Whether you like it.
    user_has_liked: bool,
    /// As far as they are added up; exact within a minute after the last change.
    counts: CountsView,
}

pub(crate) async fn like(state: &State, request: Request) -> Answer {
    engage(state, &request, Engage::Like).await
}

pub(crate) async fn unlike(state: &State, request: Request) -> Answer {
    engage(state, &request, Engage::Unlike).await
}

async fn engage(state: &State, request: &Request, act: Engage) -> Answer {
    let me = &request.caller()?.user_id;
    let id = post_named(request)?;
    for _ in 0..TRIES {
        let (entry, between) = meet(state, me, id).await?;
        let token = state.entropy.token();
        let done =
            state.feed.engage((me, act), &entry, &between, Vec::new(), request.now, &token).await?;
        match done {
            Engagement::Counted { told } => {
                counts_moved(state, id, told, request).await;
                return Ok(shown(id, act, with(entry.counts, act)));
            }
            Engagement::Same => return Ok(shown(id, act, entry.counts)),
            Engagement::Moved => {}
        }
    }
    Err(busy())
}

/// What was counted before the act, and the act.
fn with(counts: Counts, act: Engage) -> Counts {
    let likes = match act {
        Engage::Like => counts.likes + 1,
        Engage::Unlike => counts.likes.saturating_sub(1),
        Engage::Comment | Engage::Uncomment | Engage::Share | Engage::Unshare => counts.likes,
    };
    Counts { likes, ..counts }
}

fn shown(id: PostId, act: Engage, counts: Counts) -> Response {
    let view =
        LikeView { post_id: id.text(), user_has_liked: act == Engage::Like, counts: counts.into() };
    Response::json(StatusCode::OK, &view)
}
