//! Watches jobs: what holds of their licences at every instant, and of their ends.

use std::collections::{BTreeMap, BTreeSet};

use ::jobs::store::Jobs;
use boundary::Aws;
use domain::jobs::{Job, JobId, Status, replay};
use http::Method;
use local::connector::Connector;
use local::faults::{Faults, RecordedCall};
use serde_json::{Value, json};
use store::Table;
use tests::{Lab, Response, root_key};

use super::Ticket;
use super::history::{History, State};
use crate::items::{Item, number, text};

/// A type whose workers ask for their jobs.
pub(in crate::jobs) const POLLED: &str = "polled";

/// Looks at a lab without disturbing it.
pub(in crate::jobs) struct Watch {
    pub(in crate::jobs) lab: Lab,
    /// Meets no faults, so that looking changes nothing.
    aws: Aws,
}

impl Watch {
    /// From now on, every transaction and every notice is kept.
    pub(in crate::jobs) fn over(lab: Lab) -> Self {
        lab.cloud
            .faults
            .record(|call| matches!(call.operation.as_str(), "Publish" | "TransactWriteItems"));
        let client = Connector::client(lab.cloud.services.clone(), Faults::none(), None);
        let aws = Aws::through(client, &local::cloud::lambda_environment().into_iter().collect())
            .unwrap();
        Self { lab, aws }
    }

    /// Every row, at one moment.
    pub(in crate::jobs) async fn rows(&self) -> Vec<Item> {
        let scan = self.aws.dynamodb().scan().table_name(self.lab.table("JobsTable"));
        scan.consistent_read(true).send().await.unwrap().items.unwrap_or_default()
    }

    pub(in crate::jobs) fn store(&self) -> Jobs {
        Jobs::new(Table::new(self.aws.dynamodb(), self.lab.table("JobsTable")))
    }

    /// Decides about the polled type.
    pub(in crate::jobs) async fn decide(&self, body: &Value) -> Response {
        let call = self.lab.call(Method::PUT, &format!("/api/v1/job-types/{POLLED}"));
        call.by(&root_key()).json(body).send().await
    }

    pub(in crate::jobs) async fn sweep(&self) {
        let schedules = &self.lab.cloud.schedules;
        for entry in schedules.entries().iter().filter(|entry| entry.function == "SweepJobs") {
            // A run that fails leaves its work to the next one.
            let _ = schedules.run(entry, self.lab.cloud.now_ms()).await;
        }
    }

    /// Nothing goes wrong any more and a healthy worker does what is left; says what there is then.
    pub(in crate::jobs) async fn rest(
        &self,
        retried: &BTreeSet<String>,
    ) -> Result<Vec<Job>, String> {
        for _ in 0..40 {
            self.lab.advance_seconds(66);
            self.sweep().await;
            self.lab.cloud.settle().await;
            self.work().await;
            let rows = self.rows().await;
            self.hold_licences(&rows, retried)?;
            let rows = rows.iter().filter(|row| text(row, "sk") == "job");
            let ids: Vec<JobId> = rows.filter_map(|row| JobId::parse(text(row, "id"))).collect();
            let jobs = self.store().find_all(&ids).await.unwrap();
            if jobs.iter().all(|job| job.status.is_final() && job.settled) {
                return Ok(jobs);
            }
        }
        Err("some jobs never end, or their ends are never told".to_owned())
    }

    /// A healthy worker takes what there is and completes it.
    async fn work(&self) {
        let body = json!({ "workerId": "healthy", "max": 20 });
        let given = self.lab.post(&format!("/api/v1/job-types/{POLLED}/claim"), &body).await;
        for job in given.body["jobs"].as_array().into_iter().flatten() {
            let word = json!({ "workerId": "healthy", "attempt": job["attempt"] });
            let path = format!("/api/v1/jobs/{}", job["jobId"].as_str().unwrap_or_default());
            self.lab.post(&format!("{path}/start"), &word).await;
            self.lab.post(&format!("{path}/complete"), &word).await;
        }
    }

    /// How many writes there were.
    pub(super) fn writes(&self) -> usize {
        self.lab.cloud.faults.recorded().len()
    }

    /// A heartbeat that was accepted since write `began` was one of the run that was going on.
    pub(super) fn hold_fence(&self, ticket: &Ticket, began: usize) -> Result<(), String> {
        let history = History::of(&self.lab.cloud.faults.recorded());
        let states = history.states.get(&ticket.job).map(Vec::as_slice).unwrap_or_default();
        let before = states.iter().rev().find(|state| state.write < began);
        let since = states.iter().filter(|state| state.write >= began);
        let is_it = |state: &State| {
            state.status == "RUNNING"
                && state.attempt == ticket.attempt
                && state.worker == ticket.worker
        };
        if before.into_iter().chain(since).any(is_it) {
            return Ok(());
        }
        Err(format!("{ticket:?} was heard, of {states:?}"))
    }

