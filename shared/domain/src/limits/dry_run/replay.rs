//! One key's counter, changed in place: it admits what debits of a shared row would.
//!
//! Planning and applying a guarded write for each of an hour's seconds and a thousand keys takes
//! seconds; this takes a fraction of one. That both admit the same is what the tests hold it to.

use std::collections::VecDeque;

use crate::limits::quota::{Algorithm, Quota};

pub(super) struct Replay<'q> {
    quota: &'q Quota,
    /// Windows: which one it is, and what was taken in it and in the one before.
    window: i64,
    used: i64,
    before: i64,
    /// Buckets: when it is full again and how far ahead that may lie, in milliseconds times the limit.
    full_at: i128,
    depth: i128,
    /// Logs: when how many units were taken, oldest first, and how many in all.
    log: VecDeque<(i64, i64)>,
    logged: i64,
}

impl<'q> Replay<'q> {
    /// A counter that nothing was taken from.
    pub(super) fn new(quota: &'q Quota) -> Self {
        let whole = i128::from(quota.capacity()) * i128::from(quota.window_ms.max(1));
        Self {
            quota,
            window: i64::MIN,
            used: 0,
            before: 0,
            full_at: i128::MIN,
            depth: whole - scaled(quota, quota.lease_ms()),
            log: VecDeque::new(),
            logged: 0,
        }
    }

    /// Takes as many of the units as fit, and says how many. Time must not run backwards.
    pub(super) fn take(&mut self, units: u64, at_ms: i64) -> u64 {
        let units = i64::try_from(units).unwrap_or(i64::MAX);
        let taken = match self.quota.algorithm {
            Algorithm::FixedWindow | Algorithm::SlidingWindow => self.take_of_window(units, at_ms),
            Algorithm::SlidingLog => self.take_of_log(units, at_ms),
            Algorithm::TokenBucket | Algorithm::LeakyBucket => self.take_of_bucket(units, at_ms),
        };
        u64::try_from(taken).unwrap_or(0)
    }

    fn take_of_window(&mut self, units: i64, at_ms: i64) -> i64 {
        let length = self.quota.window_ms.max(1);
        let window = at_ms.div_euclid(length);
        if window > self.window {
            let slides = self.quota.algorithm == Algorithm::SlidingWindow;
            let adjacent = self.window.checked_add(1) == Some(window);
            self.before = if slides && adjacent { self.used } else { 0 };
            (self.window, self.used) = (window, 0);
        }
        let overlap = i128::from(length - at_ms.rem_euclid(length));
        let weight =
            (i128::from(self.before) * overlap + i128::from(length - 1)) / i128::from(length);
        let weight = i64::try_from(weight).unwrap_or(i64::MAX);
        let taken = units.min(self.quota.limit - self.used - weight).max(0);
        self.used += taken;
        taken
    }

    fn take_of_log(&mut self, units: i64, at_ms: i64) -> i64 {
        let since = at_ms.saturating_sub(self.quota.window_ms);
        while let Some((_, gone)) = self.log.pop_front_if(|(at, _)| *at <= since) {
            self.logged -= gone;
        }
        let taken = units.min(self.quota.limit - self.logged).max(0);
        if taken > 0 {
            self.log.push_back((at_ms, taken));
            self.logged += taken;
        }
        taken
    }

    fn take_of_bucket(&mut self, units: i64, at_ms: i64) -> i64 {
        let now = scaled(self.quota, at_ms);
        let cost = i128::from(self.quota.window_ms.max(1));
        let full_at = self.full_at.max(now);
        let room = now + self.depth - full_at;
        // Dividing numbers this long is slow, and most of what is asked for fits.
        let taken = if i128::from(units) * cost <= room {
            units
        } else {
            i64::try_from(room / cost).unwrap_or(0).max(0)
        };
        if taken > 0 {
            self.full_at = full_at + i128::from(taken) * cost;
        }
        taken
    }
}

fn scaled(quota: &Quota, ms: i64) -> i128 {
    i128::from(ms) * i128::from(quota.limit.max(1))
}
