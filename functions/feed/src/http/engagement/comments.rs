//! Comments: written, listed as the reader may see them, and taken back.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::store::{CommentOutcome, UncommentOutcome};
use boundary::http::{
    Call, Caller, Created, Cursor, IdempotencyKey, Json, NoContent, Operation, Path, Query,
    Repeatable, Result, State,
};
use boundary::idempotency::{self, RequestKey};
use domain::accounts::{Role, UserId};
use domain::feed::{Comment, CommentDraft, CommentId, PostId, Rejected, Relationship};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{TRIES, counts_moved, replay, visible_post};
use crate::http::posts::contended;
use crate::http::state::App;
use crate::http::views::{AuthorView, author_view};
use crate::http::{CommentPath, PostPath, page_limit};

/// Comments that are read at once, and how often for one page: what is left is for the next one.
const CHUNK: usize = 100;
const MAX_ROUNDS: usize = 10;

// A draft that the domain reads; without a doc comment, so that it goes by the name and the words of its shape.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "CommentShape")]
pub(crate) struct CommentBody(CommentDraft);

/// A comment to write.
#[derive(JsonSchema)]
#[schemars(rename = "NewComment")]
#[expect(dead_code, reason = "only its shape is used")]
struct CommentShape {
    /// 1 to 2,000 characters.
    text: String,
}

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

pub(crate) const WRITE: Operation =
    Operation::post("/api/v1/posts/{postId}/comments", "commentOnPost", "Comment on a post")
        .description("On a post that you may see.")
        .role(Role::Member)
        .refuses(&[404, 503]);

/// The comment is validated before the key.
pub(crate) async fn write(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Json(CommentBody(draft)): Json<CommentBody>,
    Path(post): Path<PostPath>,
    key: Result<IdempotencyKey>,
) -> Result<Repeatable<Created<CommentView>>> {
    let me = &caller.user_id;
    let id = CommentId::made_from(call.now, app.entropy.bytes());
    let comment = draft.checked(id, post, me.clone(), call.now)?;
    let claimant = app.entropy.token();
    let key = key?.0.map(|key| RequestKey::new(key, &call));
    let once = key.as_ref().map(|key| key.request(&call, me.as_str(), WRITE.id, &claimant));
    let answer = Repeatable::first(&written(&app, me, &comment).await?);
    for _ in 0..TRIES {
        let (entry, relation) = match visible_post(&app, me, post).await {
            Ok(met) => met,
            Err(problem) => return replay(&app, once.as_ref(), problem, call.now).await,
        };
        let once = once.as_ref().map(|once| (once, answer.stored()));
        let token = app.entropy.token();
        let done = app.feed.comment(&comment, &entry, &relation, once, call.now, &token);
        match done.await? {
            CommentOutcome::Created { aggregation_due } => {
                counts_moved(&app, post, aggregation_due, &call).await;
                return Ok(answer);
            }
            CommentOutcome::Replayed(claim) => {
                return idempotency::replay(claim, call.now).map(Repeatable::again);
            }
            CommentOutcome::Conflict => {}
        }
    }
    Err(contended())
}

pub(crate) const LIST: Operation =
    Operation::get("/api/v1/posts/{postId}/comments", "listComments", "List a post's comments")
        .description(
            "The oldest first. Those of people whom you block or mute, or who block you, \
             are left out.",
        )
        .role(Role::Member)
        .refuses(&[404]);

/// Those of people whom the caller blocks or mutes, or who block them, are left out, and made up for. The
/// query is validated before the post is read.
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    Query(query): Query<CommentsQuery>,
    post: Result<Path<PostPath>>,
) -> Result<Json<CommentsView>> {
    const LIST: &str = "comments";
    let me = &caller.user_id;
    let limit = page_limit(query.limit, 20, 100)?;
    let position = query.cursor.map(|text| Cursor::decode(LIST, &text)).transpose()?;
    let place = |text: String| CommentId::parse(&text).ok_or_else(Cursor::invalid);
    let after = position.map(place).transpose()?;
    let Path(post) = post?;
    let (entry, _) = visible_post(&app, me, post).await?;
    // One more than the page has is known of before a cursor is given.
    let (mut comments, reached) = shown_to(&app, me, entry.post.id, after, limit + 1).await?;
    let is_full = comments.len() > limit;
    comments.truncate(limit);
    let next = comments.last().filter(|_| is_full).map(|last| last.id).or(reached);
    Ok(Json(CommentsView {
        items: views(&app, me, &comments).await?,
        next_cursor: next.map(|next| Cursor::new(LIST, &next.text()).as_str().to_owned()),
        has_more: next.is_some(),
    }))
}

