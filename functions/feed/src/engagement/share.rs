//! Passing a post on: a post of one's own, in one transaction with what is counted of the first one.

use boundary::http::{Answer, Error, Request};
use boundary::idempotency;
use boundary::telemetry::{Unit, measure};
use domain::accounts::UserId;
use domain::feed::{Draft, Engage, Post, PostId, Rejected};
use domain::{Failure, Timestamp};
use store::feed::{Between, Created, Engaging, Entry, NewPost};

use super::{TRIES, counts_moved, meet, remembered};
use crate::posts::{busy, created};
use crate::state::post_named;
use crate::{State, media};

/// The name of the operation, as repeats are told apart by it.
const OPERATION: &str = "sharePost";

pub(crate) async fn share(state: &State, request: Request) -> Answer {
    let draft: Draft = request.json_or_default()?;
    let me = request.caller()?.user_id.clone();
    let named = post_named(&request)?;
    let body = draft.checked(true)?;
    media::check(state, &me, &body.media).await?;
    let id = PostId::made_from(request.now, state.entropy.bytes());
    let claimant = state.entropy.token();
    let key = request.idempotency_key()?;
    let call = (me.as_str(), OPERATION);
    let once = key.map(|key| idempotency::name(key, &request, call, &claimant));
    for _ in 0..TRIES {
        let author = state.feed.author(&me).await?;
        let fan = author.recents.reach.fan();
        let post = Post::new(id, me.clone(), body.clone(), fan, request.now);
        let passed = pass_on(state, &me, post, named, request.now).await;
        let (post, original, engaging) = match passed {
            Ok(passed) => passed,
            Err(error) => return remembered(state, once.as_ref(), error, request.now).await,
        };
        let response = created(state, &me, &post).await?;
        let kept = idempotency::kept(&response, response.text().into_bytes());
        let once = once.as_ref().map(|once| (once, &kept));
        let new = NewPost { post: &post, author: &author, once };
        let token = state.entropy.token();
        let done = state.feed.create(new, engaging.items, &state.settings, request.now, &token);
        match done.await? {
            Created::Created(said) => {
                measure("PostsCreated", Unit::Count, 1.0);
                state.tell(said.as_ref(), &request).await;
                counts_moved(state, original, engaging.told, &request).await;
                return Ok(response);
            }
            Created::Before(claim) => return idempotency::met(claim, request.now),
            Created::Moved => {}
        }
    }
    Err(busy())
}

/// What takes back that a post passes another one on, for the transaction that deletes it.
pub(crate) async fn unsharing(
    state: &State,
    post: &Post,
    now: Timestamp,
) -> Result<Option<(PostId, Engaging)>, Failure> {
    let Some(shared) = post.shares else { return Ok(None) };
    let Some(original) = state.feed.post(shared).await? else { return Ok(None) };
    // Nobody is closer for it, so what is between them does not matter.
    let (act, between) = ((&post.author, Engage::Unshare), Between::default());
    let engaging = state.feed.engaging(act, &original, &between, now).await?;
    Ok(engaging.map(|engaging| (shared, engaging)))
}

/// The post as it passes on the one that is named, or the one that that passes on; which one it is; and
/// what counts it.
async fn pass_on(
    state: &State,
    me: &UserId,
    post: Post,
    named: PostId,
    now: Timestamp,
) -> Result<(Post, PostId, Engaging), Error> {
    let (entry, between) = first(state, me, named).await?;
    let post = post.sharing(&entry.post)?;
    let engaging = state.feed.engaging((me, Engage::Share), &entry, &between, now).await?;
    let engaging = engaging.ok_or(Rejected::NotShareable)?;
    Ok((post, entry.post.id, engaging))
}

/// What may be passed on: who passes on what was passed on passes on the first, if they may see both.
async fn first(state: &State, me: &UserId, named: PostId) -> Result<(Entry, Between), Error> {
    let (entry, between) = meet(state, me, named).await?;
    let Some(shared) = entry.post.shares else { return Ok((entry, between)) };
    match meet(state, me, shared).await {
        Err(Error::Problem(_)) => Err(Rejected::NotShareable.into()),
        met => met,
    }
}
