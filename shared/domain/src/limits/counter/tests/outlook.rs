//! What is said of the future: when to try again, how much is free, when all of it is.

use proptest::collection::vec;
use proptest::prelude::*;

use super::oracle::most;
use super::schedule::{Gap, Units, any_quota, jump, requests, start, units};
use super::{Algorithm, Quota, Shared, WritePlan, is_write, quota};

/// A row with a past, and the time of its last request.
fn after(quota: Quota, start_ms: i64, requests: &[(Gap, Units)]) -> (Shared, i64) {
    let (mut shared, mut now_ms) = (Shared::new(quota), start_ms);
    for (gap, units) in requests {
        now_ms = gap.from(now_ms, &quota).max(0);
        shared.take(units.of(&quota), now_ms);
    }
    (shared, now_ms)
}

/// What an untouched row gives away.
fn everything(quota: &Quota) -> i64 {
    if quota.is_bucket() {
        i64::try_from(most(quota) / i128::from(quota.window_ms)).unwrap()
    } else {
        quota.limit
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(350))]

    #[test]
    fn the_time_to_try_again_is_the_first_that_succeeds(
        quota in any_quota(),
        start_ms in start(),
        requests in requests(),
        last in vec((jump(), units()), 1..8),
    ) {
        let (shared, mut now_ms) = after(quota, start_ms, &requests);
        for (jump, units) in last {
            now_ms = jump.from(now_ms, &quota).max(0);
            let units = units.of(&quota);
            let at = |at_ms| quota.debit(shared.row.as_ref(), units, None, at_ms);
            match at(now_ms) {
                WritePlan::Write(_) => {}
                WritePlan::Denied { retry_at_ms: None } => prop_assert!(units > everything(&quota)),
                WritePlan::Denied { retry_at_ms: Some(retry_ms) } => {
                    prop_assert!(units <= everything(&quota));
                    prop_assert!(retry_ms > now_ms);
                    prop_assert!(is_write(&at(retry_ms)), "{units} at {now_ms}: {retry_ms}");
                    prop_assert!(!is_write(&at(retry_ms - 1)), "{units} at {now_ms}: {retry_ms}");
                }
            }
        }
    }

    #[test]
    fn exactly_what_is_free_can_be_debited(
        quota in any_quota(),
        start_ms in start(),
        requests in requests(),
        last in jump(),
    ) {
        let (shared, now_ms) = after(quota, start_ms, &requests);
        let now_ms = last.from(now_ms, &quota).max(0);
        for known in [None, shared.row.as_ref()] {
            let free = quota.free(known, now_ms);
            prop_assert!((0..=everything(&quota)).contains(&free));
            prop_assert!(free == 0 || is_write(&quota.debit(known, free, None, now_ms)), "{free}");
            prop_assert!(!is_write(&quota.debit(known, free + 1, None, now_ms)), "{free}");
        }
        prop_assert_eq!(quota.free(None, now_ms), everything(&quota));
    }

    #[test]
    fn at_the_reset_everything_is_free(
        quota in any_quota(),
        start_ms in start(),
        requests in requests(),
        last in jump(),
    ) {
        let (shared, now_ms) = after(quota, start_ms, &requests);
        let now_ms = last.from(now_ms, &quota).max(0);
        let reset_ms = quota.reset_at_ms(shared.row.as_ref(), now_ms);
        prop_assert!(reset_ms >= now_ms);
        if quota.algorithm == Algorithm::SlidingWindow {
            prop_assert_eq!(reset_ms % quota.window_ms, 0);
            let window = quota.window_at(shared.row.as_ref(), now_ms);
            prop_assert_eq!(reset_ms / quota.window_ms, window + 1);
        } else {
            prop_assert_eq!(shared.free(reset_ms), everything(&quota));
        }
        let Some(row) = shared.row.as_ref().filter(|_| reset_ms > now_ms) else { return Ok(()) };
        let earlier = quota.free(Some(row), reset_ms - 1);
        match quota.algorithm {
            Algorithm::SlidingWindow => {}
            Algorithm::FixedWindow => {
                let used = row.window == quota.window_at(Some(row), now_ms) && row.used > 0;
                prop_assert_eq!(earlier < quota.limit, used);
            }
            Algorithm::SlidingLog => prop_assert!(earlier < quota.limit),
            Algorithm::TokenBucket | Algorithm::LeakyBucket => {
                prop_assert!(row.full_at > i128::from(reset_ms - 1) * i128::from(quota.limit));
            }
        }
    }
}

#[test]
fn times_to_try_again_and_resets_of_a_row_that_is_full() {
    // Ten at 1,300 ms of ten a second; one more is asked for in the same moment.
    let expected = [
        (Algorithm::FixedWindow, 2_000, 2_000),
        (Algorithm::SlidingWindow, 2_100, 2_000),
        (Algorithm::SlidingLog, 2_300, 2_300),
        (Algorithm::TokenBucket, 1_400, 2_300),
        (Algorithm::LeakyBucket, 1_400, 2_300),
    ];
    for (algorithm, retry_ms, reset_ms) in expected {
        let mut shared = Shared::new(quota(algorithm, 10, 1_000));
        assert!(shared.take(10, 1_300));
        let plan = shared.quota.debit(shared.row.as_ref(), 1, None, 1_300);
        assert_eq!(plan, WritePlan::Denied { retry_at_ms: Some(retry_ms) }, "{algorithm:?}");
        let reset = shared.quota.reset_at_ms(shared.row.as_ref(), 1_300);
        assert_eq!(reset, reset_ms, "{algorithm:?}");
    }
}

#[test]
fn what_never_fits_has_no_time_to_try_again() {
    for algorithm in Algorithm::ALL {
        for (limit, units) in [(0, 1), (5, 6), (5, i64::MAX)] {
            let plan = quota(algorithm, limit, 1_000).debit(None, units, None, 1_300);
            assert_eq!(plan, WritePlan::Denied { retry_at_ms: None }, "{algorithm:?}");
        }
    }
    // Between what a large bucket leases and what it holds.
    let plan = quota(Algorithm::TokenBucket, 1_000, 1_000).debit(None, 990, None, 1_300);
    assert_eq!(plan, WritePlan::Denied { retry_at_ms: None });
}