pub(crate) const DELETE: Operation = Operation::delete(
    "/api/v1/posts/{postId}/comments/{commentId}",
    "deleteComment",
    "Delete a comment",
)
.description("Its author may do that, and the post's. Repeating it changes nothing.")
.role(Role::Member)
.refuses(&[404, 503]);

/// Its author may do that, also if the post is gone, and the post's author. Repeating it changes nothing.
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Path(post): Path<PostPath>,
    Path(id): Path<CommentPath>,
) -> Result<NoContent> {
    let me = &caller.user_id;
    for _ in 0..TRIES {
        let found = app.feed.find_comment(post, id).await?;
        let entry = match &found {
            Some(own) if own.author == *me => {
                app.feed.post(post).await?.ok_or(Rejected::UnknownPost)?
            }
            _ => visible_post(&app, me, post).await?.0,
        };
        let comment = found.ok_or(Rejected::UnknownComment)?;
        let Some(gone) = comment.deleted(&entry.post, me, call.now)? else {
            return Ok(NoContent);
        };
        let token = app.entropy.token();
        match app.feed.uncomment(&gone, &entry, call.now, &token).await? {
            UncommentOutcome::Deleted { aggregation_due } => {
                counts_moved(&app, post, aggregation_due, &call).await;
                return Ok(NoContent);
            }
            UncommentOutcome::Unchanged => return Ok(NoContent),
            UncommentOutcome::Conflict => {}
        }
    }
    Err(contended())
}

/// The first `wanted` comments after a place that a reader may see, and how far was looked if there may be more
/// and it was enough.
async fn shown_to(
    app: &App,
    me: &UserId,
    post: PostId,
    mut after: Option<CommentId>,
    wanted: usize,
) -> Result<(Vec<Comment>, Option<CommentId>)> {
    let mut shown = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let found = app.feed.comments(post, after, CHUNK).await?;
        let ended = found.len() < CHUNK;
        after = found.last().map(|last| last.id);
        let authors: BTreeSet<&UserId> = found.iter().map(|comment| &comment.author).collect();
        let relationships = app.feed.relationships(me, authors).await?;
        let relationship = |who: &UserId| {
            relationships.get(who).map_or_else(Relationship::default, |relation| relation.state)
        };
        shown.extend(found.into_iter().filter(|it| it.is_shown(&relationship(&it.author), me)));
        if ended || shown.len() >= wanted {
            shown.truncate(wanted);
            return Ok((shown, None));
        }
    }
    Ok((shown, after))
}

async fn written(app: &App, me: &UserId, comment: &Comment) -> Result<Created<CommentView>> {
    let mut views = views(app, me, std::slice::from_ref(comment)).await?;
    let body = views.pop().ok_or(Rejected::UnknownComment)?;
    let location = format!("/api/v1/posts/{}/comments/{}", comment.post, comment.id.text());
    Ok(Created { location, body })
}

async fn views(app: &App, me: &UserId, comments: &[Comment]) -> Result<Vec<CommentView>> {
    let authors: BTreeSet<&UserId> = comments.iter().map(|comment| &comment.author).collect();
    let context = app.feed.post_context(me, authors, []).await?;
    let mut views = Vec::with_capacity(comments.len());
    for comment in comments {
        views.push(CommentView {
            comment_id: comment.id.text(),
            post_id: comment.post.text(),
            author: author_view(app, &context.profile(&comment.author)).await?,
            text: comment.text.clone(),
            created_at: comment.created_at.to_string(),
        });
    }
    Ok(views)
}
