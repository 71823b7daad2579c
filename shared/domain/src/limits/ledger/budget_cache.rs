//! The budgets of the keys in use, and a sketch of the demand for all others.
//!
//! When there is no room, of five keys chosen at random the one that was asked for longest ago
//! makes it: what it held goes back to the store, and how much it used to take goes into the
//! sketch, so that it does not start from nothing if it comes again. The sketch also counts, per
//! key and window, what was let pass without the store. It never counts too little; see
//! [`CountMinSketch`] for how much too much.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use foldhash::quality::FixedState;
use hashbrown::HashTable;

use super::{QuotaCheck, Refund};
use crate::limits::budget::Budget;
use crate::limits::count_min_sketch::CountMinSketch;
use crate::limits::rule::Rule;

/// Keys that a function's node holds at once: a few megabytes.
pub const MAX_KEYS: usize = 8_192;

/// Refunds that wait to be sent; beyond that they are forgotten, which costs units and gives none.
const MAX_REFUNDS: usize = 256;

/// How many keys compete for being the one that leaves.
const EVICTION_SAMPLE: usize = 5;

/// Budgets by rule and entity.
#[derive(Debug)]
pub(super) struct BudgetCache {
    index: HashTable<u32>,
    held: Vec<Entry>,
    capacity: usize,
    seed: u64,
    hashes: FixedState,
    draws: u64,
    sketch: CountMinSketch,
    refunds: Vec<Refund>,
}

#[derive(Debug)]
struct Entry {
    hash: u64,
    rule: Arc<Rule>,
    entity: Box<str>,
    budget: Budget,
    last_used_ms: i64,
    /// The window in which an attack from many nodes was last reported.
    reported: i64,
}

