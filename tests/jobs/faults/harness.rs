//! The invariants of licences at every write, and of jobs that have ended.

use std::collections::{BTreeMap, BTreeSet};

use ::jobs::store::Jobs;
use boundary::Aws;
use domain::jobs::{Job, JobId, JobStatus, replay};
use http::Method;
use local::faults::{Faults, RecordedCall};
use serde_json::{Value, json};
use store::Table;
use tests::{Lab, Response, Result, root_key};

use super::ClaimedJob;
use super::write_history::{State, WriteHistory};
use crate::items::{Item, number, text};

/// A polled type.
pub(in crate::jobs) const POLLED: &str = "polled";

/// Reads a lab's rows and queues without changing them.
pub(in crate::jobs) struct Harness {
    pub(in crate::jobs) lab: Lab,
    /// Meets no faults, so that reading changes nothing.
    aws: Aws,
}

impl Harness {
    /// Records every transaction and every notice from now on.
    pub(in crate::jobs) fn new(lab: Lab) -> Self {
        lab.cloud
            .faults
            .record(|call| matches!(call.operation.as_str(), "Publish" | "TransactWriteItems"));
        let aws = lab.aws_under(&Faults::none());
        Self { lab, aws }
    }

    /// All rows at once.
    pub(in crate::jobs) async fn rows(&self) -> Vec<Item> {
        let scan = self.aws.dynamodb().scan().table_name(self.lab.table("JobsTable"));
        scan.consistent_read(true).send().await.unwrap().items.unwrap_or_default()
    }

    pub(in crate::jobs) fn store(&self) -> Jobs {
        Jobs::new(Table::new(self.aws.dynamodb(), self.lab.table("JobsTable")))
    }

    /// Saves the polled type.
    pub(in crate::jobs) async fn save_type(&self, body: &Value) -> Response {
        let call = self.lab.call(Method::PUT, &format!("/api/v1/job-types/{POLLED}"));
        call.by(&root_key()).json(body).send().await
    }

    /// Runs the system without faults and with a healthy worker until all jobs have ended; returns them.
    pub(in crate::jobs) async fn drain(&self, retried: &BTreeSet<String>) -> Result<Vec<Job>> {
        for _ in 0..40 {
            self.lab.advance_seconds(66);
            self.lab.run_schedule("SweepJobs").await;
            self.lab.cloud.settle().await;
            self.work().await;
            let rows = self.rows().await;
            self.check_licences(&rows, retried)?;
            let rows = rows.iter().filter(|row| text(row, "sk") == "job");
            let ids: Vec<JobId> = rows.filter_map(|row| JobId::parse(text(row, "id"))).collect();
            let jobs = self.store().find_all(&ids).await.unwrap();
            if jobs.iter().all(|job| job.status.is_final() && job.end_announced) {
                return Ok(jobs);
            }
        }
        Err("some jobs never end, or their ends are never announced".to_owned())
    }

    /// A healthy worker claims all ready jobs and completes them.
    async fn work(&self) {
        let body = json!({ "workerId": "healthy", "max": 20 });
        let given = self.lab.post(&format!("/api/v1/job-types/{POLLED}/claim"), &body).await;
        for job in given.body["jobs"].as_array().into_iter().flatten() {
            let body = json!({ "workerId": "healthy", "attempt": job["attempt"] });
            let path = format!("/api/v1/jobs/{}", job["jobId"].as_str().unwrap_or_default());
            self.lab.post(&format!("{path}/start"), &body).await;
            self.lab.post(&format!("{path}/complete"), &body).await;
        }
    }

    /// How many writes there were.
    pub(super) fn writes(&self) -> usize {
        self.lab.cloud.faults.recorded().len()
    }

