//! The sentences about this function in the OpenAPI document.

use boundary::openapi::{Doc, shape};

use crate::follows::{PeopleQuery, PeopleView, TieView};
use crate::home::{FeedQuery, FeedView};
use crate::listing::{PostsQuery, PostsView};
use crate::media::{UploadBody, UploadView};
use crate::realtime::RealtimeView;
use crate::shapes::{DraftShape, EditShape};
use crate::view::PostView;

/// What the section is about.
pub const ABOUT: &str = "Posts, follows, and a home feed that says why.";

pub(crate) const POST: (&str, &str) = ("postId", "The post.");
pub(crate) const USER: (&str, &str) = ("userId", "The person.");
pub(crate) const ONCE: (&str, &str, bool) = (
    "Idempotency-Key",
    "A repeat with the same key and body within 24 hours gets the first answer.",
    false,
);
pub(crate) const IF_MATCH: (&str, &str, bool) =
    ("If-Match", "The `ETag` of the version you read; any version if left out.", false);

/// One entry an operation.
pub fn docs() -> Vec<Doc> {
    let mut docs = posts();
    docs.extend(ties());
    docs.extend(lists());
    docs.extend(crate::engagement::docs());
    docs
}

fn posts() -> Vec<Doc> {
    vec![
        Doc {
            description: "What the people say whom you follow, ranked by how new it is, how many care \
                          about it and how close you are to its author; each item says why it is there. \
                          A scroll is pinned to its first page: nothing comes twice and nothing is \
                          passed over, whatever is written meanwhile.",
            query: Some(shape::<FeedQuery>()),
            answer: Some(shape::<FeedView>()),
            ..Doc::new("readFeed", "What is new for me?")
        },
        Doc {
            description: "Connect there with the same key. You are sent `{\"type\":\"newPosts\",\"postIds\":[…],\
                          \"position\":…}` when somebody whom you follow writes; the latest position, sent as \
                          `{\"type\":\"resume\",\"position\":…}` after you were cut off, brings what you missed. \
                          Say `{\"type\":\"ping\"}` every few minutes to keep the line open; after two hours it \
                          is cut.",
            answer: Some(shape::<RealtimeView>()),
            ..Doc::new("findRealtime", "Where to hear of new posts?")
        },
        Doc {
            description: "It is there when this is answered, and in the feeds of those who follow you \
                          within seconds.",
            headers: &[ONCE],
            body: Some(shape::<DraftShape>()),
            status: 201,
            answer: Some(shape::<PostView>()),
            problems: &[409],
            ..Doc::new("writePost", "Write a post")
        },
        Doc {
            description: "If you may see it: what is private, for friends of somebody else, by somebody \
                          who blocks you, or deleted is not found.",
            path: &[POST],
            answer: Some(shape::<PostView>()),
            problems: &[404],
            ..Doc::new("readPost", "Read a post")
        },
        Doc {
            description: "Feeds show the change at once. A private post that is opened comes into the \
                          feeds of those who follow you.",
            path: &[POST],
            headers: &[IF_MATCH],
            body: Some(shape::<EditShape>()),
            answer: Some(shape::<PostView>()),
            problems: &[404, 412, 503],
            ..Doc::new("editPost", "Change a post of your own")
        },
        Doc {
            description: "Nobody can read it once this is answered. There is no way back; repeating it \
                          changes nothing.",
            path: &[POST],
            status: 204,
            problems: &[404, 503],
            ..Doc::new("deletePost", "Delete a post of your own")
        },
        Doc {
            description: "Answers with a link to `PUT` the bytes to, and the name by which a post shows \
                          them.",
            body: Some(shape::<UploadBody>()),
            status: 201,
            answer: Some(shape::<UploadView>()),
            ..Doc::new("prepareUpload", "Upload a picture or a film")
        },
    ]
}

/// Six calls with the same answer.
fn ties() -> Vec<Doc> {
    let tie = |id, summary, description| Doc {
        description,
        path: &[USER],
        answer: Some(shape::<TieView>()),
        problems: &[404, 409],
        ..Doc::new(id, summary)
    };
    vec![
        tie(
            "followUser",
            "Follow somebody",
            "Their posts come into your feed, also those of lately. At most 5,000 people.",
        ),
        tie("unfollowUser", "Follow somebody no longer", "Their posts leave your feed at once."),
        tie(
            "blockUser",
            "Block somebody",
            "Neither of you sees anything of the other, and neither follows the other any more. They \
             are not told: to them it is as if you did not exist.",
        ),
        tie("unblockUser", "Block somebody no longer", "Nobody follows anybody by that."),
        tie(
            "muteUser",
            "Mute somebody",
            "Their posts and comments are left out of whatever lists you read, until you unmute \
             them. They are not told.",
        ),
        tie("unmuteUser", "Mute somebody no longer", "What was left out is there again."),
    ]
}

fn lists() -> Vec<Doc> {
    vec![
        Doc {
            description: "The newest first, as far as you may see them.",
            path: &[USER],
            query: Some(shape::<PostsQuery>()),
            answer: Some(shape::<PostsView>()),
            problems: &[404],
            ..Doc::new("listUserPosts", "What did somebody write?")
        },
        Doc {
            description: "In an order that stays. Who blocks you, or is blocked by you, is left out.",
            path: &[USER],
            query: Some(shape::<PeopleQuery>()),
            answer: Some(shape::<PeopleView>()),
            problems: &[404],
            ..Doc::new("listFollowers", "Who follows somebody?")
        },
        Doc {
            description: "By name. Who blocks you, or is blocked by you, is left out.",
            path: &[USER],
            query: Some(shape::<PeopleQuery>()),
            answer: Some(shape::<PeopleView>()),
            problems: &[404],
            ..Doc::new("listFollowing", "Whom does somebody follow?")
        },
    ]
}
