use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

/// Every slot is in the heap once, with no more units than it has, and in the table once.
fn check(heavy: &SpaceSaving<String>) {
    let mut heap: Vec<(usize, u64)> =
        heavy.min_heap.iter().map(|Reverse((units, at))| (*at, *units)).collect();
    heap.sort_unstable();
    assert!(heap.iter().map(|(at, _)| *at).eq(0..heavy.slots.len()));
    assert!(heap.iter().all(|(at, units)| *units <= heavy.slots[*at].count.units));
    assert_eq!(heavy.table.len(), heavy.slots.len());
}

proptest! {
    #[test]
    fn counts_are_right_within_their_error(
        capacity in 1_usize..20,
        notes in proptest::collection::vec((0_u8..60, 0_u32..40, any::<bool>()), 0..500),
    ) {
        let mut heavy = SpaceSaving::<String>::new(capacity);
        let mut exact: HashMap<String, (u64, u64)> = HashMap::new();
        let mut total = 0;
        for (key, units, denied) in notes {
            // Few keys are common and many are rare.
            let key = format!("key-{}", u32::from(key) * u32::from(key) / 60);
            heavy.record(key.as_str(), units, denied);
            check(&heavy);
            let units = u64::from(units);
            total += units;
            let count = exact.entry(key).or_default();
            *count = (count.0 + units, count.1 + if denied { units } else { 0 });
        }
        exact.retain(|_, count| count.0 > 0);
        prop_assert_eq!(heavy.len(), exact.len().min(capacity));
        let top = heavy.drain_top(capacity);
        prop_assert!(top.is_sorted_by(|one, other| one.1.units >= other.1.units));
        prop_assert_eq!(top.iter().map(|(_, count)| count.units).sum::<u64>(), total);
        for (key, count) in &top {
            let (asked, denied) = exact[key];
            prop_assert!(count.units - count.error <= asked && asked <= count.units);
            prop_assert!(count.denied <= denied && denied <= count.denied + count.error);
            prop_assert!(exact.len() > capacity || count.error == 0);
        }
        for (key, (asked, _)) in &exact {
            let heavy_enough = *asked > total / capacity as u64;
            prop_assert!(!heavy_enough || top.iter().any(|(there, _)| there == key));
        }
    }
}

#[test]
fn a_new_key_takes_the_place_of_the_lightest_and_its_count() {
    let mut heavy = SpaceSaving::<String>::new(2);
    heavy.record("a", 5, true);
    heavy.record("b", 3, true);
    heavy.record("c", 1, true);
    let top = heavy.drain_top(10);
    let count = |units, denied, error| KeyCount { units, denied, error };
    assert_eq!(top, [("a".to_owned(), count(5, 5, 0)), ("c".to_owned(), count(4, 1, 3))]);
}

#[test]
fn draining_starts_over() {
    let mut heavy = SpaceSaving::<String>::new(2);
    heavy.record("a", 5, false);
    heavy.record("b", 9, false);
    assert_eq!(heavy.drain_top(1), [("b".to_owned(), KeyCount { units: 9, denied: 0, error: 0 })]);
    assert!(heavy.is_empty() && heavy.drain_top(1).is_empty());
    heavy.record("a", 1, false);
    assert_eq!(heavy.drain_top(2), [("a".to_owned(), KeyCount { units: 1, denied: 0, error: 0 })]);
}

#[test]
fn asking_for_nothing_is_not_counted() {
    let mut heavy = SpaceSaving::<String>::new(2);
    heavy.record("a", 0, true);
    assert!(heavy.is_empty());
}
