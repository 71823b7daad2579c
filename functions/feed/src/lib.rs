//! The feed, seen from outside: write, follow, read, like, and everything that people do about posts.
//!
//! Trigger: HTTP. Effect: a post is one transaction of its row, its author's row, the work of fanning it
//! out and the answer that a repeat gets; then one publish. Guarantee: nothing is shown that
//! `domain::feed::visible` denies; what is deleted or blocked is gone when the call is answered; a repeated
//! call changes nothing; what may not be seen is not found.

pub mod docs;
mod engagement;
mod follows;
mod home;
mod listing;
mod media;
mod posts;
mod realtime;
mod shapes;
mod state;
mod view;

use boundary::http::{Access, Api, Builder};
use boundary::{Host, Misconfigured};
use domain::accounts::Role;
use http::Method;

pub use state::State;

const MEMBER: Access = Access::Role(Role::Member);

/// The function on `host`.
pub fn function(host: &Host) -> Result<Api<State>, Misconfigured> {
    engagement::routes(people(writing(Builder::default()))).build(host, State::on(host)?)
}

/// Posts, and the feed that they come to.
fn writing(builder: Builder<State>) -> Builder<State> {
    const POST: &str = "/api/v1/posts/{postId}";
    builder
        .on(Method::GET, "/api/v1/feed", "readFeed", MEMBER, |s, r| Box::pin(home::read(s, r)))
        .on(Method::GET, "/api/v1/feed/realtime", "findRealtime", MEMBER, |s, r| {
            Box::pin(realtime::find(s, r))
        })
        .on(Method::POST, "/api/v1/posts", "writePost", MEMBER, |s, r| Box::pin(posts::write(s, r)))
        .on(Method::GET, POST, "readPost", MEMBER, |s, r| Box::pin(posts::read(s, r)))
        .on(Method::PATCH, POST, "editPost", MEMBER, |s, r| Box::pin(posts::edit(s, r)))
        .on(Method::DELETE, POST, "deletePost", MEMBER, |s, r| Box::pin(posts::delete(s, r)))
        .on(Method::POST, "/api/v1/media", "prepareUpload", MEMBER, |s, r| {
            Box::pin(media::prepare(s, r))
        })
}

/// What people are to each other.
fn people(builder: Builder<State>) -> Builder<State> {
    const FOLLOW: &str = "/api/v1/users/{userId}/follow";
    const BLOCK: &str = "/api/v1/users/{userId}/block";
    const MUTE: &str = "/api/v1/users/{userId}/mute";
    const FOLLOWERS: &str = "/api/v1/users/{userId}/followers";
    const FOLLOWING: &str = "/api/v1/users/{userId}/following";
    const POSTS: &str = "/api/v1/users/{userId}/posts";
    builder
        .on(Method::PUT, FOLLOW, "followUser", MEMBER, |s, r| Box::pin(follows::follow(s, r)))
        .on(Method::DELETE, FOLLOW, "unfollowUser", MEMBER, |s, r| {
            Box::pin(follows::unfollow(s, r))
        })
        .on(Method::PUT, BLOCK, "blockUser", MEMBER, |s, r| Box::pin(follows::block(s, r)))
        .on(Method::DELETE, BLOCK, "unblockUser", MEMBER, |s, r| Box::pin(follows::unblock(s, r)))
        .on(Method::PUT, MUTE, "muteUser", MEMBER, |s, r| Box::pin(follows::mute(s, r)))
        .on(Method::DELETE, MUTE, "unmuteUser", MEMBER, |s, r| Box::pin(follows::unmute(s, r)))
        .on(Method::GET, FOLLOWERS, "listFollowers", MEMBER, |s, r| {
            Box::pin(follows::followers(s, r))
        })
        .on(Method::GET, FOLLOWING, "listFollowing", MEMBER, |s, r| {
            Box::pin(follows::following(s, r))
        })
        .on(Method::GET, POSTS, "listUserPosts", MEMBER, |s, r| Box::pin(listing::list(s, r)))
}
