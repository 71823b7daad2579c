//! What people do about posts, what they show of themselves, and what an admin decides.

pub(super) mod comments;
pub(super) mod likes;
pub(super) mod moderation;
pub(super) mod profiles;
pub(super) mod share;
pub(super) mod trending;

use crate::store::{Between, Entry};
use boundary::http::{Call, Problem, Repeatable};
use boundary::idempotency;
use domain::Timestamp;
use domain::accounts::UserId;
use domain::feed::{Message, Place, PostId, Rejected, look};
use store::idempotency::{Claim, IdempotentRequest};

use crate::http::state::App;

/// Rows may change under our hands so often.
const TRIES: usize = 8;

/// A post that somebody may see, asked for by its name, and what is between them and its author.
async fn meet(app: &App, me: &UserId, id: PostId) -> Result<(Entry, Between), Problem> {
    let entry = app.feed.post(id).await?.ok_or(Rejected::UnknownPost)?;
    let between = if entry.post.author == *me {
        Between::default()
    } else {
        app.feed.between(me, &entry.post.author).await?
    };
    look(Some(&entry.post), &between.tie, me, Place::Direct)?;
    Ok((entry, between))
}

/// Asks for a post's counters to be added up, if that is due. The sweep asks for all that are left.
pub(super) async fn counts_moved(app: &App, post_id: PostId, told: bool, call: &Call) {
    if told {
        app.ask(vec![Message::CountsMoved { v: 1, post_id }], call).await;
    }
}

/// A call that can't be accepted any more, because its post has gone, may have been accepted before: then
/// the first answer stands.
async fn remembered<A>(
    app: &App,
    once: Option<&IdempotentRequest<'_>>,
    problem: Problem,
    now: Timestamp,
) -> Result<Repeatable<A>, Problem> {
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
