//! The lists of who follows whom.

use std::sync::Arc;

use boundary::http::{Caller, Cursor, Json, Operation, Problem, Query, State};
use domain::Result;
use domain::accounts::{Role, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::follows::ensure_profile_visible;
use super::views::{AuthorView, author_view};
use super::{Person, page_limit};
use crate::http::state::App;

/// Which part of a list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PeopleQuery {
    /// `nextCursor` of the page before.
    cursor: Option<String>,
    /// How many at most, 1 to 100; 50 if left out.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
}

/// A page of people.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PeopleView {
    items: Vec<AuthorView>,
    /// Pass it as `cursor` for the next page; `null` on the last one.
    next_cursor: Option<String>,
    has_more: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Followers,
    Following,
}

impl List {
    const fn name(self) -> &'static str {
        match self {
            Self::Followers => "followers",
            Self::Following => "following",
        }
    }
}

pub(super) const FOLLOWERS: Operation =
    Operation::get("/api/v1/users/{userId}/followers", "listFollowers", "List a user's followers")
        .description("In an order that stays. Who blocks you, or is blocked by you, is left out.")
        .role(Role::Member);

pub(super) async fn followers(
    State(app): State<Arc<App>>,
    caller: Caller,
    Person(whose): Person,
    Query(query): Query<PeopleQuery>,
) -> Result<Json<PeopleView>, Problem> {
    list(&app, &caller, &whose, query, List::Followers).await
}

pub(super) const FOLLOWING: Operation =
    Operation::get("/api/v1/users/{userId}/following", "listFollowing", "List whom a user follows")
        .description("By name. Who blocks you, or is blocked by you, is left out.")
        .role(Role::Member);

pub(super) async fn following(
    State(app): State<Arc<App>>,
    caller: Caller,
    Person(whose): Person,
    Query(query): Query<PeopleQuery>,
) -> Result<Json<PeopleView>, Problem> {
    list(&app, &caller, &whose, query, List::Following).await
}

/// Who blocks the caller, or is blocked by them, is not on any list that they see.
async fn list(
    app: &App,
    caller: &Caller,
    whose: &UserId,
    query: PeopleQuery,
    list: List,
) -> Result<Json<PeopleView>, Problem> {
    let me = &caller.user_id;
    let limit = page_limit(query.limit, 50, 100)?;
    let after = query.cursor.map(|text| Cursor::decode(list.name(), &text)).transpose()?;
    let mut after = after.as_deref().map(UserId::outside);
    ensure_profile_visible(app, me, whose).await?;
    let mut shown: Vec<UserId> = Vec::new();
    // One more than the page has is known of before a cursor is given.
    while shown.len() <= limit {
        let found = match list {
            List::Followers => app.feed.followers(whose, after.as_ref(), limit + 1).await?,
            List::Following => app.feed.following(whose, after.as_ref(), Some(limit + 1)).await?,
        };
        let ended = found.len() <= limit;
        after = found.last().cloned();
        let relationships = app.feed.relationships(me, &found).await?;
        let blocked =
            |who: &UserId| relationships.get(who).is_some_and(|one| one.state.is_blocked());
        shown.extend(found.into_iter().filter(|who| !blocked(who)));
        if ended {
            break;
        }
    }
    let has_more = shown.len() > limit;
    shown.truncate(limit);
    let next = shown.last().filter(|_| has_more);
    let next_cursor = next.map(|last| Cursor::new(list.name(), last.as_str()).as_str().to_owned());
    let items = people(app, me, &shown).await?;
    Ok(Json(PeopleView { items, next_cursor, has_more }))
}

/// People, each in a line.
async fn people(app: &App, me: &UserId, users: &[UserId]) -> Result<Vec<AuthorView>> {
    let context = app.feed.post_context(me, users, []).await?;
    let mut views = Vec::with_capacity(users.len());
    for user in users {
        views.push(author_view(app, &context.profile(user)).await?);
    }
    Ok(views)
}