impl BudgetCache {
    pub(super) fn new(seed: u64, capacity: usize) -> Self {
        Self {
            index: HashTable::new(),
            held: Vec::new(),
            capacity: capacity.max(EVICTION_SAMPLE),
            seed,
            hashes: FixedState::with_seed(seed),
            draws: seed,
            sketch: CountMinSketch::default(),
            refunds: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// The budget of a check, made if there is none, as it is at `now_ms`.
    pub(super) fn budget(&mut self, check: &QuotaCheck<'_>, now_ms: i64) -> &mut Budget {
        let index = self.entry(check, now_ms);
        let entry = &mut self.held[index];
        entry.last_used_ms = now_ms;
        entry.budget.advance_to(now_ms);
        &mut entry.budget
    }

    /// Whether this is the first report about the key in this window.
    pub(super) fn first_hot_key_report(&mut self, check: &QuotaCheck<'_>, now_ms: i64) -> bool {
        let index = self.entry(check, now_ms);
        let window = now_ms.div_euclid(check.quota.window_ms.max(1));
        std::mem::replace(&mut self.held[index].reported, window) != window
    }

    /// Units let pass without the store in this window.
    pub(super) fn passed_without_store(&self, check: &QuotaCheck<'_>, now_ms: i64) -> i64 {
        self.sketch.estimate(self.window_hash(check, now_ms)).into()
    }

    pub(super) fn record_pass(&mut self, check: &QuotaCheck<'_>, units: i64, now_ms: i64) {
        self.sketch.decay(now_ms);
        let hash = self.window_hash(check, now_ms);
        self.sketch.add(hash, u32::try_from(units).unwrap_or(u32::MAX));
    }

    /// Units held, in time or not.
    pub(super) fn outstanding(&self) -> i64 {
        self.held.iter().map(|entry| entry.budget.held_or_expired()).sum()
    }

    pub(super) fn take_refunds(&mut self, most: usize) -> Vec<Refund> {
        let kept = self.refunds.len().saturating_sub(most);
        self.refunds.split_off(kept)
    }

    pub(super) fn release_all(&mut self, now_ms: i64) {
        self.index.clear();
        for entry in std::mem::take(&mut self.held) {
            self.queue_refund(entry.rule, entry.entity, entry.budget, now_ms);
        }
    }

    fn entry(&mut self, check: &QuotaCheck<'_>, now_ms: i64) -> usize {
        let hash = self.hash(check);
        let found = self.index.find(hash, |&at| {
            let entry = &self.held[at as usize];
            *entry.entity == *check.entity
                && (Arc::ptr_eq(&entry.rule, check.rule) || entry.rule.id == check.rule.id)
        });
        if let Some(&at) = found {
            let at = at as usize;
            if *self.held[at].budget.quota() != check.quota {
                self.replace(at, check, now_ms);
            }
            return at;
        }
        self.insert(hash, check, now_ms)
    }

    /// The quota has changed: what was held under the old one goes back.
    fn replace(&mut self, at: usize, check: &QuotaCheck<'_>, now_ms: i64) {
        let entry = &mut self.held[at];
        let fresh = Budget::new(check.quota, self.seed ^ entry.hash, 0);
        let old = std::mem::replace(&mut entry.budget, fresh);
        let rule = std::mem::replace(&mut entry.rule, Arc::clone(check.rule));
        let entity = entry.entity.clone();
        self.queue_refund(rule, entity, old, now_ms);
    }

    fn insert(&mut self, hash: u64, check: &QuotaCheck<'_>, now_ms: i64) -> usize {
        // What strangers may have added is left out: a cold key must not be taken for a hot one.
        let sure = u64::from(self.sketch.estimate(hash)).saturating_sub(self.sketch.error_bound());
        let expected = i64::try_from(sure).unwrap_or(0);
        let entry = Entry {
            hash,
            rule: Arc::clone(check.rule),
            entity: check.entity.into(),
            budget: Budget::new(check.quota, self.seed ^ hash, expected),
            last_used_ms: now_ms,
            reported: i64::MIN,
        };
        let at = if self.held.len() < self.capacity {
            self.held.push(entry);
            self.held.len() - 1
        } else {
            let at = self.eviction_victim(now_ms);
            let old = std::mem::replace(&mut self.held[at], entry);
            self.evict(at, old, now_ms);
            at
        };
        let number = u32::try_from(at).unwrap_or(u32::MAX);
        let held = &self.held;
        self.index.insert_unique(hash, number, |&at| held[at as usize].hash);
        at
    }

    /// One that has not been asked for in a while. Keys that this very request needs are young.
    fn eviction_victim(&mut self, now_ms: i64) -> usize {
        let mut oldest = (i64::MAX, 0);
        for _ in 0..EVICTION_SAMPLE {
            self.draws = self.draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = usize::try_from(self.draws >> 33).unwrap_or(0) % self.held.len();
            oldest = oldest.min((self.held[at].last_used_ms.min(now_ms), at));
        }
        oldest.1
    }

    fn evict(&mut self, at: usize, old: Entry, now_ms: i64) {
        if let Ok(found) = self.index.find_entry(old.hash, |&number| number as usize == at) {
            found.remove();
        }
        self.sketch.decay(now_ms);
        self.sketch.add(old.hash, u32::try_from(old.budget.last_lease_units()).unwrap_or(u32::MAX));
        self.queue_refund(old.rule, old.entity, old.budget, now_ms);
    }

    fn queue_refund(&mut self, rule: Arc<Rule>, entity: Box<str>, mut budget: Budget, now_ms: i64) {
        let quota = *budget.quota();
        if let Some((shard, known, unspent)) = budget.release(now_ms)
            && self.refunds.len() < MAX_REFUNDS
        {
            self.refunds.push(Refund { rule, quota, entity, shard, known, unspent });
        }
    }

    fn hash(&self, check: &QuotaCheck<'_>) -> u64 {
        let mut hasher = self.hashes.build_hasher();
        check.rule.id.hash(&mut hasher);
        check.entity.hash(&mut hasher);
        hasher.finish()
    }

    fn window_hash(&self, check: &QuotaCheck<'_>, now_ms: i64) -> u64 {
        let mut hasher = self.hashes.build_hasher();
        check.rule.id.hash(&mut hasher);
        check.entity.hash(&mut hasher);
        now_ms.div_euclid(check.quota.window_ms.max(1)).hash(&mut hasher);
        hasher.finish()
    }
}
