//! The rules a node holds, compiled so that finding those for a request costs next to nothing.
//!
//! Hierarchy, for each dimension apart: the rules of the most specific pattern that has any for
//! this request (its method, and whether its caller is identified), else the defaults; then, for
//! one entity, an override that has not expired. Absent: a rule that applies twice, and one that
//! applies to `/health` or to an exempt caller.

mod exemptions;
mod path_index;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

pub use exemptions::Exemptions;
use path_index::PathIndex;

use super::caller::{CallerRef, canonical};
use super::methods::Methods;
use super::quota::Quota;
use super::rule::{Dimension, Override, Rule};

#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    entries: Vec<Entry>,
    /// Entries by the patterns that lead to them.
    paths: PathIndex,
    defaults: Vec<usize>,
    exemptions: Exemptions,
}

/// A rule that applies to a request, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedRule<'s> {
    pub rule: &'s Arc<Rule>,
    /// The rule's index in this set.
    pub index: u32,
    /// Its quota, or the override's.
    pub quota: Quota,
    pub entity: Cow<'s, str>,
}

/// A rule, and beside it what decides whether it applies: of many rules few are in a cache.
#[derive(Debug, Clone)]
struct Entry {
    rule: Arc<Rule>,
    quota: Quota,
    index: u32,
    methods: Methods,
    dimension: Dimension,
    anonymous_only: bool,
    overrides: HashMap<String, OverrideEntry>,
}

/// What of a request decides which rules apply.
#[derive(Debug, Clone, Copy)]
struct RequestTraits {
    method: Methods,
    identified: bool,
    /// The dimensions in which the caller has an entity.
    dimensions: u8,
}

#[derive(Debug, Clone, Copy)]
struct OverrideEntry {
    quota: Quota,
    /// The first millisecond it no longer holds.
    ends_at_ms: i64,
    version: u64,
}

/// Always exempt: health checks are answered even if a quota is used up.
const HEALTH: &str = "/health";

impl RuleSet {
    /// Compiles rules. A resource that no draft would pass matches nothing; an override of a rule that
    /// is not here, or in another dimension than its rule's, does nothing.
    pub fn new(rules: Vec<Rule>, overrides: Vec<Override>, exemptions: Exemptions) -> Self {
        let mut paths = path_index::Builder::default();
        let mut set = Self { exemptions, ..Self::default() };
        let mut by_id = HashMap::with_capacity(rules.len());
        for (number, rule) in (0_u32..).zip(rules) {
            let index = set.entries.len();
            if rule.resources.is_empty() {
                set.defaults.push(index);
            }
            for resource in &rule.resources {
                paths.add(resource, index);
            }
            by_id.insert(rule.id.clone(), index);
            set.entries.push(Entry {
                quota: rule.quota,
                index: number,
                methods: Methods::from_rule(&rule.methods),
                dimension: rule.dimension,
                anonymous_only: rule.anonymous_only,
                rule: Arc::new(rule),
                overrides: HashMap::new(),
            });
        }
        set.paths = paths.build();
        for limit_override in overrides {
            let entry =
                by_id.get(&limit_override.rule).and_then(|index| set.entries.get_mut(*index));
            if let Some(entry) = entry {
                entry.add(&limit_override);
            }
        }
        set
    }

    pub fn rules(&self) -> impl ExactSizeIterator<Item = &Arc<Rule>> {
        self.entries.iter().map(|entry| &entry.rule)
    }

