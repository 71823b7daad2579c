//! The budgets of the keys in use, and a sketch of the demand for all others.
//!
//! When there is no room, of five keys chosen at random the one that was asked for longest ago makes
//! it: what it held goes back to the store, and how much it used to take goes into the sketch, so that
//! it does not start from nothing if it comes again. The sketch also counts, per key and window, what
//! was let pass without the store. It never counts too little; see [`Sketch`] for how much too much.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use foldhash::quality::FixedState;
use hashbrown::HashTable;

use super::{Claim, Refund};
use crate::limits::budget::Budget;
use crate::limits::rule::Rule;
use crate::limits::sketch::Sketch;

/// Keys that a function's node holds at once: a few megabytes.
pub const KEYS: usize = 8_192;

/// Refunds that wait to be sent; beyond that they are forgotten, which costs units and gives none.
const MAX_REFUNDS: usize = 256;

/// How many keys compete for being the one that leaves.
const SAMPLE: usize = 5;

/// Budgets by rule and entity.
#[derive(Debug)]
pub(super) struct Entries {
    index: HashTable<u32>,
    held: Vec<Entry>,
    most: usize,
    seed: u64,
    hashes: FixedState,
    draws: u64,
    sketch: Sketch,
    refunds: Vec<Refund>,
}

#[derive(Debug)]
struct Entry {
    hash: u64,
    rule: Arc<Rule>,
    entity: Box<str>,
    budget: Budget,
    touched_ms: i64,
    /// The window in which an attack from many nodes was last reported.
    reported: i64,
}

