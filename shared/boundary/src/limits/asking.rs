//! From the ledger's steps to calls: each task becomes one conditional write, several that go together
//! one transaction, and what does not come in time counts as failed.

use std::time::Duration;

use domain::limits::ledger::{Claim, Denial, Outcome, Step, Task};
use domain::{Failure, Timestamp};
use store::limits::CounterKey;

use super::Limiter;
use crate::telemetry::{Unit, measure};

/// Tries at the store for one request. Most need one or two; a contended counter takes more.
const ROUNDS: u32 = 8;

impl Limiter {
    /// May `units` pass under every claim? Asks the store as often as it takes, within reason.
    pub(super) async fn decide(
        &self,
        claims: &[Claim<'_>],
        units: i64,
        mut now: Timestamp,
    ) -> Result<(), Denial> {
        let shards = claims.iter().map(|claim| u32::from(claim.quota.shards())).max().unwrap_or(0);
        for round in 0..ROUNDS + shards {
            let step = self.ledger.lock().decide(claims, units, now.as_millisecond());
            match step {
                Step::Allowed => return Ok(()),
                Step::Denied(denial) => return Err(denial),
                Step::Lease(tasks) => {
                    let mut failed = false;
                    for task in tasks {
                        let claim = &claims[task.claim];
                        // Who waited for one in vain does not wait for the others too.
                        let outcome = if failed {
                            Outcome::Skipped
                        } else {
                            self.try_one(claim, &task, now).await
                        };
                        failed |= outcome == Outcome::Failed;
                        let now_ms = self.clock.now().as_millisecond();
                        self.ledger.lock().settle(claim, &task, outcome, now_ms);
                    }
                }
                Step::Together(tasks, reserved) => {
                    let outcomes = self.try_all(claims, &tasks, now).await;
                    let in_the_way = outcomes.iter().all(|it| *it == Outcome::Skipped);
                    let now_ms = self.clock.now().as_millisecond();
                    let passed = self
                        .ledger
                        .lock()
                        .settle_together(claims, units, &tasks, reserved, outcomes, now_ms);
                    if passed {
                        return Ok(());
                    }
                    if in_the_way {
                        // Another transaction held a row; it is over in a moment.
                        tokio::time::sleep(Duration::from_millis(2 << round.min(6))).await;
                    }
                }
            }
            now = self.clock.now();
        }
        // Others were faster every time. Nobody knows whether there is something left, so the caller is
        // not told that the quota is used up, and it is no offence.
        let retry_at_ms = Some(now.as_millisecond() + 1_000);
        Err(Denial { claim: 0, retry_at_ms, unavailable: true })
    }

    async fn try_one(&self, claim: &Claim<'_>, task: &Task, now: Timestamp) -> Outcome {
        let key = key(claim, task);
        let tried = self.rows.try_write(&key, task.write(), now);
        self.in_time(tried).await.unwrap_or(Outcome::Failed)
    }

    async fn try_all(&self, claims: &[Claim<'_>], tasks: &[Task], now: Timestamp) -> Vec<Outcome> {
        if let [task] = tasks {
            return vec![self.try_one(&claims[task.claim], task, now).await];
        }
        let writes: Vec<_> =
            tasks.iter().map(|task| (key(&claims[task.claim], task), task.write())).collect();
        let tried = self.in_time(self.rows.try_together(&writes, now)).await;
        tried.unwrap_or_else(|| tasks.iter().map(|_| Outcome::Failed).collect())
    }

    /// What comes in time. The rest is measured: nobody can do anything about it now.
    pub(super) async fn in_time<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Option<T> {
        let done = tokio::time::timeout(self.deadline, work).await;
        let done = done.ok().and_then(Result::ok);
        if done.is_none() {
            measure("LimitsUnasked", Unit::Count, 1.0);
        }
        done
    }
}

fn key(claim: &Claim<'_>, task: &Task) -> CounterKey {
    CounterKey::new(&claim.rule.id, &claim.quota, claim.entity, task.shard())
}
