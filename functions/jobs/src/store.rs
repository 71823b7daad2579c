//! Jobs: each decision of the state machine is one transaction that names the version it leaves.
//!
//! Rows, all under the table's one key schema:
//! `job#J / job` (the job), `job#J / event#V` (the change that made version V), `job#J / payload`,
//! `job#J / child#C` (job C depends on job J), `types / T` (the settings of type T),
//! `licence#T#S / licence` (holders of shard S, counted) and `licence#T#S / holder#J` (each of them),
//! `once#…` (answers to repeated submissions), `sweep / waiting` (where the last walk stopped).
//!
//! `gsi1` lists a user's jobs and `gsi3` all jobs, by id; both carry just enough to filter. `gsi2` has
//! jobs that `dispatch` or the sweep must still act on, and no others: `queued#T#P` by the time from which
//! a job may run, `waiting#L` by age, `ended#L` until the end is announced.

mod commit;
mod job_types;
mod licences;
mod list;
mod queue;
mod rows;
mod submit;

use boundary::{Host, Misconfigured};
use domain::jobs::{AuditRecord, Job, JobId, WorkerId};
use domain::{Result, Timestamp};
use serde::Deserialize;
use store::accounts::Page;
use store::schema::{Projection, Schema};
use store::{Idempotency, Table, Updated, given, read};

pub use commit::{CommitOutcome, JobChange};
pub use job_types::SaveOutcome;
pub use licences::{LicenceCount, LicenceHolder};
pub use list::{JobFilter, ListScope};
pub use submit::{JobInsert, SubmitOutcome};

/// A heartbeat changes neither of these two attributes, and so writes to no list.
const LIST_PROJECTION: Projection = Projection::Include(&["status", "kind"]);

pub const TABLE: Schema = Schema {
    logical_id: "JobsTable",
    variable: "JOBS_TABLE",
    indexes: &[LIST_PROJECTION, Projection::All, LIST_PROJECTION],
    expiring: true,
};

#[derive(Debug, Clone)]
pub struct Jobs {
    table: Table,
    idempotency: Idempotency,
}

#[derive(Debug, PartialEq, Eq)]
pub enum HeartbeatOutcome {
    /// The job as it is now.
    Recorded(Box<Job>),
    /// The job, if there is one: that worker does not run it with that attempt.
    Refused(Option<Box<Job>>),
}

impl Jobs {
    pub fn new(table: Table) -> Self {
        Self { idempotency: table.idempotency(), table }
    }

    pub(crate) fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        Ok(Self::new(host.table(&TABLE)?))
    }

    /// Reads a job, strongly consistent.
    pub async fn find(&self, id: &JobId) -> Result<Option<Job>> {
        self.table.get(rows::job(id), "read the job").await
    }

    /// Reads a job's payload: JSON.
    pub async fn payload(&self, id: &JobId) -> Result<Option<String>> {
        #[derive(Deserialize)]
        struct Payload {
            payload: String,
        }
        let found: Option<Payload> = self.table.get(rows::payload(id), "read the payload").await?;
        Ok(found.map(|found| found.payload))
    }

    /// Reads several jobs, in no order; those that do not exist are left out.
    pub async fn find_all(&self, ids: &[JobId]) -> Result<Vec<Job>> {
        self.table.get_all(ids.iter().map(rows::job), "read the jobs").await
    }

    /// Records a heartbeat: one small write, if that worker runs the job with that attempt.
    pub async fn record_heartbeat(
        &self,
        id: &JobId,
        worker: &WorkerId,
        attempt: u32,
        progress: Option<u8>,
        now: Timestamp,
    ) -> Result<HeartbeatOutcome> {
        let fence = given("#status = :running AND attempt = :attempt AND worker = :worker")
            .with(":running", "RUNNING")
            .with(":attempt", attempt)
            .with(":worker", worker.as_str())
            .with(":now", now.to_string());
        let (change, fence) = match progress {
            None => ("SET beat_at = :now", fence),
            Some(progress) => {
                ("SET beat_at = :now, progress = :progress", fence.with(":progress", progress))
            }
        };
        let (key, action) = (rows::job(id), "note a heartbeat");
        Ok(match self.table.update_returning(key, change, fence, action).await? {
            Updated::Done(item) => HeartbeatOutcome::Recorded(read(item)?),
            Updated::ConditionFailed(found) => {
                HeartbeatOutcome::Refused(found.map(read).transpose()?)
            }
        })
    }

    /// Marks a job's end as announced. Repeating it changes nothing.
    pub async fn mark_end_announced(&self, job: &Job) -> Result {
        let change = "SET settled = :yes REMOVE gsi2pk, gsi2sk";
        let unchanged = given("v = :v").with(":v", job.version).with(":yes", true);
        self.table.update(rows::job(&job.id), change, unchanged, "note that a job is settled").await
    }

    /// Audit records of a job after the version `after`, oldest first.
    pub async fn audit_trail(
        &self,
        id: &JobId,
        limit: i32,
        after: Option<&str>,
    ) -> Result<Page<AuditRecord>> {
        let from = after.and_then(|position| position.parse().ok()).unwrap_or(0_u64);
        let from = rows::event(id, from + 1);
        let trail = self.table.query("read the trail", "pk = :pk AND sk BETWEEN :from AND :to");
        let trail = trail.with(":pk", from.pk).with(":from", from.sk).with(":to", "event#~");
        let mut trail = trail.limit(limit);
        let items: Vec<AuditRecord> = trail.page().await?;
        let last = items.last().filter(|_| trail.last_key().is_some());
        let next = last.map(|record| record.version.to_string());
        Ok(Page { items, next })
    }
}
