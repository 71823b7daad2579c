//! When a redirect's pending clicks are sent to the queue.
//!
//! Guarantee: an idle link's click is sent right after its answer; under load a message carries many.
//! Absent: clocks and queues. The caller passes how many are pending, since when, and how busy it is.

/// Requests closer together than this are a load.
const BUSY_GAP_MS: i64 = 100;

/// So many pending clicks are sent, however young they are.
const FLUSH_AT: usize = 50;

/// The longest wait after failed sends.
const MAX_BACKOFF_MS: i64 = 30_000;

/// How long a click may stay pending under load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlushPolicy {
    max_delay_ms: i64,
}

impl Default for FlushPolicy {
    fn default() -> Self {
        Self::max_delay_ms(1_000)
    }
}

impl FlushPolicy {
    /// Clicks stay pending for up to `ms`; with 0, each request sends its own.
    pub fn max_delay_ms(ms: u32) -> Self {
        Self { max_delay_ms: i64::from(ms) }
    }

    /// Whether to send now: `pending` clicks, the oldest of them for `oldest_age_ms`, after a request
    /// that came `gap_ms` after the one before it (`None` for the first). A clock that stepped back
    /// makes both times negative; the clicks' age is unknown then, and they are sent.
    pub fn should_flush(self, pending: usize, oldest_age_ms: i64, gap_ms: Option<i64>) -> bool {
        let busy = gap_ms.is_some_and(|gap| (0..BUSY_GAP_MS).contains(&gap));
        let young = (0..self.max_delay_ms).contains(&oldest_age_ms);
        pending > 0 && !(busy && young && pending < FLUSH_AT)
    }
}

/// How long to send nothing after `failures` failed sends in a row: each request would otherwise wait
/// for the same failure.
pub fn backoff_ms(failures: u32) -> i64 {
    match failures {
        0 => 0,
        _ => (500_i64 << failures.min(6)).min(MAX_BACKOFF_MS),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_idle_click_goes_at_once_and_a_busy_one_waits_for_company_or_a_second() {
        let policy = FlushPolicy::default();
        for (pending, age, gap, sends, why) in [
            (0, 0, None, false, "there is nothing to send"),
            (1, 0, None, true, "the first request has no load behind it"),
            (1, 0, Some(100), true, "a tenth of a second apart is idle"),
            (1, 0, Some(99), false, "this is a load"),
            (49, 999, Some(0), false, "neither enough nor old"),
            (50, 0, Some(0), true, "fifty are enough"),
            (1, 1_000, Some(0), true, "a second is long enough"),
            (1, -1, Some(0), true, "the clock stepped back since the click"),
            (1, 0, Some(-1), true, "the clock stepped back since the last request"),
        ] {
            assert_eq!(policy.should_flush(pending, age, gap), sends, "{why}");
        }
    }

    #[test]
    fn a_queue_that_refuses_is_left_alone_for_longer_and_longer() {
        assert_eq!([0, 1, 2, 3, 6, 40].map(backoff_ms), [0, 1_000, 2_000, 4_000, 30_000, 30_000]);
    }

    proptest! {
        #[test]
        fn strict_holds_nothing(
            pending in 1_usize..10_000,
            age in -5_000_i64..5_000,
            gap in proptest::option::of(-500_i64..500),
        ) {
            prop_assert!(FlushPolicy::max_delay_ms(0).should_flush(pending, age, gap));
        }

        #[test]
        fn no_click_is_held_beyond_its_time(
            ms in 0_u32..10_000,
            beyond in 0_i64..10_000,
            gap in proptest::option::of(0_i64..500),
        ) {
            prop_assert!(FlushPolicy::max_delay_ms(ms).should_flush(1, i64::from(ms) + beyond, gap));
        }
    }
}
