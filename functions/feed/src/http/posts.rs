//! Writing, reading, changing and deleting posts.

use std::sync::Arc;

use crate::store::{self, NewPost, StoredPost, UpdateOutcome};
use boundary::http::{
    Call, Caller, Created, IdempotencyKey, IfMatch, Json, NoContent, Operation, Path, Problem,
    Repeatable, Result, State, Versioned,
};
use boundary::idempotency::{self, RequestKey};
use boundary::telemetry::{Unit, measure};
use domain::accounts::{Role, UserId};
use domain::feed::{Counts, Post, PostId, Rejected, ViewContext, is_visible};
use futures::future::try_join;

use super::engagement::share::prepare_unshare;
use super::engagement::{counts_moved, visible_post};
use super::schemas::{DraftBody, EditBody};
use super::views::{PostView, post_views};
use super::{PostPath, TRIES, media};
use crate::http::state::App;

pub(super) const WRITE: Operation = Operation::post("/api/v1/posts", "writePost", "Write a post")
    .description(
        "It is there when this is answered, and in the feeds of those who follow you \
             within seconds.",
    )
    .role(Role::Member);

/// The post is validated before the key.
pub(super) async fn write(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Json(DraftBody(draft)): Json<DraftBody>,
    key: Result<IdempotencyKey>,
) -> Result<Repeatable<Written>> {
    let me = &caller.user_id;
    let body = draft.checked(false)?;
    media::check(&app, me, &body.media).await?;
    let id = PostId::made_from(call.now, app.entropy.bytes());
    let claimant = app.entropy.token();
    let key = key?.0.map(|key| RequestKey::new(key, &call));
    let once = key.as_ref().map(|key| key.request(&call, me.as_str(), WRITE.id, &claimant));
    for _ in 0..TRIES {
        let author = app.feed.author(me).await?;
        let delivery = author.recents.policy.post_delivery();
        let post = Post::new(id, me.clone(), body.clone(), delivery, call.now);
        let answer = Repeatable::first(&written(&app, me, &post).await?);
        let once = once.as_ref().map(|once| (once, answer.stored()));
        let new = NewPost { post: &post, author: &author, once };
        let token = app.entropy.token();
        let done = app.feed.create_post(new, Vec::new(), &app.settings, call.now, &token);
        match done.await? {
            store::CreateOutcome::Created(message) => {
                measure("PostsCreated", Unit::Count, 1.0);
                app.publish(message.as_ref(), &call).await;
                return Ok(answer);
            }
            store::CreateOutcome::Replayed(claim) => {
                return idempotency::replay(claim, call.now).map(Repeatable::again);
            }
            store::CreateOutcome::Conflict => {}
        }
    }
    Err(contended())
}

/// The answer to the author of a new post.
pub(super) type Written = Versioned<Created<PostView>>;

/// What the author of a new post is answered.
pub(super) async fn written(app: &App, me: &UserId, post: &Post) -> Result<Written> {
    let entry =
        StoredPost { post: post.clone(), counts: Counts::default(), acts: 0, shard_count: 1 };
    let body = shown(app, me, entry).await?;
    let location = format!("/api/v1/posts/{}", post.id);
    Ok(Versioned(post.version, Created { location, body }))
}

pub(super) const READ: Operation =
    Operation::get("/api/v1/posts/{postId}", "readPost", "Read a post")
        .description(
            "If you may see it: others' private posts, posts for their friends, posts by users \
             who block you and deleted posts are not found.",
        )
        .role(Role::Member)
        .refuses(&[404]);

pub(super) async fn read(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<PostPath>,
) -> Result<Versioned<Json<PostView>>> {
    let me = &caller.user_id;
    let (entry, _) = visible_post(&app, me, id).await?;
    versioned(&app, me, entry).await
}

