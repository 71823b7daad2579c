//! Jobs under faults.
//!
//! Jobs are submitted, claimed, worked on, cancelled and wanted again while limits change, workers fall
//! silent and clocks jump. Licences are counted after every step; afterwards nothing goes wrong any
//! more, a healthy worker does what is left, and every job is accounted for.

mod invariants;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use boundary::Aws;
use http::Method;
use local::connector::Connector;
use local::faults::{Dice, Fault, Faults};
use serde_json::{Value, json};
use tests::{Answer, Lab, Setup, root_key};

use super::{run, sweep_some};

const WISHES: u64 = 12;
const POLLED: &str = "polled";
const WORKERS: [&str; 2] = ["w-one", "w-two"];

#[test]
fn two_hundred_seeds_hold() {
    sweep_some("jobs", 200, |seed| run(scenario(seed, Faults::seeded(seed, 60))));
}

/// A job that a worker was given.
#[derive(Debug, Clone)]
struct Ticket {
    job: String,
    worker: &'static str,
    attempt: u64,
}

struct World {
    lab: Lab,
    /// Meets no faults, so that looking changes nothing.
    aws: Aws,
    dice: Dice,
    jobs: Vec<String>,
    /// Idempotency keys and the bodies and jobs they stand for.
    once: BTreeMap<String, (Value, String)>,
    retried: BTreeSet<String>,
    tickets: Vec<Ticket>,
    /// Holders and limit of each type when they were last looked at.
    seen: BTreeMap<String, (usize, u64)>,
    wish: u64,
}

pub(super) async fn scenario(
    seed: u64,
    faults: Arc<Faults>,
) -> Result<BTreeMap<Fault, u64>, String> {
    let mut world = World::new(seed, faults).await;
    world.look().await?;
    for wish in 0..WISHES {
        world.wish = wish;
        world.fulfil().await?;
        world.look().await?;
    }
    let counts = world.lab.cloud.faults.counts();
    world.lab.cloud.faults.stop();
    world.hold().await?;
    Ok(counts)
}

impl World {
    async fn new(seed: u64, faults: Arc<Faults>) -> Self {
        faults.pause();
        let lab = Lab::with(Setup { seed, faults, skew_ms: 5_000, ..Setup::default() });
        lab.cloud.faults.record(|call| call.operation == "Publish");
        let client = Connector::client(lab.cloud.services.clone(), Faults::none(), None);
        let aws = Aws::through(client, &local::cloud::base_vars().into_iter().collect()).unwrap();
        let mut dice = Dice::new(seed ^ 0x10_b5);
        let kind = json!({
            "delivery": "poll", "maxConcurrent": 1 + dice.below(3),
            "licenceShards": 1 + dice.below(2),
            "retryPolicy": { "maxAttempts": 2, "backoffSeconds": 1 },
        });
        let call = lab.call(Method::PUT, &format!("/api/v1/job-types/{POLLED}"));
        assert_eq!(call.by(&root_key()).json(&kind).send().await.status, 201);
        let world = Self {
            lab,
            aws,
            dice,
            jobs: Vec::new(),
            once: BTreeMap::new(),
            retried: BTreeSet::new(),
            tickets: Vec::new(),
            seen: BTreeMap::new(),
            wish: 0,
        };
        world.lab.cloud.faults.resume();
        world
    }

    async fn fulfil(&mut self) -> Result<(), String> {
        match self.dice.below(16) {
            0..5 => self.submit().await,
            5 => self.submit_again().await,
            6..8 => {
                self.claim().await;
                Ok(())
            }
            8..12 => self.work().await,
            12 => {
                self.decide().await;
                Ok(())
            }
            13 => {
                let limit = self.dice.below(4);
                self.limit(limit).await;
                Ok(())
            }
            _ => {
                self.pass_time().await;
                Ok(())
            }
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.dice.below(bound as u64)).unwrap_or(0)
    }

    async fn post(&self, path: &str, body: &Value) -> Answer {
        self.lab.post(path, body).await
    }

