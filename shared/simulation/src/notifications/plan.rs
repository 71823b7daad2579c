//! What is simulated, and what came of it.

/// What to simulate.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// The provider's rate.
    pub per_second: u32,
    /// Workers of each class, the most urgent first.
    pub workers: [usize; 3],
    /// Messages that wait from the start, by class.
    pub waiting: [usize; 3],
    /// Messages a second that come, by class.
    pub coming: [u32; 3],
    /// Messages that a worker takes at once.
    pub batch: u32,
    /// What a call to the store takes at most: milliseconds.
    pub call_ms: i64,
    /// For how long.
    pub run_ms: i64,
    /// Decides everything that is random.
    pub seed: u64,
}

impl Plan {
    /// A million of low priority wait, and half of what the provider takes comes on top.
    pub const fn full_size(seed: u64) -> Self {
        Self {
            per_second: 1_000,
            workers: [20, 20, 60],
            waiting: [0, 0, 1_000_000],
            coming: [300, 200, 0],
            batch: 10,
            call_ms: 10,
            run_ms: 60_000,
            seed,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    /// Messages sent, by class.
    pub sent: [usize; 3],
    /// What 99 of 100 messages waited less than, by class, those that still wait included: milliseconds.
    /// What waited from the start does not count.
    pub p99_ms: [i64; 3],
    /// The most messages that were sent within any second.
    pub busiest: usize,
    /// Writes of the row that succeeded.
    pub writes: usize,
    /// Writes that came too late for what was left.
    pub refused: usize,
    /// Slots that no worker used in time.
    pub lost: usize,
}
