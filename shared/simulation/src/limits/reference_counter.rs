//! One counter for one key that knows everything at once: what the definitions of the algorithms say.
//!
//! It shares no code with the rows: windows are two sums, a bucket is a level that drains.

use std::collections::VecDeque;

use domain::limits::quota::{Algorithm, Quota};

#[derive(Debug, Clone)]
pub(super) struct ReferenceCounter {
    quota: Quota,
    window: i64,
    used: i128,
    before: i128,
    /// What is in the bucket, in units times the window's length, and when that was.
    level: i128,
    at_ms: i64,
    /// When each unit of the last window was admitted, where the quota is a log.
    log: VecDeque<i64>,
    /// The most by which it ever was over.
    over: i128,
}

impl ReferenceCounter {
    pub(super) fn new(quota: Quota) -> Self {
        Self {
            quota,
            window: 0,
            used: 0,
            before: 0,
            level: 0,
            at_ms: 0,
            log: VecDeque::new(),
            over: 0,
        }
    }

    /// Admits a unit if there is one.
    pub(super) fn take(&mut self, now_ms: i64) -> bool {
        self.advance(now_ms);
        let fits = self.excess_with(1, now_ms) <= 0;
        if fits {
            self.add();
        }
        fits
    }

    /// Notes a unit that was admitted, whether or not there was one.
    pub(super) fn admit(&mut self, now_ms: i64) {
        self.advance(now_ms);
        self.add();
        self.over = self.over.max(self.excess_with(0, now_ms));
    }

    /// By how many units too many were admitted, at the worst moment.
    pub(super) fn excess(&self) -> i64 {
        let length = i128::from(self.quota.window_ms);
        i64::try_from((self.over + length - 1) / length).unwrap_or(i64::MAX)
    }

    fn advance(&mut self, now_ms: i64) {
        let (length, limit) = (self.quota.window_ms, i128::from(self.quota.limit));
        self.level = (self.level - i128::from(now_ms - self.at_ms) * limit).max(0);
        self.at_ms = now_ms;
        let gone = self.log.partition_point(|at| *at <= now_ms - length);
        self.log.drain(..gone);
        let window = now_ms.div_euclid(length);
        if window == self.window {
            return;
        }
        self.before = if window == self.window + 1 { self.used } else { 0 };
        (self.window, self.used) = (window, 0);
    }

    fn add(&mut self) {
        self.used += 1;
        self.level += i128::from(self.quota.window_ms);
        if self.quota.algorithm == Algorithm::SlidingLog {
            self.log.push_back(self.at_ms);
        }
    }

    /// How far over the limit `more` units would be, in units times the window's length.
    fn excess_with(&self, more: i128, now_ms: i64) -> i128 {
        let length = i128::from(self.quota.window_ms);
        let most = i128::from(self.quota.capacity()) * length;
        let overlap = length - i128::from(now_ms.rem_euclid(self.quota.window_ms));
        match self.quota.algorithm {
            Algorithm::FixedWindow => (self.used + more) * length - most,
            Algorithm::SlidingWindow => self.before * overlap + (self.used + more) * length - most,
            Algorithm::SlidingLog => (self.log.len() as i128 + more) * length - most,
            Algorithm::TokenBucket | Algorithm::LeakyBucket => self.level + more * length - most,
        }
    }
}
