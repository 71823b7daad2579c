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

/// Connections that begin again are told again of what arrived so long before they were cut off: writers'
/// clocks differ, and a write may take a while.
const OVERLAP_MS: i64 = 60_000;

/// Posts that a hint names, at most.
const MOST_HINTED: usize = 100;

/// What a connection is told. Hints are names only: whoever wants the post asks for it, and may not
/// get it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Hint {
    /// There are posts that may be new. The same one may be named twice.
    NewPosts {
        /// Format version; 1.
        v: u8,
        /// Which.
        post_ids: Vec<PostId>,
        /// What to resume from. The latest of all that were told counts.
        position: Timestamp,
    },
    /// More was missed than is worth naming: the feed is to be read anew.
    Reload {
        /// Format version; 1.
        v: u8,
        /// What to resume from.
        position: Timestamp,
    },
}

/// What a connection says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Said {
    /// It was here before.
    Resume {
        /// The latest position that it was told.
        position: Timestamp,
    },
}

/// What a connection missed since a position. A post may arrive long after it was written, so it is
/// the arrival that counts: timelines say for each reference when it was put there, and `now` is when they
/// were read. What is pulled arrives when it is written. Both are what the reader may see.
pub fn missed(
    position: Timestamp,
    pushed: &[(PostId, Timestamp)],
    pulled: &[PostId],
    now: Timestamp,
) -> Hint {
    let since = position.as_millisecond().saturating_sub(OVERLAP_MS);
    let arrived = pushed.iter().map(|(post, at)| (*post, *at));
    let arrived = arrived.chain(pulled.iter().map(|post| (*post, post.at())));
    let late = arrived.filter(|(_, at)| at.as_millisecond() >= since).map(|(post, _)| post);
    hint(late.collect(), position.max(now))
}

/// The hint that these posts have arrived.
pub fn hint(mut posts: Vec<PostId>, position: Timestamp) -> Hint {
    posts.sort_unstable();
    posts.dedup();
    if posts.len() > MOST_HINTED {
        return Hint::Reload { v: 1, position };
    }
    Hint::NewPosts { v: 1, post_ids: posts, position }
}

#[cfg(test)]
mod tests;
