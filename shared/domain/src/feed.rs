//! The feed: posts, follows, and a home feed that is pushed where that is cheap and pulled where not.
//!
//! ```text
//!  post      LIVE ─ edit ─▶ EDITED ─ delete ─▶ DELETED       (LIVE ─ delete ─▶ DELETED)
//!  author    PUSH ─ 10,000 followers ─▶ SWITCHING ─ all marked ─▶ PULL ─ under 9,000 ─▶ PUSH
//!  reader    ACTIVE ─ a week away ─▶ DORMANT ─ a visit, a rebuild ─▶ ACTIVE
//!  follow    one row for two people: follows, blocks, mutes, each way; a block ends both follows
//!  timeline  the newest 1,000 references, complete from a floor on; below it, reading pulls
//! ```
//!
//! The path of a post: one transaction writes it, the author's row of recent posts, and checks how the
//! author reaches people. `PostCreated` starts a page for each range of followers ([`fan_out`]); each
//! page writes a reference for each active follower and says where the next one begins. A reader's page
//! ([`FeedPager`]) merges their timeline with the recent posts of authors who are pulled ([`candidates`]), reads
//! the posts, leaves out what they may not see ([`visibility`]), ranks a window of 80 ([`rank`]) and
//! carries the rest of the window in its cursor.
//!
//! Reads of a first page, in four rounds: the reader's rows (1 batch) and the timeline (1 query); recent
//! posts of pulled authors (1 batch for each 100); 100 posts (1 batch) and the relationships with their authors (1
//! batch); profiles and own likes for the page (1 batch). That is 6 for up to 100 marks, however many are
//! followed, 1 more within a minute after a rebuild, and 2 more if something on the page passes another post
//! on. A later page of the same window takes 3: posts, relationships, profiles.
//!
//! The invariants, as absences:
//!
//! - No post is shown that [`visibility`] denies, also if a timeline, a cursor or a snapshot names it; no answer
//!   tells what is hidden from what is not there.
//! - No post of a followed author is neither pushed nor pulled, at any moment of a crossing, a follow or a
//!   return ([`fan_out_policy`], [`reader`]).
//! - No post is on two pages of a scroll, and none that was there all the time on none.
//! - No page is short before the end, and no cursor is given when nothing follows.
//! - No reference is a copy: an edit shows at once, a deletion hides at once, and a fan-out that comes
//!   late brings back nothing.
//! - No message has to come only once, or in order.
//! - No row takes a write for each like, each follower or each reader of one post.
//! - No words in anything that is printed for debugging.

mod affinity;
pub mod candidates;
mod comment;
pub mod counts;
mod cursor;
pub mod fan_out;
pub mod fan_out_policy;
mod id;
mod message;
mod pager;
mod post;
mod profile;
pub mod rank;
pub mod reader;
mod realtime;
mod relationship;
mod report;
#[cfg(test)]
mod samples;
mod seen_posts;
mod settings;
pub mod trending;
mod user_posts;
mod visibility;

pub use affinity::{Affinity, Interaction};
pub use candidates::{PostReference, RecentPosts, ReferenceRun};
pub use comment::{Comment, CommentDraft, MAX_COMMENT_LENGTH};
pub use counts::{Counts, Engagement, PostAction};
pub use cursor::{FeedCursor, FeedOrder};
pub use fan_out_policy::{FanOutMode, FanOutPolicy, PostDelivery};
pub use id::{CommentId, PostId};
pub use message::{FanOutTask, FeedMessage};
pub use pager::{FeedPage, FeedPager, MAX_PAGE_SIZE, PagerStep};
pub use post::{
    MAX_MEDIA, MAX_TEXT_LENGTH, MediaId, Post, PostBody, PostDraft, PostEdit, PostState, Privacy,
};
pub use profile::{Profile, ProfileDraft};
pub use rank::{Candidate, RankExplanation, RankReason, RankWeights, RankedItem, Score};
pub use reader::{Reader, ReaderVisit};
pub use realtime::{ClientMessage, ServerMessage, missed_posts, new_posts_message};
pub use relationship::{MAX_FOLLOWS, Relationship, RelationshipChange, Side, SocialAction};
pub use report::{PostReport, ReportDraft, ReportReason, Ruling};
pub use seen_posts::SeenPosts;
pub use settings::FeedSettings;
pub use user_posts::{UserPostsPager, UserPostsStep};
pub use visibility::{
    ViewContext, belongs_in_feed, ensure_visible, is_profile_visible, is_visible,
};

/// The caller's mistake, in the domain's words; the boundary knows what HTTP calls it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// A field breaks its rule.
    #[error("{field}: {rule}")]
    Field {
        /// The field, as the caller wrote it.
        field: String,
        /// What the field must be.
        rule: String,
    },
    /// No such post, or none that the caller may know of.
    #[error("there is no such post")]
    UnknownPost,
    /// No such comment, or none that the caller may know of.
    #[error("there is no such comment")]
    UnknownComment,
    /// No such user, or none that the caller may know of.
    #[error("there is no such user")]
    UnknownUser,
    /// The caller blocks the person whom they want to follow.
    #[error("you block this user: unblock them first")]
    Blocked,
    /// Only what everybody may see can be passed on.
    #[error("only public posts can be shared")]
    NotShareable,
    /// It changed since it was read.
    #[error("it has changed since it was read")]
    Moved,
}

impl Rejected {
    pub(crate) fn field(field: impl Into<String>, rule: impl Into<String>) -> Self {
        Self::Field { field: field.into(), rule: rule.into() }
    }
}
