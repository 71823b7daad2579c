//! Parts of a quota.

use proptest::prelude::*;

use super::schedule::algorithm;
use super::{Algorithm, Quota, quota};
use crate::limits::quota::MAX_LIMIT;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_parts_of_a_quota_add_up_to_it_and_none_is_small(
        algorithm in algorithm(),
        limit in prop_oneof![0_i64..5_000, 0_i64..200_000, 0..=MAX_LIMIT],
        window_ms in prop_oneof![Just(1_000_i64), 1_000_i64..=86_400_000],
        burst in proptest::option::of(0_i64..=200),
    ) {
        let burst = burst.map(|part| limit * part / 100);
        let quota = Quota { algorithm, limit, window_ms, burst };
        let parts: Vec<Quota> = (0..quota.shards()).map(|index| quota.shard(index)).collect();
        prop_assert!((1..=32).contains(&parts.len()));
        prop_assert_eq!(parts.iter().map(|part| part.limit).sum::<i64>(), limit);
        prop_assert_eq!(parts.iter().map(Quota::capacity).sum::<i64>(), quota.capacity());
        for part in &parts {
            prop_assert_eq!((part.algorithm, part.window_ms), (algorithm, window_ms));
            prop_assert_eq!(part.burst.is_some(), burst.is_some());
            prop_assert!(parts.len() == 1 || part.limit.min(part.capacity()) >= 250, "{part:?}");
        }
        prop_assert!(!quota.is_central() || parts.len() == 1);
    }
}

#[test]
fn shards_follow_the_rate_up_to_the_most_there_are() {
    let sliding = |limit, window_ms| quota(Algorithm::SlidingWindow, limit, window_ms).shards();
    assert_eq!(sliding(499, 1_000), 1);
    assert_eq!(sliding(500, 1_000), 2);
    assert_eq!(sliding(4_000, 1_000), 16);
    assert_eq!(sliding(500_000, 1_000), 32);
    assert_eq!(sliding(MAX_LIMIT, 1_000), 32);
    assert_eq!(sliding(1_000_000, 10_000), 5);
    assert_eq!(sliding(1_000_000, 60_000), 1);
    assert_eq!(sliding(10_000, 3_600_000), 1);
    assert_eq!(quota(Algorithm::SlidingLog, 500, 1_000).shards(), 1);
    assert_eq!(quota(Algorithm::TokenBucket, 1_000_000, 10_000).shards(), 5);
    let bucket = Quota { burst: Some(499), ..quota(Algorithm::TokenBucket, 100_000, 1_000) };
    assert_eq!(bucket.shards(), 1);
}
