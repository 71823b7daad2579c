//! Who may see what. Every answer that has a post or a person in it goes through here.
//!
//! | the post is | its author sees it | others do |
//! |---|---|---|
//! | deleted | no | no |
//! | hidden by an admin | yes | no |
//! | of somebody who blocks the reader, or is blocked | | no |
//! | of somebody whom the reader mutes | | only if asked for by name |
//! | `PUBLIC` | yes | yes |
//! | `FRIENDS` | yes | if both follow each other |
//! | `PRIVATE` | yes | no |
//!
//! Absent: an answer that tells what is not there from what may not be seen ([`look`] has one word
//! for both), and a second place where any of this is decided.

use super::{Post, Privacy, Rejected, Tie};
use crate::accounts::UserId;

/// How a post comes before a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// They asked for it by its name.
    Direct,
    /// It is one of several: feeds, profiles, what is passed on, trends, hints.
    Listed,
}

/// Whether `reader` may see a post. `tie` is between them and its author, seen by the reader.
pub fn visible(post: &Post, tie: &Tie, reader: &UserId, place: Place) -> bool {
    if post.deleted_at.is_some() {
        return false;
    }
    if post.author == *reader {
        return true;
    }
    let unwanted = tie.mine.mutes && place == Place::Listed;
    if post.hidden_at.is_some() || tie.is_blocked() || unwanted {
        return false;
    }
    match post.body.privacy {
        Privacy::Public => true,
        Privacy::Friends => tie.is_friendship(),
        Privacy::Private => false,
    }
}

/// Whether a post belongs into the reader's feed: they follow its author and may see it. What a
/// timeline says is not asked.
pub fn in_feed(post: &Post, tie: &Tie, reader: &UserId) -> bool {
    post.author != *reader && tie.mine.follows && visible(post, tie, reader, Place::Listed)
}

/// The post, if there is one and the reader may see it. The two noes are the same.
pub fn look<'p>(
    post: Option<&'p Post>,
    tie: &Tie,
    reader: &UserId,
    place: Place,
) -> Result<&'p Post, Rejected> {
    post.filter(|post| visible(post, tie, reader, place)).ok_or(Rejected::UnknownPost)
}

/// Whether somebody may know of somebody else at all: their profile, their lists, that they exist.
pub const fn knows(tie: &Tie) -> bool {
    !tie.theirs.blocks
}

#[cfg(test)]
mod tests;
