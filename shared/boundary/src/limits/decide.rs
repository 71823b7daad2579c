//! From the ledger's steps to calls: each task becomes one conditional write, several that go together
//! one transaction, and what does not come in time counts as failed.

use std::time::Duration;

use domain::limits::ledger::{DebitOutcome, DebitTask, Denial, LedgerDecision, QuotaCheck};
use domain::{Result, Timestamp};
use store::limits::CounterKey;

use super::Limiter;
use crate::telemetry::{Unit, measure};

/// Tries at the store for one request. Most need one or two; a contended counter takes more.
const MAX_ROUNDS: u32 = 8;

impl Limiter {
    /// May `units` pass under every check? Calls the store as often as it takes, within reason.
    pub(super) async fn decide(
        &self,
        checks: &[QuotaCheck<'_>],
        units: i64,
        mut now: Timestamp,
    ) -> Result<(), Denial> {
        let shards = checks.iter().map(|check| u32::from(check.quota.shards())).max().unwrap_or(0);
        for round in 0..MAX_ROUNDS + shards {
            let step = self.ledger.lock().decide(checks, units, now.as_millisecond());
            match step {
                LedgerDecision::Allowed => return Ok(()),
                LedgerDecision::Denied(denial) => return Err(denial),
                LedgerDecision::Debit(tasks) => {
                    let mut failed = false;
                    for task in tasks {
                        let check = &checks[task.check];
                        // Who waited for one in vain does not wait for the others too.
                        let outcome = if failed {
                            DebitOutcome::Skipped
                        } else {
                            self.debit(check, &task, now).await
                        };
                        failed |= outcome == DebitOutcome::Failed;
                        let now_ms = self.clock.now().as_millisecond();
                        self.ledger.lock().apply_outcome(check, &task, outcome, now_ms);
                    }
                }
                LedgerDecision::DebitTogether(tasks, reserved) => {
                    let outcomes = self.debit_together(checks, &tasks, now).await;
                    let conflicted = outcomes.iter().all(|it| *it == DebitOutcome::Skipped);
                    let now_ms = self.clock.now().as_millisecond();
                    let passed = self
                        .ledger
                        .lock()
                        .apply_transaction(checks, units, &tasks, reserved, outcomes, now_ms);
                    if passed {
                        return Ok(());
                    }
                    if conflicted {
                        // Another transaction held a row; it is over in a moment.
                        tokio::time::sleep(Duration::from_millis(2 << round.min(6))).await;
                    }
                }
            }
            now = self.clock.now();
        }
        // Other nodes were faster every time. It is not known whether units are left, so the caller is
        // not told that the quota is used up, and it is not counted as a denial.
        let retry_at_ms = Some(now.as_millisecond() + 1_000);
        Err(Denial { check: 0, retry_at_ms, unavailable: true })
    }

    async fn debit(
        &self,
        check: &QuotaCheck<'_>,
        task: &DebitTask,
        now: Timestamp,
    ) -> DebitOutcome {
        let key = key(check, task);
        let tried = self.rows.write(&key, task.write(), now);
        self.within_deadline(tried).await.unwrap_or(DebitOutcome::Failed)
    }

    async fn debit_together(
        &self,
        checks: &[QuotaCheck<'_>],
        tasks: &[DebitTask],
        now: Timestamp,
    ) -> Vec<DebitOutcome> {
        if let [task] = tasks {
            return vec![self.debit(&checks[task.check], task, now).await];
        }
        let writes: Vec<_> =
            tasks.iter().map(|task| (key(&checks[task.check], task), task.write())).collect();
        let tried = self.within_deadline(self.rows.write_together(&writes, now)).await;
        tried.unwrap_or_else(|| tasks.iter().map(|_| DebitOutcome::Failed).collect())
    }

    /// The result if it comes within the deadline. Failures and late answers are only measured.
    pub(super) async fn within_deadline<T>(
        &self,
        work: impl Future<Output = Result<T>>,
    ) -> Option<T> {
        let done = tokio::time::timeout(self.deadline, work).await;
        let done = done.ok().and_then(Result::ok);
        if done.is_none() {
            measure("LimitsUnasked", Unit::Count, 1.0);
        }
        done
    }
}

fn key(check: &QuotaCheck<'_>, task: &DebitTask) -> CounterKey {
    CounterKey::new(&check.rule.id, &check.quota, check.entity, task.shard())
}
