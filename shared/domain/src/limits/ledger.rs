//! All that a node holds: who asks gets an answer at once, or the writes that have to be tried first.
//!
//! The path of a request: [`Ledger::decide`] → allowed or denied without any call, or tasks for the
//! store → their outcomes back through [`Ledger::apply_outcome`] or [`Ledger::apply_transaction`] →
//! decide again. Its caller (a function, the simulator, a test) brings the store and the clock.
//!
//! Guarantee: a request that is denied by one of its checks has consumed nothing of any. Units that a
//! node holds are spent together under all checks or not at all; quotas that are counted by the store
//! alone are debited last, in one transaction. Memory is bounded: exact budgets for the keys in use, a
//! sketch of the demand for the rest. Absent: calls, clocks, randomness.

mod budget_cache;
mod store_outage;

use std::sync::Arc;

use super::budget::{Debit, DebitPlan, LeaseId};
use super::counter::{CounterRow, CounterWrite, Unspent};
use super::quota::Quota;
use super::rule::Rule;
use budget_cache::BudgetCache;
pub use budget_cache::MAX_KEYS;

/// How long a node leaves the store alone after it failed: otherwise every request would wait for it.
const STORE_BACKOFF_MS: i64 = 1_000;

/// One rule that a request is held to.
#[derive(Debug, Clone, Copy)]
pub struct QuotaCheck<'a> {
    pub rule: &'a Arc<Rule>,
    /// Its quota, or the one that an override gives this entity.
    pub quota: Quota,
    pub entity: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerDecision {
    /// It may pass; its units are spent.
    Allowed,
    /// It may not; nothing was spent.
    Denied(Denial),
    /// Try these, each on its own, and decide again.
    Debit(Vec<DebitTask>),
    /// Try these, all or none, and decide again unless they were committed.
    DebitTogether(Vec<DebitTask>, Reserved),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Denial {
    pub check: usize,
    /// When it is worth another try; `None` if it never is.
    pub retry_at_ms: Option<i64>,
    /// Whether the quota is used up, or only can't be asked.
    pub unavailable: bool,
}

/// A debit to be tried at the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebitTask {
    pub check: usize,
    debit: Debit,
}

impl DebitTask {
    pub fn shard(&self) -> u8 {
        self.debit.shard
    }

    pub fn write(&self) -> &CounterWrite {
        &self.debit.write
    }
}

/// Held units that wait for what the store says about the other checks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reserved(Vec<(usize, LeaseId)>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DebitOutcome {
    /// It was committed and left this row.
    Committed(CounterRow),
    /// It was committed in a transaction, which shows no rows.
    CommittedUnseen,
    /// Its guard failed; the row as it stands.
    ConditionFailed(Option<CounterRow>),
    /// It was not tried because another of the same transaction was refused.
    Skipped,
    Failed,
}

/// Units to be credited at the store, because this node will not spend them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    pub rule: Arc<Rule>,
    /// The quota as it was debited.
    pub quota: Quota,
    pub entity: Box<str>,
    pub shard: u8,
    known: CounterRow,
    unspent: Unspent,
}

impl Refund {
    /// What to write now; nothing if they have come back by themselves.
    pub fn write(&self, now_ms: i64) -> Option<CounterWrite> {
        self.quota.shard(self.shard).credit(&self.known, self.unspent, now_ms)
    }
}

/// How a check stands, for headers and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaStatus {
    /// Units that could still be had, as far as the node knows.
    pub remaining: i64,
    pub reset_at_ms: i64,
    /// How long a leaky bucket's queue is: the request's turn comes after that.
    pub delay_ms: i64,
}

/// What happened since the metrics were last taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LedgerMetrics {
    /// Units spent of leases that had ended, because the store could not be asked.
    pub expired_spent: i64,
    /// Units that a rule let pass because the store could not be asked.
    pub failed_open: i64,
    /// Requests refused because the store could not be asked.
    pub failed_closed: i64,
    /// Calls that failed or took too long.
    pub store_failures: i64,
    /// Keys found under attack from many nodes at once.
    pub hot_keys: i64,
}

#[derive(Debug)]
pub struct Ledger {
    budgets: BudgetCache,
    store_backoff_until_ms: i64,
    metrics: LedgerMetrics,
}

impl Ledger {
    /// An empty one. `seed` tells nodes apart and keeps anyone from choosing keys that collide; at
    /// most `most` keys are held at once.
    pub fn new(seed: u64, capacity: usize) -> Self {
        Self {
            budgets: BudgetCache::new(seed, capacity),
            store_backoff_until_ms: 0,
            metrics: LedgerMetrics::default(),
        }
    }

