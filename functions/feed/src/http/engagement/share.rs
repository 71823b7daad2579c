//! Passing a post on: a post of one's own, in one transaction with what is counted of the first one.

use std::sync::Arc;

use crate::store::{Between, Created, Engaging, Entry, NewPost};
use boundary::http::{
    Call, Caller, IdempotencyKey, Json, Operation, Path, Problem, Repeatable, State,
};
use boundary::idempotency::{self, RequestKey};
use boundary::telemetry::{Unit, measure};
use domain::accounts::{Role, UserId};
use domain::feed::{Engage, Post, PostId, Rejected};
use domain::{Failure, Timestamp};

use super::{TRIES, counts_moved, meet, remembered};
use crate::http::posts::{Written, busy, written};
use crate::http::shapes::DraftBody;
use crate::http::state::App;
use crate::http::{PostPath, media};

pub(crate) const SHARE: Operation =
    Operation::post("/api/v1/posts/{postId}/share", "sharePost", "Pass a post on")
        .description(
            "Makes a post of your own that shows the other one to whoever may see it. Only \
             public posts can be shared; who shares what was shared shares the first.",
        )
        .role(Role::Member)
        .refuses(&[404, 503]);

/// What is wrong with the words is said before what is wrong with the key.
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
        let fan = author.recents.reach.fan();
        let post = Post::new(id, me.clone(), body.clone(), fan, call.now);
        let passed = pass_on(&app, me, post, named, call.now).await;
        let (post, original, engaging) = match passed {
            Ok(passed) => passed,
            Err(problem) => return remembered(&app, once.as_ref(), problem, call.now).await,
        };
        let answer = Repeatable::first(&written(&app, me, &post).await?);
        let once = once.as_ref().map(|once| (once, answer.stored()));
        let new = NewPost { post: &post, author: &author, once };
        let token = app.entropy.token();
        let done = app.feed.create(new, engaging.items, &app.settings, call.now, &token);
        match done.await? {
            Created::Created(said) => {
                measure("PostsCreated", Unit::Count, 1.0);
                app.tell(said.as_ref(), &call).await;
                counts_moved(&app, original, engaging.told, &call).await;
                return Ok(answer);
            }
            Created::Before(claim) => {
                return idempotency::replay(claim, call.now).map(Repeatable::again);
            }
            Created::Moved => {}
        }
    }
    Err(busy())
}

/// What takes back that a post passes another one on, for the transaction that deletes it.
pub(crate) async fn unsharing(
    app: &App,
    post: &Post,
    now: Timestamp,
) -> Result<Option<(PostId, Engaging)>, Failure> {
    let Some(shared) = post.shares else { return Ok(None) };
    let Some(original) = app.feed.post(shared).await? else { return Ok(None) };
    // Nobody is closer for it, so what is between them does not matter.
    let (act, between) = ((&post.author, Engage::Unshare), Between::default());
    let engaging = app.feed.engaging(act, &original, &between, now).await?;
    Ok(engaging.map(|engaging| (shared, engaging)))
}

/// The post as it passes on the one that is named, or the one that that passes on; which one it is; and
/// what counts it.
async fn pass_on(
    app: &App,
    me: &UserId,
    post: Post,
    named: PostId,
    now: Timestamp,
) -> Result<(Post, PostId, Engaging), Problem> {
    let (entry, between) = first(app, me, named).await?;
    let post = post.sharing(&entry.post)?;
    let engaging = app.feed.engaging((me, Engage::Share), &entry, &between, now).await?;
    let engaging = engaging.ok_or(Rejected::NotShareable)?;
    Ok((post, entry.post.id, engaging))
}

/// What may be passed on: who passes on what was passed on passes on the first, if they may see both.
async fn first(app: &App, me: &UserId, named: PostId) -> Result<(Entry, Between), Problem> {
    let (entry, between) = meet(app, me, named).await?;
    let Some(shared) = entry.post.shares else { return Ok((entry, between)) };
    match meet(app, me, shared).await {
        Err(problem) if !problem.is_fault() => Err(Rejected::NotShareable.into()),
        met => met,
    }
}
