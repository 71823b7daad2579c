//! How an author reaches people: pushed into their timelines, or pulled when they read.
//!
//! ```text
//!            10,000 followers              every follower marked
//!  PUSHED ───────────────────▶ RISING ───────────────────────────▶ PULLED
//!    ▲                           │                                   │
//!    └───────── under 9,000 ─────┴──────────── under 9,000 ──────────┘
//! ```
//!
//! A post is pushed or pulled for ever: its [`Fan`] is decided when it is written, in a transaction that
//! checks the author's [`Reach::epoch`]. So a crossing moves no post and there is nothing to convert.
//! What has to be right is that whoever follows the author knows to pull *before* the first post is
//! not pushed. That is what RISING is for: posts are still pushed while a mark is put on each follower's
//! row, page by page, and only when all pages are through does the author become PULLED.
//!
//! Nobody slips through: the followers' counters, one of which each follow moves on, hold the epoch too,
//! and are moved to the new one in the transaction that changes the mode. A follow that read the old epoch
//! and commits later fails and looks again, and then marks itself; one that committed earlier is
//! seen by the pages. Falling leaves the marks: they cost a read and hide nothing. A reader drops one
//! when the last pulled post lies below what their timeline has.
//!
//! Absent: a post that is neither pushed nor marked for pulling, for any follower, at any moment; a
//! post that is shown twice, because what is read by both ways is one post with one name.

use serde::{Deserialize, Serialize};

use super::id::lot;
use super::{PostId, Settings};
use crate::accounts::UserId;

/// How a post comes into feeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fan {
    /// A reference is written for each active follower.
    #[default]
    Push,
    /// Nothing is written; readers look at the author's recent posts.
    Pull,
}

/// Where an author is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// New posts are pushed.
    #[default]
    Pushed,
    /// New posts are pushed, and followers are being marked.
    Rising,
    /// New posts are pulled.
    Pulled,
}

/// How an author reaches people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Reach {
    pub mode: Mode,
    /// Grows with each change of the mode.
    pub epoch: u64,
}

impl Reach {
    /// What a number of followers changes, if anything.
    #[must_use]
    pub const fn counted(self, followers: u64, settings: &Settings) -> Option<Self> {
        match self.mode {
            Mode::Pushed if followers >= settings.pull_from => Some(self.to(Mode::Rising)),
            Mode::Rising | Mode::Pulled if followers < settings.push_below => {
                Some(self.to(Mode::Pushed))
            }
            Mode::Pushed | Mode::Rising | Mode::Pulled => None,
        }
    }

    /// What follows once all pages of an epoch have marked their followers; nothing if it is over.
    #[must_use]
    pub const fn marked(self, epoch: u64) -> Option<Self> {
        match self.mode {
            Mode::Rising if self.epoch == epoch => Some(self.to(Mode::Pulled)),
            Mode::Rising | Mode::Pushed | Mode::Pulled => None,
        }
    }

    /// How a post comes into feeds that is written now.
    pub const fn fan(self) -> Fan {
        match self.mode {
            Mode::Pushed | Mode::Rising => Fan::Push,
            Mode::Pulled => Fan::Pull,
        }
    }

    /// The mark that somebody who follows now puts on their own row, if one is needed.
    pub const fn mark(self) -> Option<u64> {
        match self.mode {
            Mode::Pushed => None,
            Mode::Rising | Mode::Pulled => Some(self.epoch),
        }
    }

    /// Whether a reader whose timeline is complete from `floor` on can do without a mark of `epoch`.
    /// They drop it only if it is still that one.
    pub fn outlived(self, epoch: u64, last_pulled: Option<PostId>, floor: PostId) -> bool {
        self.mode == Mode::Pushed
            && self.epoch > epoch
            && last_pulled.is_none_or(|last| last < floor)
    }

    const fn to(self, mode: Mode) -> Self {
        Self { mode, epoch: self.epoch + 1 }
    }
}

/// Counters of an author's followers: so few that a transaction moves all of them to a new epoch, and
/// so many that thousands can follow within a second.
pub const COUNTERS: u8 = 16;

/// One of the counters of an author's followers. A follow or an unfollow moves one on, if its epoch is the
/// one that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counter {
    /// Followers who came, less those who went.
    pub followers: i64,
    /// The author's epoch.
    pub epoch: u64,
}

/// The counter that a follower is counted by: always the same.
pub fn counter_of(follower: &UserId) -> u8 {
    let lot = lot(&[b"followers", follower.as_str().as_bytes()]);
    u8::try_from(lot % u64::from(COUNTERS)).unwrap_or(0)
}

/// How many follow an author.
pub fn followers<'c>(counters: impl IntoIterator<Item = &'c Counter>) -> u64 {
    let sum: i64 = counters.into_iter().map(|counter| counter.followers).sum();
    u64::try_from(sum).unwrap_or(0)
}

#[cfg(test)]
mod tests;
