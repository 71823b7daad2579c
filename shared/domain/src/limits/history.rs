//! Usage in the last hour: what a node saw of it, and what all nodes' reports come to.
//!
//! A node counts who asked for what in [`UsageRecorder`] and about once a minute hands over the
//! heaviest as [`UsageReport`]s, which shared rows add up. From those rows come [`TopDenied`] (who
//! is denied most) and [`UsageSeries`] (what one key asked for, minute by minute).
//!
//! Guarantee: a report never says more than was asked or denied, and a node's memory is bounded
//! however many keys there are. Absent: keys that were light on every node, what a node had not handed
//! over when it ended, and single requests: a minute is the finest there is.

mod top_denied;
mod usage_series;

use std::cmp::Reverse;

use hashbrown::Equivalent;

use super::heavy_hitters::{KeyCount, SpaceSaving};
use super::rule::Dimension;
pub use top_denied::{DeniedKey, DeniedResource, TopDenied};
pub use usage_series::UsageSeries;

pub const MINUTE_MS: i64 = 60_000;

pub const MINUTES: usize = 60;

/// How many reports leave a node for what was denied, and again for what was asked, as a rule.
pub const MAX_REPORTS: usize = 20;

/// How many keys and minutes a node counts at a time.
const MAX_KEYS: usize = 2_000;

/// What one key asked of one resource in one minute, as far as one node (or, added up, all) saw it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UsageReport {
    /// Which minute: time ÷ a minute's length.
    pub minute: i64,
    /// What was asked for, under any rule or none: `POST /api/v1/shorten`.
    pub resource: String,
    pub dimension: Dimension,
    pub entity: String,
    /// Units asked for, the denied ones included.
    pub asked: u64,
    pub denied: u64,
}

/// What a node saw since it last reported.
#[derive(Debug, Clone)]
pub struct UsageRecorder {
    heavy: SpaceSaving<Key>,
    /// When it last reported; before that, when it first saw something.
    since_ms: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    minute: i64,
    dimension: Dimension,
    resource: Box<str>,
    entity: Box<str>,
}

/// A key that owns nothing, to look one up.
#[derive(Hash)]
struct KeyRef<'a> {
    minute: i64,
    dimension: Dimension,
    resource: &'a str,
    entity: &'a str,
}

impl UsageRecorder {
    pub fn new() -> Self {
        Self { heavy: SpaceSaving::new(MAX_KEYS), since_ms: None }
    }

    /// Counts a request of one entity. A request is noted once for each dimension it has.
    pub fn record(
        &mut self,
        resource: &str,
        dimension: Dimension,
        entity: &str,
        units: u32,
        denied: bool,
        now_ms: i64,
    ) {
        self.since_ms.get_or_insert(now_ms);
        let minute = now_ms.div_euclid(MINUTE_MS);
        self.heavy.record(&KeyRef { minute, dimension, resource, entity }, units, denied);
    }

    /// Whether there is something to report and the last report is a minute old. A clock that was set
    /// back by more counts as well: it would otherwise hold the reports up for as long.
    pub fn is_due(&self, now_ms: i64) -> bool {
        let old = |since: i64| now_ms.abs_diff(since) >= MINUTE_MS.unsigned_abs();
        !self.heavy.is_empty() && self.since_ms.is_some_and(old)
    }

    /// Hands over the `most` that were denied most and, of the others, the `most` that asked for most,
    /// and forgets the rest. Where keys took each other's place, each counts with what is certainly
    /// its own.
    pub fn drain(&mut self, now_ms: i64, most: usize) -> Vec<UsageReport> {
        self.since_ms = Some(now_ms);
        let mut reports: Vec<_> = self.heavy.drain_top(MAX_KEYS).into_iter().map(report).collect();
        reports.sort_by_key(|report| Reverse(report.denied));
        let denied = reports.iter().take(most).take_while(|report| report.denied > 0).count();
        let mut others = reports.split_off(denied);
        others.sort_by_key(|report| Reverse(report.asked));
        others.truncate(most);
        reports.append(&mut others);
        reports
    }
}

impl Default for UsageRecorder {
    fn default() -> Self {
        Self::new()
    }
}

fn report((key, count): (Key, KeyCount)) -> UsageReport {
    UsageReport {
        minute: key.minute,
        resource: key.resource.into(),
        dimension: key.dimension,
        entity: key.entity.into(),
        asked: count.units - count.error,
        denied: count.denied,
    }
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.minute == key.minute
            && self.dimension == key.dimension
            && *self.entity == *key.entity
            && *self.resource == *key.resource
    }
}

impl From<&KeyRef<'_>> for Key {
    fn from(key_ref: &KeyRef<'_>) -> Self {
        Self {
            minute: key_ref.minute,
            dimension: key_ref.dimension,
            resource: key_ref.resource.into(),
            entity: key_ref.entity.into(),
        }
    }
}

/// A part of a whole, 0 to 1, to a millionth.
pub(super) fn ratio(part: u64, whole: u64) -> f64 {
    let millionths = u128::from(part) * 1_000_000 / u128::from(whole.max(1));
    f64::from(u32::try_from(millionths).unwrap_or(u32::MAX)) / 1e6
}

#[cfg(test)]
mod tests;
