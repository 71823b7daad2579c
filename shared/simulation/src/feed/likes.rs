//! Many people like one post at once: how often each row is written to.
//!
//! Likes come evenly, some of them twice. Each that counts writes the person's row and one counter in a
//! transaction; two that meet at one counter within ten milliseconds are in each other's way, which is
//! how a post with few counters is found to need more. Each that is told is folded into the total, and that may
//! be tried four times because others fold too. The same [`Likes`] always give the same [`Load`].

use std::collections::BTreeMap;

use domain::Timestamp;
use domain::accounts::UserId;
use domain::feed::counts::{
    CounterShard, MAX_SHARDS, engage, is_aggregation_due, shard_count, shard_of, sum_shards,
};
use domain::feed::{Counts, PostAction, PostId};

/// A fold tries so often to write the total, at worst.
const TRIES_OF_A_FOLD: u64 = 4;

/// What a transaction takes of a row's thousand units a second.
const UNITS_OF_A_TRANSACTION: u32 = 2;

const START_MS: i64 = 1_772_323_200_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Likes {
    pub per_second: u32,
    pub seconds: u32,
    /// One in so many is sent twice.
    pub doubled: u64,
    /// The same seed plays the same.
    pub seed: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Load {
    /// What the total says in the end.
    pub counts: Counts,
    /// Likes that were sent, with those that were sent twice.
    pub sent: u64,
    pub people: u64,
    /// The most units that any row was charged in any second.
    pub hottest_row: u32,
    /// The most writes of the total in any second, at worst.
    pub total_writes: u64,
    pub told: u64,
    pub counters: u8,
}

pub fn like(plan: &Likes) -> Load {
    let mut random = crate::generator(plan.seed);
    let post = PostId::first_at(instant(0));
    let mut rows = BTreeMap::new();
    let mut shards = vec![CounterShard::default(); usize::from(MAX_SHARDS)];
    let mut load = Load::default();
    let mut written = sum_shards(&shards, instant(0));
    let mut spread = shard_count(0);
    let mut last_met = BTreeMap::new();
    for second in 0..plan.seconds {
        let now = instant(i64::from(second));
        let mut units: BTreeMap<u8, u32> = BTreeMap::new();
        let mut told = 0;
        for number in 0..plan.per_second {
            let person = u64::from(second) * u64::from(plan.per_second) + u64::from(number);
            let name = UserId::outside(&format!("u{person}"));
            let slot =
                u64::from(second) * 100 + u64::from(number) * 100 / u64::from(plan.per_second);
            if last_met.insert(shard_of(post, &name, spread), slot) == Some(slot) {
                spread = MAX_SHARDS;
            }
            let shard = shard_of(post, &name, spread);
            load.people += 1;
            for _ in 0..=u8::from(random.one_in(plan.doubled.max(1))) {
                load.sent += 1;
                // One that fails is charged like one that counts.
                *units.entry(shard).or_default() += UNITS_OF_A_TRANSACTION;
                let Some((row, delta)) = engage(rows.get(&person), PostAction::Like) else {
                    continue;
                };
                rows.insert(person, row);
                let counter = &mut shards[usize::from(shard)];
                counter.add(delta, now);
                told += u64::from(is_aggregation_due(counter.acts(), shard, spread));
            }
        }
        load.told += told;
        load.hottest_row = load.hottest_row.max(units.values().copied().max().unwrap_or(0));
        load.total_writes = load.total_writes.max(told * TRIES_OF_A_FOLD);
        if told > 0 {
            written = sum_shards(&shards, now);
            spread = spread.max(shard_count(written.acts));
        }
    }
    // The sweep finds what was not told.
    let last = sum_shards(&shards, instant(i64::from(plan.seconds)));
    load.counters = spread;
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
        assert!(load.total_writes <= 250, "nor is the post: {load:?}");
        assert!(load.told < load.people / 200, "{load:?}");
    }

    #[test]
    fn a_quiet_post_has_one_counter_and_one_that_is_liked_at_once_has_many() {
        let quiet = like(&Likes { per_second: 1, seconds: 20, doubled: 99, seed: 7 });
        assert_eq!((quiet.counts.likes, quiet.counters), (20, 1));
        let sudden = like(&Likes { per_second: 10_000, seconds: 1, doubled: 99, seed: 7 });
        assert_eq!(sudden.counters, MAX_SHARDS);
    }

    #[test]
    fn the_same_plan_gives_the_same_load() {
        let plan = Likes { per_second: 100, seconds: 3, doubled: 3, seed: 1 };
        assert_eq!(like(&plan), like(&plan));
        assert_ne!(like(&plan).sent, like(&Likes { seed: 2, ..plan }).sent);
    }
}
