//! Jobs under faults.
//!
//! Jobs are submitted, claimed, worked on, cancelled and wanted again, several things at a time, while
//! limits change, workers fall silent and clocks jump. Licences are counted after every step, and over
//! every single write; afterwards nothing goes wrong any more, a healthy worker does what is left, and
//! every job is accounted for.

mod actions;
mod history;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::SplitMix64;
use futures::future::join_all;
use local::faults::{Fault, Faults};
use serde_json::{Value, json};
use tests::{Lab, Setup};

use crate::faults::{run, sweep};
use crate::items::text;
use actions::{Done, Wish};

pub(super) use watch::{POLLED, Watch};

/// Steps of one life.
const STEPS: u64 = 10;
const WORKERS: [&str; 2] = ["w-one", "w-two"];

#[test]
fn a_thousand_seeds_hold() {
    sweep("jobs", |seed| run(scenario(seed, Faults::seeded(seed, 60))));
}

/// A job that a worker was given.
#[derive(Debug, Clone)]
struct Ticket {
    job: String,
    worker: &'static str,
    attempt: u64,
}

struct World {
    watch: Watch,
    dice: SplitMix64,
    jobs: Vec<String>,
    /// Idempotency keys and the bodies and jobs they stand for.
    once: BTreeMap<String, (Value, String)>,
    retried: BTreeSet<String>,
    tickets: Vec<Ticket>,
    wish: u64,
}

pub(super) async fn scenario(
    seed: u64,
    faults: Arc<Faults>,
) -> Result<BTreeMap<Fault, u64>, String> {
    let mut world = World::new(seed, faults).await;
    for _ in 0..STEPS {
        world.step().await?;
        let rows = world.watch.rows().await;
        world.watch.hold_licences(&rows, &world.retried)?;
    }
    let faults = &world.watch.lab.cloud.faults;
    let counts = faults.counts();
    faults.stop();
    world.hold().await?;
    Ok(counts)
}

impl World {
    async fn new(seed: u64, faults: Arc<Faults>) -> Self {
        faults.pause();
        let lab = Lab::with(Setup { seed, faults, skew_ms: 5_000, ..Setup::default() });
        let watch = Watch::over(lab);
        let mut dice = SplitMix64::new(seed ^ 0x10_b5);
        let kind = json!({
            "delivery": "poll", "maxConcurrent": 1 + dice.below(3),
            "licenceShards": 1 + dice.below(2),
            "retryPolicy": { "maxAttempts": 2, "backoffSeconds": 1 },
        });
        assert_eq!(watch.decide(&kind).await.status, 201);
        watch.lab.cloud.faults.resume();
        Self {
            watch,
            dice,
            jobs: Vec::new(),
            once: BTreeMap::new(),
            retried: BTreeSet::new(),
            tickets: Vec::new(),
            wish: 0,
        }
    }

    /// Time passes, or several things happen at once.
    async fn step(&mut self) -> Result<(), String> {
        let wishes: Vec<Wish> = match self.dice.below(8) {
            0 => {
                self.pass_time().await;
                return Ok(());
            }
            // Everyone wants the last licence, and there may be one less.
            1 => vec![self.claim(), Wish::Limit(self.dice.below(3)), self.claim(), self.claim()],
            _ => (0..=self.dice.below(3)).map(|_| self.wish()).collect(),
        };
        let retried = wishes.iter().filter_map(Wish::retried);
        self.retried.extend(retried.map(str::to_owned));
        let done = join_all(wishes.iter().map(|wish| wish.fulfil(&self.watch))).await;
        for done in done {
            self.note(done?)?;
        }
        Ok(())
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.dice.below(bound as u64)).unwrap_or(0)
    }

    /// Something that somebody wants.
    fn wish(&mut self) -> Wish {
        self.wish += 1;
        match self.dice.below(16) {
            0..5 => self.submit(),
            5 => self.submit_again(),
            6..9 => self.claim(),
            9..13 => self.say(),
            13 => self.decide(),
            14 => Wish::Limit(self.dice.below(4)),
            _ => Wish::Deliver,
        }
    }

    fn submit(&mut self) -> Wish {
        let kind = [POLLED, POLLED, "echo", "fail-n-times"][self.below(4)];
        let mut dependencies = BTreeSet::new();
        if !self.jobs.is_empty() {
            for _ in 0..self.below(3) {
                let parent = self.below(self.jobs.len());
                dependencies.insert(self.jobs[parent].clone());
            }
        }
        let key = format!("key-{}", self.wish);
        let body = json!({
            "jobType": kind, "priority": format!("P{}", self.dice.below(4)),
            "payload": { "key": key, "times": self.dice.below(4) },
            "dependencies": dependencies,
            "onDependencyFailure": if self.dice.below(2) == 0 { "fail" } else { "run" },
        });
        Wish::Submit { key, body }
    }

    /// The same key and body again are the same job.
    fn submit_again(&mut self) -> Wish {
        let index = self.below(self.once.len());
        match self.once.iter().nth(index) {
            Some((key, (body, _))) => Wish::Submit { key: key.clone(), body: body.clone() },
            None => self.submit(),
        }
    }

    fn claim(&mut self) -> Wish {
        Wish::Claim { worker: WORKERS[self.below(2)], max: 1 + self.dice.below(3) }
    }

    /// A worker says something of a job that it was given, maybe long ago.
    fn say(&mut self) -> Wish {
        let index = self.below(self.tickets.len());
        let Some(ticket) = self.tickets.get(index).cloned() else { return self.claim() };
        let verb = ["start", "start", "heartbeat", "complete", "fail"][self.below(5)];
        Wish::Say { ticket, verb, retryable: self.dice.below(3) > 0 }
    }

    /// Cancels a job, or wants it again.
    fn decide(&mut self) -> Wish {
        let index = self.below(self.jobs.len());
        let Some(id) = self.jobs.get(index).cloned() else { return self.submit() };
        if self.dice.below(2) == 0 { Wish::Cancel(id) } else { Wish::Retry(id) }
    }

    fn note(&mut self, done: Done) -> Result<(), String> {
        match done {
            Done::Nothing => {}
            Done::Given(tickets) => self.tickets.extend(tickets),
            Done::Made { key, body, id } => match self.once.get(&key) {
                Some((_, before)) if *before != id => {
                    return Err(format!("{key} made {before}, and then {id}"));
                }
                Some(_) => {}
                None => {
                    self.jobs.push(id.clone());
                    self.once.insert(key, (body, id));
                }
            },
        }
        Ok(())
    }

    /// Messages arrive; often the sweep comes by, and sometimes workers have fallen silent.
    async fn pass_time(&mut self) {
        let seconds = [1, 20, 66, 130][self.below(4)];
        self.watch.lab.advance_seconds(seconds);
        if seconds > 60 {
            self.watch.sweep().await;
        }
        self.watch.lab.cloud.settle().await;
    }

    async fn hold(&self) -> Result<(), String> {
        self.watch.decide(&json!({ "maxConcurrent": 2 })).await;
        let jobs = self.watch.rest(&self.retried).await?;
        let rows = self.watch.rows().await;
        for (key, (_, id)) in &self.once {
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
        self.watch.hold_ends(&jobs).await
    }
}
