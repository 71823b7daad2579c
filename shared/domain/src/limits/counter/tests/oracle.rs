//! What each algorithm means, over the list of everything admitted so far. Slow, exact, and shares no
//! code with the counter: fractions are compared as whole numbers, never divided.

use crate::limits::quota::{Algorithm, Quota};

/// Units that were admitted, and when. Times never fall.
#[derive(Debug, Clone, Default)]
pub(super) struct Oracle {
    admitted: Vec<(i64, i64)>,
}

impl Oracle {
    pub(super) fn take(&mut self, quota: &Quota, units: i64, now_ms: i64) -> bool {
        let admits = self.admits(quota, units, now_ms);
        if admits {
            self.admitted.push((now_ms, units));
        }
        admits
    }

    pub(super) fn admits(&self, quota: &Quota, units: i64, now_ms: i64) -> bool {
        let (limit, length) = (i128::from(quota.limit), i128::from(quota.window_ms));
        let (units, now) = (i128::from(units), i128::from(now_ms));
        let begins = now.div_euclid(length) * length;
        match quota.algorithm {
            Algorithm::FixedWindow => self.between(begins, begins + length) + units <= limit,
            Algorithm::SlidingWindow => {
                let before = self.between(begins - length, begins);
                let used = self.between(begins, begins + length) + units;
                before * (begins + length - now) + used * length <= limit * length
            }
            Algorithm::SlidingLog => self.between(now - length + 1, now + 1) + units <= limit,
            Algorithm::TokenBucket => self.tokens(quota, now) >= units * length,
            Algorithm::LeakyBucket => self.queued(quota, now) + units * length <= most(quota),
        }
    }

    /// The latest time at which anything was admitted, and at least `now_ms`.
    pub(super) fn clock(&self, now_ms: i64) -> i64 {
        self.admitted.last().map_or(now_ms, |(at, _)| now_ms.max(*at))
    }

    /// Units admitted from `from` on and before `to`.
    fn between(&self, from: i128, to: i128) -> i128 {
        let within = |at: i64| (from..to).contains(&i128::from(at));
        self.admitted.iter().filter(|(at, _)| within(*at)).map(|(_, n)| i128::from(*n)).sum()
    }

    /// Tokens in the bucket, each worth the window's length: `limit` comes back in a millisecond.
    fn tokens(&self, quota: &Quota, now: i128) -> i128 {
        let (mut tokens, mut then) = (most(quota), 0);
        for (at, units) in &self.admitted {
            let refilled = tokens + (i128::from(*at) - then) * i128::from(quota.limit);
            tokens = refilled.min(most(quota)) - i128::from(*units) * i128::from(quota.window_ms);
            then = i128::from(*at);
        }
        (tokens + (now - then) * i128::from(quota.limit)).min(most(quota))
    }

    /// What is queued: what came since some moment and can't have drained since then, for the
    /// moment that makes it the most.
    fn queued(&self, quota: &Quota, now: i128) -> i128 {
        let (mut came, mut most) = (0, 0);
        for (at, units) in self.admitted.iter().rev() {
            came += i128::from(*units) * i128::from(quota.window_ms);
            most = most.max(came - (now - i128::from(*at)) * i128::from(quota.limit));
        }
        most
    }
}

/// What a bucket gives away at once, in parts of a unit: its burst, and if that is worth leasing,
/// less what comes back in a twenty-fifth (whole milliseconds) of the time that it takes to fill.
pub(super) fn most(quota: &Quota) -> i128 {
    let burst = i128::from(quota.burst.unwrap_or(quota.limit));
    let whole = burst * i128::from(quota.window_ms);
    let lease_ms = whole / (25 * i128::from(quota.limit.max(1)));
    if burst <= 100 || lease_ms < 20 {
        return whole;
    }
    whole - lease_ms * i128::from(quota.limit)
}
