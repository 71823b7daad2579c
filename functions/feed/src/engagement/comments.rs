//! Comments: written, listed as the reader may see them, and taken back.

use std::collections::BTreeSet;

use boundary::http::{Answer, Cursor, Error, Problem, Request, Response};
use boundary::idempotency;
use domain::accounts::UserId;
use domain::feed::{Comment, CommentDraft, CommentId, PostId, Profile, Rejected, Tie};
use http::{StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::feed::{Commented, Uncommented};

use super::{TRIES, counts_moved, meet, remembered};
use crate::State;
use crate::posts::busy;
use crate::state::post_named;
use crate::view::{AuthorView, author};

const LIST: &str = "comments";

/// The name of the operation, as repeats are told apart by it.
const OPERATION: &str = "commentOnPost";

/// Comments that are read at once, and how often for one page: what is left is for the next one.
const CHUNK: usize = 100;
const MOST_ROUNDS: usize = 10;

/// A comment.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CommentView {
    comment_id: String,
    post_id: String,
    author: AuthorView,
    text: String,
    created_at: String,
}

/// Which part of the comments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommentsQuery {
    /// `nextCursor` of the page before.
    cursor: Option<String>,
    /// How many at most, 1 to 100; 20 if left out.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
}

/// A page of comments.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CommentsView {
    /// The oldest first.
    items: Vec<CommentView>,
    /// Pass it as `cursor` for the next page; `null` on the last one.
    next_cursor: Option<String>,
    has_more: bool,
}

pub(crate) async fn write(state: &State, request: Request) -> Answer {
    let draft: CommentDraft = request.json()?;
    let me = request.caller()?.user_id.clone();
    let post = post_named(&request)?;
    let id = CommentId::made_from(request.now, state.entropy.bytes());
    let comment = draft.checked(id, post, me.clone(), request.now)?;
    let claimant = state.entropy.token();
    let key = request.idempotency_key()?;
    let call = (me.as_str(), OPERATION);
    let once = key.map(|key| idempotency::name(key, &request, call, &claimant));
    let response = written(state, &me, &comment).await?;
    let kept = idempotency::kept(&response, response.text().into_bytes());
    for _ in 0..TRIES {
        let (entry, between) = match meet(state, &me, post).await {
            Ok(met) => met,
            Err(error) => return remembered(state, once.as_ref(), error, request.now).await,
        };
        let once = once.as_ref().map(|once| (once, &kept));
        let token = state.entropy.token();
        let done = state.feed.comment(&comment, &entry, &between, once, request.now, &token);
        match done.await? {
            Commented::Written { told } => {
                counts_moved(state, post, told, &request).await;
                return Ok(response);
            }
            Commented::Before(claim) => return idempotency::met(claim, request.now),
            Commented::Moved => {}
        }
    }
    Err(busy())
}

/// Those of people whom the caller blocks or mutes, or who block them, are left out, and made up for.
pub(crate) async fn list(state: &State, request: Request) -> Answer {
    let me = request.caller()?.user_id.clone();
    let query: CommentsQuery = request.query()?;
    let limit = query.limit.unwrap_or(20);
    if !(1..=100).contains(&limit) {
        return Err(Problem::field("limit", "a number from 1 to 100").into());
    }
    let position = query.cursor.map(|text| Cursor::position(LIST, &text)).transpose()?;
    let place = |text: String| CommentId::parse(&text).ok_or_else(Cursor::not_one);
    let after = position.map(place).transpose()?;
    let (entry, _) = meet(state, &me, post_named(&request)?).await?;
    // One more than the page has is known of before a cursor is given.
    let (mut comments, reached) = shown_to(state, &me, entry.post.id, after, limit + 1).await?;
    let is_full = comments.len() > limit;
    comments.truncate(limit);
    let next = comments.last().filter(|_| is_full).map(|last| last.id).or(reached);
    let view = CommentsView {
        items: views(state, &me, &comments).await?,
        next_cursor: next.map(|next| Cursor::new(LIST, &next.text()).as_str().to_owned()),
        has_more: next.is_some(),
    };
    Ok(Response::json(StatusCode::OK, &view))
}

/// Its author may do that, whatever has become of the post since, and the post's. Repeating it changes nothing.
pub(crate) async fn delete(state: &State, request: Request) -> Answer {
    let me = &request.caller()?.user_id;
    let post = post_named(&request)?;
    let id = CommentId::parse(request.param("commentId")).ok_or(Rejected::UnknownComment)?;
    for _ in 0..TRIES {
        let found = state.feed.find_comment(post, id).await?;
        let entry = match &found {
            Some(own) if own.author == *me => {
                state.feed.post(post).await?.ok_or(Rejected::UnknownPost)?
            }
            _ => meet(state, me, post).await?.0,
        };
        let comment = found.ok_or(Rejected::UnknownComment)?;
        let Some(gone) = comment.deleted(&entry.post, me, request.now)? else {
            return Ok(Response::empty(StatusCode::NO_CONTENT));
        };
        let token = state.entropy.token();
        match state.feed.uncomment(&gone, &entry, request.now, &token).await? {
            Uncommented::Gone { told } => {
                counts_moved(state, post, told, &request).await;
                return Ok(Response::empty(StatusCode::NO_CONTENT));
            }
            Uncommented::Same => return Ok(Response::empty(StatusCode::NO_CONTENT)),
            Uncommented::Moved => {}
        }
    }
    Err(busy())
}

/// The first `wanted` comments after a place that a reader may see, and how far was looked if there may be more
/// and it was enough.
async fn shown_to(
    state: &State,
    me: &UserId,
    post: PostId,
    mut after: Option<CommentId>,
    wanted: usize,
) -> Result<(Vec<Comment>, Option<CommentId>), Error> {
    let mut shown = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let found = state.feed.comments(post, after, CHUNK).await?;
        let ended = found.len() < CHUNK;
        after = found.last().map(|last| last.id);
        let authors: BTreeSet<&UserId> = found.iter().map(|comment| &comment.author).collect();
        let ties = state.feed.ties(me, authors).await?;
        let tie = |who: &UserId| ties.get(who).map_or_else(Tie::default, |between| between.tie);
        shown.extend(found.into_iter().filter(|it| it.is_shown(&tie(&it.author), me)));
        if ended || shown.len() >= wanted {
            shown.truncate(wanted);
            return Ok((shown, None));
        }
    }
    Ok((shown, after))
}

async fn written(state: &State, me: &UserId, comment: &Comment) -> Result<Response, Error> {
    let mut views = views(state, me, std::slice::from_ref(comment)).await?;
    let view = views.pop().ok_or(Rejected::UnknownComment)?;
    let location = format!("/api/v1/posts/{}/comments/{}", comment.post, comment.id.text());
    Ok(Response::json(StatusCode::CREATED, &view).with_text(header::LOCATION, &location))
}

async fn views(
    state: &State,
    me: &UserId,
    comments: &[Comment],
) -> Result<Vec<CommentView>, Error> {
    let authors: BTreeSet<&UserId> = comments.iter().map(|comment| &comment.author).collect();
    let profiles = state.feed.company(me, authors, []).await?.profiles;
    let mut views = Vec::with_capacity(comments.len());
    for comment in comments {
        let who = &comment.author;
        let unwritten = || Profile::unwritten(who.clone(), comment.created_at);
        let profile = profiles.get(who).cloned().unwrap_or_else(unwritten);
        views.push(CommentView {
            comment_id: comment.id.text(),
            post_id: comment.post.text(),
            author: author(state, &profile).await?,
            text: comment.text.clone(),
            created_at: comment.created_at.to_string(),
        });
    }
    Ok(views)
}
