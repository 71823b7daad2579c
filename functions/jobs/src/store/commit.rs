//! Writing a decision down: the job, the record of what happened, and its licence, or nothing.

use domain::Failure;
use domain::jobs::{Job, JobId, Record, TypeName};
use store::{ABSENT, Ended, PRESENT, Tx, given};

use super::Jobs;
use super::rows::{self, HolderRow, JobRow, RecordRow};

/// A decision to write down.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// The job as it was read.
    pub before: &'a Job,
    /// What it becomes.
    pub after: &'a Job,
    pub record: &'a Record,
    /// The dependency that it was about: each is counted once.
    pub dependency: Option<&'a JobId>,
    /// Licences of its type, for a row that is not there yet.
    pub limit: u32,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Committed {
    /// It is written.
    Done,
    /// The job is not what it was; read it again and decide again.
    Moved,
    /// All licences are taken.
    NoLicence,
    /// The dependency was counted before.
    Counted,
}

/// The rows that a change writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Part {
    Job,
    Record,
    Taken,
    Given,
    Holder,
    Edge,
}

impl Jobs {
    /// Writes a change, all of it or nothing.
    pub async fn commit(&self, change: Change<'_>, token: &str) -> Result<Committed, Failure> {
        let Change { before, after, record, dependency, limit } = change;
        // Only if the job is what it was: the same version, and no word from its worker since.
        let as_read = match before.beat_at {
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
            (None, Some(shard)) => take(tx, after, shard, limit),
            (Some(shard), None) => give(tx, &before.kind, shard, &before.id),
            _ => tx,
        };
        if let Some(parent) = dependency {
            tx = tx.delete(Part::Edge, rows::child(parent, &after.id), PRESENT);
        }
        // The SDK repeats a request whose answer was lost; DynamoDB knows it by its token.
        let lost = match tx.commit(token).await? {
            Ended::Committed => return Ok(Committed::Done),
            Ended::Lost(lost) => lost,
        };
        if lost.has(Part::Job) || lost.has(Part::Record) {
            return Ok(Committed::Moved);
        }
        if lost.has(Part::Edge) {
            return Ok(Committed::Counted);
        }
        if lost.has(Part::Taken) {
            return Ok(Committed::NoLicence);
        }
        // The licence rows were tampered with: the job must not suffer from it, and the sweep counts what
        // is left.
        match tx.without(&lost).commit(&format!("{token}-")).await? {
            Ended::Committed => Ok(Committed::Done),
            Ended::Lost(_) => Ok(Committed::Moved),
        }
    }
}

/// One holder more, if there may be: `in_use < max` and nothing else.
fn take<'t>(tx: Tx<'t, Part>, job: &Job, shard: u8, limit: u32) -> Tx<'t, Part> {
    const MORE: &str = "SET #max = if_not_exists(#max, :limit) ADD in_use :one, v :one";
    let room = given("attribute_not_exists(in_use) OR in_use < #max");
    let room = room.with(":limit", limit).with(":one", 1);
    tx.update(Part::Taken, rows::licence(&job.kind, shard), MORE, room).put(
        Part::Holder,
        HolderRow(job, shard),
        ABSENT,
    )
}

/// One holder less: this one, who must be there.
pub(super) fn give<'t>(
    tx: Tx<'t, Part>,
    kind: &TypeName,
    shard: u8,
    holder: &JobId,
) -> Tx<'t, Part> {
    let held = given("in_use > :zero").with(":zero", 0).with(":less", -1).with(":one", 1);
    let (count, holder) = (rows::licence(kind, shard), rows::holder(kind, shard, holder));
    let tx = tx.update(Part::Given, count, "ADD in_use :less, v :one", held);
    tx.delete(Part::Holder, holder, PRESENT)
}
