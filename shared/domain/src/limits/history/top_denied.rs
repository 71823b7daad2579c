//! Who and what is denied most.
//!
//! A request is noted once for each dimension it has, so dimensions overlap and are never added up: a
//! resource's number is that of its largest dimension.

use std::cmp::Reverse;

use hashbrown::HashMap;

use super::{MINUTE_MS, MINUTES, UsageReport, ratio};
use crate::limits::rule::Dimension;

/// What the reports of the last hour come to. It covers what nodes reported: the heaviest by what was
/// asked and by what was denied, so the rate is of those, and lies above that of all requests where
/// many light keys were let pass.
#[derive(Debug, Clone, PartialEq)]
pub struct TopDenied {
    /// The keys with the most denied units, over all resources, most first. Everyone together is not
    /// among them.
    pub keys: Vec<DeniedKey>,
    /// The resources with the most denied units, most first.
    pub resources: Vec<DeniedResource>,
    /// Units asked for, the denied ones included.
    pub asked: u64,
    pub denied: u64,
    /// Denied ÷ asked.
    pub rate: f64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DeniedKey {
    pub dimension: Dimension,
    pub entity: String,
    pub asked: u64,
    pub denied: u64,
}

/// A resource of which something was denied.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DeniedResource {
    /// Its name: `POST /api/v1/shorten`.
    pub resource: String,
    pub asked: u64,
    pub denied: u64,
}

#[derive(Default, Clone, Copy)]
struct Sum {
    asked: u64,
    denied: u64,
}

impl TopDenied {
    /// The `most` denied keys and resources in the sixty minutes up to and with that of `now_ms`.
    pub fn of(rows: impl IntoIterator<Item = UsageReport>, now_ms: i64, most: usize) -> Self {
        let mut keys: HashMap<(Dimension, String), Sum> = HashMap::new();
        let mut resources: HashMap<String, HashMap<Dimension, Sum>> = HashMap::new();
        for row in rows.into_iter().filter(|row| is_recent(row, now_ms)) {
            resources
                .entry_ref(&row.resource)
                .or_default()
                .entry(row.dimension)
                .or_default()
                .add(&row);
            if row.dimension != Dimension::Global {
                keys.entry((row.dimension, row.entity.clone())).or_default().add(&row);
            }
        }
        let resources = resources.into_iter().map(|(resource, dimensions)| {
            let asked = dimensions.values().map(|sum| sum.asked).max().unwrap_or(0);
            let denied = dimensions.values().map(|sum| sum.denied).max().unwrap_or(0);
            DeniedResource { resource, asked, denied }
        });
        let resources: Vec<DeniedResource> = resources.collect();
        let sum =
            |of: fn(&DeniedResource) -> u64| resources.iter().map(of).fold(0, u64::saturating_add);
        let (asked, denied) = (sum(|one| one.asked), sum(|one| one.denied));
        let keys = keys.into_iter().map(|((dimension, entity), sum)| DeniedKey {
            dimension,
            entity,
            asked: sum.asked,
            denied: sum.denied,
        });
        Self {
            keys: most_denied_keys(keys.collect(), most),
            resources: most_denied_resources(resources, most),
            asked,
            denied,
            rate: ratio(denied, asked),
        }
    }
}

impl Sum {
    fn add(&mut self, row: &UsageReport) {
        self.asked = self.asked.saturating_add(row.asked);
        self.denied = self.denied.saturating_add(row.denied);
    }
}

fn is_recent(row: &UsageReport, now_ms: i64) -> bool {
    let age = now_ms.div_euclid(MINUTE_MS).saturating_sub(row.minute);
    usize::try_from(age).is_ok_and(|age| age < MINUTES)
}

fn most_denied_keys(mut keys: Vec<DeniedKey>, most: usize) -> Vec<DeniedKey> {
    keys.retain(|key| key.denied > 0);
    keys.sort_by(|one, other| {
        let rank = |key: &DeniedKey| (Reverse(key.denied), key.dimension);
        rank(one).cmp(&rank(other)).then_with(|| one.entity.cmp(&other.entity))
    });
    keys.truncate(most);
    keys
}

fn most_denied_resources(mut resources: Vec<DeniedResource>, most: usize) -> Vec<DeniedResource> {
    resources.retain(|resource| resource.denied > 0);
    resources.sort_by(|one, other| {
        other.denied.cmp(&one.denied).then_with(|| one.resource.cmp(&other.resource))
    });
    resources.truncate(most);
    resources
}
