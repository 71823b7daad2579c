//! The relationship of two users: who follows, blocks and mutes whom.
//!
//! It is one row for the two of them, named by both ids in order, so that a single read answers every
//! question about what one may see of the other. Lists of followers are copies of it, written in the
//! same transaction. Absent: a follow beside a block, a relationship of a user with themselves.

use serde::{Deserialize, Serialize};

use super::Rejected;
use crate::accounts::UserId;

/// People that one follows, at most: what a rebuild reads is bounded by it.
pub const MAX_FOLLOWS: u32 = 5_000;

/// What one of two users does about the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Side {
    pub follows: bool,
    pub blocks: bool,
    /// Does not want to read them for now; they are not told.
    pub mutes: bool,
}

/// The relationship of two users, seen by one of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Relationship {
    pub mine: Side,
    pub theirs: Side,
}

/// What a user can do about another user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SocialAction {
    Follow,
    Unfollow,
    /// Nothing of either to the other.
    Block,
    /// As if they had never met.
    Unblock,
    Mute,
    Unmute,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelationshipChange {
    pub relationship: Relationship,
    /// How many followers more the other has: -1, 0 or 1.
    pub their_followers: i8,
    /// How many followers more the one who acts has: -1 or 0.
    pub my_followers: i8,
}

impl Relationship {
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self { mine: self.theirs, theirs: self.mine }
    }

    pub const fn is_mutual_follow(&self) -> bool {
        self.mine.follows && self.theirs.follows
    }

    pub const fn is_blocked(&self) -> bool {
        self.mine.blocks || self.theirs.blocks
    }

    /// Whether no post of the other user belongs into the reader's feed.
    pub const fn hides_from_feed(&self) -> bool {
        self.is_blocked() || self.mine.mutes || !self.mine.follows
    }

    /// The names of the row for two people, the lesser first, and whether `me` is that one.
    pub fn key<'a>(me: &'a UserId, other: &'a UserId) -> (&'a UserId, &'a UserId, bool) {
        if me <= other { (me, other, true) } else { (other, me, false) }
    }

    /// What an act of `me` changes; `None` if it is so already. `following` is how many they follow.
    pub fn apply(
        &self,
        act: SocialAction,
        me: &UserId,
        other: &UserId,
        following: u32,
    ) -> Result<Option<RelationshipChange>, Rejected> {
        if me == other {
            return Err(Rejected::field("userId", "another user"));
        }
        // A blocked user gets the same answer as for a user who does not exist. The other
        // acts take any name, so they tell nothing.
        if self.theirs.blocks && matches!(act, SocialAction::Follow) {
            return Err(Rejected::UnknownUser);
        }
        let mut relationship = *self;
        match act {
            SocialAction::Follow if self.mine.blocks => return Err(Rejected::Blocked),
            SocialAction::Follow if !self.mine.follows && following >= MAX_FOLLOWS => {
                let rule = format!("at most {MAX_FOLLOWS} people to follow");
                return Err(Rejected::field("userId", rule));
            }
            SocialAction::Follow => relationship.mine.follows = true,
            SocialAction::Unfollow => relationship.mine.follows = false,
            SocialAction::Block => {
                relationship.mine.blocks = true;
                relationship.mine.follows = false;
                relationship.theirs.follows = false;
            }
            SocialAction::Unblock => relationship.mine.blocks = false,
            SocialAction::Mute => relationship.mine.mutes = true,
            SocialAction::Unmute => relationship.mine.mutes = false,
        }
        let gained = |before: bool, after: bool| i8::from(after) - i8::from(before);
        let change = RelationshipChange {
            relationship,
            their_followers: gained(self.mine.follows, relationship.mine.follows),
            my_followers: gained(self.theirs.follows, relationship.theirs.follows),
        };
        Ok((relationship != *self).then_some(change))
    }
}

#[cfg(test)]
mod tests;
