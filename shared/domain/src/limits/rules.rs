//! The rules a node holds, compiled so that finding those for a request costs next to nothing.
//!
//! Hierarchy, for each dimension apart: the rules of the most specific pattern that has any for this
//! request (its method, and whether its caller is known), else the defaults; then, for one entity, an
//! override that has not expired. Absent: a rule that applies twice, and one that applies to `/health`
//! or to an exempt caller.

mod exempt;
mod paths;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

pub use exempt::Exempt;
use paths::Paths;

use super::methods::Methods;
use super::quota::Quota;
use super::rule::{Dimension, Override, Rule};
use super::subject::{Subject, canonical};

#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    entries: Vec<Entry>,
    /// Entries by the patterns that lead to them.
    paths: Paths,
    /// Entries without a pattern.
    defaults: Vec<usize>,
    exempt: Exempt,
}

/// A rule that applies to a request, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied<'s> {
    pub rule: &'s Arc<Rule>,
    /// The rule's index in this set.
    pub slot: u32,
    /// Its quota, or the override's.
    pub quota: Quota,
    /// Whom it counts.
    pub entity: Cow<'s, str>,
}

/// A rule, and beside it what decides whether it applies: of many rules few are in a cache.
#[derive(Debug, Clone)]
struct Entry {
    rule: Arc<Rule>,
    quota: Quota,
    slot: u32,
    methods: Methods,
    dimension: Dimension,
    anonymous_only: bool,
    overrides: HashMap<String, Special>,
}

/// What of a request decides which rules apply.
#[derive(Debug, Clone, Copy)]
struct Asker {
    method: Methods,
    known: bool,
    /// The dimensions it is someone in.
    dimensions: u8,
}

#[derive(Debug, Clone, Copy)]
struct Special {
    quota: Quota,
    /// The first millisecond it no longer holds.
    ends_at_ms: i64,
    version: u64,
}

/// Always exempt: whoever asks whether this is alive must hear it.
const HEALTH: &str = "/health";

impl RuleSet {
    /// Compiles rules. A resource that no draft would pass matches nothing; an override of a rule that
    /// is not here, or in another dimension than its rule's, does nothing.
    pub fn new(rules: Vec<Rule>, overrides: Vec<Override>, exempt: Exempt) -> Self {
        let mut paths = paths::Builder::default();
        let mut set = Self { exempt, ..Self::default() };
        let mut by_id = HashMap::with_capacity(rules.len());
        for (slot, rule) in (0_u32..).zip(rules) {
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
                slot,
                methods: Methods::of_rule(&rule.methods),
                dimension: rule.dimension,
                anonymous_only: rule.anonymous_only,
                rule: Arc::new(rule),
                overrides: HashMap::new(),
            });
        }
        set.paths = paths.build();
        for special in overrides {
            let entry = by_id.get(&special.rule).and_then(|index| set.entries.get_mut(*index));
            if let Some(entry) = entry {
                entry.add(&special);
            }
        }
        set
    }

    /// The rules, each at its slot.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = &Arc<Rule>> {
        self.entries.iter().map(|entry| &entry.rule)
    }

    /// The rules that this request is held to, most restrictive first. `path` is without a query.
    pub fn applying<'s>(
        &'s self,
        subject: &Subject<'s>,
        path: &str,
        method: &str,
        now_ms: i64,
    ) -> Vec<Applied<'s>> {
        let Some(mut asker) = self.asker(subject, path, method) else { return Vec::new() };
        let mut found = Vec::new();
        for level in self.levels(path) {
            let mut settled = 0;
            for entry in self.meeting(level, asker) {
                if let Some(entity) = subject.entity(entry.dimension) {
                    found.push(entry.apply(entity, now_ms));
                    settled |= bit(entry.dimension);
                }
            }
            asker.dimensions &= !settled;
            if asker.dimensions == 0 {
                break;
            }
        }
        found.sort_by(|left, right| {
            by_restriction(&left.quota, &right.quota).then(left.slot.cmp(&right.slot))
        });
        found
    }

    /// Whether this request is held to any rule.
    pub fn applies(&self, subject: &Subject<'_>, path: &str, method: &str) -> bool {
        self.asker(subject, path, method).is_some_and(|asker| {
            self.levels(path).any(|level| self.meeting(level, asker).next().is_some())
        })
    }

    /// What decides which rules apply to a request; nothing if none does.
    fn asker(&self, subject: &Subject<'_>, path: &str, method: &str) -> Option<Asker> {
        if path == HEALTH || self.exempt.covers(subject) {
            return None;
        }
        let (method, known) = (Methods::of_request(method), subject.is_known());
        Some(Asker { method, known, dimensions: dimensions_of(subject) })
    }

    /// Rules by their indices: those of each pattern that matches, most specific first, and the
    /// defaults.
    fn levels(&self, path: &str) -> impl Iterator<Item = &[usize]> {
        self.paths.matching(path).chain([self.defaults.as_slice()])
    }

    /// Of one level the rules that apply.
    fn meeting(&self, level: &[usize], asker: Asker) -> impl Iterator<Item = &Entry> {
        level.iter().filter_map(|index| self.entries.get(*index)).filter(move |entry| {
            asker.dimensions & bit(entry.dimension) != 0
                && !(entry.anonymous_only && asker.known)
                && entry.methods.meet(asker.method)
        })
    }
}

impl Entry {
    fn add(&mut self, special: &Override) {
        let entity = canonical(self.dimension, &special.entity);
        let (true, Some(entity)) = (special.dimension == self.dimension, entity) else { return };
        let new = Special {
            quota: Quota { limit: special.limit, burst: special.burst, ..self.quota },
            ends_at_ms: special.expires_at.map_or(i64::MAX, ceil_ms),
            version: special.version,
        };
        let held = self.overrides.entry(entity.into_owned()).or_insert(new);
        if held.version < new.version {
            *held = new;
        }
    }

    fn apply<'s>(&'s self, entity: Cow<'s, str>, now_ms: i64) -> Applied<'s> {
        // Few rules have overrides, and hashing the entity costs more than the rest of this.
        let special =
            if self.overrides.is_empty() { None } else { self.overrides.get(entity.as_ref()) };
        let quota = special
            .filter(|special| now_ms < special.ends_at_ms)
            .map_or(self.quota, |special| special.quota);
        Applied { rule: &self.rule, slot: self.slot, quota, entity }
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

fn dimensions_of(subject: &Subject<'_>) -> u8 {
    let theirs = Dimension::ALL.into_iter().filter(|dimension| subject.has(*dimension));
    theirs.fold(0, |all, dimension| all | bit(dimension))
}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
