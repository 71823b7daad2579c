//! One person's posts, as the caller may see them.

use std::sync::Arc;

use crate::store::StoredPost;
use boundary::http::{Caller, Cursor, Json, Operation, Query, Result, State};
use domain::accounts::Role;
use domain::feed::{PostId, UserPostsPager, UserPostsStep};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::follows::ensure_profile_visible;
use super::views::{PostView, post_views};
use super::{Person, page_limit};
use crate::http::state::App;

/// Which part of a user's posts.
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
    items: Vec<PostView>,
    /// Pass it as `cursor` for the next page; `null` on the last one.
    next_cursor: Option<String>,
    has_more: bool,
}

pub(super) const LIST: Operation =
    Operation::get("/api/v1/users/{userId}/posts", "listUserPosts", "List a user's posts")
        .description("The newest first, as far as you may see them.")
        .role(Role::Member);

pub(super) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    Person(author): Person,
    Query(query): Query<PostsQuery>,
) -> Result<Json<PostsView>> {
    const LIST: &str = "posts";
    let me = &caller.user_id;
    let limit = page_limit(query.limit, 20, 50)?;
    let position = query.cursor.map(|text| Cursor::decode(LIST, &text)).transpose()?;
    let mut below = match position {
        Some(text) => PostId::parse(&text).ok_or_else(Cursor::invalid)?,
        None => PostId::MAX,
    };
    let relationship = ensure_profile_visible(&app, me, &author).await?;
    let mut pager = UserPostsPager::new(me.clone(), relationship, limit);
    if pager.is_hidden(&author) {
        let nothing = PostsView { items: Vec::new(), next_cursor: None, has_more: false };
        return Ok(Json(nothing));
    }
    let row = app.feed.author(&author).await?.recents;
    let mut entries: Vec<StoredPost> = Vec::new();
    let (posts, next) = loop {
        let run = app.feed.posts_below(&author, &row, below, 2 * limit).await?;
        let ids: Vec<PostId> = run.references.iter().map(|found| found.post_id).collect();
        let mut found = app.feed.posts(ids.iter().copied().take(2 * limit)).await?;
        let some: Vec<StoredPost> = ids.iter().filter_map(|id| found.remove(id)).collect();
        let more = run.floor.is_some() || ids.len() > 2 * limit;
        entries.extend(some.iter().cloned());
        match pager.posts_fetched(some.into_iter().map(|entry| entry.post).collect(), more) {
            UserPostsStep::FetchBelow { below: next } => below = next,
            UserPostsStep::Done { posts, next } => break (posts, next),
        }
    };
    entries.retain(|entry| posts.iter().any(|post| post.id == entry.post.id));
    Ok(Json(PostsView {
        items: post_views(&app, me, &entries).await?,
        next_cursor: next.map(|next| Cursor::new(LIST, &next.text()).as_str().to_owned()),
        has_more: next.is_some(),
    }))
}