pub(super) const EDIT: Operation =
    Operation::patch("/api/v1/posts/{postId}", "editPost", "Change a post of your own")
        .description(
            "Feeds show the change at once. A private post that is opened comes into the \
             feeds of those who follow you.",
        )
        .role(Role::Member)
        .refuses(&[404, 503]);

/// The post and its author are checked before the version.
pub(super) async fn edit(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Json(EditBody(edit)): Json<EditBody>,
    Path(id): Path<PostPath>,
    version: Result<Option<IfMatch>>,
) -> Result<Versioned<Json<PostView>>> {
    let me = &caller.user_id;
    for _ in 0..TRIES {
        let before = own(&app, me, id).await?;
        if before.post.deleted_at.is_some() {
            return Err(Rejected::UnknownPost.into());
        }
        if version.clone()?.is_some_and(|IfMatch(version)| version != before.post.version) {
            return Err(Rejected::Moved.into());
        }
        let after = before.post.edited(edit.clone(), call.now)?;
        let Some(after) = after else { return versioned(&app, me, before).await };
        let token = app.entropy.token();
        let done = app.feed.update_post(&before.post, &after, call.now, &token);
        if let UpdateOutcome::Updated(message) = done.await? {
            app.publish(message.as_ref(), &call).await;
            return versioned(&app, me, StoredPost { post: after, ..before }).await;
        }
    }
    Err(contended())
}

async fn versioned(app: &App, me: &UserId, entry: StoredPost) -> Result<Versioned<Json<PostView>>> {
    let version = entry.post.version;
    Ok(Versioned(version, Json(shown(app, me, entry).await?)))
}

pub(super) const DELETE: Operation =
    Operation::delete("/api/v1/posts/{postId}", "deletePost", "Delete a post of your own")
        .description(
            "It can't be read any more once this is answered. There is no way back; repeating it \
             changes nothing.",
        )
        .role(Role::Member)
        .refuses(&[404, 503]);

/// Once this is answered it can't be read, also where timelines still refer to it.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Path(id): Path<PostPath>,
) -> Result<NoContent> {
    let me = &caller.user_id;
    for _ in 0..TRIES {
        let author = async { Ok(app.feed.author(me).await?) };
        let (before, author) = try_join(own(&app, me, id), author).await?;
        let Some(after) = before.post.deleted(call.now) else { return Ok(NoContent) };
        let (with, moved) = match prepare_unshare(&app, &before.post, call.now).await? {
            Some((shared, back)) => (back.items, Some((shared, back.aggregation_due))),
            None => (Vec::new(), None),
        };
        let token = app.entropy.token();
        let posts = (&before.post, &after);
        let done = app.feed.delete_post(posts, &author, with, &app.settings, call.now, &token);
        if let UpdateOutcome::Updated(message) = done.await? {
            app.publish(message.as_ref(), &call).await;
            if let Some((shared, aggregation_due)) = moved {
                counts_moved(&app, shared, aggregation_due, &call).await;
            }
            return Ok(NoContent);
        }
    }
    Err(contended())
}

/// A post of the caller's own, also if it is deleted. Another user's is told from one that is not
/// there only if the caller may see it.
async fn own(app: &App, me: &UserId, id: PostId) -> Result<StoredPost> {
    let entry = app.feed.post(id).await?.ok_or(Rejected::UnknownPost)?;
    if entry.post.author == *me {
        return Ok(entry);
    }
    let relationship = app.feed.relationship(me, &entry.post.author).await?.state;
    if is_visible(&entry.post, &relationship, me, ViewContext::Direct) {
        return Err(Problem::forbidden("Only its author can change a post."));
    }
    Err(Rejected::UnknownPost.into())
}

async fn shown(app: &App, me: &UserId, entry: StoredPost) -> Result<PostView> {
    let mut views = post_views(app, me, &[entry]).await?;
    views.pop().ok_or_else(|| Rejected::UnknownPost.into())
}

/// Other writers won every try.
pub(super) fn contended() -> Problem {
    Problem::unavailable("It keeps changing.", 1)
}
