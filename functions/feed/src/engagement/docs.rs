//! The sentences about likes, comments, shares, profiles, trends and reports.

use boundary::openapi::{Doc, shape};
use schemars::JsonSchema;

use super::comments::{CommentView, CommentsQuery, CommentsView};
use super::likes::LikeView;
use super::moderation::{ReportView, ReportsQuery, ReportsView, RulingBody, RulingView};
use super::profiles::ProfileView;
use super::trending::{TrendingQuery, TrendingView};
use crate::docs::{IF_MATCH, ONCE, POST, USER};
use crate::shapes::DraftShape;
use crate::view::PostView;

const COMMENT: (&str, &str) = ("commentId", "The comment.");

/// A comment to write.
#[derive(JsonSchema)]
#[schemars(rename = "NewComment")]
#[expect(dead_code, reason = "only its shape is used")]
struct CommentShape {
    /// 1 to 2,000 characters.
    text: String,
}

/// What somebody wants to show of themselves. What is left out is empty afterwards.
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

/// What is wrong with a post.
#[derive(JsonSchema)]
#[schemars(rename = "NewReport")]
#[expect(dead_code, reason = "only its shape is used")]
struct ReportShape {
    /// `SPAM`, `ABUSE`, `VIOLENCE`, `FRAUD` or `OTHER`.
    reason: String,
    /// In your words, at most 1,000 characters.
    note: Option<String>,
}

/// One entry an operation.
pub(crate) fn docs() -> Vec<Doc> {
    let mut docs = likes();
    docs.extend(comments());
    docs.extend(people());
    docs.extend(moderation());
    docs
}

fn likes() -> Vec<Doc> {
    vec![
        Doc {
            description: "Each person's like counts once, however often it is sent.",
            path: &[POST],
            answer: Some(shape::<LikeView>()),
            problems: &[404, 503],
            ..Doc::new("likePost", "Like a post")
        },
        Doc {
            description: "Repeating it changes nothing.",
            path: &[POST],
            answer: Some(shape::<LikeView>()),
            problems: &[404, 503],
            ..Doc::new("unlikePost", "Like a post no longer")
        },
        Doc {
            description: "Makes a post of your own that shows the other one to whoever may see it. Only \
                          public posts can be shared; who shares what was shared shares the first.",
            path: &[POST],
            headers: &[ONCE],
            body: Some(shape::<DraftShape>()),
            body_optional: true,
            status: 201,
            answer: Some(shape::<PostView>()),
            problems: &[404, 409, 503],
            ..Doc::new("sharePost", "Pass a post on")
        },
    ]
}

fn comments() -> Vec<Doc> {
    vec![
        Doc {
            description: "On a post that you may see.",
            path: &[POST],
            headers: &[ONCE],
            body: Some(shape::<CommentShape>()),
            status: 201,
            answer: Some(shape::<CommentView>()),
            problems: &[404, 409, 503],
            ..Doc::new("commentOnPost", "Say something to a post")
        },
        Doc {
            description: "The oldest first. Those of people whom you block or mute, or who block you, \
                          are left out.",
            path: &[POST],
            query: Some(shape::<CommentsQuery>()),
            answer: Some(shape::<CommentsView>()),
            problems: &[404],
            ..Doc::new("listComments", "What was said to a post?")
        },
        Doc {
            description: "Its author may do that, and the post's. Repeating it changes nothing.",
            path: &[POST, COMMENT],
            status: 204,
            problems: &[404, 503],
            ..Doc::new("deleteComment", "Take a comment back")
        },
    ]
}

fn people() -> Vec<Doc> {
    vec![
        Doc {
            description: "What they show of themselves, how many follow them, and how you stand to them. \
                          Your own has an `ETag`.",
            path: &[USER],
            answer: Some(shape::<ProfileView>()),
            problems: &[404],
            ..Doc::new("readProfile", "Who is somebody?")
        },
        Doc {
            description: "Replaces all of it. Only your own.",
            path: &[USER],
            headers: &[IF_MATCH],
            body: Some(shape::<ProfileShape>()),
            answer: Some(shape::<ProfileView>()),
            problems: &[404, 412, 503],
            ..Doc::new("saveProfile", "Say who you are")
        },
        Doc {
            description: "By how many people came to a post lately, each counted once. It is looked at \
                          once a minute, and pages hold still for an hour.",
            query: Some(shape::<TrendingQuery>()),
            answer: Some(shape::<TrendingView>()),
            ..Doc::new("readTrending", "What do many people care about?")
        },
    ]
}

fn moderation() -> Vec<Doc> {
    vec![
        Doc {
            description: "An admin decides; the author is not told by whom it was reported. Reporting a \
                          post again changes nothing: the answer is what you said first.",
            path: &[POST],
            body: Some(shape::<ReportShape>()),
            status: 202,
            answer: Some(shape::<ReportView>()),
            problems: &[404],
            ..Doc::new("reportPost", "This should not be there")
        },
        Doc {
            query: Some(shape::<ReportsQuery>()),
            answer: Some(shape::<ReportsView>()),
            ..Doc::new("listPostReports", "Reports that nobody has decided on")
        },
        Doc {
            description: "Settles all open reports of the post, each once. What is hidden is there for \
                          its author only, until a later ruling shows it again.",
            path: &[POST],
            body: Some(shape::<RulingBody>()),
            answer: Some(shape::<RulingView>()),
            problems: &[404, 503],
            ..Doc::new("rulePost", "Decide on a post")
        },
    ]
}
