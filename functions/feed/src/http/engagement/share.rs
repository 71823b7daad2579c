//! Passing a post on: a post of one's own, in one transaction with what is counted of the first one.

use std::sync::Arc;

use crate::store::{CreateOutcome, NewPost, PreparedAction, StoredPost, StoredRelationship};
use boundary::http::{
    Call, Caller, IdempotencyKey, Json, Operation, Path, Problem, Repeatable, State,
};
use boundary::idempotency::{self, RequestKey};
use boundary::telemetry::{Unit, measure};
use domain::accounts::{Role, UserId};
use domain::feed::{Post, PostAction, PostId, Rejected};
use domain::{Result, Timestamp};

use super::{TRIES, counts_moved, replay, visible_post};
use crate::http::posts::{Written, contended, written};
use crate::http::schemas::DraftBody;
use crate::http::state::App;
use crate::http::{PostPath, media};

pub(crate) const SHARE: Operation =
    Operation::post("/api/v1/posts/{postId}/share", "sharePost", "Share a post")
        .description(
            "Makes a post of your own that shows the other one to those who may see it. Only \
             public posts can be shared; who shares what was shared shares the first.",
        )
        .role(Role::Member)
        .refuses(&[404, 503]);

/// The text is validated before the key.
pub(crate) async fn share(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    draft: Option<Json<DraftBody>>,
    Path(named): Path<PostPath>,
    key: Result<IdempotencyKey, Problem>,
) -> Result<Repeatable<Written>, Problem> {
    let me = &caller.user_id;
    let DraftBody(draft) = draft.map(|Json(draft)| draft).unwrap_or_default();
    let body = draft.checked(true)?;
    media::check(&app, me, &body.media).await?;
    let id = PostId::made_from(call.now, app.entropy.bytes());
    let claimant = app.entropy.token();
    let key = key?.0.map(|key| RequestKey::new(key, &call));
    let once = key.as_ref().map(|key| key.request(&call, me.as_str(), SHARE.id, &claimant));
    for _ in 0..TRIES {
        let author = app.feed.author(me).await?;
        let delivery = author.recents.policy.post_delivery();
        let post = Post::new(id, me.clone(), body.clone(), delivery, call.now);
        let passed = prepare_share(&app, me, post, named, call.now).await;
        let (post, original, action) = match passed {
            Ok(passed) => passed,
            Err(problem) => return replay(&app, once.as_ref(), problem, call.now).await,
        };
        let answer = Repeatable::first(&written(&app, me, &post).await?);
        let once = once.as_ref().map(|once| (once, answer.stored()));
        let new = NewPost { post: &post, author: &author, once };
        let token = app.entropy.token();
        let done = app.feed.create_post(new, action.items, &app.settings, call.now, &token);
        match done.await? {
            CreateOutcome::Created(message) => {
                measure("PostsCreated", Unit::Count, 1.0);
                app.publish(message.as_ref(), &call).await;
                counts_moved(&app, original, action.aggregation_due, &call).await;
                return Ok(answer);
            }
            CreateOutcome::Replayed(claim) => {
                return idempotency::replay(claim, call.now).map(Repeatable::again);
            }
            CreateOutcome::Conflict => {}
        }
    }
    Err(contended())
}

/// What takes back that a post passes another one on, for the transaction that deletes it.
pub(crate) async fn prepare_unshare(
    app: &App,
    post: &Post,
    now: Timestamp,
) -> Result<Option<(PostId, PreparedAction)>> {
    let Some(shared) = post.shares else { return Ok(None) };
    let Some(original) = app.feed.post(shared).await? else { return Ok(None) };
    // It changes no affinity, so the relationship does not matter.
    let (act, relation) = ((&post.author, PostAction::Unshare), StoredRelationship::default());
    let action = app.feed.prepare_action(act, &original, &relation, now).await?;
    Ok(action.map(|action| (shared, action)))
}

/// The post as it passes on the one that is named, or the one that that passes on; which one it is; and
/// what counts it.
async fn prepare_share(
    app: &App,
    me: &UserId,
    post: Post,
    named: PostId,
    now: Timestamp,
) -> Result<(Post, PostId, PreparedAction), Problem> {
    let (entry, relation) = original_post(app, me, named).await?;
    let post = post.sharing(&entry.post)?;
    let action = app.feed.prepare_action((me, PostAction::Share), &entry, &relation, now).await?;
    let action = action.ok_or(Rejected::NotShareable)?;
    Ok((post, entry.post.id, action))
}

/// What may be passed on: who passes on what was passed on passes on the first, if they may see both.
async fn original_post(
    app: &App,
    me: &UserId,
    named: PostId,
) -> Result<(StoredPost, StoredRelationship), Problem> {
    let (entry, relation) = visible_post(app, me, named).await?;
    let Some(shared) = entry.post.shares else { return Ok((entry, relation)) };
    match visible_post(app, me, shared).await {
        Err(problem) if !problem.is_fault() => Err(Rejected::NotShareable.into()),
        met => met,
    }
}
