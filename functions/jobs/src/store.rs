//! Jobs: each decision of the state machine is one transaction that names the version it leaves.
//!
//! Rows, all under the table's one key schema:
//! `job#J / job` (the job), `job#J / event#V` (the change that made version V), `job#J / payload`,
//! `job#J / child#C` (job C waits for job J), `types / T` (what was decided about type T),
//! `licence#T#S / licence` (holders of shard S, counted) and `licence#T#S / holder#J` (each of them),
//! `once#…` (answers to repeated submissions), `sweep / waiting` (where the last walk stopped).
//!
//! `gsi1` lists what is someone's and `gsi3` what there is, by id; both carry just enough to filter.
//! `gsi2` has what someone still has to look at, and nothing else: `queued#T#P` by the time from which
//! a job may run, `waiting#L` by age, `ended#L` until everyone was told.

mod commit;
mod licences;
mod listing;
mod queue;
mod rows;
mod submit;
mod types;

use boundary::{Host, Misconfigured};
use domain::jobs::{Job, JobId, Record, Worker};
use domain::{Failure, Timestamp};
use serde::Deserialize;
use store::accounts::Page;
use store::schema::{Projection, Schema};
use store::{Idempotency, Table, Updated, given, read};

pub use commit::{Change, Committed};
pub use licences::{Counted, Holder};
pub use listing::{JobFilter, Whose};
pub use submit::{Submitted, Wanted};
pub use types::Saved;

/// A heartbeat changes neither of these two attributes, and so writes to no list.
const LISTED: Projection = Projection::Include(&["status", "kind"]);

/// Jobs, their types, licences and trails.
pub const TABLE: Schema = Schema {
    logical_id: "JobsTable",
    variable: "JOBS_TABLE",
    indexes: &[LISTED, Projection::All, LISTED],
    expiring: true,
};

/// The jobs table.
#[derive(Debug, Clone)]
pub struct Jobs {
    table: Table,
    once: Idempotency,
}

/// What came of a heartbeat.
#[derive(Debug, PartialEq, Eq)]
pub enum Beaten {
    /// It was noted; this is the job now.
    Noted(Box<Job>),
    /// It is not that worker's any more; this is the job, if there is one.
    Refused(Option<Box<Job>>),
}

impl Jobs {
    /// Works on `table`.
    pub fn new(table: Table) -> Self {
        Self { once: table.idempotency(), table }
    }

    pub(crate) fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        Ok(Self::new(host.table(&TABLE)?))
    }

    /// Reads a job, up to date.
    pub async fn find(&self, id: &JobId) -> Result<Option<Job>, Failure> {
        self.table.get(rows::job(id), "read the job").await
    }

    /// Reads a job's payload: JSON.
    pub async fn payload(&self, id: &JobId) -> Result<Option<String>, Failure> {
        #[derive(Deserialize)]
        struct Payload {
            payload: String,
        }
        let found: Option<Payload> = self.table.get(rows::payload(id), "read the payload").await?;
        Ok(found.map(|found| found.payload))
    }

    /// Reads several jobs, in no order; those that do not exist are left out.
    pub async fn find_all(&self, ids: &[JobId]) -> Result<Vec<Job>, Failure> {
        self.table.get_all(ids.iter().map(rows::job), "read the jobs").await
    }

    /// Notes that a worker is still at it: one small write, if it is that worker's job.
    pub async fn beat(
        &self,
        id: &JobId,
        worker: &Worker,
        attempt: u32,
        progress: Option<u8>,
        now: Timestamp,
    ) -> Result<Beaten, Failure> {
        let theirs = given("#status = :running AND attempt = :attempt AND worker = :worker")
            .with(":running", "RUNNING")
            .with(":attempt", attempt)
            .with(":worker", worker.as_str())
            .with(":now", now.to_string());
        let (change, theirs) = match progress {
            None => ("SET beat_at = :now", theirs),
            Some(progress) => {
                ("SET beat_at = :now, progress = :progress", theirs.with(":progress", progress))
            }
        };
        let (key, action) = (rows::job(id), "note a heartbeat");
        Ok(match self.table.update_returning(key, change, theirs, action).await? {
            Updated::Done(item) => Beaten::Noted(read(item)?),
            Updated::Lost(found) => Beaten::Refused(found.map(read).transpose()?),
        })
    }

    /// Notes that everyone was told of a job's end. Repeating it changes nothing.
    pub async fn settled(&self, job: &Job) -> Result<(), Failure> {
        let change = "SET settled = :yes REMOVE gsi2pk, gsi2sk";
        let same = given("v = :v").with(":v", job.version).with(":yes", true);
        self.table.update(rows::job(&job.id), change, same, "note that a job is settled").await
    }

    /// Changes of a job after the version `after`, oldest first.
    pub async fn trail(
        &self,
        id: &JobId,
        limit: i32,
        after: Option<&str>,
    ) -> Result<Page<Record>, Failure> {
        let from = after.and_then(|position| position.parse().ok()).unwrap_or(0_u64);
        let from = rows::event(id, from + 1);
        let trail = self.table.query("read the trail", "pk = :pk AND sk BETWEEN :from AND :to");
        let trail = trail.with(":pk", from.pk).with(":from", from.sk).with(":to", "event#~");
        let mut trail = trail.limit(limit);
        let items: Vec<Record> = trail.page().await?;
        let last = items.last().filter(|_| trail.last_key().is_some());
        let next = last.map(|record| record.version.to_string());
        Ok(Page { items, next })
    }
}
