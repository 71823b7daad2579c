//! Following, blocking and muting, and the lists of who follows whom.

use std::collections::HashMap;

use boundary::http::{Answer, Cursor, Error, Problem, Request, Response};
use domain::accounts::UserId;
use domain::feed::{Act, Profile, Rejected, Tie, knows};
use domain::{Failure, Timestamp};
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::feed::Acted;

use crate::State;
use crate::state::person_named;
use crate::view::{AuthorView, author};

/// How the caller stands to somebody.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub(crate) struct TieView {
    user_id: String,
    /// Whether you follow them.
    follows: bool,
    /// Whether they follow you.
    follows_you: bool,
    /// Whether you block them.
    blocks: bool,
    /// Whether you mute them.
    mutes: bool,
}

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

impl TieView {
    pub(crate) fn of(other: &UserId, tie: Tie) -> Self {
        Self {
            user_id: other.as_str().to_owned(),
            follows: tie.mine.follows,
            follows_you: tie.theirs.follows,
            blocks: tie.mine.blocks,
            mutes: tie.mine.mutes,
        }
    }
}

pub(crate) async fn follow(state: &State, request: Request) -> Answer {
    let other = person_named(&request)?;
    if other != request.caller()?.user_id && !state.is_somebody(&other).await? {
        return Err(Rejected::UnknownUser.into());
    }
    act(state, &request, &other, Act::Follow).await
}

pub(crate) async fn unfollow(state: &State, request: Request) -> Answer {
    act(state, &request, &person_named(&request)?, Act::Unfollow).await
}

pub(crate) async fn block(state: &State, request: Request) -> Answer {
    act(state, &request, &person_named(&request)?, Act::Block).await
}

pub(crate) async fn unblock(state: &State, request: Request) -> Answer {
    act(state, &request, &person_named(&request)?, Act::Unblock).await
}

pub(crate) async fn mute(state: &State, request: Request) -> Answer {
    act(state, &request, &person_named(&request)?, Act::Mute).await
}

pub(crate) async fn unmute(state: &State, request: Request) -> Answer {
    act(state, &request, &person_named(&request)?, Act::Unmute).await
}

/// Repeating it changes nothing.
async fn act(state: &State, request: &Request, other: &UserId, act: Act) -> Answer {
    let me = &request.caller()?.user_id;
    let token = || state.entropy.token();
    let tie = match state.feed.act(me, act, other, request.now, token).await? {
        Acted::Changed(tie, told) => {
            state.ask(told, request).await;
            tie
        }
        Acted::Same(tie) => tie,
        Acted::Rejected(rejected) => return Err(rejected.into()),
    };
    Ok(Response::json(StatusCode::OK, &TieView::of(other, tie)))
}

pub(crate) async fn followers(state: &State, request: Request) -> Answer {
    list(state, request, List::Followers).await
}

pub(crate) async fn following(state: &State, request: Request) -> Answer {
    list(state, request, List::Following).await
}

/// Who blocks the caller, or is blocked by them, is not on any list that they see.
async fn list(state: &State, request: Request, list: List) -> Answer {
    let me = request.caller()?.user_id.clone();
    let whose = person_named(&request)?;
    let query: PeopleQuery = request.query()?;
    let limit = query.limit.unwrap_or(50);
    if !(1..=100).contains(&limit) {
        return Err(Problem::field("limit", "a number from 1 to 100").into());
    }
    let after = query.cursor.map(|text| Cursor::position(list.name(), &text)).transpose()?;
    let mut after = after.as_deref().map(UserId::outside);
    may_know(state, &me, &whose).await?;
    let mut shown: Vec<UserId> = Vec::new();
    // One more than the page has is known of before a cursor is given.
    while shown.len() <= limit {
        let found = match list {
            List::Followers => state.feed.followers(&whose, after.as_ref(), limit + 1).await?,
            List::Following => {
                state.feed.following(&whose, after.as_ref(), Some(limit + 1)).await?
            }
        };
        let ended = found.len() <= limit;
        after = found.last().cloned();
        let ties = state.feed.ties(&me, &found).await?;
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
    let items = people(state, &me, &shown).await?;
    Ok(Response::json(StatusCode::OK, &PeopleView { items, next_cursor, has_more }))
}

/// Whether there is somebody, and the caller may know of them.
pub(crate) async fn may_know(state: &State, me: &UserId, other: &UserId) -> Result<Tie, Error> {
    if me == other {
        return Ok(Tie::default());
    }
    let tie = state.feed.between(me, other).await?.tie;
    if !knows(&tie) || !state.is_somebody(other).await? {
        return Err(Rejected::UnknownUser.into());
    }
    Ok(tie)
}

/// People, each in a line.
async fn people(state: &State, me: &UserId, users: &[UserId]) -> Result<Vec<AuthorView>, Failure> {
    let profiles: HashMap<UserId, Profile> = state.feed.company(me, users, []).await?.profiles;
    let mut views = Vec::with_capacity(users.len());
    for user in users {
        let unwritten = || Profile::unwritten(user.clone(), Timestamp::UNIX_EPOCH);
        let profile = profiles.get(user).cloned().unwrap_or_else(unwritten);
        views.push(author(state, &profile).await?);
    }
    Ok(views)
}
