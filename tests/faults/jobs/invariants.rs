//! What holds of jobs after every step, and what holds in the end.

use std::collections::{BTreeMap, BTreeSet};

use domain::jobs::{Job, JobId, Status, replay};
use serde_json::{Value, json};
use store::Jobs;

use super::{POLLED, Ticket, World};
use crate::counted::{self, Item, number, text};

/// What types have that nobody decided about.
const USUAL_LIMIT: u64 = 10;

impl World {
    /// Every row, at one moment.
    async fn rows(&self) -> Vec<Item> {
        let scan = self.aws.dynamodb().scan().table_name(self.lab.table("JobsTable"));
        scan.consistent_read(true).send().await.unwrap().items.unwrap_or_default()
    }

    fn store(&self) -> Jobs {
        Jobs::new(self.aws.dynamodb(), self.lab.table("JobsTable"))
    }

    /// Holders are the jobs that hold, licences count them, and none was let in over the limit.
    pub(super) async fn look(&mut self) -> Result<(), String> {
        let rows = self.rows().await;
        let mut held: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut holders = held.clone();
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        for row in rows.iter().filter(|row| text(row, "sk") == "job") {
            if ["ASSIGNED", "RUNNING"].contains(&text(row, "status")) {
                let shard = number(row, "shard").ok_or("a job holds nothing")?;
                let pk = format!("licence#{}#{shard}", text(row, "kind"));
                held.entry(pk).or_default().insert(text(row, "id").to_owned());
                *kinds.entry(text(row, "kind").to_owned()).or_default() += 1;
                self.hold_parents(row, &rows)?;
            }
        }
        for row in &rows {
            if let Some(id) = text(row, "sk").strip_prefix("holder#") {
                holders.entry(text(row, "pk").to_owned()).or_default().insert(id.to_owned());
            }
        }
        if held != holders {
            return Err(format!("{held:?} hold licences, and {holders:?} are noted"));
        }
        for row in rows.iter().filter(|row| text(row, "sk") == "licence") {
            let count = held.get(text(row, "pk")).map_or(0, BTreeSet::len) as u64;
            if number(row, "in_use") != Some(count) {
                return Err(format!("{count} hold what {row:?} counts"));
            }
        }
        for kind in [POLLED, "echo", "fail-n-times"] {
            let decided = rows.iter().find(|r| text(r, "pk") == "types" && text(r, "sk") == kind);
            let limit = decided.and_then(|row| number(row, "max_concurrent"));
            let limit = limit.unwrap_or(USUAL_LIMIT);
            let now = kinds.get(kind).copied().unwrap_or(0);
            let (before, was) =
                self.seen.insert(kind.to_owned(), (now, limit)).unwrap_or((0, limit));
            if now > before && now as u64 > limit.max(was) {
                return Err(format!("{now} of {kind} hold a licence of {limit}"));
            }
        }
        Ok(())
    }

    /// Nothing runs before what it waits for has ended; what was wanted again may be open again.
    fn hold_parents(&self, row: &Item, rows: &[Item]) -> Result<(), String> {
        let parents = row.get("dependencies").and_then(|list| list.as_l().ok());
        for parent in parents.into_iter().flatten().filter_map(|id| id.as_s().ok()) {
            let is_it = |r: &&Item| text(r, "sk") == "job" && text(r, "id") == parent;
            let status = rows.iter().find(is_it).map_or("", |row| text(row, "status"));
            let ended = ["COMPLETED", "FAILED", "CANCELLED"].contains(&status);
            if !ended && !self.retried.contains(parent) {
                return Err(format!("{} began while {parent} was {status}", text(row, "id")));
            }
        }
        Ok(())
    }

    /// A heartbeat that was accepted is one of the run that is going on.
    pub(super) async fn hold_fence(&self, ticket: &Ticket) -> Result<(), String> {
        let job = self.store().find(&JobId::parse(&ticket.job).unwrap()).await.unwrap().unwrap();
        if u64::from(job.attempt) == ticket.attempt {
            return Ok(());
        }
        Err(format!("{ticket:?} was heard, and the job is at attempt {}", job.attempt))
    }

    /// Nothing goes wrong any more and a healthy worker does what is left; says what there is then.
    async fn rest(&mut self) -> Result<Vec<Job>, String> {
        self.limit(2).await;
        for _ in 0..40 {
            self.lab.advance_seconds(66);
            self.sweep_jobs().await;
            self.lab.cloud.settle().await;
            self.look().await?;
            let body = json!({ "workerId": "healthy", "max": 20 });
            let given = self.post(&format!("/api/v1/job-types/{POLLED}/claim"), &body).await;
            for job in given.body["jobs"].as_array().into_iter().flatten() {
                let word = json!({ "workerId": "healthy", "attempt": job["attempt"] });
                let path = format!("/api/v1/jobs/{}", job["jobId"].as_str().unwrap_or_default());
                self.post(&format!("{path}/start"), &word).await;
                self.post(&format!("{path}/complete"), &word).await;
            }
            self.look().await?;
            let rows = self.rows().await;
            let rows = rows.iter().filter(|row| text(row, "sk") == "job");
            let ids: Vec<JobId> = rows.filter_map(|row| JobId::parse(text(row, "id"))).collect();
            let jobs = self.store().find_all(&ids).await.unwrap();
            if jobs.iter().all(|job| job.status.is_final() && job.settled) {
                return Ok(jobs);
            }
        }
        Err("some jobs never end, or their ends are never told".to_owned())
    }

    pub(super) async fn hold(&mut self) -> Result<(), String> {
        let jobs = self.rest().await?;
        let rows = self.rows().await;
        if let Some(edge) = rows.iter().find(|row| text(row, "sk").starts_with("child#")) {
            return Err(format!("an edge is left: {edge:?}"));
        }
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
        let queue = counted::queue(&self.lab, "WorkDeadLetters");
        let letters = self.lab.cloud.services.queues().receive(&queue, 10_000, None).unwrap();
        let told = self.lab.cloud.faults.recorded();
        for job in &jobs {
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
