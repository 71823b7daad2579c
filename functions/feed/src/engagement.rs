//! What people do about posts, what they show of themselves, and what an admin decides.

mod comments;
mod docs;
mod likes;
mod moderation;
mod profiles;
mod share;
mod trending;

pub(crate) use docs::docs;
pub(crate) use share::unsharing;

use boundary::http::{Access, Answer, Builder, Error, Request};
use boundary::idempotency;
use domain::Timestamp;
use domain::accounts::{Role, UserId};
use domain::feed::{Message, Place, PostId, Rejected, look};
use http::Method;
use store::feed::{Between, Entry};
use store::idempotency::{Claim, Request as Once};

use crate::{MEMBER, State};

/// Rows may change under our hands so often.
const TRIES: usize = 8;

/// The operations.
pub(crate) fn routes(builder: Builder<State>) -> Builder<State> {
    const LIKE: &str = "/api/v1/posts/{postId}/like";
    const COMMENTS: &str = "/api/v1/posts/{postId}/comments";
    const COMMENT: &str = "/api/v1/posts/{postId}/comments/{commentId}";
    const SHARE: &str = "/api/v1/posts/{postId}/share";
    const PROFILE: &str = "/api/v1/users/{userId}";
    let builder = builder
        .on(Method::PUT, LIKE, "likePost", MEMBER, |s, r| Box::pin(likes::like(s, r)))
        .on(Method::DELETE, LIKE, "unlikePost", MEMBER, |s, r| Box::pin(likes::unlike(s, r)))
        .on(Method::POST, COMMENTS, "commentOnPost", MEMBER, |s, r| Box::pin(comments::write(s, r)))
        .on(Method::GET, COMMENTS, "listComments", MEMBER, |s, r| Box::pin(comments::list(s, r)))
        .on(Method::DELETE, COMMENT, "deleteComment", MEMBER, |s, r| {
            Box::pin(comments::delete(s, r))
        })
        .on(Method::POST, SHARE, "sharePost", MEMBER, |s, r| Box::pin(share::share(s, r)))
        .on(Method::GET, PROFILE, "readProfile", MEMBER, |s, r| Box::pin(profiles::read(s, r)))
        .on(Method::PUT, PROFILE, "saveProfile", MEMBER, |s, r| Box::pin(profiles::save(s, r)))
        .on(Method::GET, "/api/v1/trending", "readTrending", MEMBER, |s, r| {
            Box::pin(trending::read(s, r))
        });
    moderated(builder)
}

/// Reports, and what becomes of them.
fn moderated(builder: Builder<State>) -> Builder<State> {
    const REPORT: &str = "/api/v1/posts/{postId}/report";
    const REPORTS: &str = "/api/v1/moderation/reports";
    const RULING: &str = "/api/v1/moderation/posts/{postId}/ruling";
    const ADMIN: Access = Access::Role(Role::Admin);
    builder
        .on(Method::POST, REPORT, "reportPost", MEMBER, |s, r| Box::pin(moderation::report(s, r)))
        .on(Method::GET, REPORTS, "listPostReports", ADMIN, |s, r| Box::pin(moderation::list(s, r)))
        .on(Method::POST, RULING, "rulePost", ADMIN, |s, r| Box::pin(moderation::rule(s, r)))
}

/// A post that somebody may see, asked for by its name, and what is between them and its author.
async fn meet(state: &State, me: &UserId, id: PostId) -> Result<(Entry, Between), Error> {
    let entry = state.feed.post(id).await?.ok_or(Rejected::UnknownPost)?;
    let between = if entry.post.author == *me {
        Between::default()
    } else {
        state.feed.between(me, &entry.post.author).await?
    };
    look(Some(&entry.post), &between.tie, me, Place::Direct)?;
    Ok((entry, between))
}

/// Asks for a post's counters to be added up, if that is due. The sweep asks for all that are left.
pub(crate) async fn counts_moved(state: &State, post_id: PostId, told: bool, request: &Request) {
    if told {
        state.ask(vec![Message::CountsMoved { v: 1, post_id }], request).await;
    }
}

/// A call that can't be accepted any more, because its post has gone, may have been accepted before: then
/// the first answer stands.
async fn remembered(
    state: &State,
    once: Option<&Once<'_>>,
    error: Error,
    now: Timestamp,
) -> Answer {
    let (Some(once), Error::Problem(_)) = (once, &error) else { return Err(error) };
    match state.feed.once().claim(once, now).await? {
        Claim::Won(ticket) => {
            idempotency::settle(state.feed.once(), Some(&ticket), Err(error)).await
        }
        before @ (Claim::Answered(_) | Claim::Running(_) | Claim::Mismatch) => {
            idempotency::met(before, now)
        }
    }
}
