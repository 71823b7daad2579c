//! A count-min sketch: about how often was this seen, in memory that never grows.
//!
//! A key has one counter in each row, and its estimate is the smallest of them. An addition raises
//! only the counters that are below the new estimate (a conservative update), so keys that share
//! counters disturb each other as little as they can.
//!
//! Guarantee: an estimate is never under what was added for the key, up to [`u32::MAX`], and is
//! over by more than e ÷ width × total with a probability of at most e^-depth for a key that was
//! not chosen with the hash in mind. Hashes should come from a seeded hasher, so that no caller can
//! choose so. That probability is proven for independent rows; by double hashing they are only
//! nearly so, and that it holds all the same is measured by the tests, over even and skewed
//! streams. The usual size, 4 rows of 16,384, is over by more than total ÷ 6,000 for fewer than 2
//! keys in 100.
//!
//! Counts fade: at every multiple of the period all are halved and rounded down, the key's own count
//! with them. A window that ends at multiples of its length, where the period is a multiple of that
//! too, is therefore never halved while it lasts: with windows in the hash and a period of a day, what
//! was counted in a window stands until it ends. Absent: a way to take one key out, and memory before
//! the first addition.

use std::iter;

pub const WIDTH_POWER: u32 = 14;

pub const DEPTH: usize = 4;

/// The widest row, as log2, and the most rows.
const MAX_WIDTH_POWER: u32 = 24;
const MAX_DEPTH: usize = 8;

#[derive(Debug, Clone)]
pub struct CountMinSketch {
    width_power: u32,
    depth: usize,
    period_ms: i64,
    /// Which period the counts are of; unknown until time is first told.
    period: Option<i64>,
    /// One row after the other; empty until something is counted.
    counters: Vec<u32>,
    total: u64,
}

impl CountMinSketch {
    /// `depth` rows of 2^`width_power` counters that are halved every `period_ms`; 0 for never.
    pub fn new(width_power: u32, depth: usize, period_ms: i64) -> Self {
        Self {
            width_power: width_power.clamp(1, MAX_WIDTH_POWER),
            depth: depth.clamp(1, MAX_DEPTH),
            period_ms,
            period: None,
            counters: Vec::new(),
            total: 0,
        }
    }

    /// Counts `units` for a key and returns its new estimate.
    pub fn add(&mut self, hash: u64, units: u32) -> u32 {
        if self.counters.is_empty() {
            self.counters = vec![0; self.depth << self.width_power];
        }
        self.total = self.total.saturating_add(units.into());
        let estimate = self.estimate(hash).saturating_add(units);
        for cell in cells(hash, self.width_power, self.depth) {
            let counter = &mut self.counters[cell];
            *counter = estimate.max(*counter);
        }
        estimate
    }

    /// What was counted for a key, or more.
    pub fn estimate(&self, hash: u64) -> u32 {
        if self.counters.is_empty() {
            return 0;
        }
        let counters = cells(hash, self.width_power, self.depth).map(|cell| self.counters[cell]);
        counters.min().unwrap_or(0)
    }

    /// Halves what is counted, once for every period that began since it was last told the time. A
    /// clock that runs backwards changes nothing.
    pub fn decay(&mut self, now_ms: i64) {
        if self.period_ms <= 0 {
            return;
        }
        let now = now_ms.div_euclid(self.period_ms);
        let since = self.period.map_or(0, |period| now.saturating_sub(period));
        self.period = Some(self.period.map_or(now, |period| period.max(now)));
        if since <= 0 || self.total == 0 {
            return;
        }
        let halvings = u32::try_from(since).unwrap_or(u32::MAX);
        for counter in &mut self.counters {
            *counter = counter.checked_shr(halvings).unwrap_or(0);
        }
        // Rounded up, so that the bound holds although every counter is rounded down by itself.
        self.total = 1_u64.checked_shl(halvings).map_or(0, |part| self.total.div_ceil(part));
    }

    /// Everything counted, for all keys, and halved with them.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// What few estimates are over by more than: e ÷ width × total, rounded up.
    pub fn error_bound(&self) -> u64 {
        const E_MILLIONTHS: u128 = 2_718_282;
        let over = u128::from(self.total) * E_MILLIONTHS;
        u64::try_from(over.div_ceil(1_000_000 << self.width_power)).unwrap_or(u64::MAX)
    }
}

impl Default for CountMinSketch {
    /// The usual size, halved once a day: 256 KiB after the first addition.
    fn default() -> Self {
        Self::new(WIDTH_POWER, DEPTH, 86_400_000)
    }
}

/// Where a key counts in each row, by double hashing: the hash's halves are a start and a step.
fn cells(hash: u64, width_power: u32, depth: usize) -> impl Iterator<Item = usize> {
    let mask = (1_u64 << width_power) - 1;
    let (start, step) = (hash & 0xffff_ffff, hash >> 32);
    let columns = iter::successors(Some(start), move |at| Some(at.wrapping_add(step)));
    columns.take(depth).enumerate().map(move |(row, at)| {
        let column = usize::try_from(at & mask).unwrap_or(0);
        (row << width_power) | column
    })
}

#[cfg(test)]
mod tests;
