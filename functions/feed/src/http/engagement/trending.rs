//! Trending posts that the caller may see.

use std::sync::Arc;

use crate::store::StoredPost;
use boundary::http::{Caller, Cursor, Json, Operation, Query, Result, State};
use domain::accounts::Role;
use domain::feed::trending::TrendingCursor;
use domain::feed::{PostId, Relationship, ViewContext, is_visible};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::page_limit;
use crate::http::state::App;
use crate::http::views::{PostView, post_views, relationships_with_authors};

/// Which part of what is trending.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrendingQuery {
    /// `nextCursor` of the page before, for an hour.
    cursor: Option<String>,
    /// How many at most, 1 to 50; 20 if left out.
    #[schemars(range(min = 1, max = 50))]
    limit: Option<usize>,
}

/// A page of what is trending.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrendingView {
    /// The hottest first.
    items: Vec<PostView>,
    /// Pass it as `cursor` for the next page; `null` on the last one.
    next_cursor: Option<String>,
    has_more: bool,
}

pub(crate) const READ: Operation =
    Operation::get("/api/v1/trending", "readTrending", "List trending posts")
        .description(
            "By how many people came to a post lately, each counted once. It is looked at \
             once a minute, and pages hold still for an hour.",
        )
        .role(Role::Member);

/// Pages go by the snapshot that the first one was made from.
pub(crate) async fn read(
    State(app): State<Arc<App>>,
    caller: Caller,
    Query(query): Query<TrendingQuery>,
) -> Result<Json<TrendingView>> {
    const LIST: &str = "trending";
    let me = &caller.user_id;
    let limit = page_limit(query.limit, 20, 50)?;
    let position = query.cursor.map(|text| Cursor::decode(LIST, &text)).transpose()?;
    let mark = position.map(|text| TrendingCursor::parse(&text)).transpose()?;
    let Some(snapshot) = app.feed.snapshot(mark.map(|mark| mark.minute)).await? else {
        return match mark {
            Some(_) => Err(Cursor::invalid()),
            None => Ok(Json(TrendingView::default())),
        };
    };
    let from = mark.map_or(0, |mark| mark.next);
    let mut found = app.feed.posts(snapshot.posts.iter().copied().skip(from)).await?;
    let relationships = relationships_with_authors(&app, me, found.values()).await?;
    let may_see = |id: PostId| {
        found.get(&id).is_some_and(|entry| {
            let relationship = relationships
                .get(&entry.post.author)
                .copied()
                .unwrap_or_else(Relationship::default);
            is_visible(&entry.post, &relationship, me, ViewContext::Listed)
        })
    };
    let (page, next) = snapshot.page(from, limit, may_see);
    let entries: Vec<StoredPost> = page.iter().filter_map(|id| found.remove(id)).collect();
    Ok(Json(TrendingView {
        items: post_views(&app, me, &entries).await?,
        next_cursor: next.map(|next| Cursor::new(LIST, &next.text()).as_str().to_owned()),
        has_more: next.is_some(),
    }))
}
