use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

/// A well mixed hash of a small number (the finaliser of splitmix64).
fn mixed(seed: u64) -> u64 {
    let mut hash = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[derive(Debug, Clone)]
enum Step {
    Add(u64, u32),
    Advance(i64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0_u64..300, 1_u32..50).prop_map(|(key, units)| Step::Add(key, units)),
        1 => (-500_i64..3_000).prop_map(Step::Advance),
    ]
}

proptest! {
    #[test]
    fn an_estimate_is_never_under_what_was_added_and_halved(
        seed in any::<u64>(),
        steps in proptest::collection::vec(step(), 1..400),
    ) {
        let mut sketch = CountMinSketch::new(4, 3, 1_000);
        let mut exact: HashMap<u64, u64> = HashMap::new();
        let (mut now_ms, mut latest) = (0_i64, 0_i64);
        sketch.decay(now_ms);
        for step in steps {
            match step {
                Step::Add(key, units) => {
                    let told = sketch.add(mixed(seed ^ key), units);
                    prop_assert_eq!(told, sketch.estimate(mixed(seed ^ key)));
                    *exact.entry(key).or_default() += u64::from(units);
                }
                Step::Advance(by) => {
                    now_ms += by;
                    sketch.decay(now_ms);
                    while latest < now_ms.div_euclid(1_000) {
                        exact = exact.into_iter().map(|(key, count)| (key, count / 2)).collect();
                        latest += 1;
                    }
                }
            }
            let sum: u64 = exact.values().sum();
            prop_assert!(sketch.total() >= sum);
            for (key, count) in &exact {
                prop_assert!(u64::from(sketch.estimate(mixed(seed ^ key))) >= *count);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Many keys on few counters, even and skewed: the share of keys that is over by more than the
    /// bound stays under e^-depth, which is 1 in 20 for 3 rows and 1 in 55 for 4.
    #[test]
    fn few_keys_are_over_by_more_than_the_bound(
        seed in any::<u64>(),
        keys in 500_u64..4_000,
        heavy in 1_u64..200,
        weight in 1_u32..2_000,
        depth in 3_usize..=4,
    ) {
        let mut sketch = CountMinSketch::new(8, depth, 0);
        let units = |key: u64| if key < heavy { weight } else { 1 };
        for round in 0..4_u64 {
            for key in 0..keys {
                let key = (key + round * 37) % keys;
                sketch.add(mixed(seed ^ key), units(key));
            }
        }
        let error_bound = sketch.error_bound();
        let over = (0..keys).filter(|key| {
            let estimate = u64::from(sketch.estimate(mixed(seed ^ key)));
            estimate - 4 * u64::from(units(*key)) > error_bound
        });
        let allowed = if depth == 3 { keys / 20 } else { keys / 54 };
        prop_assert!(over.count() as u64 <= allowed);
    }
}

#[test]
fn one_key_alone_is_counted_exactly() {
    let mut sketch = CountMinSketch::default();
    assert_eq!((sketch.add(mixed(1), 3), sketch.add(mixed(1), 4)), (3, 7));
    assert_eq!((sketch.estimate(mixed(1)), sketch.estimate(mixed(2))), (7, 0));
}

#[test]
fn nothing_is_allocated_before_the_first_addition() {
    let mut sketch = CountMinSketch::default();
    sketch.decay(1);
    assert_eq!((sketch.estimate(7), sketch.counters.capacity()), (0, 0));
    sketch.add(7, 1);
    assert_eq!(sketch.counters.len() * size_of::<u32>(), 256 * 1024);
}

#[test]
fn a_count_stops_at_the_largest_number() {
    let mut sketch = CountMinSketch::default();
    sketch.add(1, u32::MAX - 1);
    assert_eq!(sketch.add(1, 10), u32::MAX);
}

#[test]
fn counts_halve_with_each_period_and_never_in_between() {
    let mut sketch = CountMinSketch::new(6, 2, 1_000);
    sketch.decay(500);
    sketch.add(1, 9);
    let after = |sketch: &mut CountMinSketch, now_ms| {
        sketch.decay(now_ms);
        (sketch.estimate(1), sketch.total())
    };
    assert_eq!(after(&mut sketch, 999), (9, 9));
    assert_eq!(after(&mut sketch, 1_000), (4, 5));
    assert_eq!(after(&mut sketch, 200), (4, 5), "a clock that runs backwards");
    assert_eq!(after(&mut sketch, 1_999), (4, 5));
    assert_eq!(after(&mut sketch, 3_000), (1, 2));
    assert_eq!(after(&mut sketch, i64::MAX).0, 0);
}

#[test]
fn without_a_period_nothing_fades() {
    let mut sketch = CountMinSketch::new(6, 2, 0);
    sketch.add(1, 9);
    sketch.decay(0);
    sketch.decay(i64::MAX);
    assert_eq!(sketch.estimate(1), 9);
}

#[test]
fn the_bound_is_e_times_the_total_over_the_width() {
    let mut sketch = CountMinSketch::new(14, 4, 0);
    assert_eq!(sketch.error_bound(), 0);
    sketch.add(1, 1_000_000);
    assert_eq!(sketch.error_bound(), 166, "2.718282 × 1,000,000 ÷ 16,384 = 165.9");
}
