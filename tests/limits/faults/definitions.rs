//! What each way of counting means, judged over all that was admitted.
//!
//! A request was admitted at some moment between its sending and its answer, by a clock that was wrong
//! by `slack` at most. What is not certain is left out, so what remains must hold.

use domain::limits::{Algorithm, Quota};

/// Units that were admitted, and when: not before and not after.
#[derive(Debug, Clone, Copy)]
pub(super) struct Admitted {
    pub(super) from_ms: i64,
    pub(super) to_ms: i64,
    pub(super) units: i64,
}

/// Says what passes the quota, if anything does.
pub(super) fn violation(quota: &Quota, slack_ms: i64, admitted: &[Admitted]) -> Option<String> {
    match quota.algorithm {
        Algorithm::FixedWindow | Algorithm::SlidingWindow => windows(quota, slack_ms, admitted),
        Algorithm::SlidingLog => intervals(quota, admitted, |passed_ms| {
            (passed_ms + 2 * slack_ms < quota.window_ms).then_some(quota.limit)
        }),
        Algorithm::TokenBucket | Algorithm::LeakyBucket => {
            intervals(quota, admitted, |passed_ms| {
                let refilled = (passed_ms + 2 * slack_ms) * quota.limit / quota.window_ms;
                Some(quota.capacity() + refilled)
            })
        }
    }
}

/// No window has more than the limit; of a sliding one with what is left of the window before.
fn windows(quota: &Quota, slack_ms: i64, admitted: &[Admitted]) -> Option<String> {
    let length = quota.window_ms;
    let certain = |one: &Admitted| {
        let window = one.from_ms.div_euclid(length);
        let inner = window * length + slack_ms..(window + 1) * length - slack_ms;
        (inner.contains(&one.from_ms) && inner.contains(&one.to_ms)).then_some(window)
    };
    let units_in = |window: i64, until_ms: i64| -> i64 {
        let inside = |one: &&Admitted| certain(one) == Some(window) && one.to_ms <= until_ms;
        admitted.iter().filter(inside).map(|one| one.units).sum()
    };
    admitted.iter().find_map(|last| {
        let window = certain(last)?;
        let mut sum = units_in(window, last.to_ms);
        if quota.algorithm == Algorithm::SlidingWindow {
            let left_ms = (window + 1) * length - (last.to_ms + slack_ms);
            let before = units_in(window - 1, i64::MAX);
            sum += (before * left_ms.clamp(0, length) + length - 1) / length;
        }
        let what = || format!("{sum} of {} in window {window}: {admitted:?}", quota.limit);
        (sum > quota.limit).then(what)
    })
}

/// No interval has more than it may, if it is certain how much that is.
fn intervals(
    quota: &Quota,
    admitted: &[Admitted],
    most: impl Fn(i64) -> Option<i64>,
) -> Option<String> {
    admitted.iter().find_map(|first| {
        admitted.iter().find_map(|last| {
            let most = most((last.to_ms - first.from_ms).max(0))?;
            let inside = |one: &&Admitted| one.from_ms >= first.from_ms && one.to_ms <= last.to_ms;
            let sum: i64 = admitted.iter().filter(inside).map(|one| one.units).sum();
            let what = || format!("{sum} instead of {most} of {quota:?}: {admitted:?}");
            (sum > most).then(what)
        })
    })
}