    /// Repeats a submission until it has a definite answer.
    async fn send(&self, key: &str, body: &Value) -> Result<Answer, String> {
        for attempt in 0..40 {
            if attempt == 20 {
                self.lab.cloud.faults.stop();
            }
            let call = self.lab.call(Method::POST, "/api/v1/jobs").by(&root_key());
            let answer = call.header("idempotency-key", key).json(body).send().await;
            let in_progress = answer.text("type") == "/docs#in-progress";
            if !answer.status.is_server_error() && !in_progress {
                return Ok(answer);
            }
            self.lab.advance_seconds(3);
        }
        Err(format!("{body} never got a definite answer"))
    }

    async fn submit(&mut self) -> Result<(), String> {
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
        let answer = self.send(&key, &body).await?;
        if answer.status != 201 {
            return Err(format!("{body} was answered {} {}", answer.status, answer.body));
        }
        let id = answer.text("jobId").to_owned();
        self.jobs.push(id.clone());
        self.once.insert(key, (body, id));
        Ok(())
    }

    /// The same key and body again are the same job.
    async fn submit_again(&mut self) -> Result<(), String> {
        let keys: Vec<String> = self.once.keys().cloned().collect();
        let index = self.below(keys.len());
        let Some(key) = keys.get(index) else { return self.submit().await };
        let (body, id) = &self.once[key];
        let answer = self.send(key, body).await?;
        if answer.text("jobId") == id {
            return Ok(());
        }
        Err(format!("{key} made {id}, and then {} {}", answer.status, answer.body))
    }

    async fn claim(&mut self) {
        let worker = WORKERS[self.below(2)];
        let body = json!({ "workerId": worker, "max": 1 + self.dice.below(3) });
        let answer = self.post(&format!("/api/v1/job-types/{POLLED}/claim"), &body).await;
        for job in answer.body["jobs"].as_array().into_iter().flatten() {
            let attempt = job["attempt"].as_u64().unwrap_or(0);
            let job = job["jobId"].as_str().unwrap_or_default().to_owned();
            self.tickets.push(Ticket { job, worker, attempt });
        }
    }

    /// A worker says something of a job that it was given, maybe long ago.
    async fn work(&mut self) -> Result<(), String> {
        let index = self.below(self.tickets.len());
        let Some(ticket) = self.tickets.get(index).cloned() else {
            self.claim().await;
            return Ok(());
        };
        let verb = ["start", "start", "heartbeat", "complete", "fail"][self.below(5)];
        let mut body = json!({ "workerId": ticket.worker, "attempt": ticket.attempt });
        if verb == "fail" {
            body["retryable"] = json!(self.dice.below(3) > 0);
        }
        let path = format!("/api/v1/jobs/{}/{verb}", ticket.job);
        let answer = self.post(&path, &body).await;
        if verb == "heartbeat" && answer.status == 200 {
            return self.hold_fence(&ticket).await;
        }
        Ok(())
    }

    /// Cancels a job, or wants it again.
    async fn decide(&mut self) {
        let index = self.below(self.jobs.len());
        let Some(id) = self.jobs.get(index).cloned() else { return };
        let path = format!("/api/v1/jobs/{id}");
        if self.dice.below(2) == 0 {
            self.lab.call(Method::DELETE, &path).by(&root_key()).send().await;
        } else {
            self.retried.insert(id);
            self.post(&format!("{path}/retry"), &Value::Null).await;
        }
    }

    async fn limit(&self, limit: u64) {
        let call = self.lab.call(Method::PUT, &format!("/api/v1/job-types/{POLLED}"));
        call.by(&root_key()).json(&json!({ "maxConcurrent": limit })).send().await;
    }

    /// Messages arrive; often the sweep comes by, and sometimes workers have fallen silent.
    async fn pass_time(&mut self) {
        let seconds = [1, 20, 66, 130][self.below(4)];
        self.lab.advance_seconds(seconds);
        if seconds > 60 {
            self.sweep_jobs().await;
        }
        self.lab.cloud.settle().await;
    }

    async fn sweep_jobs(&self) {
        let schedules = &self.lab.cloud.schedules;
        for entry in schedules.entries().iter().filter(|entry| entry.function == "SweepJobs") {
            // A run that fails leaves its work to the next one.
            let _ = schedules.run(entry, self.lab.cloud.now_ms()).await;
        }
    }
}
