//! Visibility: who may see which post and profile. Every response that has one in it goes through here.
//!
//! | the post is | its author sees it | others do |
//! |---|---|---|
//! | deleted | no | no |
//! | hidden by an admin | yes | no |
//! | by a user who blocks the reader, or is blocked | | no |
//! | by a user whom the reader mutes | | only if asked for by name |
//! | `PUBLIC` | yes | yes |
//! | `FRIENDS` | yes | if both follow each other |
//! | `PRIVATE` | yes | no |
//!
//! Absent: an answer that tells what is not there from what may not be seen ([`ensure_visible`] has one
//! error for both), and a second place where any of this is decided.

use super::{Post, Privacy, Rejected, Relationship};
use crate::accounts::UserId;

/// How a post comes before a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ViewContext {
    /// The reader asked for it by its id.
    Direct,
    /// It is one of several: feeds, profiles, shared posts, trending, WebSocket messages.
    Listed,
}

/// Whether `reader` may see a post. `relationship` is between them and its author, seen by the reader.
pub fn is_visible(
    post: &Post,
    relationship: &Relationship,
    reader: &UserId,
    place: ViewContext,
) -> bool {
    if post.deleted_at.is_some() {
        return false;
    }
    if post.author == *reader {
        return true;
    }
    let unwanted = relationship.mine.mutes && place == ViewContext::Listed;
    if post.hidden_at.is_some() || relationship.is_blocked() || unwanted {
        return false;
    }
    match post.body.privacy {
        Privacy::Public => true,
        Privacy::Friends => relationship.is_mutual_follow(),
        Privacy::Private => false,
    }
}

/// Whether a post belongs into the reader's feed: they follow its author and may see it. What a
/// timeline says is not asked.
pub fn belongs_in_feed(post: &Post, relationship: &Relationship, reader: &UserId) -> bool {
    post.author != *reader
        && relationship.mine.follows
        && is_visible(post, relationship, reader, ViewContext::Listed)
}

/// The post, if it exists and the reader may see it; the same error otherwise.
pub fn ensure_visible<'p>(
    post: Option<&'p Post>,
    relationship: &Relationship,
    reader: &UserId,
    place: ViewContext,
) -> Result<&'p Post, Rejected> {
    post.filter(|post| is_visible(post, relationship, reader, place)).ok_or(Rejected::UnknownPost)
}

/// Whether a user may see that the other exists: their profile and their lists.
pub const fn is_profile_visible(relationship: &Relationship) -> bool {
    !relationship.theirs.blocks
}

#[cfg(test)]
mod tests;
