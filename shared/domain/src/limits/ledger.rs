//! All that a node holds: who asks gets an answer at once, or the writes that have to be tried first.
//!
//! The path of a request: [`Ledger::decide`] → allowed or denied without any call, or tasks for the
//! store → their outcomes back through [`Ledger::settle`] or [`Ledger::settle_together`] → decide
//! again. Whoever drives it (a function, the simulator, a test) brings the store and the clock.
//!
//! Guarantee: a request that is denied by one of its claims has consumed nothing of any. Units that a
//! node holds are spent together under all claims or not at all; quotas that are counted by the store
//! alone are debited last, in one transaction. Memory is bounded: exact budgets for the keys in use, a
//! sketch of the demand for the rest. Absent: calls, clocks, randomness.

mod alone;
mod entries;

use std::sync::Arc;

use super::budget::{Ask, Lease, Next};
use super::counter::{Row, Unspent, Write};
use super::quota::Quota;
use super::rule::Rule;
use entries::Entries;
pub use entries::KEYS;

/// How long a node leaves the store alone after it failed: otherwise every request would wait for it.
const DEAF_MS: i64 = 1_000;

/// One rule that a request is held to.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    pub rule: &'a Arc<Rule>,
    /// Its quota, or the one that an override gives this entity.
    pub quota: Quota,
    /// Who is counted.
    pub entity: &'a str,
}

/// What to do with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// It may pass; its units are spent.
    Allowed,
    /// It may not; nothing was spent.
    Denied(Denial),
    /// Try these, each on its own, and decide again.
    Lease(Vec<Task>),
    /// Try these, all or none, and decide again unless they were committed.
    Together(Vec<Task>, Reserved),
}

/// Why a request may not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Denial {
    /// Which claim refuses.
    pub claim: usize,
    /// When it is worth another try; `None` if it never is.
    pub retry_at_ms: Option<i64>,
    /// Whether the quota is used up, or only can't be asked.
    pub unavailable: bool,
}

/// A debit to be tried at the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// For which claim.
    pub claim: usize,
    ask: Ask,
}

impl Task {
    /// The row's shard.
    pub fn shard(&self) -> u8 {
        self.ask.shard
    }

    /// What to write.
    pub fn write(&self) -> &Write {
        &self.ask.write
    }
}

/// Held units that wait for what the store says about the other claims.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reserved(Vec<(usize, Lease)>);

/// What became of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was committed and left this row.
    Committed(Row),
    /// It was committed in a transaction, which shows no rows.
    Unseen,
    /// Its guard failed; the row as it stands.
    Refused(Option<Row>),
    /// It was not tried because another of the same transaction was refused.
    Skipped,
    Failed,
}

/// Units to be credited at the store, because nobody here will spend them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    pub rule: Arc<Rule>,
    /// The quota as it was debited.
    pub quota: Quota,
    /// Who was counted.
    pub entity: Box<str>,
    /// The row's shard.
    pub shard: u8,
    known: Row,
    unspent: Unspent,
}

impl Refund {
    /// What to write now; nothing if they have come back by themselves.
    pub fn write(&self, now_ms: i64) -> Option<Write> {
        self.quota.shard(self.shard).credit(&self.known, self.unspent, now_ms)
    }
}

/// How a claim stands, for headers and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Units that could still be had, as far as the node knows.
    pub remaining: i64,
    /// When everything is there again.
    pub reset_at_ms: i64,
    /// How long a leaky bucket's queue is: the request's turn comes after that.
    pub delay_ms: i64,
}

/// What happened since someone last asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Units spent of leases that had ended, because the store could not be asked.
    pub frozen: i64,
    /// Units that a rule let pass because the store could not be asked.
    pub open: i64,
    /// Requests refused because the store could not be asked.
    pub closed: i64,
    /// Calls that failed or took too long.
    pub failed: i64,
    /// Keys found under attack from many nodes at once.
    pub spread: i64,
}

/// Everything a node holds.
#[derive(Debug)]
pub struct Ledger {
    entries: Entries,
    deaf_until_ms: i64,
    counts: Counts,
}

impl Ledger {
    /// An empty one. `seed` tells nodes apart and keeps anyone from choosing keys that collide; at
    /// most `most` keys are held at once.
    pub fn new(seed: u64, most: usize) -> Self {
        Self { entries: Entries::new(seed, most), deaf_until_ms: 0, counts: Counts::default() }
    }