    /// The rules that this request is held to, most restrictive first. `path` is without a query.
    pub fn matching<'s>(
        &'s self,
        caller: &CallerRef<'s>,
        path: &str,
        method: &str,
        now_ms: i64,
    ) -> Vec<AppliedRule<'s>> {
        let Some(mut traits) = self.traits(caller, path, method) else { return Vec::new() };
        let mut found = Vec::new();
        for level in self.levels(path) {
            let mut settled = 0;
            for entry in self.matching_entries(level, traits) {
                if let Some(entity) = caller.entity(entry.dimension) {
                    found.push(entry.apply(entity, now_ms));
                    settled |= bit(entry.dimension);
                }
            }
            traits.dimensions &= !settled;
            if traits.dimensions == 0 {
                break;
            }
        }
        found.sort_by(|left, right| {
            by_restriction(&left.quota, &right.quota).then(left.index.cmp(&right.index))
        });
        found
    }

    /// Whether this request is held to any rule.
    pub fn applies(&self, caller: &CallerRef<'_>, path: &str, method: &str) -> bool {
        self.traits(caller, path, method).is_some_and(|traits| {
            self.levels(path).any(|level| self.matching_entries(level, traits).next().is_some())
        })
    }

    /// What decides which rules apply to a request; nothing if none does.
    fn traits(&self, caller: &CallerRef<'_>, path: &str, method: &str) -> Option<RequestTraits> {
        if path == HEALTH || self.exemptions.contains(caller) {
            return None;
        }
        let (method, identified) = (Methods::from_request(method), caller.is_identified());
        Some(RequestTraits { method, identified, dimensions: dimensions_of(caller) })
    }

    /// Rules by their indices: those of each pattern that matches, most specific first, and the
    /// defaults.
    fn levels(&self, path: &str) -> impl Iterator<Item = &[usize]> {
        self.paths.matching(path).chain([self.defaults.as_slice()])
    }

    /// Of one level the rules that apply.
    fn matching_entries(
        &self,
        level: &[usize],
        traits: RequestTraits,
    ) -> impl Iterator<Item = &Entry> {
        level.iter().filter_map(|index| self.entries.get(*index)).filter(move |entry| {
            traits.dimensions & bit(entry.dimension) != 0
                && !(entry.anonymous_only && traits.identified)
                && entry.methods.intersects(traits.method)
        })
    }
}

impl Entry {
    fn add(&mut self, limit_override: &Override) {
        let entity = canonical(self.dimension, &limit_override.entity);
        let (true, Some(entity)) = (limit_override.dimension == self.dimension, entity) else {
            return;
        };
        let new = OverrideEntry {
            quota: Quota { limit: limit_override.limit, burst: limit_override.burst, ..self.quota },
            ends_at_ms: limit_override.expires_at.map_or(i64::MAX, ceil_ms),
            version: limit_override.version,
        };
        let held = self.overrides.entry(entity.into_owned()).or_insert(new);
        if held.version < new.version {
            *held = new;
        }
    }

    fn apply<'s>(&'s self, entity: Cow<'s, str>, now_ms: i64) -> AppliedRule<'s> {
        // Few rules have overrides, and hashing the entity costs more than the rest of this.
        let limit_override =
            if self.overrides.is_empty() { None } else { self.overrides.get(entity.as_ref()) };
        let quota = limit_override
            .filter(|limit_override| now_ms < limit_override.ends_at_ms)
            .map_or(self.quota, |limit_override| limit_override.quota);
        AppliedRule { rule: &self.rule, index: self.index, quota, entity }
    }
}

/// Fewer units in the same time first; at the same rate the smaller limit.
fn by_restriction(left: &Quota, right: &Quota) -> Ordering {
    let crosswise = |a: &Quota, b: &Quota| i128::from(a.limit) * i128::from(b.window_ms);
    crosswise(left, right).cmp(&crosswise(right, left)).then(left.limit.cmp(&right.limit))
}

fn ceil_ms(at: crate::Timestamp) -> i64 {
    let ms = at.as_millisecond();
    let part = at.as_nanosecond() > i128::from(ms) * 1_000_000;
    ms + i64::from(part)
}

fn bit(dimension: Dimension) -> u8 {
    match dimension {
        Dimension::User => 1,
        Dimension::ApiKey => 1 << 1,
        Dimension::Ip => 1 << 2,
        Dimension::Tenant => 1 << 3,
        Dimension::Global => 1 << 4,
    }
}

fn dimensions_of(caller: &CallerRef<'_>) -> u8 {
    let theirs = Dimension::ALL.into_iter().filter(|dimension| caller.has(*dimension));
    theirs.fold(0, |all, dimension| all | bit(dimension))
}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
