//! The lists of who follows whom.

use std::collections::HashMap;
use std::sync::Arc;

use boundary::http::{Caller, Cursor, Json, Operation, Problem, Query, State};
use domain::accounts::{Role, UserId};
use domain::feed::Profile;
use domain::{Failure, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Person;
use super::follows::may_know;
use super::view::{AuthorView, author};
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

/// Which list.
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
    Operation::get("/api/v1/users/{userId}/followers", "listFollowers", "Who follows somebody?")
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

pub(super) const FOLLOWING: Operation = Operation::get(
    "/api/v1/users/{userId}/following",
    "listFollowing",
    "Whom does somebody follow?",
)
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
    let limit = query.limit.unwrap_or(50);
    if !(1..=100).contains(&limit) {
        return Err(Problem::field("limit", "a number from 1 to 100"));
    }
    let after = query.cursor.map(|text| Cursor::decode(list.name(), &text)).transpose()?;
    let mut after = after.as_deref().map(UserId::outside);
    may_know(app, me, whose).await?;
    let mut shown: Vec<UserId> = Vec::new();
    // One more than the page has is known of before a cursor is given.
    while shown.len() <= limit {
        let found = match list {
            List::Followers => app.feed.followers(whose, after.as_ref(), limit + 1).await?,
            List::Following => app.feed.following(whose, after.as_ref(), Some(limit + 1)).await?,
        };
        let ended = found.len() <= limit;
        after = found.last().cloned();
        let ties = app.feed.ties(me, &found).await?;
        let blocked = |who: &UserId| ties.get(who).is_some_and(|one| one.tie.is_blocked());
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
async fn people(app: &App, me: &UserId, users: &[UserId]) -> Result<Vec<AuthorView>, Failure> {
    let profiles: HashMap<UserId, Profile> = app.feed.company(me, users, []).await?.profiles;
    let mut views = Vec::with_capacity(users.len());
    for user in users {
        let unwritten = || Profile::unwritten(user.clone(), Timestamp::UNIX_EPOCH);
        let profile = profiles.get(user).cloned().unwrap_or_else(unwritten);
        views.push(author(app, &profile).await?);
    }
    Ok(views)
}
