//! Jobs under faults.
//!
//! Jobs are submitted, claimed, worked on, cancelled and retried, several actions at a time, while limits
//! change, workers miss heartbeats and clocks jump. Licences are counted after every step, and over
//! every single write; afterwards the faults stop, a healthy worker completes the other jobs, and every
//! job is accounted for.

mod actions;
mod harness;
mod write_history;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::SplitMix64;
use futures::future::join_all;
use local::faults::{Fault, Faults};
use serde_json::{Value, json};
use tests::{Lab, Result, Setup};

use crate::faults::{run, sweep};
use crate::items::text;
use actions::{Action, ActionOutcome};

pub(super) use harness::{Harness, POLLED};

/// Steps of one life.
const STEPS: u64 = 10;
const WORKERS: [&str; 2] = ["w-one", "w-two"];

#[test]
fn seeds_hold() {
    sweep("jobs", |seed| run(scenario(seed, Faults::seeded(seed, 60))));
}

/// A job that a worker has claimed.
#[derive(Debug, Clone)]
struct ClaimedJob {
    job: String,
    worker: &'static str,
    attempt: u64,
}

struct World {
    harness: Harness,
    dice: SplitMix64,
    jobs: Vec<String>,
    /// Idempotency keys with the bodies and jobs they stand for.
    submitted: BTreeMap<String, (Value, String)>,
    retried: BTreeSet<String>,
    claimed: Vec<ClaimedJob>,
    action: u64,
}

pub(super) async fn scenario(seed: u64, faults: Arc<Faults>) -> Result<BTreeMap<Fault, u64>> {
    let mut world = World::new(seed, faults).await;
    for _ in 0..STEPS {
        world.step().await?;
        let rows = world.harness.rows().await;
        world.harness.check_licences(&rows, &world.retried)?;
    }
    let faults = &world.harness.lab.cloud.faults;
    let counts = faults.counts();
    faults.stop();
    world.check_end_state().await?;
    Ok(counts)
}

impl World {
    async fn new(seed: u64, faults: Arc<Faults>) -> Self {
        faults.pause();
        let lab = Lab::with(Setup { seed, faults, skew_ms: 5_000, ..Setup::default() });
        let harness = Harness::new(lab);
        let mut dice = SplitMix64::new(seed ^ 0x10_b5);
        let job_type = json!({
            "delivery": "poll", "maxConcurrent": 1 + dice.below(3),
            "licenceShards": 1 + dice.below(2),
            "retryPolicy": { "maxAttempts": 2, "backoffSeconds": 1 },
        });
        assert_eq!(harness.save_type(&job_type).await.status, 201);
        harness.lab.cloud.faults.resume();
        Self {
            harness,
            dice,
            jobs: Vec::new(),
            submitted: BTreeMap::new(),
            retried: BTreeSet::new(),
            claimed: Vec::new(),
            action: 0,
        }
    }

    /// Time passes, or several actions are taken at once.
    async fn step(&mut self) -> Result {
        let actions: Vec<Action> = match self.dice.below(8) {
            0 => {
                self.pass_time().await;
                return Ok(());
            }
            // Concurrent claims of the last licence, while the limit may be lowered.
            1 => vec![self.claim(), Action::Limit(self.dice.below(3)), self.claim(), self.claim()],
            _ => (0..=self.dice.below(3)).map(|_| self.action()).collect(),
        };
        let retried = actions.iter().filter_map(Action::retried);
        self.retried.extend(retried.map(str::to_owned));
        let outcomes = join_all(actions.iter().map(|action| action.perform(&self.harness))).await;
        for outcome in outcomes {
            self.record(outcome?)?;
        }
        Ok(())
    }

    /// A random action of a user, a worker or an admin.
    fn action(&mut self) -> Action {
        self.action += 1;
        match self.dice.below(16) {
            0..5 => self.submit(),
            5 => self.submit_again(),
            6..9 => self.claim(),
            9..13 => self.report(),
            13 => self.cancel_or_retry(),
            14 => Action::Limit(self.dice.below(4)),
            _ => Action::Deliver,
        }
    }

