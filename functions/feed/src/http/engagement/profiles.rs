//! Profiles.

use std::sync::Arc;

use ::http::{HeaderName, header};
use boundary::http::{Call, Caller, IfMatch, Json, Operation, Problem, Result, State, Versioned};
use domain::accounts::{Role, UserId};
use domain::feed::{Profile, ProfileDraft, Relationship};
use futures::future::try_join;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TRIES;
use crate::http::follows::{RelationshipView, ensure_profile_visible};
use crate::http::posts::contended;
use crate::http::state::App;
use crate::http::views::{AuthorView, author_view};
use crate::http::{Person, media};

// A profile that the domain reads; without a doc comment, so that it goes by the name and the words of its shape.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "ProfileShape")]
pub(crate) struct ProfileBody(ProfileDraft);

/// The user's profile. What is left out is empty afterwards.
#[derive(JsonSchema)]
#[schemars(rename = "NewProfile")]
#[expect(dead_code, reason = "only its shape is used")]
struct ProfileShape {
    /// What you want to be called, 1 to 100 characters.
    name: String,
    /// A few words, at most 500 characters.
    bio: Option<String>,
    /// The name of a finished upload of your own.
    avatar: Option<String>,
}

/// A person.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProfileView {
    #[serde(flatten)]
    person: AuthorView,
    bio: String,
    /// How many follow them.
    followers: u64,
    /// How many they follow.
    following: u32,
    /// How you stand to them; absent for yourself.
    #[serde(skip_serializing_if = "Option::is_none")]
    you: Option<RelationshipView>,
    /// Grows with each change of the profile: its `ETag`. 0 as long as they have written nothing.
    version: u64,
}

pub(crate) const READ: Operation =
    Operation::get("/api/v1/users/{userId}", "readProfile", "Read a profile")
        .description(
            "What they show of themselves, how many follow them, and how you stand to them. \
             Your own has an `ETag`.",
        )
        .role(Role::Member);

/// A profile; with an `ETag` if it is the caller's own: what others see changes without a new version.
type Shown = (Option<[(HeaderName, String); 1]>, Json<ProfileView>);

pub(crate) async fn read(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Person(user): Person,
) -> Result<Shown> {
    let me = &caller.user_id;
    let relationship = ensure_profile_visible(&app, me, &user).await?;
    let profile = stored(&app, &user, &call).await?;
    let relationship = (*me != user).then_some(relationship);
    let view = shown(&app, &profile, relationship, &call).await?;
    let etag = relationship.is_none().then(|| [(header::ETAG, format!("\"{}\"", profile.version))]);
    Ok((etag, Json(view)))
}

pub(crate) const SAVE: Operation =
    Operation::put("/api/v1/users/{userId}", "saveProfile", "Save your profile")
        .description("Replaces all of it. Only your own.")
        .role(Role::Member)
        .refuses(&[503]);

/// The owner is checked before the body, and the body before the version.
pub(crate) async fn save(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Person(user): Person,
    draft: Result<Json<ProfileBody>>,
    version: Result<Option<IfMatch>>,
) -> Result<Versioned<Json<ProfileView>>> {
    let me = &caller.user_id;
    if user != *me {
        ensure_profile_visible(&app, me, &user).await?;
        return Err(Problem::forbidden("You can only change your own profile."));
    }
    let Json(ProfileBody(draft)) = draft?;
    for _ in 0..TRIES {
        let before = stored(&app, me, &call).await?;
        if version.clone()?.is_some_and(|IfMatch(version)| version != before.version) {
            return Err(Problem::version_mismatch());
        }
        let after = before.updated(&draft, call.now)?;
        media::check(&app, me, after.avatar.as_slice()).await.map_err(about_avatar)?;
        let token = app.entropy.token();
        if app.feed.save_profile(&after, before.version, &token).await? {
            let view = shown(&app, &after, None, &call).await?;
            return Ok(Versioned(after.version, Json(view)));
        }
    }
    Err(contended())
}

/// The only upload here is the avatar.
fn about_avatar(problem: Problem) -> Problem {
    if problem.is_fault() {
        return problem;
    }
    Problem::field("avatar", "an upload of your own that is finished")
}

async fn stored(app: &App, user: &UserId, call: &Call) -> Result<Profile> {
    let found = app.feed.profile(user).await?;
    Ok(found.unwrap_or_else(|| Profile::default_for(user.clone(), call.now)))
}

async fn shown(
    app: &App,
    profile: &Profile,
    relationship: Option<Relationship>,
    call: &Call,
) -> Result<ProfileView> {
    let followers = app.feed.count_followers(&profile.user);
    let state = app.feed.reader_state(&profile.user, call.now);
    let (followers, state) = try_join(followers, state).await?;
    Ok(ProfileView {
        person: author_view(app, profile).await?,
        bio: profile.bio.clone(),
        followers,
        following: state.following,
        you: relationship.map(|relationship| RelationshipView::of(&profile.user, relationship)),
        version: profile.version,
    })
}
