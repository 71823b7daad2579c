//! Clocks for the local cloud: the machine's, and one that tests move.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use boundary::Clock;
use domain::Timestamp;

/// A clock that a test moves, and that moves with tokio's own time, which tests pause: a `sleep` in
/// product code moves it by as much as was slept.
#[derive(Debug, Clone)]
pub struct MovableClock {
    start_ms: i64,
    started: tokio::time::Instant,
    offset_ms: Arc<AtomicI64>,
}

impl MovableClock {
    /// Starts at `start`. Must be called inside a tokio runtime.
    pub fn starting_at(start: Timestamp) -> Self {
        Self {
            start_ms: start.as_millisecond(),
            started: tokio::time::Instant::now(),
            offset_ms: Arc::default(),
        }
    }

    /// Moves the clock by so many milliseconds, back if negative.
    pub fn advance_ms(&self, ms: i64) {
        self.offset_ms.fetch_add(ms, Ordering::SeqCst);
    }

    /// What it shows.
    pub fn now_ms(&self) -> i64 {
        let passed = i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.start_ms + passed + self.offset_ms.load(Ordering::SeqCst)
    }

    /// The same clock, wrong by `skew`, which can change.
    pub fn skewed(&self, skew: Arc<AtomicI64>) -> Clock {
        let clock = self.clone();
        Clock::new(move || at(clock.now_ms() + skew.load(Ordering::SeqCst)))
    }

    /// As the product sees it.
    pub fn clock(&self) -> Clock {
        self.skewed(Arc::default())
    }
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX)
}
