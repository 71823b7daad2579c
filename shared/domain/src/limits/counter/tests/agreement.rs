//! One caller who knows the row gets exactly the definition's answers.

use proptest::prelude::*;

use super::oracle::Oracle;
use super::schedule::{any_quota, requests, start};
use super::{Algorithm, Quota, Shared, quota};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_answer_is_the_definitions(
        quota in any_quota(),
        start_ms in start(),
        requests in requests(),
    ) {
        let (mut shared, mut oracle, mut now_ms) = (Shared::new(quota), Oracle::default(), start_ms);
        for (gap, units) in requests {
            now_ms = gap.from(now_ms, &quota);
            let units = units.of(&quota);
            let admits = oracle.take(&quota, units, now_ms);
            prop_assert_eq!(shared.take(units, now_ms), admits, "{} at {}", units, now_ms);
        }
    }
}

/// Requests as (time, units, admitted).
fn check(quota: Quota, requests: &[(i64, i64, bool)]) {
    let (mut shared, mut oracle) = (Shared::new(quota), Oracle::default());
    for &(now_ms, units, admitted) in requests {
        assert_eq!(shared.take(units, now_ms), admitted, "{quota:?}: {units} at {now_ms}");
        assert_eq!(oracle.take(&quota, units, now_ms), admitted, "oracle: {units} at {now_ms}");
    }
}

#[test]
fn a_fixed_window_starts_at_zero_and_so_lets_two_bursts_meet() {
    check(
        quota(Algorithm::FixedWindow, 10, 1_000),
        &[
            (999, 10, true),
            (999, 1, false),
            (1_000, 11, false),
            (1_000, 10, true),
            (1_999, 1, false),
            (50_000, 7, true),
            (50_999, 3, true),
            (50_999, 1, false),
        ],
    );
}

#[test]
fn a_sliding_window_weighs_the_one_before_by_its_overlap() {
    check(
        quota(Algorithm::SlidingWindow, 10, 1_000),
        &[
            (999, 10, true),
            (1_000, 1, false),
            (1_099, 1, false),
            (1_100, 1, true),
            (1_500, 5, false),
            (1_500, 4, true),
            (2_000, 6, false),
            (2_000, 5, true),
            (9_000, 10, true),
        ],
    );
}

#[test]
fn a_log_forgets_each_unit_exactly_one_window_later() {
    check(
        quota(Algorithm::SlidingLog, 3, 1_000),
        &[
            (500, 1, true),
            (999, 2, true),
            (1_499, 1, false),
            (1_500, 1, true),
            (1_998, 1, false),
            (1_999, 3, false),
            (1_999, 2, true),
            (2_500, 1, true),
            (90_000, 3, true),
        ],
    );
}

#[test]
fn a_bucket_gives_its_burst_and_then_the_rate() {
    for algorithm in [Algorithm::TokenBucket, Algorithm::LeakyBucket] {
        check(
            Quota { burst: Some(20), ..quota(algorithm, 10, 1_000) },
            &[
                (5, 21, false),
                (5, 20, true),
                (104, 1, false),
                (105, 1, true),
                (106, 1, false),
                (505, 4, true),
                (90_000, 20, true),
                (90_000, 1, false),
            ],
        );
    }
}

#[test]
fn a_large_bucket_keeps_back_what_comes_back_during_a_lease() {
    // A thousand a second: a lease lasts 40 ms, in which 40 units come back.
    check(
        quota(Algorithm::TokenBucket, 1_000, 1_000),
        &[(0, 961, false), (0, 960, true), (0, 1, false), (1, 1, true), (60_000, 960, true)],
    );
    // A hundred is counted by the store alone, and nothing is kept back.
    check(
        quota(Algorithm::TokenBucket, 100, 1_000),
        &[(0, 100, true), (9, 1, false), (10, 1, true)],
    );
}

#[test]
fn a_limit_of_zero_refuses_everything() {
    for algorithm in Algorithm::ALL {
        for burst in [None, Some(0), Some(7)] {
            let nothing = Quota { burst, ..quota(algorithm, 0, 1_000) };
            let mut shared = Shared::new(nothing);
            for (now_ms, units) in [(0, 1), (999, 1), (99_000, 7)] {
                assert!(!shared.take(units, now_ms), "{nothing:?}: {units} at {now_ms}");
            }
        }
    }
}

#[test]
fn more_than_the_capacity_is_refused_and_leaves_no_trace() {
    for algorithm in Algorithm::ALL {
        check(quota(algorithm, 5, 1_000), &[(0, 6, false), (0, i64::MAX, false), (0, 5, true)]);
    }
}
