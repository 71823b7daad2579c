//! The feed, seen from outside: write, follow, read, like, and everything that people do about posts.
//!
//! Trigger: HTTP. Effect: a post is one transaction of its row, its author's row, the work of fanning it
//! out and the answer that a repeat gets; then one publish. Guarantee: nothing is shown that
//! `domain::feed::visible` denies; what is deleted or blocked is gone when the call is answered; a repeated
//! call changes nothing; what may not be seen is not found.

mod engagement;
mod followers;
mod follows;
mod home;
mod media;
mod posts;
mod realtime;
mod schemas;
mod state;
mod user_posts;
mod views;

use std::sync::Arc;

use ::http::request::Parts;
use axum::extract::FromRequestParts;
use boundary::http::{Api, Caller, Operations, Path, Problem, Result, Segment};
use boundary::openapi::{DescribeExtractor, OperationEntry};
use boundary::{Host, Misconfigured};
use domain::accounts::UserId;
use domain::feed::{CommentId, PostId, Rejected};
use schemars::SchemaGenerator;

use crate::http::engagement::{comments, likes, moderation, profiles, share, trending};
use crate::http::state::App;

/// Tries when another request changes the rows that were read.
const TRIES: usize = 8;

/// No issuer's subject is longer (`OpenID` Connect says 255), and a row's key takes it.
const MAX_SUBJECT_LENGTH: usize = 300;

/// The function on `host`.
pub fn function(host: &Host) -> Result<Api, Misconfigured> {
    Api::new(host, App::from_host(host)?, operations)
}

pub fn operations(to: &mut impl Operations<App>) {
    // Posts, and the feed that they come to.
    to.on(home::READ, home::read);
    to.on(realtime::FIND, realtime::find);
    to.on(posts::WRITE, posts::write);
    to.on(posts::READ, posts::read);
    to.on(posts::EDIT, posts::edit);
    to.on(posts::DELETE, posts::delete);
    to.on(media::PREPARE, media::prepare);
    // What people are to each other.
    to.on(follows::FOLLOW, follows::follow);
    to.on(follows::UNFOLLOW, follows::unfollow);
    to.on(follows::BLOCK, follows::block);
    to.on(follows::UNBLOCK, follows::unblock);
    to.on(follows::MUTE, follows::mute);
    to.on(follows::UNMUTE, follows::unmute);
    to.on(followers::FOLLOWERS, followers::followers);
    to.on(followers::FOLLOWING, followers::following);
    to.on(user_posts::LIST, user_posts::list);
    // What people do about posts, and what they show of themselves.
    to.on(likes::LIKE, likes::like);
    to.on(likes::UNLIKE, likes::unlike);
    to.on(comments::WRITE, comments::write);
    to.on(comments::LIST, comments::list);
    to.on(comments::DELETE, comments::delete);
    to.on(share::SHARE, share::share);
    to.on(profiles::READ, profiles::read);
    to.on(profiles::SAVE, profiles::save);
    to.on(trending::READ, trending::read);
    // Reports, and what becomes of them.
    to.on(moderation::REPORT, moderation::report);
    to.on(moderation::LIST, moderation::list);
    to.on(moderation::RULE, moderation::rule);
}

/// The limit of a page: what the caller asks for, or the default.
pub(crate) fn page_limit(limit: Option<usize>, default: usize, max: usize) -> Result<usize> {
    let limit = limit.unwrap_or(default);
    let rule = || Problem::field("limit", format!("a number from 1 to {max}"));
    (1..=max).contains(&limit).then_some(limit).ok_or_else(rule)
}

/// The path names a post.
pub(crate) struct PostPath;

impl Segment for PostPath {
    type Value = PostId;
    const NAME: &'static str = "postId";
    const MEANING: &'static str = "The post.";

    fn parse(text: &str) -> Result<PostId> {
        PostId::parse(text).ok_or_else(|| Rejected::UnknownPost.into())
    }
}

/// The path names a comment.
pub(crate) struct CommentPath;

impl Segment for CommentPath {
    type Value = CommentId;
    const NAME: &'static str = "commentId";
    const MEANING: &'static str = "The comment.";

    fn parse(text: &str) -> Result<CommentId> {
        CommentId::parse(text).ok_or_else(|| Rejected::UnknownComment.into())
    }
}

/// The path names a person. Which names there can be depends on who asks: [`Person`] says.
struct UserPath;

impl Segment for UserPath {
    type Value = String;
    const NAME: &'static str = "userId";
    const MEANING: &'static str = "The person.";

    fn parse(text: &str) -> Result<String> {
        Ok(text.to_owned())
    }
}

/// The person that the path names. Whether there is one is another question.
pub(crate) struct Person(pub(crate) UserId);

impl FromRequestParts<Arc<App>> for Person {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        let caller = <Caller as FromRequestParts<Arc<App>>>::from_request_parts(parts, app).await?;
        let Path(named) = Path::<UserPath>::from_request_parts(parts, app).await?;
        if caller.user_id.as_str() == named {
            return Ok(Self(caller.user_id.clone()));
        }
        // A caller who comes from an issuer of their own has a name that is not made here.
        if named.starts_with(UserId::OIDC) && named.len() <= MAX_SUBJECT_LENGTH {
            return Ok(Self(UserId::outside(&named)));
        }
        UserId::parse(&named).map(Self).map_err(|_| Rejected::UnknownUser.into())
    }
}

impl DescribeExtractor for Person {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        Path::<UserPath>::describe(entry, schemas);
        entry.errors(&[404]);
    }
}
