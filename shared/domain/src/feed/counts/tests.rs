//! Exact in the end, whatever is sent twice and in whichever order.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::feed::samples::{at, id, person};

const ACTS: [Engage; 6] = [
    Engage::Like,
    Engage::Unlike,
    Engage::Comment,
    Engage::Uncomment,
    Engage::Share,
    Engage::Unshare,
];

#[test]
fn a_double_like_counts_once_and_so_does_taking_it_back() {
    let (liked, delta) = engage(None, Engage::Like).unwrap();
    assert_eq!(delta, Delta { what: Interaction::Like, back: false, newcomer: true });
    assert_eq!(engage(Some(&liked), Engage::Like), None);
    let (unliked, delta) = engage(Some(&liked), Engage::Unlike).unwrap();
    assert!(delta.back && !delta.newcomer);
    assert_eq!(engage(Some(&unliked), Engage::Unlike), None);
    assert_eq!(engage(None, Engage::Unlike), None);
    assert_eq!(engage(None, Engage::Uncomment), None);
    let (_, again) = engage(Some(&unliked), Engage::Like).unwrap();
    assert!(!again.newcomer, "a person is new once");
}

#[test]
fn engagement_weighs_words_and_passing_on() {
    assert_eq!(Counts { likes: 1, comments: 10, shares: 100 }.engagement(), 321);
    assert_eq!(Counts { likes: u64::MAX, comments: 1, shares: 1 }.engagement(), u64::MAX);
}

#[test]
fn people_spread_evenly_over_counters() {
    let mut found = [0_u32; SHARDS as usize];
    (0..6_400).for_each(|n| found[usize::from(shard_of(id(1), &person(n), SHARDS))] += 1);
    assert!(found.iter().all(|count| (50..=160).contains(count)), "{found:?}");
}

#[test]
fn ever_fewer_acts_are_told() {
    assert!((1..=16).all(|acts| is_told(acts, 0, 1)));
    assert_eq!((1_u64..=100_000).filter(|acts| is_told(*acts, 0, 1)).count(), 116);
}

#[test]
fn counters_take_turns_in_telling() {
    for width in [1, 8, SHARDS] {
        // All counters move on alike, and double their acts.
        let told = |counter| (1_025..=2_048).filter(|acts| is_told(*acts, counter, width)).count();
        let told: usize = (0..width).map(told).sum();
        assert_eq!(told, 8, "{width} counters");
    }
}

#[test]
fn people_of_long_ago_are_not_carried_along() {
    let mut shard = Shard::default();
    let delta = Delta { what: Interaction::Like, back: false, newcomer: true };
    shard.add(delta, at(0));
    shard.add(delta, at(49 * 3_600));
    let total = fold([&shard], at(49 * 3_600));
    assert_eq!((total.people.len(), total.counts.likes), (1, 2));
}

proptest! {
    /// Acts of a few people, each delivered one to three times, and totals written late and in any order.
    #[test]
    fn totals_converge_to_what_rows_say(
        acts in prop::collection::vec((0_u64..6, 0_usize..6, 1_usize..4), 0..120),
        late in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let mut rows: BTreeMap<u64, Engaged> = BTreeMap::new();
        let mut shards = vec![Shard::default(); usize::from(SHARDS)];
        let mut folds = vec![fold(&shards, at(0))];
        for (who, act, copies) in acts {
            let act = ACTS[act];
            // Comments and shares have rows of their own, which a copy finds.
            let copies = if matches!(act, Engage::Like | Engage::Unlike) { copies } else { 1 };
            for _ in 0..copies {
                if let Some((row, delta)) = engage(rows.get(&who), act) {
                    rows.insert(who, row);
                    shards[usize::from(shard_of(id(1), &person(who), SHARDS))].add(delta, at(0));
                }
            }
            folds.push(fold(&shards, at(0)));
        }
        let expected = Counts {
            likes: rows.values().filter(|row| row.likes).count() as u64,
            comments: rows.values().map(|row| u64::from(row.comments)).sum(),
            shares: rows.values().map(|row| u64::from(row.shares)).sum(),
        };
        let last = folds.last().unwrap().clone();
        prop_assert_eq!(last.counts, expected);
        prop_assert_eq!(last.people.values().sum::<u64>(), rows.len() as u64);
        let mut written = Total::default();
        for total in late.iter().map(|index| index.get(&folds)).chain([&last]).chain(&folds) {
            if total.acts > written.acts {
                written = total.clone();
            }
        }
        prop_assert_eq!(written.counts, expected);
    }
}
