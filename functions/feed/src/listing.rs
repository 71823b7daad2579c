//! One person's posts, as the caller may see them.

use boundary::http::{Answer, Cursor, Problem, Request, Response};
use domain::feed::{Listed, Listing, PostId};
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::feed::Entry;

use crate::State;
use crate::follows::may_know;
use crate::state::person_named;
use crate::view::{PostView, show};

const LIST: &str = "posts";

/// Which part of somebody's posts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PostsQuery {
    /// `nextCursor` of the page before.
    cursor: Option<String>,
    /// How many at most, 1 to 50; 20 if left out.
    #[schemars(range(min = 1, max = 50))]
    limit: Option<usize>,
}

/// A page of posts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PostsView {
    /// The newest first.
    pub(crate) items: Vec<PostView>,
    /// Pass it as `cursor` for the next page; `null` on the last one.
    pub(crate) next_cursor: Option<String>,
    pub(crate) has_more: bool,
}

pub(crate) async fn list(state: &State, request: Request) -> Answer {
    let me = request.caller()?.user_id.clone();
    let author = person_named(&request)?;
    let query: PostsQuery = request.query()?;
    let limit = query.limit.unwrap_or(20);
    if !(1..=50).contains(&limit) {
        return Err(Problem::field("limit", "a number from 1 to 50").into());
    }
    let position = query.cursor.map(|text| Cursor::position(LIST, &text)).transpose()?;
    let mut below = match position {
        Some(text) => PostId::parse(&text).ok_or_else(Cursor::not_one)?,
        None => PostId::MAX,
    };
    let tie = may_know(state, &me, &author).await?;
    let mut listing = Listing::new(me.clone(), tie, limit);
    if listing.is_barred(&author) {
        let nothing = PostsView { items: Vec::new(), next_cursor: None, has_more: false };
        return Ok(Response::json(StatusCode::OK, &nothing));
    }
    let row = state.feed.author(&author).await?.recents;
    let mut entries: Vec<Entry> = Vec::new();
    let (posts, next) = loop {
        let run = state.feed.posts_below(&author, &row, below, 2 * limit).await?;
        let ids: Vec<PostId> = run.references.iter().map(|found| found.post_id).collect();
        let mut found = state.feed.posts(ids.iter().copied().take(2 * limit)).await?;
        let some: Vec<Entry> = ids.iter().filter_map(|id| found.remove(id)).collect();
        let more = run.floor.is_some() || ids.len() > 2 * limit;
        entries.extend(some.iter().cloned());
        match listing.found(some.into_iter().map(|entry| entry.post).collect(), more) {
            Listed::More { below: next } => below = next,
            Listed::Done { posts, next } => break (posts, next),
        }
    };
    entries.retain(|entry| posts.iter().any(|post| post.id == entry.post.id));
    let view = PostsView {
        items: show(state, &me, &entries).await?,
        next_cursor: next.map(|next| Cursor::new(LIST, &next.text()).as_str().to_owned()),
        has_more: next.is_some(),
    };
    Ok(Response::json(StatusCode::OK, &view))
}