    /// Holders are the jobs that hold, licences count them, and at no instant was anyone let in over
    /// the limit or before its time.
    pub(in crate::jobs) fn hold_licences(
        &self,
        rows: &[Item],
        retried: &BTreeSet<String>,
    ) -> Result<(), String> {
        let mut held: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let mut holders: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let licence = |kind: &str, shard: u64| format!("licence#{kind}#{shard}");
        let is_licence = |row: &&Item| text(row, "pk").starts_with("licence#");
        for row in rows.iter().filter(is_licence) {
            let entry = holders.entry(text(row, "pk")).or_default();
            entry.extend(text(row, "sk").strip_prefix("holder#").map(str::to_owned));
            held.entry(text(row, "pk")).or_default();
        }
        for row in rows.iter().filter(|row| text(row, "sk") == "job") {
            if ["ASSIGNED", "RUNNING"].contains(&text(row, "status")) {
                let shard = number(row, "shard").ok_or("a job holds nothing")?;
                let pk = licence(text(row, "kind"), shard);
                let (_, ids) = held.iter_mut().find(|(it, _)| **it == pk).ok_or("no licence")?;
                ids.insert(text(row, "id").to_owned());
            }
        }
        if held != holders {
            return Err(format!("{held:?} hold licences, and {holders:?} are noted"));
        }
        for row in rows.iter().filter(is_licence).filter(|row| text(row, "sk") == "licence") {
            let count = held.get(text(row, "pk")).map_or(0, BTreeSet::len) as u64;
            if number(row, "in_use") != Some(count) {
                return Err(format!("{count} hold what {row:?} counts"));
            }
        }
        let history = History::of(&self.lab.cloud.faults.recorded());
        if let Some(over) = history.over.into_iter().next() {
            return Err(over);
        }
        // What was wanted again may be open again.
        match history.early.iter().find(|(_, parent)| !retried.contains(parent)) {
            Some((child, parent)) => Err(format!("{child} began before {parent} ended")),
            None => Ok(()),
        }
    }

    /// Nobody waits in vain, nothing ran too often, what failed left a letter, everyone was told, and
    /// every trail leads to its job.
    pub(in crate::jobs) async fn hold_ends(&self, jobs: &[Job]) -> Result<(), String> {
        let rows = self.rows().await;
        if let Some(edge) = rows.iter().find(|row| text(row, "sk").starts_with("child#")) {
            return Err(format!("an edge is left: {edge:?}"));
        }
        let queue = self.lab.queue("WorkDeadLetters");
        let letters = self.lab.cloud.services.queues().receive(&queue, 10_000, None).unwrap();
        let told = self.lab.cloud.faults.recorded();
        let told: Vec<&RecordedCall> =
            told.iter().filter(|call| call.operation == "Publish").collect();
        for job in jobs {
            let id = job.id.as_str();
            if job.attempt > job.last_attempt {
                return Err(format!("{id} ran too often: {job:?}"));
            }
            let is_of = |body: &str| {
                let letter: Value = serde_json::from_str(body).unwrap_or_default();
                letter["type"] == "JobFailed" && letter["jobId"] == id
            };
            let gave_up = job.status == Status::Failed && job.started_at.is_some();
            if gave_up && !letters.iter().any(|letter| is_of(&letter.body)) {
                return Err(format!("{id} failed and left no dead letter"));
            }
            let names = |body: &[u8]| String::from_utf8_lossy(body).contains(id);
            if !told.iter().any(|call| call.done && names(&call.body)) {
                return Err(format!("the end of {id} was not published"));
            }
            self.hold_trail(job).await?;
        }
        Ok(())
    }

    /// The trail leads to the job, and no run of it was begun twice.
    async fn hold_trail(&self, job: &Job) -> Result<(), String> {
        let trail = self.store().trail(&job.id, 1_000, None).await.unwrap().items;
        let plain = |job: Job| Job { beat_at: None, progress: 0, settled: false, ..job };
        let walked = replay(&trail).map(plain);
        if walked == Some(plain(job.clone())) {
            return Ok(());
        }
        Err(format!("the trail leads to {walked:?} instead of {job:?}"))
    }
}
