//! Committing a decision: the job, the audit record, and its licence, or nothing.

use domain::Result;
use domain::jobs::{AuditRecord, Job, JobId, JobTypeName};
use store::{ABSENT, PRESENT, Tx, TxOutcome, given};

use super::Jobs;
use super::rows::{self, HolderRow, JobRow, RecordRow};

#[derive(Debug, Clone, Copy)]
pub struct JobChange<'a> {
    /// The job as it was read.
    pub before: &'a Job,
    pub after: &'a Job,
    pub record: &'a AuditRecord,
    /// The dependency whose end it counts: each is counted once.
    pub dependency: Option<&'a JobId>,
    /// The limit of its type, for a licence row that does not exist yet.
    pub limit: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitOutcome {
    Committed,
    /// The job has changed since it was read: read it again and decide again.
    Conflict,
    NoLicence,
    /// The dependency was counted before.
    AlreadyCounted,
}

/// The rows that a change writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Part {
    Job,
    Record,
    LicenceTaken,
    LicenceReturned,
    Holder,
    Edge,
}

impl Jobs {
    /// Writes a change, all of it or nothing.
    pub async fn commit(&self, change: JobChange<'_>, token: &str) -> Result<CommitOutcome> {
        let JobChange { before, after, record, dependency, limit } = change;
        // Only if the job is unchanged: the same version, and no heartbeat since.
        let as_read = match before.heartbeat_at {
            Some(beat) => given("v = :v AND beat_at = :beat").with(":beat", beat.to_string()),
            None => given("v = :v AND attribute_not_exists(beat_at)"),
        };
        let as_read = as_read.with(":v", before.version).returning_none();
        let mut tx = self
            .table
            .tx("write a job's change")
            .put(Part::Job, JobRow(after), as_read)
            .put(Part::Record, RecordRow(&after.id, record), ABSENT);
        tx = match (before.shard, after.shard) {
            (None, Some(shard)) => take_licence(tx, after, shard, limit),
            (Some(shard), None) => return_licence(tx, &before.job_type, shard, &before.id),
            _ => tx,
        };
        if let Some(parent) = dependency {
            tx = tx.delete(Part::Edge, rows::child(parent, &after.id), PRESENT);
        }
        // The SDK repeats a request whose answer was lost; DynamoDB knows it by its token.
        let lost = match tx.commit(token).await? {
            TxOutcome::Committed => return Ok(CommitOutcome::Committed),
            TxOutcome::ConditionFailed(lost) => lost,
        };
        if lost.has(Part::Job) || lost.has(Part::Record) {
            return Ok(CommitOutcome::Conflict);
        }
        if lost.has(Part::Edge) {
            return Ok(CommitOutcome::AlreadyCounted);
        }
        if lost.has(Part::LicenceTaken) {
            return Ok(CommitOutcome::NoLicence);
        }
        // The licence rows were edited by hand: the job's change is written all the same, and the sweep
        // corrects the count.
        match tx.without(&lost).commit(&format!("{token}-")).await? {
            TxOutcome::Committed => Ok(CommitOutcome::Committed),
            TxOutcome::ConditionFailed(_) => Ok(CommitOutcome::Conflict),
        }
    }
}

/// One holder more, if `in_use < max`.
fn take_licence<'t>(tx: Tx<'t, Part>, job: &Job, shard: u8, limit: u32) -> Tx<'t, Part> {
    const MORE: &str = "SET #max = if_not_exists(#max, :limit) ADD in_use :one, v :one";
    let free = given("attribute_not_exists(in_use) OR in_use < #max");
    let free = free.with(":limit", limit).with(":one", 1);
    tx.update(Part::LicenceTaken, rows::licence(&job.job_type, shard), MORE, free).put(
        Part::Holder,
        HolderRow(job, shard),
        ABSENT,
    )
}

/// One holder less: this one, which must exist.
pub(super) fn return_licence<'t>(
    tx: Tx<'t, Part>,
    job_type: &JobTypeName,
    shard: u8,
    holder: &JobId,
) -> Tx<'t, Part> {
    let held = given("in_use > :zero").with(":zero", 0).with(":less", -1).with(":one", 1);
    let (count, holder) = (rows::licence(job_type, shard), rows::holder(job_type, shard, holder));
    let tx = tx.update(Part::LicenceReturned, count, "ADD in_use :less, v :one", held);
    tx.delete(Part::Holder, holder, PRESENT)
}