impl Entries {
    pub(super) fn new(seed: u64, most: usize) -> Self {
        Self {
            index: HashTable::new(),
            held: Vec::new(),
            most: most.max(SAMPLE),
            seed,
            hashes: FixedState::with_seed(seed),
            draws: seed,
            sketch: Sketch::default(),
            refunds: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// The budget of a claim, made if there is none, as it is at `now_ms`.
    pub(super) fn budget(&mut self, claim: &Claim<'_>, now_ms: i64) -> &mut Budget {
        let index = self.entry(claim, now_ms);
        let entry = &mut self.held[index];
        entry.touched_ms = now_ms;
        entry.budget.at(now_ms);
        &mut entry.budget
    }

    /// Whether this is the first report about the key in this window.
    pub(super) fn report_spread(&mut self, claim: &Claim<'_>, now_ms: i64) -> bool {
        let index = self.entry(claim, now_ms);
        let window = now_ms.div_euclid(claim.quota.window_ms.max(1));
        std::mem::replace(&mut self.held[index].reported, window) != window
    }

    /// Units let pass without the store in this window.
    pub(super) fn let_pass(&self, claim: &Claim<'_>, now_ms: i64) -> i64 {
        self.sketch.estimate(self.pass_hash(claim, now_ms)).into()
    }

    pub(super) fn note_pass(&mut self, claim: &Claim<'_>, units: i64, now_ms: i64) {
        self.sketch.advance(now_ms);
        let hash = self.pass_hash(claim, now_ms);
        self.sketch.add(hash, u32::try_from(units).unwrap_or(u32::MAX));
    }

    /// Units held, in time or not.
    pub(super) fn outstanding(&self) -> i64 {
        self.held.iter().map(|entry| entry.budget.frozen()).sum()
    }

    pub(super) fn refunds(&mut self, most: usize) -> Vec<Refund> {
        let kept = self.refunds.len().saturating_sub(most);
        self.refunds.split_off(kept)
    }

    /// Gives up every budget.
    pub(super) fn give_up(&mut self, now_ms: i64) {
        self.index.clear();
        for entry in std::mem::take(&mut self.held) {
            self.owe(entry.rule, entry.entity, entry.budget, now_ms);
        }
    }

    fn entry(&mut self, claim: &Claim<'_>, now_ms: i64) -> usize {
        let hash = self.hash(claim);
        let found = self.index.find(hash, |&at| {
            let entry = &self.held[at as usize];
            *entry.entity == *claim.entity
                && (Arc::ptr_eq(&entry.rule, claim.rule) || entry.rule.id == claim.rule.id)
        });
        if let Some(&at) = found {
            let at = at as usize;
            if *self.held[at].budget.quota() != claim.quota {
                self.replace(at, claim, now_ms);
            }
            return at;
        }
        self.insert(hash, claim, now_ms)
    }

    /// The quota has changed: what was held under the old one goes back.
    fn replace(&mut self, at: usize, claim: &Claim<'_>, now_ms: i64) {
        let entry = &mut self.held[at];
        let fresh = Budget::new(claim.quota, self.seed ^ entry.hash, 0);
        let old = std::mem::replace(&mut entry.budget, fresh);
        let rule = std::mem::replace(&mut entry.rule, Arc::clone(claim.rule));
        let entity = entry.entity.clone();
        self.owe(rule, entity, old, now_ms);
    }

    fn insert(&mut self, hash: u64, claim: &Claim<'_>, now_ms: i64) -> usize {
        // What strangers may have added is left out: a cold key must not be taken for a hot one.
        let sure = u64::from(self.sketch.estimate(hash)).saturating_sub(self.sketch.bound());
        let expected = i64::try_from(sure).unwrap_or(0);
        let entry = Entry {
            hash,
            rule: Arc::clone(claim.rule),
            entity: claim.entity.into(),
            budget: Budget::new(claim.quota, self.seed ^ hash, expected),
            touched_ms: now_ms,
            reported: i64::MIN,
        };
        let at = if self.held.len() < self.most {
            self.held.push(entry);
            self.held.len() - 1
        } else {
            let at = self.oldest_of_some(now_ms);
            let old = std::mem::replace(&mut self.held[at], entry);
            self.forget(at, old, now_ms);
            at
        };
        let number = u32::try_from(at).unwrap_or(u32::MAX);
        let held = &self.held;
        self.index.insert_unique(hash, number, |&at| held[at as usize].hash);
        at
    }

    /// One that has not been asked for in a while. Keys that this very request needs are young.
    fn oldest_of_some(&mut self, now_ms: i64) -> usize {
        let mut oldest = (i64::MAX, 0);
        for _ in 0..SAMPLE {
            self.draws = self.draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = usize::try_from(self.draws >> 33).unwrap_or(0) % self.held.len();
            oldest = oldest.min((self.held[at].touched_ms.min(now_ms), at));
        }
        oldest.1
    }

    fn forget(&mut self, at: usize, old: Entry, now_ms: i64) {
        if let Ok(found) = self.index.find_entry(old.hash, |&number| number as usize == at) {
            found.remove();
        }
        self.sketch.advance(now_ms);
        self.sketch.add(old.hash, u32::try_from(old.budget.size()).unwrap_or(u32::MAX));
        self.owe(old.rule, old.entity, old.budget, now_ms);
    }

    fn owe(&mut self, rule: Arc<Rule>, entity: Box<str>, mut budget: Budget, now_ms: i64) {
        let quota = *budget.quota();
        if let Some((shard, known, unspent)) = budget.give_up(now_ms)
            && self.refunds.len() < MAX_REFUNDS
        {
            self.refunds.push(Refund { rule, quota, entity, shard, known, unspent });
        }
    }

    fn hash(&self, claim: &Claim<'_>) -> u64 {
        let mut hasher = self.hashes.build_hasher();
        claim.rule.id.hash(&mut hasher);
        claim.entity.hash(&mut hasher);
        hasher.finish()
    }

    fn pass_hash(&self, claim: &Claim<'_>, now_ms: i64) -> u64 {
        let mut hasher = self.hashes.build_hasher();
        claim.rule.id.hash(&mut hasher);
        claim.entity.hash(&mut hasher);
        now_ms.div_euclid(claim.quota.window_ms.max(1)).hash(&mut hasher);
        hasher.finish()
    }
}