    fn submit(&mut self) -> Action {
        let job_type = [POLLED, POLLED, "echo", "fail-n-times"][self.dice.index(4)];
        let mut dependencies = BTreeSet::new();
        if !self.jobs.is_empty() {
            for _ in 0..self.dice.index(3) {
                let parent = self.dice.index(self.jobs.len());
                dependencies.insert(self.jobs[parent].clone());
            }
        }
        let key = format!("key-{}", self.action);
        let body = json!({
            "jobType": job_type, "priority": format!("P{}", self.dice.below(4)),
            "payload": { "key": key, "times": self.dice.below(4) },
            "dependencies": dependencies,
            "onDependencyFailure": if self.dice.below(2) == 0 { "fail" } else { "run" },
        });
        Action::Submit { key, body }
    }

    /// The same key and body again are the same job.
    fn submit_again(&mut self) -> Action {
        let index = self.dice.index(self.submitted.len());
        match self.submitted.iter().nth(index) {
            Some((key, (body, _))) => Action::Submit { key: key.clone(), body: body.clone() },
            None => self.submit(),
        }
    }

    fn claim(&mut self) -> Action {
        Action::Claim { worker: WORKERS[self.dice.index(2)], max: 1 + self.dice.below(3) }
    }

    /// A worker reports something about a job that it claimed, maybe long ago.
    fn report(&mut self) -> Action {
        let index = self.dice.index(self.claimed.len());
        let Some(claimed) = self.claimed.get(index).cloned() else { return self.claim() };
        let verb = ["start", "start", "heartbeat", "complete", "fail"][self.dice.index(5)];
        Action::Report { claimed, verb, retryable: self.dice.below(3) > 0 }
    }

    /// Cancels a job, or retries it.
    fn cancel_or_retry(&mut self) -> Action {
        let index = self.dice.index(self.jobs.len());
        let Some(id) = self.jobs.get(index).cloned() else { return self.submit() };
        if self.dice.below(2) == 0 { Action::Cancel(id) } else { Action::Retry(id) }
    }

    fn record(&mut self, outcome: ActionOutcome) -> Result {
        match outcome {
            ActionOutcome::Nothing => {}
            ActionOutcome::Claimed(claimed) => self.claimed.extend(claimed),
            ActionOutcome::Submitted { key, body, id } => match self.submitted.get(&key) {
                Some((_, before)) if *before != id => {
                    return Err(format!("{key} made {before}, and then {id}"));
                }
                Some(_) => {}
                None => {
                    self.jobs.push(id.clone());
                    self.submitted.insert(key, (body, id));
                }
            },
        }
        Ok(())
    }

    /// Time passes: messages are delivered, the sweep may run, and workers may miss their heartbeats.
    async fn pass_time(&mut self) {
        let seconds = [1, 20, 66, 130][self.dice.index(4)];
        self.harness.lab.advance_seconds(seconds);
        if seconds > 60 {
            self.harness.lab.run_schedule("SweepJobs").await;
        }
        self.harness.lab.cloud.settle().await;
    }

    async fn check_end_state(&self) -> Result {
        self.harness.save_type(&json!({ "maxConcurrent": 2 })).await;
        let jobs = self.harness.drain(&self.retried).await?;
        let rows = self.harness.rows().await;
        for (key, (_, id)) in &self.submitted {
            let mark = format!("\"{key}\"");
            let made = rows.iter().filter(|row| text(row, "payload").contains(&mark));
            let made: Vec<&str> = made.map(|row| text(row, "pk")).collect();
            if made != [format!("job#{id}")] {
                return Err(format!("{key} was answered with {id} and made {made:?}"));
            }
        }
        if jobs.len() != self.jobs.len() {
            return Err(format!("{} were accepted, there are {}", self.jobs.len(), jobs.len()));
        }
        self.harness.check_ends(&jobs).await
    }
}
