//! What would a quota have denied in the last hour?
//!
//! Each key's usage is replayed against a counter of its own, which admits what the shared one would.
//! The resolution is that of the history: counts per minute, spread evenly over the minute's
//! sixty seconds in whole units, each unit a request of its own. So a burst within a minute is
//! flattened, and a short window denies less here than it would have.
//!
//! Absent: keys that no node reported; what was asked before the hour (a longer window starts empty);
//! shards and leases, which move a denial by a few requests, apart from what a bucket keeps out for
//! leases; and what callers would have done after a denial.

mod replay;

use super::history::{MINUTE_MS, MINUTES, UsageSeries, ratio};
use super::quota::Quota;
use replay::Replay;

#[derive(Debug, Clone, PartialEq)]
pub struct DryRun {
    pub keys: usize,
    /// Keys that would have been denied something.
    pub keys_denied: usize,
    pub asked: u64,
    pub denied: u64,
    /// Denied ÷ asked.
    pub share: f64,
    /// The keys with the most denied units, most first: ten at most.
    pub worst: Vec<(String, u64)>,
    pub from_ms: i64,
    pub to_ms: i64,
}

const WORST: usize = 10;

/// Steps in a minute, and how many milliseconds each takes.
const STEPS: u64 = 60;
const STEP: usize = 1_000;

impl Quota {
    /// What this quota would have denied in the sixty minutes that ended by `now_ms`. Each is
    /// one key's; a quota for everyone together takes one with all of it.
    pub fn dry_run(&self, all_series: &[UsageSeries], now_ms: i64) -> DryRun {
        let first = UsageSeries::first_minute(now_ms);
        let minutes = i64::try_from(MINUTES).unwrap_or(0);
        let mut run = DryRun {
            keys: 0,
            keys_denied: 0,
            asked: 0,
            denied: 0,
            share: 0.0,
            worst: Vec::new(),
            from_ms: first.saturating_mul(MINUTE_MS),
            to_ms: first.saturating_add(minutes).saturating_mul(MINUTE_MS),
        };
        for series in all_series {
            let asked = series.asked.iter().fold(0_u64, |sum, units| sum.saturating_add(*units));
            if asked == 0 {
                continue;
            }
            let denied = self.denied_of(series);
            run.keys += 1;
            run.asked = run.asked.saturating_add(asked);
            run.denied = run.denied.saturating_add(denied);
            if denied > 0 {
                run.keys_denied += 1;
                run.worst.push((series.entity.clone(), denied));
            }
        }
        run.share = ratio(run.denied, run.asked);
        run.worst.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        run.worst.truncate(WORST);
        run
    }

    fn denied_of(&self, series: &UsageSeries) -> u64 {
        let mut replay = Replay::new(self);
        let mut denied = 0_u64;
        let starts = (series.first_minute..).map(|minute| minute.saturating_mul(MINUTE_MS));
        for (start, count) in starts.zip(&series.asked) {
            for (step, at) in (0..STEPS).zip((start..).step_by(STEP)) {
                let units = in_step(*count, step);
                if units > 0 {
                    denied = denied.saturating_add(units - replay.take(units, at));
                }
            }
        }
        denied
    }
}

/// The part of a minute's count that falls into one of its seconds: the parts differ by one at most,
/// and add up to the count.
fn in_step(count: u64, step: u64) -> u64 {
    let until = |step: u64| (count % STEPS * step + STEPS / 2) / STEPS;
    count / STEPS + until(step + 1) - until(step)
}

#[cfg(test)]
mod tests;
