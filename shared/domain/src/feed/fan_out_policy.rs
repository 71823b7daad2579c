//! An author's fan-out policy: fan-out on write (push into timelines) or on read (pull).
//!
//! ```text
//!            10,000 followers              every follower marked
//!  PUSH ───────────────────▶ SWITCHING ──────────────────────────▶ PULL
//!    ▲                           │                                   │
//!    └───────── under 9,000 ─────┴──────────── under 9,000 ──────────┘
//! ```
//!
//! A post is pushed or pulled for ever: its [`PostDelivery`] is decided when it is written, in a transaction that
//! checks the author's [`FanOutPolicy::epoch`]. So a crossing moves no post and there is nothing to convert.
//! What has to be right is that each follower knows to pull *before* the first post is
//! not pushed. That is what RISING is for: posts are still pushed while a mark is put on each follower's
//! row, page by page, and only when all pages are through does the author become PULLED.
//!
//! No follower slips through: the followers' counters, one of which each follow moves on, hold the epoch too,
//! and are moved to the new one in the transaction that changes the mode. A follow that read the old epoch
//! and commits later fails and looks again, and then marks itself; one that committed earlier is
//! seen by the pages. Falling leaves the marks: they cost a read and hide nothing. A reader drops one
//! when the last pulled post lies below what their timeline has.
//!
//! Absent: a post that is neither pushed nor marked for pulling, for any follower, at any moment; a
//! post that is shown twice, because what is read by both ways is one post with one name.

use serde::{Deserialize, Serialize};

use super::id::stable_hash;
use super::{FeedSettings, PostId};
use crate::accounts::UserId;

/// How a post comes into feeds: fan-out on write or on read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PostDelivery {
    /// A reference is written for each active follower.
    #[default]
    Push,
    /// Nothing is written; readers look at the author's recent posts.
    Pull,
}

/// How an author's new posts are delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FanOutMode {
    #[default]
    Push,
    /// New posts are pushed, and followers are being marked.
    Switching,
    Pull,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FanOutPolicy {
    pub mode: FanOutMode,
    /// Grows with each change of the mode.
    pub epoch: u64,
}

impl FanOutPolicy {
    /// What a number of followers changes, if anything.
    #[must_use]
    pub const fn for_follower_count(self, followers: u64, settings: &FeedSettings) -> Option<Self> {
        match self.mode {
            FanOutMode::Push if followers >= settings.pull_from => {
                Some(self.with_mode(FanOutMode::Switching))
            }
            FanOutMode::Switching | FanOutMode::Pull if followers < settings.push_below => {
                Some(self.with_mode(FanOutMode::Push))
            }
            FanOutMode::Push | FanOutMode::Switching | FanOutMode::Pull => None,
        }
    }

    /// What follows once all pages of an epoch have marked their followers; nothing if it is over.
    #[must_use]
    pub const fn all_marked(self, epoch: u64) -> Option<Self> {
        match self.mode {
            FanOutMode::Switching if self.epoch == epoch => Some(self.with_mode(FanOutMode::Pull)),
            FanOutMode::Switching | FanOutMode::Push | FanOutMode::Pull => None,
        }
    }

    /// How a post comes into feeds that is written now.
    pub const fn post_delivery(self) -> PostDelivery {
        match self.mode {
            FanOutMode::Push | FanOutMode::Switching => PostDelivery::Push,
            FanOutMode::Pull => PostDelivery::Pull,
        }
    }

    /// The epoch of the pull mark that a new follower needs, if one is needed.
    pub const fn mark_epoch(self) -> Option<u64> {
        match self.mode {
            FanOutMode::Push => None,
            FanOutMode::Switching | FanOutMode::Pull => Some(self.epoch),
        }
    }

    /// Whether a reader whose timeline is complete from `floor` on can do without a mark of `epoch`.
    /// They drop it only if it is still that one.
    pub fn is_mark_obsolete(self, epoch: u64, last_pulled: Option<PostId>, floor: PostId) -> bool {
        self.mode == FanOutMode::Push
            && self.epoch > epoch
            && last_pulled.is_none_or(|last| last < floor)
    }

    const fn with_mode(self, mode: FanOutMode) -> Self {
        Self { mode, epoch: self.epoch + 1 }
    }
}

/// Counters of an author's followers: so few that a transaction moves all of them to a new epoch, and
/// so many that thousands can follow within a second.
pub const FOLLOWER_COUNTERS: u8 = 16;

/// One of the counters of an author's followers. A follow or an unfollow moves one on, if its epoch is the
/// one that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FollowerCounter {
    /// Followers who came, less those who went.
    pub followers: i64,
    pub epoch: u64,
}

/// The counter that a follower is counted by: always the same.
pub fn follower_counter(follower: &UserId) -> u8 {
    let hash = stable_hash(&[b"followers", follower.as_str().as_bytes()]);
    u8::try_from(hash % u64::from(FOLLOWER_COUNTERS)).unwrap_or(0)
}

pub fn followers<'c>(counters: impl IntoIterator<Item = &'c FollowerCounter>) -> u64 {
    let sum: i64 = counters.into_iter().map(|counter| counter.followers).sum();
    u64::try_from(sum).unwrap_or(0)
}

#[cfg(test)]
mod tests;