    /// A heartbeat that was accepted since write `began` belonged to the current run.
    pub(super) fn check_fence(&self, claimed: &ClaimedJob, began: usize) -> Result {
        let history = WriteHistory::replay(&self.lab.cloud.faults.recorded());
        let states = history.states.get(&claimed.job).map(Vec::as_slice).unwrap_or_default();
        let before = states.iter().rev().find(|state| state.write < began);
        let since = states.iter().filter(|state| state.write >= began);
        let is_it = |state: &State| {
            state.status == "RUNNING"
                && state.attempt == claimed.attempt
                && state.worker == claimed.worker
        };
        if before.into_iter().chain(since).any(is_it) {
            return Ok(());
        }
        Err(format!("{claimed:?} was accepted, in {states:?}"))
    }

    /// The holder rows are those of the jobs that hold licences, the licence rows count them, and no write
    /// assigned a job over the limit or started it before its dependencies ended.
    pub(in crate::jobs) fn check_licences(
        &self,
        rows: &[Item],
        retried: &BTreeSet<String>,
    ) -> Result {
        let mut held: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let mut holders: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let licence = |job_type: &str, shard: u64| format!("licence#{job_type}#{shard}");
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
            return Err(format!("{held:?} hold licences, and {holders:?} are holder rows"));
        }
        for row in rows.iter().filter(is_licence).filter(|row| text(row, "sk") == "licence") {
            let count = held.get(text(row, "pk")).map_or(0, BTreeSet::len) as u64;
            if number(row, "in_use") != Some(count) {
                return Err(format!("{count} hold what {row:?} counts"));
            }
        }
        let history = WriteHistory::replay(&self.lab.cloud.faults.recorded());
        if let Some(error) = history.over_limit.into_iter().next() {
            return Err(error);
        }
        // A retried dependency may be open again.
        match history.started_early.iter().find(|(_, parent)| !retried.contains(parent)) {
            Some((child, parent)) => Err(format!("{child} began before {parent} ended")),
            None => Ok(()),
        }
    }

    /// No edge is left, no job ran too often, failed jobs have dead letters, all ends were published, and
    /// every audit trail replays to its job.
    pub(in crate::jobs) async fn check_ends(&self, jobs: &[Job]) -> Result {
        let rows = self.rows().await;
        if let Some(edge) = rows.iter().find(|row| text(row, "sk").starts_with("child#")) {
            return Err(format!("an edge is left: {edge:?}"));
        }
        let queue = self.lab.queue("WorkDeadLetters");
        let dead_letters = self.lab.cloud.services.queues().receive(&queue, 10_000, None).unwrap();
        let published = self.lab.cloud.faults.recorded();
        let published: Vec<&RecordedCall> =
            published.iter().filter(|call| call.operation == "Publish").collect();
        for job in jobs {
            let id = job.id.as_str();
            if job.attempt > job.last_attempt {
                return Err(format!("{id} ran too often: {job:?}"));
            }
            let is_of = |body: &str| {
                let body: Value = serde_json::from_str(body).unwrap_or_default();
                body["type"] == "JobFailed" && body["jobId"] == id
            };
            let gave_up = job.status == JobStatus::Failed && job.started_at.is_some();
            if gave_up && !dead_letters.iter().any(|message| is_of(&message.body)) {
                return Err(format!("{id} failed and left no dead letter"));
            }
            let names = |body: &[u8]| String::from_utf8_lossy(body).contains(id);
            if !published.iter().any(|call| call.done && names(&call.body)) {
                return Err(format!("the end of {id} was not published"));
            }
            self.check_audit_trail(job).await?;
        }
        Ok(())
    }

    /// The audit trail replays to the job.
    async fn check_audit_trail(&self, job: &Job) -> Result {
        let trail = self.store().audit_trail(&job.id, 1_000, None).await.unwrap().items;
        let plain = |job: Job| Job { heartbeat_at: None, progress: 0, end_announced: false, ..job };
        let replayed = replay(&trail).map(plain);
        if replayed == Some(plain(job.clone())) {
            return Ok(());
        }
        Err(format!("the audit trail replays to {replayed:?} instead of {job:?}"))
    }
}
