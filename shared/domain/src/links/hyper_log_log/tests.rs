//! A sketch counts well, and its bytes depend on who came and on nothing else.

use super::*;
use proptest::prelude::*;

/// `SplitMix64`: the n-th number of a stream that is as good as random.
fn hash(seed: u64, n: u64) -> u64 {
    let mixed = |z: u64| {
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    mixed(mixed(seed).wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

fn hyper_log_log_of(hashes: impl IntoIterator<Item = u64>) -> HyperLogLog {
    let mut sketch = HyperLogLog::new();
    for hash in hashes {
        sketch.add(hash);
    }
    sketch
}

/// Sets on both sides of the change of form, with hashes whose ranks are anything from 1 to 51.
fn hashes() -> impl Strategy<Value = Vec<u64>> {
    let one = (any::<u64>(), 0_u32..64).prop_map(|(bits, zeros)| {
        let chooser = bits & (u64::MAX << (64 - PRECISION));
        chooser | (bits << PRECISION >> PRECISION) >> zeros
    });
    let many =
        (any::<u64>(), 0_u64..4_000).prop_map(|(seed, n)| (0..n).map(move |n| hash(seed, n)));
    (prop::collection::vec(one, 0..300), many).prop_map(|(odd, many)| many.chain(odd).collect())
}

#[test]
fn estimates_stay_within_their_error() {
    for n in [10, 100, 1_000, 5_000, 10_000, 50_000, 100_000, 500_000] {
        let errors: Vec<f64> = (0..20)
            .map(|seed| {
                let estimate =
                    hyper_log_log_of((0..n).map(|visitor| hash(seed, visitor))).estimate();
                let off = u32::try_from(estimate.abs_diff(n)).unwrap();
                f64::from(off) / f64::from(u32::try_from(n).unwrap())
            })
            .collect();
        assert!(errors.iter().filter(|&&error| error < 0.02).count() >= 19, "{n}: {errors:?}");
        assert!(errors.iter().all(|&error| error < 0.035), "{n}: {errors:?}");
    }
}

#[test]
fn up_to_1024_visitors_are_counted_exactly() {
    let mut sketch = HyperLogLog::new();
    assert_eq!(sketch.estimate(), 0);
    for n in 0..1_024 {
        assert!(sketch.add(hash(1, n)));
        assert_eq!(sketch.estimate(), n + 1);
    }
}

#[test]
fn bytes_are_few() {
    let table = [(0, 1), (1, 5), (10, 41), (100, 330), (1_024, 3_100), (1_025, 2_400)];
    let large = [(16_384, 5_300), (100_000, 6_000), (1_000_000, 6_000)];
    for (n, most) in table.into_iter().chain(large) {
        let length = hyper_log_log_of((0..n).map(|visitor| hash(2, visitor))).to_bytes().len();
        assert!(length <= most, "{n}: {length}");
    }
}

#[test]
fn registers_that_no_hash_would_give_still_fit() {
    let uniform = (0..REGISTERS).map(|at| u8::try_from(at % 52).unwrap()).collect();
    let full = vec![MAX_RANK; REGISTERS];
    for (registers, most) in [(uniform, 14_400), (full, 2_100)] {
        let sketch = HyperLogLog(Representation::Dense(registers));
        assert!(sketch.to_bytes().len() < most);
        assert_eq!(HyperLogLog::from_bytes(&sketch.to_bytes()), Some(sketch));
    }
}

#[test]
fn stored_sketches_stay_readable() {
    let few = hyper_log_log_of([0, 1 << 63 | 1 << 11, u64::MAX]);
    let bytes = [1, 0, 51, 0xff, 0xff, 0xff, 0x0f, 39, 0xfe, 0xff, 0xff, 0x0f];
    assert_eq!(few.to_bytes(), bytes);
    assert_eq!(HyperLogLog::from_bytes(&bytes), Some(few));

    let mut registers = vec![0; REGISTERS];
    registers[REGISTERS - 2..].copy_from_slice(&[7, 9]);
    let dense = HyperLogLog(Representation::Dense(registers));
    let mut bytes = vec![2, 0, 3, 0, 7, 9];
    bytes.extend([0xff; 2_047]);
    bytes.extend([0b1111_1101, 0b0010_0000]);
    assert_eq!(dense.to_bytes(), bytes);
    assert_eq!(HyperLogLog::from_bytes(&bytes), Some(dense));
}

#[test]
fn other_ways_to_write_a_sketch_are_not_read() {
    let table: [&[u8]; 8] = [
        &[],
        &[0],
        &[3],
        // A number with a zero at its end that needn't be there, one without an end, one too large.
        &[1, 0x81, 0x00],
        &[1, 0x81],
        &[1, 0xff, 0xff, 0xff, 0x7f],
        // A rank that is missing, and one that is too low for its index.
        &[1, 0x00],
        &[1, 0x00, 12],
    ];
    for bytes in table {
        assert_eq!(HyperLogLog::from_bytes(bytes), None, "{bytes:?}");
    }
    let dense = hyper_log_log_of((0..3_000).map(|visitor| hash(3, visitor))).to_bytes();
    assert!(HyperLogLog::from_bytes(&dense).is_some());
    assert_eq!(HyperLogLog::from_bytes(&dense[..dense.len() - 1]), None);
    assert_eq!(HyperLogLog::from_bytes(&[&dense[..], &[0]].concat()), None);
    let too_many = [&[1][..], &[1; 1_025]].concat();
    assert!(HyperLogLog::from_bytes(&too_many[..1_025]).is_some());
    assert_eq!(HyperLogLog::from_bytes(&too_many), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn order_and_repetition_do_not_show(hashes in hashes(), turn in any::<prop::sample::Index>()) {
        let mut other = hashes.clone();
        if !other.is_empty() {
            other.rotate_left(turn.index(hashes.len()));
            other.reverse();
        }
        let mut sketch = hyper_log_log_of(hashes.iter().copied());
        prop_assert_eq!(hyper_log_log_of(other).to_bytes(), sketch.to_bytes());
        for hash in hashes {
            prop_assert!(!sketch.add(hash));
        }
        prop_assert!(!sketch.merge(&sketch.clone()));
    }

    #[test]
    fn what_add_says_is_whether_the_bytes_changed(hashes in hashes(), more: [u64; 3]) {
        let mut sketch = hyper_log_log_of(hashes.iter().copied());
        for hash in more.into_iter().chain(hashes.into_iter().take(3)) {
            let before = sketch.to_bytes();
            prop_assert_eq!(sketch.add(hash), sketch.to_bytes() != before);
        }
    }

    #[test]
    fn any_tree_of_merges_is_the_union(a in hashes(), b in hashes(), c in hashes()) {
        let union = hyper_log_log_of(a.iter().chain(&b).chain(&c).copied());
        let [a, b, c] = [a, b, c].map(hyper_log_log_of);
        let merged = |left: &HyperLogLog, right: &HyperLogLog| {
            let mut sum = left.clone();
            let changed = sum.merge(right);
            assert_eq!(changed, sum != *left);
            sum
        };
        let trees = [
            merged(&merged(&a, &b), &c),
            merged(&a, &merged(&c, &b)),
            merged(&merged(&c, &a), &b),
        ];
        for tree in trees {
            prop_assert_eq!(tree.to_bytes(), union.to_bytes());
        }
    }

    #[test]
    fn bytes_round_trip(hashes in hashes()) {
        let sketch = hyper_log_log_of(hashes);
        prop_assert_eq!(HyperLogLog::from_bytes(&sketch.to_bytes()), Some(sketch));
    }

    #[test]
    fn garbage_is_refused_or_is_a_sketch(
        mut bytes in prop::collection::vec(any::<u8>(), 0..4_000),
        tag in 0_u8..4,
    ) {
        if let Some(first) = bytes.first_mut() {
            *first = tag;
        }
        if let Some(mut sketch) = HyperLogLog::from_bytes(&bytes) {
            prop_assert_eq!(sketch.to_bytes(), bytes);
            sketch.estimate();
            sketch.merge(&hyper_log_log_of([1, 2, 3]));
        }
    }

    #[test]
    fn a_damaged_sketch_is_refused_or_is_another(
        hashes in hashes(),
        at in any::<prop::sample::Index>(),
        flipped in 1_u8..,
    ) {
        let mut bytes = hyper_log_log_of(hashes).to_bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= flipped;
        if let Some(sketch) = HyperLogLog::from_bytes(&bytes) {
            prop_assert_eq!(sketch.to_bytes(), bytes);
            sketch.estimate();
        }
    }
}
