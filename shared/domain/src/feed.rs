//! The feed: posts, follows, and a home feed that is pushed where that is cheap and pulled where not.
//!
//! ```text
//!  post      LIVE ─ edit ─▶ EDITED ─ delete ─▶ DELETED       (LIVE ─ delete ─▶ DELETED)
//!  author    PUSHED ─ 10,000 followers ─▶ RISING ─ all marked ─▶ PULLED ─ under 9,000 ─▶ PUSHED
//!  reader    ACTIVE ─ a week away ─▶ DORMANT ─ a visit, a rebuild ─▶ ACTIVE
//!  follow    one row for two people: follows, blocks, mutes, each way; a block ends both follows
//!  timeline  the newest 1,000 references, complete from a floor on; below it, reading pulls
//! ```
//!
//! The path of a post: one transaction writes it, the author's row of recent posts, and checks how the
//! author reaches people. `PostCreated` starts a page for each range of followers ([`fan_out`]); each
//! page writes a reference for each active follower and says where the next one begins. A reader's page
//! ([`Scroll`]) merges their timeline with the recent posts of authors who are pulled ([`gather`]), reads
//! the posts, leaves out what they may not see ([`visible`]), ranks a window of 80 ([`rank`]) and
//! carries the rest of the window in its cursor.
//!
//! Reads of a first page, in four rounds: the reader's rows (1 batch) and the timeline (1 query); recent
//! posts of marked authors (1 batch for each 100); 100 posts (1 batch) and the ties to their authors (1
//! batch); profiles and own likes for the page (1 batch). That is 6 for up to 100 marks, however many are
//! followed, 1 more within a minute after a rebuild, and 2 more if something on the page passes another post
//! on. A later page of the same window takes 3: posts, ties, profiles.
//!
//! The invariants, as absences:
//!
//! - No post is shown that [`visible`] denies, also when a timeline, a cursor or a snapshot has it; no answer
//!   tells what is hidden from what is not there.
//! - No post of a followed author is neither pushed nor pulled, at any moment of a crossing, a follow or a
//!   return ([`reach`], [`reader`]).
//! - No post is on two pages of a scroll, and none that was there all the time on none.
//! - No page is short before the end, and no cursor is given when nothing follows.
//! - No reference is a copy: an edit shows at once, a deletion hides at once, and a fan-out that comes
//!   late brings back nothing.
//! - No message has to come only once, or in order.
//! - No row takes a write for each like, each follower or each reader of one post.
//! - No words in anything that is printed for debugging.

mod affinity;
mod comment;
pub mod counts;
mod cursor;
pub mod fan_out;
pub mod gather;
mod hint;
mod id;
mod listing;
mod message;
mod people;
mod post;
pub mod rank;
pub mod reach;
pub mod reader;
mod report;
#[cfg(test)]
mod samples;
mod scroll;
mod seen;
mod settings;
mod sight;
mod tie;
pub mod trending;

pub use affinity::{Affinity, Interaction};
pub use comment::{Comment, CommentDraft, MAX_COMMENT_LENGTH};
pub use counts::{Counts, Engage, Engaged};
pub use cursor::{Cursor, Order};
pub use gather::{Recents, Reference, Run};
pub use hint::{Hint, Said, hint, missed};
pub use id::{CommentId, PostId};
pub use listing::{Listed, Listing};
pub use message::{Message, Task};
pub use people::{Profile, ProfileDraft};
pub use post::{Body, Draft, Edit, MAX_MEDIA, MAX_TEXT_LENGTH, MediaId, Post, Privacy, State};
pub use rank::{Candidate, Item, Reason, Score, Weights, Why};
pub use reach::{Fan, Mode, Reach};
pub use reader::{Arrival, Reader};
pub use report::{Complaint, Report, ReportDraft, Ruling};
pub use scroll::{MAX_PAGE_SIZE, Page, Scroll, Step};
pub use seen::Seen;
pub use settings::Settings;
pub use sight::{Place, in_feed, knows, look, visible};
pub use tie::{Act, Change, MAX_FOLLOWS, Side, Tie};

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
    /// There is no such user, or none that the caller may see.
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
