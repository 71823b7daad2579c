//! What the feed says to itself, and to those who are connected. Rows are the truth; a message says
//! "look".

use serde::{Deserialize, Serialize};

use super::fan_out::PageOfFollowers;
use super::{Post, PostId};
use crate::Timestamp;
use crate::accounts::UserId;

/// Any message of this system, told apart by `type`. Fields that a reader does not know are passed
/// over, so that old and new functions can run side by side during a deployment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum Message {
    /// A post was written, or may now be read by more people than its author.
    PostCreated {
        /// Format version; 1.
        v: u8,
        /// Which.
        post_id: PostId,
        /// Whose.
        author: UserId,
    },
    /// A post was deleted: references to it can go.
    PostDeleted {
        /// Format version; 1.
        v: u8,
        /// Which.
        post_id: PostId,
        /// Whose.
        author: UserId,
    },
    /// A page of an author's followers is to be worked through.
    FanOutPage {
        /// Format version; 1.
        v: u8,
        /// Whose followers.
        author: UserId,
        /// What for.
        task: Task,
        /// Which of them.
        page: PageOfFollowers,
    },
    /// Somebody began to follow: what was said before is brought to them, and followers are counted.
    Followed {
        /// Format version; 1.
        v: u8,
        /// Who.
        follower: UserId,
        /// Whom.
        author: UserId,
    },
    /// Somebody no longer follows: followers are counted.
    Unfollowed {
        /// Format version; 1.
        v: u8,
        /// Who.
        follower: UserId,
        /// Whom.
        author: UserId,
    },
    /// An author has begun to rise: followers are marked.
    ReachCrossed {
        /// Format version; 1.
        v: u8,
        /// Who.
        author: UserId,
        /// The epoch that it was in.
        epoch: u64,
    },
    /// Somebody is back after a week: their timeline is rebuilt.
    ReaderReturned {
        /// Format version; 1.
        v: u8,
        /// Who.
        reader: UserId,
        /// Which return.
        epoch: u64,
    },
    /// A post's counters have moved: they are folded.
    CountsMoved {
        /// Format version; 1.
        v: u8,
        /// Of which post.
        post_id: PostId,
    },
}

/// What a page of followers is worked through for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Task {
    /// A reference for each who is active.
    Push {
        /// To which post.
        post_id: PostId,
    },
    /// No reference any more for those who are active.
    Purge {
        /// To which post.
        post_id: PostId,
    },
    /// A mark for each.
    Mark {
        /// Of which epoch.
        epoch: u64,
    },
}

impl Message {
    /// That a post was written.
    pub fn created(post: &Post) -> Self {
        Self::PostCreated { v: 1, post_id: post.id, author: post.author.clone() }
    }

    /// That a post was deleted.
    pub fn deleted(post: &Post) -> Self {
        Self::PostDeleted { v: 1, post_id: post.id, author: post.author.clone() }
    }

    /// That a page is to be worked through.
    pub const fn page(author: UserId, task: Task, page: PageOfFollowers) -> Self {
        Self::FanOutPage { v: 1, author, task, page }
    }
}

/// A hint may come so much later than its post was written: connections that begin again ask for this
/// much more than they missed.
const OVERLAP_MS: i64 = 600_000;

/// What a connection is told. Hints are names only; whoever wants the post asks for it, and may not get it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Hint {
    /// There are posts that may be new. The same one may be named twice.
    NewPosts {
        /// Format version; 1.
        v: u8,
        /// Which.
        post_ids: Vec<PostId>,
        /// What to resume from: the newest post that was ever hinted at here.
        position: PostId,
    },
    /// More was missed than is worth naming: the feed is to be read anew.
    Reload {
        /// Format version; 1.
        v: u8,
        /// What to resume from.
        position: PostId,
    },
}

/// What a connection says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Said {
    /// It was here before.
    Resume {
        /// The last position that it was told.
        position: PostId,
    },
}

/// Posts that a hint names, at most.
const MOST_HINTED: usize = 100;

/// From where on a connection that resumes is told again. Posts arrive in timelines a little after they
/// are written, so it is some minutes before the position: names twice, none never.
pub fn resumes_from(position: PostId) -> PostId {
    let ms = position.at().as_millisecond().saturating_sub(OVERLAP_MS);
    PostId::first_at(Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH))
}

/// The hint for what was found since. `found` may be in any order and is what the reader may see.
pub fn hint(position: PostId, mut found: Vec<PostId>) -> Hint {
    found.sort_unstable();
    found.dedup();
    let position = found.last().copied().unwrap_or(position).max(position);
    if found.len() > MOST_HINTED {
        return Hint::Reload { v: 1, position };
    }
    Hint::NewPosts { v: 1, post_ids: found, position }
}

#[cfg(test)]
mod tests;
