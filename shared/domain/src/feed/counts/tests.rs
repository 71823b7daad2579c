//! Exact in the end, also if actions are sent twice and in any order.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::feed::samples::{at, id, person};

const ACTS: [PostAction; 6] = [
    PostAction::Like,
    PostAction::Unlike,
    PostAction::Comment,
    PostAction::Uncomment,
    PostAction::Share,
    PostAction::Unshare,
];

#[test]
fn a_double_like_counts_once_and_so_does_taking_it_back() {
    let (liked, delta) = engage(None, PostAction::Like).unwrap();
    assert_eq!(
        delta,
        CounterDelta { interaction: Interaction::Like, is_undo: false, is_new_user: true }
    );
    assert_eq!(engage(Some(&liked), PostAction::Like), None);
    let (unliked, delta) = engage(Some(&liked), PostAction::Unlike).unwrap();
    assert!(delta.is_undo && !delta.is_new_user);
    assert_eq!(engage(Some(&unliked), PostAction::Unlike), None);
    assert_eq!(engage(None, PostAction::Unlike), None);
    assert_eq!(engage(None, PostAction::Uncomment), None);
    let (_, again) = engage(Some(&unliked), PostAction::Like).unwrap();
    assert!(!again.is_new_user, "a person is new once");
}

#[test]
fn engagement_weighs_words_and_passing_on() {
    assert_eq!(Counts { likes: 1, comments: 10, shares: 100 }.engagement(), 321);
    assert_eq!(Counts { likes: u64::MAX, comments: 1, shares: 1 }.engagement(), u64::MAX);
}

#[test]
fn people_spread_evenly_over_counters() {
    let mut found = [0_u32; MAX_SHARDS as usize];
    (0..6_400).for_each(|n| found[usize::from(shard_of(id(1), &person(n), MAX_SHARDS))] += 1);
    assert!(found.iter().all(|count| (50..=160).contains(count)), "{found:?}");
}

#[test]
fn ever_fewer_acts_are_told() {
    assert!((1..=16).all(|acts| is_aggregation_due(acts, 0, 1)));
    assert_eq!((1_u64..=100_000).filter(|acts| is_aggregation_due(*acts, 0, 1)).count(), 116);
}

#[test]
fn counters_take_turns_in_telling() {
    for shard_count in [1, 8, MAX_SHARDS] {
        // All counters move on alike, and double their acts.
        let told = |counter| {
            (1_025..=2_048).filter(|acts| is_aggregation_due(*acts, counter, shard_count)).count()
        };
        let told: usize = (0..shard_count).map(told).sum();
        assert_eq!(told, 8, "{shard_count} counters");
    }
}

#[test]
fn people_of_long_ago_are_not_carried_along() {
    let mut shard = CounterShard::default();
    let delta = CounterDelta { interaction: Interaction::Like, is_undo: false, is_new_user: true };
    shard.add(delta, at(0));
    shard.add(delta, at(49 * 3_600));
    let total = sum_shards([&shard], at(49 * 3_600));
    assert_eq!((total.hourly_users.len(), total.counts.likes), (1, 2));
}

proptest! {
    /// Acts of a few people, each delivered one to three times, and totals written late and in any order.
    #[test]
    fn totals_converge_to_what_rows_say(
        acts in prop::collection::vec((0_u64..6, 0_usize..6, 1_usize..4), 0..120),
        late in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let mut rows: BTreeMap<u64, Engagement> = BTreeMap::new();
        let mut shards = vec![CounterShard::default(); usize::from(MAX_SHARDS)];
        let mut folds = vec![sum_shards(&shards, at(0))];
        for (who, act, copies) in acts {
            let act = ACTS[act];
            // Comments and shares have rows of their own, which a copy finds.
            let copies = if matches!(act, PostAction::Like | PostAction::Unlike) { copies } else { 1 };
            for _ in 0..copies {
                if let Some((row, delta)) = engage(rows.get(&who), act) {
                    rows.insert(who, row);
                    shards[usize::from(shard_of(id(1), &person(who), MAX_SHARDS))].add(delta, at(0));
                }
            }
            folds.push(sum_shards(&shards, at(0)));
        }
        let expected = Counts {
            likes: rows.values().filter(|row| row.likes).count() as u64,
            comments: rows.values().map(|row| u64::from(row.comments)).sum(),
            shares: rows.values().map(|row| u64::from(row.shares)).sum(),
        };
        let last = folds.last().unwrap().clone();
        prop_assert_eq!(last.counts, expected);
        prop_assert_eq!(last.hourly_users.values().sum::<u64>(), rows.len() as u64);
        let mut written = PostTotals::default();
        for total in late.iter().map(|index| index.get(&folds)).chain([&last]).chain(&folds) {
            if total.acts > written.acts {
                written = total.clone();
            }
        }
        prop_assert_eq!(written.counts, expected);
    }
}
