//! Writing, reading, changing and deleting posts.

use boundary::http::{Answer, Error, Problem, Request, Response};
use boundary::idempotency;
use boundary::telemetry::{Unit, measure};
use domain::accounts::UserId;
use domain::feed::{Counts, Draft, Edit, Place, Post, PostId, Rejected, Tie, look, visible};
use http::{StatusCode, header};
use store::feed::{Amended, Created, Entry, NewPost};

use crate::State;
use crate::engagement::{counts_moved, unsharing};
use crate::media;
use crate::state::post_named;
use crate::view::{PostView, show};

/// The name of the operation, as repeats are told apart by it.
const OPERATION: &str = "writePost";

/// A row may change under our hands so often.
const TRIES: usize = 8;

pub(crate) async fn write(state: &State, request: Request) -> Answer {
    let draft: Draft = request.json()?;
    let me = request.caller()?.user_id.clone();
    let body = draft.checked(false)?;
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
        let response = created(state, &me, &post).await?;
        let kept = idempotency::kept(&response, response.text().into_bytes());
        let once = once.as_ref().map(|once| (once, &kept));
        let new = NewPost { post: &post, author: &author, once };
        let token = state.entropy.token();
        let done = state.feed.create(new, Vec::new(), &state.settings, request.now, &token);
        match done.await? {
            Created::Created(told) => {
                measure("PostsCreated", Unit::Count, 1.0);
                state.tell(told.as_ref(), &request).await;
                return Ok(response);
            }
            Created::Before(claim) => return idempotency::met(claim, request.now),
            Created::Moved => {}
        }
    }
    Err(busy())
}

/// The answer to whoever wrote a post.
pub(crate) async fn created(state: &State, me: &UserId, post: &Post) -> Result<Response, Error> {
    let entry = Entry { post: post.clone(), counts: Counts::default(), acts: 0, width: 1 };
    let view = shown(state, me, entry).await?;
    let location = format!("/api/v1/posts/{}", post.id);
    let response = Response::json(StatusCode::CREATED, &view).with_version(post.version);
    Ok(response.with_text(header::LOCATION, &location))
}

pub(crate) async fn read(state: &State, request: Request) -> Answer {
    let me = &request.caller()?.user_id;
    let entry = seen(state, me, post_named(&request)?).await?;
    let version = entry.post.version;
    let view = shown(state, me, entry).await?;
    Ok(Response::json(StatusCode::OK, &view).with_version(version))
}

pub(crate) async fn edit(state: &State, request: Request) -> Answer {
    let edit: Edit = request.json()?;
    let me = request.caller()?.user_id.clone();
    let id = post_named(&request)?;
    for _ in 0..TRIES {
        let before = own(state, &me, id).await?;
        if before.post.deleted_at.is_some() {
            return Err(Rejected::UnknownPost.into());
        }
        if request.headers.contains_key(header::IF_MATCH)
            && request.if_match()? != before.post.version
        {
            return Err(Rejected::Moved.into());
        }
        let after = before.post.edited(edit.clone(), request.now)?;
        let Some(after) = after else { return amended(state, &me, before).await };
        let token = state.entropy.token();
        let done = state.feed.amend(&before.post, &after, request.now, &token);
        if let Amended::Amended(told) = done.await? {
            state.tell(told.as_ref(), &request).await;
            return amended(state, &me, Entry { post: after, ..before }).await;
        }
    }
    Err(busy())
}

async fn amended(state: &State, me: &UserId, entry: Entry) -> Answer {
    let version = entry.post.version;
    let view = shown(state, me, entry).await?;
    Ok(Response::json(StatusCode::OK, &view).with_version(version))
}

/// Once this is answered nobody can read it, whatever timelines say. Repeating it changes nothing.
pub(crate) async fn delete(state: &State, request: Request) -> Answer {
    let me = request.caller()?.user_id.clone();
    let id = post_named(&request)?;
    for _ in 0..TRIES {
        let (before, author) = futures::future::try_join(own(state, &me, id), async {
            Ok(state.feed.author(&me).await?)
        })
        .await?;
        let Some(after) = before.post.deleted(request.now) else {
            return Ok(Response::empty(StatusCode::NO_CONTENT));
        };
        let (with, moved) = match unsharing(state, &before.post, request.now).await? {
            Some((shared, back)) => (back.items, Some((shared, back.told))),
            None => (Vec::new(), None),
        };
        let token = state.entropy.token();
        let posts = (&before.post, &after);
        let done = state.feed.delete(posts, &author, with, &state.settings, request.now, &token);
        if let Amended::Amended(told) = done.await? {
            state.tell(told.as_ref(), &request).await;
            if let Some((shared, told)) = moved {
                counts_moved(state, shared, told, &request).await;
            }
            return Ok(Response::empty(StatusCode::NO_CONTENT));
        }
    }
    Err(busy())
}

/// A post that the caller may see, asked for by its name.
pub(crate) async fn seen(state: &State, me: &UserId, id: PostId) -> Result<Entry, Error> {
    let Some(entry) = state.feed.post(id).await? else {
        return Err(Rejected::UnknownPost.into());
    };
    let tie = if entry.post.author == *me {
        Tie::default()
    } else {
        state.feed.between(me, &entry.post.author).await?.tie
    };
    look(Some(&entry.post), &tie, me, Place::Direct)?;
    Ok(entry)
}

/// A post of the caller's own, also if it is deleted. Somebody else's is told from one that is not
/// there only if the caller may see it.
async fn own(state: &State, me: &UserId, id: PostId) -> Result<Entry, Error> {
    let found = state.feed.post(id).await?;
    let entry = found.ok_or(Rejected::UnknownPost)?;
    if entry.post.author == *me {
        return Ok(entry);
    }
    let tie = state.feed.between(me, &entry.post.author).await?.tie;
    if visible(&entry.post, &tie, me, Place::Direct) {
        return Err(Problem::forbidden("Only whoever wrote a post can change it.").into());
    }
    Err(Rejected::UnknownPost.into())
}

async fn shown(state: &State, me: &UserId, entry: Entry) -> Result<PostView, Error> {
    let mut views = show(state, me, &[entry]).await?;
    views.pop().ok_or_else(|| Rejected::UnknownPost.into())
}

/// Somebody else was faster, again and again.
pub(crate) fn busy() -> Error {
    Problem::unavailable("It keeps changing.", 1).into()
}
