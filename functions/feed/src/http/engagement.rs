//! Likes, comments, shares, reports, profiles and trending posts.

pub(super) mod comments;
pub(super) mod likes;
pub(super) mod moderation;
pub(super) mod profiles;
pub(super) mod share;
pub(super) mod trending;

use crate::store::{StoredPost, StoredRelationship};
use boundary::http::{Call, Problem, Repeatable, Result};
use boundary::idempotency;
use domain::Timestamp;
use domain::accounts::UserId;
use domain::feed::{FeedMessage, PostId, Rejected, ViewContext, ensure_visible};
use store::idempotency::{Claim, IdempotentRequest};

use crate::http::TRIES;
use crate::http::state::App;

/// A post that the caller may see, asked for by its id, and their relationship with its author.
pub(super) async fn visible_post(
    app: &App,
    me: &UserId,
    id: PostId,
) -> Result<(StoredPost, StoredRelationship)> {
    let entry = app.feed.post(id).await?.ok_or(Rejected::UnknownPost)?;
    let relation = if entry.post.author == *me {
        StoredRelationship::default()
    } else {
        app.feed.relationship(me, &entry.post.author).await?
    };
    ensure_visible(Some(&entry.post), &relation.state, me, ViewContext::Direct)?;
    Ok((entry, relation))
}

/// Asks for a post's counters to be added up, if that is due. The sweep asks for all that are left.
pub(super) async fn counts_moved(app: &App, post_id: PostId, aggregation_due: bool, call: &Call) {
    if aggregation_due {
        app.enqueue(vec![FeedMessage::CountsMoved { v: 1, post_id }], call).await;
    }
}

/// A call that can't be accepted any more, because its post has gone, may have been accepted before: then
/// the first answer stands.
async fn replay<A>(
    app: &App,
    once: Option<&IdempotentRequest<'_>>,
    problem: Problem,
    now: Timestamp,
) -> Result<Repeatable<A>> {
    let Some(once) = once.filter(|_| !problem.is_fault()) else { return Err(problem) };
    match app.feed.once().claim(once, now).await? {
        Claim::Won(ticket) => {
            idempotency::release_if_refused(app.feed.once(), Some(&ticket), Err(problem)).await
        }
        before @ (Claim::Answered(_) | Claim::Running(_) | Claim::Mismatch) => {
            idempotency::replay(before, now).map(Repeatable::again)
        }
    }
}
