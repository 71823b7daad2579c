//! What is between two people: who follows, blocks and mutes whom.
//!
//! It is one row for the two of them, named by both ids in order, so that a single read answers every
//! question about what one may see of the other. Lists of followers are copies of it, written in the
//! same transaction. Absent: a follow beside a block, a tie of somebody with themselves.

use serde::{Deserialize, Serialize};

use super::Rejected;
use crate::accounts::UserId;

/// People that one follows, at most: what a rebuild reads is bounded by it.
pub const MAX_FOLLOWS: u32 = 5_000;

/// What one of two does about the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Side {
    /// Wants to read them.
    pub follows: bool,
    /// Wants nothing to do with them.
    pub blocks: bool,
    /// Does not want to read them for now; they are not told.
    pub mutes: bool,
}

/// What is between two people, seen by one of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Tie {
    /// What the one who looks does.
    pub mine: Side,
    /// What the other does.
    pub theirs: Side,
}

/// What somebody can do about somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Act {
    /// Read them from now on.
    Follow,
    Unfollow,
    /// Nothing of either to the other.
    Block,
    /// As if they had never met.
    Unblock,
    /// Not for now.
    Mute,
    Unmute,
}

/// What an act changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The tie afterwards.
    pub tie: Tie,
    /// How many followers more the other has: -1, 0 or 1.
    pub their_followers: i8,
    /// How many followers more the one who acts has: -1 or 0.
    pub my_followers: i8,
}

impl Tie {
    /// The same, seen by the other.
    #[must_use]
    pub const fn turned(self) -> Self {
        Self { mine: self.theirs, theirs: self.mine }
    }

    /// Whether they follow each other.
    pub const fn is_friendship(&self) -> bool {
        self.mine.follows && self.theirs.follows
    }

    /// Whether either blocks the other.
    pub const fn is_blocked(&self) -> bool {
        self.mine.blocks || self.theirs.blocks
    }

    /// Whether nothing that the other wrote belongs into the feed of the one who looks, whatever it is.
    pub const fn is_barred(&self) -> bool {
        self.is_blocked() || self.mine.mutes || !self.mine.follows
    }

    /// The names of the row for two people, the lesser first, and whether `me` is that one.
    pub fn key<'a>(me: &'a UserId, other: &'a UserId) -> (&'a UserId, &'a UserId, bool) {
        if me <= other { (me, other, true) } else { (other, me, false) }
    }

    /// What an act of `me` changes; `None` if it is so already. `following` is how many they follow.
    pub fn after(
        &self,
        act: Act,
        me: &UserId,
        other: &UserId,
        following: u32,
    ) -> Result<Option<Change>, Rejected> {
        if me == other {
            return Err(Rejected::field("userId", "somebody else"));
        }
        // Whoever is blocked is told what they would be told of somebody who does not exist. The other
        // acts take any name, so they tell nothing.
        if self.theirs.blocks && matches!(act, Act::Follow) {
            return Err(Rejected::UnknownUser);
        }
        let mut tie = *self;
        match act {
            Act::Follow if self.mine.blocks => return Err(Rejected::Blocked),
            Act::Follow if !self.mine.follows && following >= MAX_FOLLOWS => {
                let rule = format!("at most {MAX_FOLLOWS} people to follow");
                return Err(Rejected::field("userId", rule));
            }
            Act::Follow => tie.mine.follows = true,
            Act::Unfollow => tie.mine.follows = false,
            Act::Block => {
                tie.mine.blocks = true;
                tie.mine.follows = false;
                tie.theirs.follows = false;
            }
            Act::Unblock => tie.mine.blocks = false,
            Act::Mute => tie.mine.mutes = true,
            Act::Unmute => tie.mine.mutes = false,
        }
        let gained = |before: bool, after: bool| i8::from(after) - i8::from(before);
        let change = Change {
            tie,
            their_followers: gained(self.mine.follows, tie.mine.follows),
            my_followers: gained(self.theirs.follows, tie.theirs.follows),
        };
        Ok((tie != *self).then_some(change))
    }
}

#[cfg(test)]
mod tests;
