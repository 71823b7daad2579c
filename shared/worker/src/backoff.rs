//! Exponential backoff with jitter.

use std::time::Duration;

#[derive(Debug, Clone)]
pub(crate) struct Backoff {
    from: Duration,
    to: Duration,
    tries: u32,
}

impl Backoff {
    /// Waits about `from` at first, twice as long each time after, never longer than `to`.
    pub(crate) const fn new(from: Duration, to: Duration) -> Self {
        Self { from, to, tries: 0 }
    }

    /// For requests that must get through within the heartbeat timeout.
    pub(crate) const fn for_requests() -> Self {
        Self::new(Duration::from_millis(500), Duration::from_secs(5))
    }

    pub(crate) const fn reset(&mut self) {
        self.tries = 0;
    }

    /// The next wait: between half and all of what it has grown to.
    pub(crate) fn next(&mut self) -> Duration {
        let grown = self.from.saturating_mul(2_u32.saturating_pow(self.tries)).min(self.to);
        self.tries = self.tries.saturating_add(1);
        // Without randomness workers may wait in step, which is no reason to stop working.
        let random = getrandom::u32().unwrap_or(u32::MAX);
        grown.mul_f64(0.5 + 0.5 * f64::from(random) / f64::from(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_their_limit_and_never_past_it() {
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(10));
        for grown in [1, 2, 4, 8, 10, 10] {
            let grown = Duration::from_secs(grown);
            let wait = backoff.next();
            assert!(wait >= grown / 2 && wait <= grown, "{wait:?} is not within {grown:?}");
        }
        backoff.reset();
        assert!(backoff.next() <= Duration::from_secs(1));
    }

    #[test]
    fn two_workers_do_not_wait_in_step() {
        let wait = || Backoff::new(Duration::from_secs(1), Duration::from_secs(10)).next();
        let first = wait();
        assert!((0..20).any(|_| wait() != first));
    }
}
