//! Following, blocking and muting: what is between the caller and somebody else.

use std::sync::Arc;

use crate::store::Acted;
use boundary::http::{Call, Caller, Json, Operation, Problem, State};
use domain::accounts::{Role, UserId};
use domain::feed::{Act, Rejected, Tie, knows};
use schemars::JsonSchema;
use serde::Serialize;

use super::Person;
use crate::http::state::App;

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

pub(super) const FOLLOW: Operation =
    Operation::put("/api/v1/users/{userId}/follow", "followUser", "Follow somebody")
        .description("Their posts come into your feed, also those of lately. At most 5,000 people.")
        .role(Role::Member)
        .refuses(&[409, 422]);

pub(super) async fn follow(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Person(other): Person,
) -> Result<Json<TieView>, Problem> {
    if other != caller.user_id && !app.is_somebody(&other).await? {
        return Err(Rejected::UnknownUser.into());
    }
    act(&app, &call, &caller, &other, Act::Follow).await
}

pub(super) const UNFOLLOW: Operation =
    Operation::delete("/api/v1/users/{userId}/follow", "unfollowUser", "Follow somebody no longer")
        .description("Their posts leave your feed at once.")
        .role(Role::Member)
        .refuses(&[409, 422]);

pub(super) async fn unfollow(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Person(other): Person,
) -> Result<Json<TieView>, Problem> {
    act(&app, &call, &caller, &other, Act::Unfollow).await
}

pub(super) const BLOCK: Operation = Operation::put(
    "/api/v1/users/{userId}/block",
    "blockUser",
    "Block somebody",
)
.description(
    "Neither of you sees anything of the other, and neither follows the other any more. They \
             are not told: to them it is as if you did not exist.",
)
.role(Role::Member)
.refuses(&[409, 422]);

pub(super) async fn block(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Person(other): Person,
) -> Result<Json<TieView>, Problem> {
    act(&app, &call, &caller, &other, Act::Block).await
}

pub(super) const UNBLOCK: Operation =
    Operation::delete("/api/v1/users/{userId}/block", "unblockUser", "Block somebody no longer")
        .description("Nobody follows anybody by that.")
        .role(Role::Member)
        .refuses(&[409, 422]);

pub(super) async fn unblock(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Person(other): Person,
) -> Result<Json<TieView>, Problem> {
    act(&app, &call, &caller, &other, Act::Unblock).await
}

pub(super) const MUTE: Operation =
    Operation::put("/api/v1/users/{userId}/mute", "muteUser", "Mute somebody")
        .description(
            "Their posts and comments are left out of whatever lists you read, until you unmute \
             them. They are not told.",
        )
        .role(Role::Member)
        .refuses(&[409, 422]);

pub(super) async fn mute(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Person(other): Person,
) -> Result<Json<TieView>, Problem> {
    act(&app, &call, &caller, &other, Act::Mute).await
}

pub(super) const UNMUTE: Operation =
    Operation::delete("/api/v1/users/{userId}/mute", "unmuteUser", "Mute somebody no longer")
        .description("What was left out is there again.")
        .role(Role::Member)
        .refuses(&[409, 422]);

pub(super) async fn unmute(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Person(other): Person,
) -> Result<Json<TieView>, Problem> {
    act(&app, &call, &caller, &other, Act::Unmute).await
}

/// Repeating it changes nothing.
async fn act(
    app: &App,
    call: &Call,
    caller: &Caller,
    other: &UserId,
    act: Act,
) -> Result<Json<TieView>, Problem> {
    let token = || app.entropy.token();
    let tie = match app.feed.act(&caller.user_id, act, other, call.now, token).await? {
        Acted::Changed(tie, told) => {
            app.ask(told, call).await;
            tie
        }
        Acted::Same(tie) => tie,
        Acted::Rejected(rejected) => return Err(rejected.into()),
    };
    Ok(Json(TieView::of(other, tie)))
}

/// Whether there is somebody, and the caller may know of them.
pub(super) async fn may_know(app: &App, me: &UserId, other: &UserId) -> Result<Tie, Problem> {
    if me == other {
        return Ok(Tie::default());
    }
    let tie = app.feed.between(me, other).await?.tie;
    if !knows(&tie) || !app.is_somebody(other).await? {
        return Err(Rejected::UnknownUser.into());
    }
    Ok(tie)
}
