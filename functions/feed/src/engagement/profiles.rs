//! What people show of themselves.

use boundary::http::{Answer, Error, Problem, Request, Response};
use domain::accounts::UserId;
use domain::feed::{Profile, ProfileDraft, Tie};
use http::{StatusCode, header};
use schemars::JsonSchema;
use serde::Serialize;

use super::TRIES;
use crate::follows::{TieView, may_know};
use crate::posts::busy;
use crate::state::person_named;
use crate::view::{AuthorView, author};
use crate::{State, media};

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
    you: Option<TieView>,
    /// Grows with each change of the profile: its `ETag`. 0 as long as they have written nothing.
    version: u64,
}

pub(crate) async fn read(state: &State, request: Request) -> Answer {
    let me = &request.caller()?.user_id;
    let user = person_named(&request)?;
    let tie = may_know(state, me, &user).await?;
    let profile = stored(state, &user, &request).await?;
    let tie = (*me != user).then_some(tie);
    shown(state, &profile, tie, &request).await
}

pub(crate) async fn save(state: &State, request: Request) -> Answer {
    let me = request.caller()?.user_id.clone();
    let user = person_named(&request)?;
    if user != me {
        may_know(state, &me, &user).await?;
        return Err(Problem::forbidden("You can only change your own profile.").into());
    }
    let draft: ProfileDraft = request.json()?;
    for _ in 0..TRIES {
        let before = stored(state, &me, &request).await?;
        if request.headers.contains_key(header::IF_MATCH) && request.if_match()? != before.version {
            return Err(Problem::moved().into());
        }
        let after = before.written(&draft, request.now)?;
        media::check(state, &me, after.avatar.as_slice()).await.map_err(about_avatar)?;
        let token = state.entropy.token();
        if state.feed.save_profile(&after, before.version, &token).await? {
            return shown(state, &after, None, &request).await;
        }
    }
    Err(busy())
}

/// Whatever is wrong with uploads is wrong with the one that there is.
fn about_avatar(error: Error) -> Error {
    match error {
        Error::Problem(_) => {
            Problem::field("avatar", "an upload of your own that is finished").into()
        }
        failure @ Error::Failure(_) => failure,
    }
}

async fn stored(state: &State, user: &UserId, request: &Request) -> Result<Profile, Error> {
    let found = state.feed.profile(user).await?;
    Ok(found.unwrap_or_else(|| Profile::unwritten(user.clone(), request.now)))
}

async fn shown(state: &State, profile: &Profile, tie: Option<Tie>, request: &Request) -> Answer {
    let (followers, standing) = futures::future::try_join(
        state.feed.count_followers(&profile.user),
        state.feed.standing(&profile.user, request.now),
    )
    .await?;
    let view = ProfileView {
        person: author(state, profile).await?,
        bio: profile.bio.clone(),
        followers,
        following: standing.following,
        you: tie.map(|tie| TieView::of(&profile.user, tie)),
        version: profile.version,
    };
    let response = Response::json(StatusCode::OK, &view);
    // What others see changes without a new version.
    Ok(if tie.is_none() { response.with_version(profile.version) } else { response })
}
