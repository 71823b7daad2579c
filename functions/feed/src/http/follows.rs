//! Following, blocking and muting: the relationship between the caller and another user.

use std::sync::Arc;

use crate::store::ActionOutcome;
use boundary::http::{Call, Caller, Json, Operation, Result, State};
use domain::accounts::{Role, UserId};
use domain::feed::{Rejected, Relationship, SocialAction, is_profile_visible};
use schemars::JsonSchema;
use serde::Serialize;

use super::Person;
use crate::http::state::App;

/// The caller's relationship with another user.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub(crate) struct RelationshipView {
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

impl RelationshipView {
    pub(crate) fn of(other: &UserId, relationship: Relationship) -> Self {
        Self {
            user_id: other.as_str().to_owned(),
            follows: relationship.mine.follows,
            follows_you: relationship.theirs.follows,
            blocks: relationship.mine.blocks,
            mutes: relationship.mine.mutes,
        }
    }
}

pub(super) const FOLLOW: Operation =
    Operation::put("/api/v1/users/{userId}/follow", "followUser", "Follow a user")
        .description("Their posts come into your feed, also those of lately. At most 5,000 people.")
        .role(Role::Member)
        .refuses(&[409, 422]);

pub(super) async fn follow(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Person(other): Person,
) -> Result<Json<RelationshipView>> {
    if other != caller.user_id && !app.user_exists(&other).await? {
        return Err(Rejected::UnknownUser.into());
    }
    act(&app, &call, &caller, &other, SocialAction::Follow).await
}

pub(super) const UNFOLLOW: Operation =
    Operation::delete("/api/v1/users/{userId}/follow", "unfollowUser", "Unfollow a user")
        .description("Their posts leave your feed at once.")
        .role(Role::Member)
        .refuses(&[409, 422]);

pub(super) async fn unfollow(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Person(other): Person,
) -> Result<Json<RelationshipView>> {
    act(&app, &call, &caller, &other, SocialAction::Unfollow).await
}

pub(super) const BLOCK: Operation = Operation::put(
    "/api/v1/users/{userId}/block",
    "blockUser",
    "Block a user",
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
) -> Result<Json<RelationshipView>> {
    act(&app, &call, &caller, &other, SocialAction::Block).await
}

pub(super) const UNBLOCK: Operation =
    Operation::delete("/api/v1/users/{userId}/block", "unblockUser", "Unblock a user")
        .description("Follows that the block ended are not restored.")
        .role(Role::Member)
        .refuses(&[409, 422]);

pub(super) async fn unblock(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Person(other): Person,
) -> Result<Json<RelationshipView>> {
    act(&app, &call, &caller, &other, SocialAction::Unblock).await
}

pub(super) const MUTE: Operation =
    Operation::put("/api/v1/users/{userId}/mute", "muteUser", "Mute a user")
        .description(
            "Their posts and comments are left out of the lists that you read, until you unmute \
             them. They are not told.",
        )
        .role(Role::Member)
        .refuses(&[409, 422]);

pub(super) async fn mute(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Person(other): Person,
) -> Result<Json<RelationshipView>> {
    act(&app, &call, &caller, &other, SocialAction::Mute).await
}

pub(super) const UNMUTE: Operation =
    Operation::delete("/api/v1/users/{userId}/mute", "unmuteUser", "Unmute a user")
        .description("What was left out is there again.")
        .role(Role::Member)
        .refuses(&[409, 422]);

pub(super) async fn unmute(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Person(other): Person,
) -> Result<Json<RelationshipView>> {
    act(&app, &call, &caller, &other, SocialAction::Unmute).await
}

/// Repeating it changes nothing.
async fn act(
    app: &App,
    call: &Call,
    caller: &Caller,
    other: &UserId,
    act: SocialAction,
) -> Result<Json<RelationshipView>> {
    let token = || app.entropy.token();
    let relationship =
        match app.feed.apply_action(&caller.user_id, act, other, call.now, token).await? {
            ActionOutcome::Changed(relationship, messages) => {
                app.enqueue(messages, call).await;
                relationship
            }
            ActionOutcome::Unchanged(relationship) => relationship,
            ActionOutcome::Rejected(rejected) => return Err(rejected.into()),
        };
    Ok(Json(RelationshipView::of(other, relationship)))
}

/// The relationship with a user who exists and does not block the caller.
pub(super) async fn ensure_profile_visible(
    app: &App,
    me: &UserId,
    other: &UserId,
) -> Result<Relationship> {
    if me == other {
        return Ok(Relationship::default());
    }
    let relationship = app.feed.relationship(me, other).await?.state;
    if !is_profile_visible(&relationship) || !app.user_exists(other).await? {
        return Err(Rejected::UnknownUser.into());
    }
    Ok(relationship)
}
