//! Likes: each person's counts once, however often it is sent.

use std::sync::Arc;

use crate::store::Engagement;
use boundary::http::{Call, Caller, Json, Operation, Path, Problem, State};
use domain::accounts::Role;
use domain::feed::{Counts, Engage, PostId};
use schemars::JsonSchema;
use serde::Serialize;

use super::{TRIES, counts_moved, meet};
use crate::http::PostPath;
use crate::http::posts::busy;
use crate::http::state::App;
use crate::http::view::CountsView;

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
) -> Result<Json<LikeView>, Problem> {
    engage(&app, &call, &caller, id, Engage::Like).await
}

pub(crate) const UNLIKE: Operation =
    Operation::delete("/api/v1/posts/{postId}/like", "unlikePost", "Like a post no longer")
        .description("Repeating it changes nothing.")
        .role(Role::Member)
        .refuses(&[404, 503]);

pub(crate) async fn unlike(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Path(id): Path<PostPath>,
) -> Result<Json<LikeView>, Problem> {
    engage(&app, &call, &caller, id, Engage::Unlike).await
}

async fn engage(
    app: &App,
    call: &Call,
    caller: &Caller,
    id: PostId,
    act: Engage,
) -> Result<Json<LikeView>, Problem> {
    let me = &caller.user_id;
    for _ in 0..TRIES {
        let (entry, between) = meet(app, me, id).await?;
        let token = app.entropy.token();
        let done =
            app.feed.engage((me, act), &entry, &between, Vec::new(), call.now, &token).await?;
        match done {
            Engagement::Counted { told } => {
                counts_moved(app, id, told, call).await;
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

fn shown(id: PostId, act: Engage, counts: Counts) -> Json<LikeView> {
    let user_has_liked = act == Engage::Like;
    Json(LikeView { post_id: id.text(), user_has_liked, counts: counts.into() })
}