    /// May `units` pass under every claim?
    pub fn decide(&mut self, claims: &[Claim<'_>], units: i64, now_ms: i64) -> Step {
        // A clock that was set back must not make the silence longer.
        if (self.deaf_until_ms - DEAF_MS..self.deaf_until_ms).contains(&now_ms) {
            return self.decide_alone(claims, units, now_ms);
        }
        let mut lacking = false;
        for (index, claim) in claims.iter().enumerate() {
            let budget = self.entries.budget(claim, now_ms);
            if budget.held() >= units && !claim.quota.is_central() {
                // Most requests have one claim: it need not be looked up a second time.
                if claims.len() == 1 {
                    budget.spend(units);
                    return Step::Allowed;
                }
                continue;
            }
            lacking = true;
            if let Some(Next::Denied { retry_at_ms }) = budget.denial(units) {
                return Step::Denied(Denial { claim: index, retry_at_ms, unavailable: false });
            }
        }
        if !lacking {
            for claim in claims {
                self.entries.budget(claim, now_ms).spend(units);
            }
            return Step::Allowed;
        }
        match self.ask(claims, units, now_ms, false) {
            Err(denial) => Step::Denied(denial),
            Ok(tasks) if !tasks.is_empty() => Step::Lease(tasks),
            Ok(_) => match self.ask(claims, units, now_ms, true) {
                Err(denial) => Step::Denied(denial),
                Ok(tasks) => Step::Together(tasks, self.reserve(claims, units, now_ms)),
            },
        }
    }

    /// Takes the outcome of one task of [`Step::Lease`].
    pub fn settle(&mut self, claim: &Claim<'_>, task: &Task, outcome: Outcome, now_ms: i64) {
        let budget = self.entries.budget(claim, now_ms);
        match outcome {
            Outcome::Committed(row) => budget.committed(&task.ask, row),
            Outcome::Unseen => budget.committed_unseen(&task.ask),
            Outcome::Refused(row) => budget.refused(&task.ask, row),
            Outcome::Skipped => budget.withdraw(&task.ask),
            Outcome::Failed => {
                self.counts.failed += 1;
                self.deaf_until_ms = now_ms + DEAF_MS;
                return;
            }
        }
        if budget.is_spread() && self.entries.report_spread(claim, now_ms) {
            self.counts.spread += 1;
        }
    }

    /// Takes the outcomes of [`Step::Together`], one for each task, and says whether the request may
    /// pass. If not, it is to be decided again.
    pub fn settle_together(
        &mut self,
        claims: &[Claim<'_>],
        units: i64,
        tasks: &[Task],
        reserved: Reserved,
        outcomes: Vec<Outcome>,
        now_ms: i64,
    ) -> bool {
        let committed = outcomes
            .iter()
            .all(|outcome| matches!(outcome, Outcome::Committed(_) | Outcome::Unseen));
        for (task, outcome) in tasks.iter().zip(outcomes) {
            self.settle(&claims[task.claim], task, outcome, now_ms);
        }
        if !committed {
            for (index, lease) in reserved.0 {
                self.entries.budget(&claims[index], now_ms).unspend(units, lease);
            }
        }
        committed
    }

    /// How `claim` stands, after a decision about `units`.
    pub fn standing(&mut self, claim: &Claim<'_>, units: i64, now_ms: i64) -> Standing {
        let budget = self.entries.budget(claim, now_ms);
        let queued = claim.quota.algorithm == super::Algorithm::LeakyBucket;
        Standing {
            remaining: budget.remaining(),
            reset_at_ms: budget.reset_at_ms(),
            delay_ms: if queued { budget.queue_ms(units) } else { 0 },
        }
    }

    /// Units held for a key, if it is known.
    pub fn held(&mut self, claim: &Claim<'_>, now_ms: i64) -> i64 {
        self.entries.budget(claim, now_ms).held()
    }

    /// What was given up and is owed to the store, at most `most` of it.
    pub fn refunds(&mut self, most: usize) -> Vec<Refund> {
        self.entries.refunds(most)
    }

    /// Gives up everything: the node ends. The rest is in [`Ledger::refunds`].
    pub fn give_up(&mut self, now_ms: i64) {
        self.entries.give_up(now_ms);
    }

    /// Units that were debited and may still be spent or given back here.
    pub fn outstanding(&self) -> i64 {
        self.entries.outstanding()
    }

    /// What happened since this was last asked.
    pub fn counts(&mut self) -> Counts {
        std::mem::take(&mut self.counts)
    }

    /// How many keys are held.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What to try for the claims that lack units: those that the store alone counts, or the others.
    fn ask(
        &mut self,
        claims: &[Claim<'_>],
        units: i64,
        now_ms: i64,
        central: bool,
    ) -> Result<Vec<Task>, Denial> {
        let mut tasks: Vec<Task> = Vec::new();
        for (index, claim) in claims.iter().enumerate() {
            let budget = self.entries.budget(claim, now_ms);
            if claim.quota.is_central() != central || (!central && budget.held() >= units) {
                continue;
            }
            match budget.next(units) {
                Next::Ask(ask) => tasks.push(Task { claim: index, ask }),
                Next::Denied { retry_at_ms } => {
                    for task in &tasks {
                        self.entries.budget(&claims[task.claim], now_ms).withdraw(&task.ask);
                    }
                    return Err(Denial { claim: index, retry_at_ms, unavailable: false });
                }
            }
        }
        Ok(tasks)
    }

    fn reserve(&mut self, claims: &[Claim<'_>], units: i64, now_ms: i64) -> Reserved {
        let held = claims.iter().enumerate().filter(|(_, claim)| !claim.quota.is_central());
        let spent =
            held.map(|(index, claim)| (index, self.entries.budget(claim, now_ms).spend(units)));
        Reserved(spent.collect())
    }
}

#[cfg(test)]
mod tests;
