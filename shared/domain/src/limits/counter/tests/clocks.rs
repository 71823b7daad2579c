//! Clocks that step back. The oracle's clock is the latest time at which anything was admitted: a
//! refusal leaves no trace in the row, so its time is not known.

use proptest::collection::vec;
use proptest::prelude::*;

use super::oracle::Oracle;
use super::schedule::{any_quota, bucket, jump, start, units};
use super::{Algorithm, Quota, Shared, quota};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_step_back_never_admits_what_the_latest_time_would_not(
        quota in any_quota(),
        start_ms in start(),
        requests in vec((jump(), units()), 1..40),
    ) {
        let (mut shared, mut oracle, mut now_ms) = (Shared::new(quota), Oracle::default(), start_ms);
        for (jump, units) in requests {
            now_ms = jump.from(now_ms, &quota).max(0);
            let (units, latest_ms) = (units.of(&quota), oracle.clock(now_ms));
            let (admitted, behind) = (shared.take(units, now_ms), now_ms < latest_ms);
            let admits = oracle.admits(&quota, units, latest_ms);
            prop_assert!(!admitted || admits, "{units} at {now_ms}, latest {latest_ms}");
            if !behind || matches!(quota.algorithm, Algorithm::FixedWindow | Algorithm::SlidingLog) {
                prop_assert_eq!(admitted, admits, "{} at {}", units, now_ms);
            }
            if admitted {
                oracle.take(&quota, units, latest_ms);
            }
        }
    }

    #[test]
    fn a_bucket_refills_once_for_the_time_between_the_first_and_the_latest(
        quota in bucket(),
        start_ms in start(),
        requests in vec((jump(), units()), 1..60),
    ) {
        let (mut shared, mut now_ms, mut total) = (Shared::new(quota), start_ms, 0_i128);
        let (mut first_ms, mut last_ms) = (i64::MAX, i64::MIN);
        for (jump, units) in requests {
            now_ms = jump.from(now_ms, &quota).max(0);
            let units = units.of(&quota);
            if shared.take(units, now_ms) {
                total += i128::from(units);
                (first_ms, last_ms) = (first_ms.min(now_ms), last_ms.max(now_ms));
                let refilled = i128::from(last_ms - first_ms) * i128::from(quota.limit);
                let length = i128::from(quota.window_ms);
                prop_assert!(total * length <= i128::from(quota.capacity()) * length + refilled);
            }
        }
    }
}

/// Requests as (time, units, admitted).
fn check(quota: Quota, requests: &[(i64, i64, bool)]) {
    let mut shared = Shared::new(quota);
    for &(now_ms, units, admitted) in requests {
        assert_eq!(shared.take(units, now_ms), admitted, "{quota:?}: {units} at {now_ms}");
    }
}

#[test]
fn a_clock_that_swings_over_a_boundary_does_not_start_a_window_twice() {
    for algorithm in [Algorithm::FixedWindow, Algorithm::SlidingWindow] {
        let full = [(2_000, 10, true), (1_999, 1, false), (2_000, 1, false), (0, 1, false)];
        check(quota(algorithm, 10, 1_000), &full);
    }
}

#[test]
fn a_clock_that_swings_refills_no_bucket_twice() {
    for algorithm in [Algorithm::TokenBucket, Algorithm::LeakyBucket] {
        let swings = [
            (1_000, 10, true),
            (1_500, 5, true),
            (1_000, 1, false),
            (1_500, 1, false),
            (0, 1, false),
            (1_599, 1, false),
            (1_600, 1, true),
        ];
        check(quota(algorithm, 10, 1_000), &swings);
    }
}

#[test]
fn a_log_written_by_a_slow_clock_is_not_forgotten_early() {
    let slow = [(5_000, 1, true), (4_000, 1, true), (5_000, 1, false), (5_999, 1, false)];
    check(quota(Algorithm::SlidingLog, 2, 1_000), &slow);
    check(quota(Algorithm::SlidingLog, 2, 1_000), &[slow[0], slow[1], (6_000, 2, true)]);
}

#[test]
fn a_full_row_stays_full_for_every_earlier_time() {
    for algorithm in Algorithm::ALL {
        let mut shared = Shared::new(quota(algorithm, 10, 1_000));
        assert!(shared.take(10, 7_300));
        for now_ms in 0..=7_300 {
            assert_eq!(shared.free(now_ms), 0, "{algorithm:?} at {now_ms}");
        }
    }
}
