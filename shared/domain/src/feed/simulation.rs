//! Many people like one post at once: how often each row is written to.
//!
//! Likes come evenly, some of them twice. Each that counts writes the person's row and one counter in a
//! transaction. What is told of them is gathered for a second, as the queue does, and folded once into
//! the total. The same [`Likes`] always give the same [`Load`]. It is public because tests run it small and
//! the bench runs it large.

use std::collections::{BTreeMap, BTreeSet};

use super::counts::{SHARDS, Shard, engage, fold, shard_of};
use super::{Counts, Engage, PostId};
use crate::Timestamp;
use crate::accounts::UserId;
use crate::dice::Dice;

/// What a transaction takes of a row's thousand units a second.
const UNITS_OF_A_TRANSACTION: u32 = 2;

/// The simulated present at the start.
const START_MS: i64 = 1_772_323_200_000;

/// What is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Likes {
    /// Likes of each second.
    pub per_second: u32,
    /// For so long.
    pub seconds: u32,
    /// One in so many is sent twice.
    pub doubled: u64,
    /// The same seed plays the same.
    pub seed: u64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Load {
    /// What the total says in the end.
    pub counts: Counts,
    /// Likes that were sent, with those that were sent twice.
    pub sent: u64,
    /// People who sent them.
    pub people: u64,
    /// The most units that any row was charged in any second.
    pub hottest_row: u32,
    /// The most writes of the total in any second.
    pub total_writes: u32,
    /// Messages that asked for a fold.
    pub told: u64,
}

/// Plays it.
pub fn like(plan: &Likes) -> Load {
    let mut dice = Dice::new(plan.seed);
    let post = PostId::first_at(instant(0));
    let mut rows = BTreeMap::new();
    let mut shards = vec![Shard::default(); usize::from(SHARDS)];
    let mut load = Load::default();
    let mut written = fold(&shards, instant(0));
    for second in 0..plan.seconds {
        let now = instant(i64::from(second));
        let mut units: BTreeMap<u8, u32> = BTreeMap::new();
        let mut told = 0;
        for number in 0..plan.per_second {
            let person = u64::from(second) * u64::from(plan.per_second) + u64::from(number);
            let name = UserId::outside(&format!("u{person}"));
            let shard = shard_of(post, &name);
            load.people += 1;
            for _ in 0..=u8::from(dice.one_in(plan.doubled.max(1))) {
                load.sent += 1;
                // One that fails is charged like one that counts.
                *units.entry(shard).or_default() += UNITS_OF_A_TRANSACTION;
                let Some((row, delta)) = engage(rows.get(&person), Engage::Like) else { continue };
                rows.insert(person, row);
                let counter = &mut shards[usize::from(shard)];
                counter.add(delta, now);
                told += u64::from(counter.is_told());
            }
        }
        load.told += told;
        load.hottest_row = load.hottest_row.max(units.values().copied().max().unwrap_or(0));
        // A batch folds each post that it names once.
        let folds = BTreeSet::from_iter((told > 0).then_some(post)).len();
        load.total_writes = load.total_writes.max(u32::try_from(folds).unwrap_or(u32::MAX));
        if folds > 0 {
            written = fold(&shards, now);
        }
    }
    // The sweep finds what was not told.
    let last = fold(&shards, instant(i64::from(plan.seconds)));
    load.counts = if last.acts > written.acts { last.counts } else { written.counts };
    load
}

fn instant(second: i64) -> Timestamp {
    Timestamp::from_millisecond(START_MS + second * 1_000).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousand_likes_a_second_make_no_row_hot() {
        let load = like(&Likes { per_second: 10_000, seconds: 3, doubled: 10, seed: 7 });
        assert_eq!(load.counts.likes, 30_000);
        assert!(load.sent > 32_000 && load.people == 30_000, "{load:?}");
        assert!(load.hottest_row <= 600, "a row takes 1,000 units a second: {load:?}");
        assert_eq!(load.total_writes, 1, "{load:?}");
        assert!(load.told < load.people / 5, "{load:?}");
    }

    #[test]
    fn the_same_plan_gives_the_same_load() {
        let plan = Likes { per_second: 100, seconds: 3, doubled: 3, seed: 1 };
        assert_eq!(like(&plan), like(&plan));
        assert_ne!(like(&plan).sent, like(&Likes { seed: 2, ..plan }).sent);
    }
}
