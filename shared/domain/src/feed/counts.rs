//! Likes, comments and shares: each once, without an item that everybody writes to.
//!
//! The truth is one row for each post and person ([`Engaged`]). It changes in a transaction with one
//! of the post's counters, chosen by the person, so that a like that is sent twice finds itself and
//! counts once. A post begins with one counter, and is spread over up to 64 as it is found to be
//! popular ([`width`]) or crowded: adding them up costs a read for each. Counters only grow (what is
//! taken back grows another number), so a sum holds every sum that was read before it: [`fold`] adds
//! them up, and a total is written over the one that was there before the counters were read.
//!
//! Absent: a count that depends on the order of messages, a total that goes back to what it was, an
//! item that is written to for every like of a post.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::id::lot;
use super::{Interaction, PostId};
use crate::Timestamp;
use crate::accounts::UserId;

/// Counters of a post, at most. At 10,000 likes a second each takes some 160 transactions, and a row can do 500.
pub const SHARDS: u8 = 64;

/// Hours for which people are counted.
pub const KEPT_HOURS: i64 = 48;

/// How often a post was liked, commented on and shared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Counts {
    /// People who like it.
    pub likes: u64,
    /// Comments that are there.
    pub comments: u64,
    /// Posts that pass it on.
    pub shares: u64,
}

impl Counts {
    /// What ranks are made of.
    pub const fn engagement(&self) -> u64 {
        let comments = self.comments.saturating_mul(Interaction::Comment.weight());
        let shares = self.shares.saturating_mul(Interaction::Share.weight());
        self.likes.saturating_add(comments).saturating_add(shares)
    }
}

/// What somebody does about a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Engage {
    /// They like it.
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

/// What somebody did about a post. The row stays when all of it is taken back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engaged {
    /// Whether they like it.
    pub likes: bool,
    /// Their comments that are there.
    pub comments: u32,
    /// Their posts that pass it on.
    pub shares: u32,
}

/// What a counter is moved on by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delta {
    pub what: Interaction,
    /// Whether it is taken back.
    pub back: bool,
    /// Whether nobody had heard of this person here before.
    pub newcomer: bool,
}

/// What an act changes; `None` if it is so already.
pub fn engage(row: Option<&Engaged>, act: Engage) -> Option<(Engaged, Delta)> {
    let mut next = row.copied().unwrap_or_default();
    let (what, back) = match act {
        Engage::Like => (Interaction::Like, false),
        Engage::Unlike => (Interaction::Like, true),
        Engage::Comment => (Interaction::Comment, false),
        Engage::Uncomment => (Interaction::Comment, true),
        Engage::Share => (Interaction::Share, false),
        Engage::Unshare => (Interaction::Share, true),
    };
    let step = |count: u32| if back { count.checked_sub(1) } else { count.checked_add(1) };
    match what {
        Interaction::Like if next.likes != back => return None,
        Interaction::Like => next.likes = !back,
        Interaction::Comment => next.comments = step(next.comments)?,
        Interaction::Share => next.shares = step(next.shares)?,
    }
    Some((next, Delta { what, back, newcomer: row.is_none() }))
}

/// How many counters a post of so many acts is spread over, unless they were found to be crowded before.
/// It only grows, so whoever knows an older one still writes to a counter that is added up.
pub const fn width(acts: u64) -> u8 {
    match acts {
        0..64 => 1,
        64..1_000 => 8,
        _ => SHARDS,
    }
}

/// The counter of a post that a person's acts go to, of so many.
pub fn shard_of(post: PostId, person: &UserId, width: u8) -> u8 {
    let lot = lot(&[b"counter", &post.bytes(), person.as_str().as_bytes()]);
    u8::try_from(lot % u64::from(width.clamp(1, SHARDS))).unwrap_or(0)
}

/// One of a post's counters. All of its numbers only grow.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Likes, comments and shares.
    pub given: [u64; 3],
    /// Of those, how many were taken back.
    pub taken: [u64; 3],
    /// Newcomers, by the hour since 1970.
    pub people: BTreeMap<i64, u64>,
}

impl Shard {
    /// With one act more.
    pub fn add(&mut self, delta: Delta, now: Timestamp) {
        let numbers = if delta.back { &mut self.taken } else { &mut self.given };
        numbers[delta.what as usize] += 1;
        if delta.newcomer {
            *self.people.entry(hour_of(now)).or_default() += 1;
        }
    }

    /// How many acts it has counted.
    pub fn acts(&self) -> u64 {
        self.given.iter().chain(&self.taken).sum()
    }
}

/// Whether the act that makes a counter's acts so many is told, so that totals are folded: the first few,
/// then ever fewer. Where there are many counters they take turns, so that a post is folded about eight times
/// while its acts double, however many counters it has. A sweep folds what nobody was told of.
pub fn is_told(acts: u64, counter: u8, width: u8) -> bool {
    let step = 1 << acts.checked_ilog2().unwrap_or(0).saturating_sub(3);
    acts.is_multiple_of(step)
        && (acts / step + u64::from(counter)).is_multiple_of(width.max(1).into())
}

/// All counters of a post together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Total {
    pub counts: Counts,
    /// Newcomers of the last two days, by the hour since 1970.
    pub people: BTreeMap<i64, u64>,
    /// Acts that went into it. A total is written only over the one whose acts were read before.
    pub acts: u64,
}

/// Adds up a post's counters.
pub fn fold<'s>(shards: impl IntoIterator<Item = &'s Shard>, now: Timestamp) -> Total {
    let mut sum = Shard::default();
    for shard in shards {
        for kind in 0..3 {
            sum.given[kind] += shard.given[kind];
            sum.taken[kind] += shard.taken[kind];
        }
        for (hour, people) in &shard.people {
            *sum.people.entry(*hour).or_default() += people;
        }
    }
    let left =
        |kind: Interaction| sum.given[kind as usize].saturating_sub(sum.taken[kind as usize]);
    let counts = Counts {
        likes: left(Interaction::Like),
        comments: left(Interaction::Comment),
        shares: left(Interaction::Share),
    };
    let acts = sum.acts();
    let oldest = hour_of(now) - KEPT_HOURS;
    let people = sum.people.into_iter().filter(|(hour, _)| *hour > oldest).collect();
    Total { counts, people, acts }
}

/// The hour since 1970 in which newcomers of a moment are counted.
pub fn hour_of(at: Timestamp) -> i64 {
    at.as_second().div_euclid(3_600)
}

#[cfg(test)]
mod tests;
