//! Likes: each person's counts once, however often it is sent.

use std::sync::Arc;

use crate::store::EngageOutcome;
use boundary::http::{Call, Caller, Json, Operation, Path, Result, State};
use domain::accounts::Role;
use domain::feed::{Counts, PostAction, PostId};
use schemars::JsonSchema;
use serde::Serialize;

use super::{TRIES, counts_moved, visible_post};
use crate::http::PostPath;
use crate::http::posts::contended;
use crate::http::state::App;
use crate::http::views::CountsView;

/// Whether the caller likes a post, and its counts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LikeView {
    post_id: String,
    /// Whether you like it.
    user_has_liked: bool,
    /// As far as they are added up; exact within a minute after the last change.
    counts: CountsView,
}

pub(crate) const LIKE: Operation =
    Operation::put("/api/v1/posts/{postId}/like", "likePost", "Like a post")
        .description("Each person's like counts once, however often it is sent.")
        .role(Role::Member)
        .refuses(&[404, 503]);

pub(crate) async fn like(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Path(id): Path<PostPath>,
) -> Result<Json<LikeView>> {
    engage(&app, &call, &caller, id, PostAction::Like).await
}

pub(crate) const UNLIKE: Operation =
    Operation::delete("/api/v1/posts/{postId}/like", "unlikePost", "Unlike a post")
        .description("Repeating it changes nothing.")
        .role(Role::Member)
        .refuses(&[404, 503]);

pub(crate) async fn unlike(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Path(id): Path<PostPath>,
) -> Result<Json<LikeView>> {
    engage(&app, &call, &caller, id, PostAction::Unlike).await
}

async fn engage(
    app: &App,
    call: &Call,
    caller: &Caller,
    id: PostId,
    act: PostAction,
) -> Result<Json<LikeView>> {
    let me = &caller.user_id;
    for _ in 0..TRIES {
        let (entry, relation) = visible_post(app, me, id).await?;
        let token = app.entropy.token();
        let done =
            app.feed.engage((me, act), &entry, &relation, Vec::new(), call.now, &token).await?;
        match done {
            EngageOutcome::Counted { aggregation_due } => {
                counts_moved(app, id, aggregation_due, call).await;
                return Ok(shown(id, act, with(entry.counts, act)));
            }
            EngageOutcome::Unchanged => return Ok(shown(id, act, entry.counts)),
            EngageOutcome::Conflict => {}
        }
    }
    Err(contended())
}

/// What was counted before the act, and the act.
fn with(counts: Counts, act: PostAction) -> Counts {
    let likes = match act {
        PostAction::Like => counts.likes + 1,
        PostAction::Unlike => counts.likes.saturating_sub(1),
        PostAction::Comment | PostAction::Uncomment | PostAction::Share | PostAction::Unshare => {
            counts.likes
        }
    };
    Counts { likes, ..counts }
}

fn shown(id: PostId, act: PostAction, counts: Counts) -> Json<LikeView> {
    let user_has_liked = act == PostAction::Like;
    Json(LikeView { post_id: id.text(), user_has_liked, counts: counts.into() })
}
