//! Likes, comments and shares, in sharded counters: each counts once, and no item takes all writes.
//!
//! The truth is one row for each post and person ([`Engagement`]). It changes in a transaction with one
//! of the post's counters, chosen by the person, so that a like that is sent twice finds itself and
//! counts once. A post begins with one counter, and is spread over up to 64 as it is found to be
//! popular ([`shard_count`]) or crowded: adding them up costs a read for each. Counters only grow (what is
//! taken back grows another number), so a sum holds every sum that was read before it: [`fold`] adds
//! them up, and a total is written over the one that was there before the counters were read.
//!
//! Absent: a count that depends on the order of messages, a total that goes back to what it was, an
//! item that is written to for every like of a post.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::id::stable_hash;
use super::{Interaction, PostId};
use crate::Timestamp;
use crate::accounts::UserId;

/// Counters of a post, at most. At 10,000 likes a second each takes some 160 transactions, and a row can do 500.
pub const MAX_SHARDS: u8 = 64;

/// Hours for which people are counted.
pub const RETAINED_HOURS: i64 = 48;

/// How often a post was liked, commented on and shared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Counts {
    pub likes: u64,
    pub comments: u64,
    pub shares: u64,
}

impl Counts {
    pub const fn engagement(&self) -> u64 {
        let comments = self.comments.saturating_mul(Interaction::Comment.weight());
        let shares = self.shares.saturating_mul(Interaction::Share.weight());
        self.likes.saturating_add(comments).saturating_add(shares)
    }
}

/// What a user does about a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PostAction {
    Like,
    Unlike,
    /// They wrote a comment, whose row is written with this.
    Comment,
    /// A comment of theirs is taken back.
    Uncomment,
    /// They passed it on, with a post whose row is written with this.
    Share,
    /// That post is deleted.
    Unshare,
}

/// What a user did about a post. The row stays when all of it is undone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engagement {
    pub likes: bool,
    pub comments: u32,
    pub shares: u32,
}

/// What a counter is moved on by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterDelta {
    pub interaction: Interaction,
    pub is_undo: bool,
    /// Whether it is the user's first action on the post.
    pub is_new_user: bool,
}

/// What an act changes; `None` if it is so already.
pub fn engage(row: Option<&Engagement>, act: PostAction) -> Option<(Engagement, CounterDelta)> {
    let mut next = row.copied().unwrap_or_default();
    let (what, is_undo) = match act {
        PostAction::Like => (Interaction::Like, false),
        PostAction::Unlike => (Interaction::Like, true),
        PostAction::Comment => (Interaction::Comment, false),
        PostAction::Uncomment => (Interaction::Comment, true),
        PostAction::Share => (Interaction::Share, false),
        PostAction::Unshare => (Interaction::Share, true),
    };
    let step = |count: u32| if is_undo { count.checked_sub(1) } else { count.checked_add(1) };
    match what {
        Interaction::Like if next.likes != is_undo => return None,
        Interaction::Like => next.likes = !is_undo,
        Interaction::Comment => next.comments = step(next.comments)?,
        Interaction::Share => next.shares = step(next.shares)?,
    }
    Some((next, CounterDelta { interaction: what, is_undo, is_new_user: row.is_none() }))
}

/// How many counters a post of so many acts is spread over, unless they were found to be crowded before.
/// It only grows, so an instance that read an older one still writes to a counter that is added up.
pub const fn shard_count(acts: u64) -> u8 {
    match acts {
        0..64 => 1,
        64..1_000 => 8,
        _ => MAX_SHARDS,
    }
}

/// The counter of a post that a person's acts go to, of so many.
pub fn shard_of(post: PostId, person: &UserId, shard_count: u8) -> u8 {
    let hash = stable_hash(&[b"counter", &post.bytes(), person.as_str().as_bytes()]);
    u8::try_from(hash % u64::from(shard_count.clamp(1, MAX_SHARDS))).unwrap_or(0)
}

/// One of a post's counters. All of its numbers only grow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CounterShard {
    pub added: [u64; 3],
    /// Of those, how many were taken back.
    pub removed: [u64; 3],
    /// Newcomers, by the hour since 1970.
    pub hourly_users: BTreeMap<i64, u64>,
}

impl CounterShard {
    pub fn add(&mut self, delta: CounterDelta, now: Timestamp) {
        let numbers = if delta.is_undo { &mut self.removed } else { &mut self.added };
        numbers[delta.interaction as usize] += 1;
        if delta.is_new_user {
            *self.hourly_users.entry(hour_of(now)).or_default() += 1;
        }
    }

    pub fn acts(&self) -> u64 {
        self.added.iter().chain(&self.removed).sum()
    }
}

/// Whether the action that makes a counter's actions so many sends `CountsMoved`: the first few do, then ever
/// fewer. Where there are many counters they take turns, so that a post is added up about eight times
/// while its acts double, however many counters it has. The sweep adds up the rest.
pub fn is_aggregation_due(acts: u64, counter: u8, shard_count: u8) -> bool {
    let step = 1 << acts.checked_ilog2().unwrap_or(0).saturating_sub(3);
    acts.is_multiple_of(step)
        && (acts / step + u64::from(counter)).is_multiple_of(shard_count.max(1).into())
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PostTotals {
    pub counts: Counts,
    /// Newcomers of the last two days, by the hour since 1970.
    pub hourly_users: BTreeMap<i64, u64>,
    /// Acts that went into it. A total is written only over the one whose acts were read before.
    pub acts: u64,
}

pub fn sum_shards<'s>(
    shards: impl IntoIterator<Item = &'s CounterShard>,
    now: Timestamp,
) -> PostTotals {
    let mut sum = CounterShard::default();
    for shard in shards {
        for kind in 0..3 {
            sum.added[kind] += shard.added[kind];
            sum.removed[kind] += shard.removed[kind];
        }
        for (hour, people) in &shard.hourly_users {
            *sum.hourly_users.entry(*hour).or_default() += people;
        }
    }
    let left =
        |kind: Interaction| sum.added[kind as usize].saturating_sub(sum.removed[kind as usize]);
    let counts = Counts {
        likes: left(Interaction::Like),
        comments: left(Interaction::Comment),
        shares: left(Interaction::Share),
    };
    let acts = sum.acts();
    let oldest = hour_of(now) - RETAINED_HOURS;
    let people = sum.hourly_users.into_iter().filter(|(hour, _)| *hour > oldest).collect();
    PostTotals { counts, hourly_users: people, acts }
}

/// The hour since 1970 in which newcomers of a moment are counted.
pub fn hour_of(at: Timestamp) -> i64 {
    at.as_second().div_euclid(3_600)
}

#[cfg(test)]
mod tests;