    /// May `units` pass under every check?
    pub fn decide(&mut self, checks: &[QuotaCheck<'_>], units: i64, now_ms: i64) -> LedgerDecision {
        // A clock that was set back must not make the silence longer.
        if (self.store_backoff_until_ms - STORE_BACKOFF_MS..self.store_backoff_until_ms)
            .contains(&now_ms)
        {
            return self.decide_without_store(checks, units, now_ms);
        }
        let mut lacking = false;
        for (index, check) in checks.iter().enumerate() {
            let budget = self.budgets.budget(check, now_ms);
            if budget.held() >= units && !check.quota.is_central() {
                // Most requests have one check: it need not be looked up a second time.
                if checks.len() == 1 {
                    budget.spend(units);
                    return LedgerDecision::Allowed;
                }
                continue;
            }
            lacking = true;
            if let Some(DebitPlan::Denied { retry_at_ms }) = budget.denial(units) {
                return LedgerDecision::Denied(Denial {
                    check: index,
                    retry_at_ms,
                    unavailable: false,
                });
            }
        }
        if !lacking {
            for check in checks {
                self.budgets.budget(check, now_ms).spend(units);
            }
            return LedgerDecision::Allowed;
        }
        match self.plan_debits(checks, units, now_ms, false) {
            Err(denial) => LedgerDecision::Denied(denial),
            Ok(tasks) if !tasks.is_empty() => LedgerDecision::Debit(tasks),
            Ok(_) => match self.plan_debits(checks, units, now_ms, true) {
                Err(denial) => LedgerDecision::Denied(denial),
                Ok(tasks) => {
                    LedgerDecision::DebitTogether(tasks, self.reserve(checks, units, now_ms))
                }
            },
        }
    }

    /// Takes the outcome of one task of [`LedgerDecision::Debit`].
    pub fn apply_outcome(
        &mut self,
        check: &QuotaCheck<'_>,
        task: &DebitTask,
        outcome: DebitOutcome,
        now_ms: i64,
    ) {
        let budget = self.budgets.budget(check, now_ms);
        match outcome {
            DebitOutcome::Committed(row) => budget.committed(&task.debit, row),
            DebitOutcome::CommittedUnseen => budget.committed_unseen(&task.debit),
            DebitOutcome::ConditionFailed(row) => budget.condition_failed(&task.debit, row),
            DebitOutcome::Skipped => budget.cancel(&task.debit),
            DebitOutcome::Failed => {
                self.metrics.store_failures += 1;
                self.store_backoff_until_ms = now_ms + STORE_BACKOFF_MS;
                return;
            }
        }
        if budget.is_hot_key() && self.budgets.first_hot_key_report(check, now_ms) {
            self.metrics.hot_keys += 1;
        }
    }

    /// Takes the outcomes of [`LedgerDecision::DebitTogether`], one for each task, and says whether
    /// the request may pass. If not, it is to be decided again.
    pub fn apply_transaction(
        &mut self,
        checks: &[QuotaCheck<'_>],
        units: i64,
        tasks: &[DebitTask],
        reserved: Reserved,
        outcomes: Vec<DebitOutcome>,
        now_ms: i64,
    ) -> bool {
        let committed = outcomes.iter().all(|outcome| {
            matches!(outcome, DebitOutcome::Committed(_) | DebitOutcome::CommittedUnseen)
        });
        for (task, outcome) in tasks.iter().zip(outcomes) {
            self.apply_outcome(&checks[task.check], task, outcome, now_ms);
        }
        if !committed {
            for (index, lease) in reserved.0 {
                self.budgets.budget(&checks[index], now_ms).unspend(units, lease);
            }
        }
        committed
    }

    /// How `check` stands, after a decision about `units`.
    pub fn status(&mut self, check: &QuotaCheck<'_>, units: i64, now_ms: i64) -> QuotaStatus {
        let budget = self.budgets.budget(check, now_ms);
        let queued = check.quota.algorithm == super::Algorithm::LeakyBucket;
        QuotaStatus {
            remaining: budget.remaining(),
            reset_at_ms: budget.reset_at_ms(),
            delay_ms: if queued { budget.queue_ms(units) } else { 0 },
        }
    }

    /// Units held for a key, if it is known.
    pub fn held(&mut self, check: &QuotaCheck<'_>, now_ms: i64) -> i64 {
        self.budgets.budget(check, now_ms).held()
    }

    /// What was given up and is owed to the store, at most `most` of it.
    pub fn take_refunds(&mut self, most: usize) -> Vec<Refund> {
        self.budgets.take_refunds(most)
    }

    /// Gives up everything: the node ends. The rest is in [`Ledger::take_refunds`].
    pub fn release_all(&mut self, now_ms: i64) {
        self.budgets.release_all(now_ms);
    }

    /// Units that were debited and may still be spent or given back here.
    pub fn outstanding(&self) -> i64 {
        self.budgets.outstanding()
    }

    /// What happened since this was last asked.
    pub fn take_metrics(&mut self) -> LedgerMetrics {
        std::mem::take(&mut self.metrics)
    }

    pub fn len(&self) -> usize {
        self.budgets.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What to try for the checks that lack units: those that the store alone counts, or the others.
    fn plan_debits(
        &mut self,
        checks: &[QuotaCheck<'_>],
        units: i64,
        now_ms: i64,
        central: bool,
    ) -> Result<Vec<DebitTask>, Denial> {
        let mut tasks: Vec<DebitTask> = Vec::new();
        for (index, check) in checks.iter().enumerate() {
            let budget = self.budgets.budget(check, now_ms);
            if check.quota.is_central() != central || (!central && budget.held() >= units) {
                continue;
            }
            match budget.next(units) {
                DebitPlan::Debit(debit) => tasks.push(DebitTask { check: index, debit }),
                DebitPlan::Denied { retry_at_ms } => {
                    for task in &tasks {
                        self.budgets.budget(&checks[task.check], now_ms).cancel(&task.debit);
                    }
                    return Err(Denial { check: index, retry_at_ms, unavailable: false });
                }
            }
        }
        Ok(tasks)
    }

    fn reserve(&mut self, checks: &[QuotaCheck<'_>], units: i64, now_ms: i64) -> Reserved {
        let held = checks.iter().enumerate().filter(|(_, check)| !check.quota.is_central());
        let spent =
            held.map(|(index, check)| (index, self.budgets.budget(check, now_ms).spend(units)));
        Reserved(spent.collect())
    }
}

#[cfg(test)]
mod tests;
