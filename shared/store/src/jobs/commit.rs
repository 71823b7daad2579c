//! Writing a decision down: the job, the record of what happened, and its licence, or nothing.

use aws_sdk_dynamodb::types::{
    Delete, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};
use domain::Failure;
use domain::jobs::{Job, JobId, Record, TypeName};

use super::{Jobs, rows};
use crate::row::{Builder, key, number, text};
use crate::transaction::{Transacted, delete, put, transact, update};

const ACTION: &str = "write a job's change";

/// A decision to write down.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// The job as it was read.
    pub before: &'a Job,
    /// What it becomes.
    pub after: &'a Job,
    /// What happened.
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

impl Jobs {
    /// Writes a change, all of it or nothing.
    pub async fn commit(&self, change: Change<'_>, token: &str) -> Result<Committed, Failure> {
        let Change { before, after, .. } = change;
        let mut items = vec![self.job_item(change)?, self.record_item(change)?];
        let licence = items.len();
        match (before.shard, after.shard) {
            (None, Some(shard)) => items.extend(self.take_licence(after, shard, change.limit)?),
            (Some(shard), None) => {
                items.extend(self.give_licence(&before.kind, shard, &before.id)?);
            }
            _ => {}
        }
        let edge = items.len();
        if let Some(parent) = change.dependency {
            items.push(self.edge_delete(parent, &after.id)?);
        }
        let outcome = transact(&self.client, ACTION, items.clone(), token).await?;
        if matches!(outcome, Transacted::Committed) {
            return Ok(Committed::Done);
        }
        // The SDK repeats a request whose answer was lost; DynamoDB knows it by its token.
        if outcome.refused(0).is_some() || outcome.refused(1).is_some() {
            return Ok(Committed::Moved);
        }
        if change.dependency.is_some() && outcome.refused(edge).is_some() {
            return Ok(Committed::Counted);
        }
        if before.shard.is_none() && outcome.refused(licence).is_some() {
            return Ok(Committed::NoLicence);
        }
        // Someone has meddled with the licences: the job must not suffer from it, and the sweep counts
        // what is left.
        let left = items.into_iter().enumerate();
        let left = left.filter(|(index, _)| outcome.refused(*index).is_none());
        let left: Vec<TransactWriteItem> = left.map(|(_, item)| item).collect();
        match transact(&self.client, ACTION, left, &format!("{token}-")).await? {
            Transacted::Committed => Ok(Committed::Done),
            Transacted::Refused(_) => Ok(Committed::Moved),
        }
    }

    /// Only if the job is what it was: the same version, and no word from its worker since.
    fn job_item(&self, change: Change<'_>) -> Result<TransactWriteItem, Failure> {
        let heard = match change.before.beat_at {
            Some(_) => "beat_at = :beat",
            None => "attribute_not_exists(beat_at)",
        };
        let mut new = Put::builder()
            .table_name(&self.table)
            .set_item(Some(rows::job(change.after)?))
            .condition_expression(format!("v = :v AND {heard}"))
            .expression_attribute_values(":v", number(change.before.version))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::None);
        if let Some(beat) = change.before.beat_at {
            new = new.expression_attribute_values(":beat", text(beat.to_string()));
        }
        new.build().map(put).map_err(|cause| Failure::new(ACTION, cause))
    }

    fn record_item(&self, change: Change<'_>) -> Result<TransactWriteItem, Failure> {
        Put::builder()
            .table_name(&self.table)
            .set_item(Some(rows::record(&change.after.id, change.record)?))
            .condition_expression("attribute_not_exists(pk)")
            .build()
            .map(put)
            .map_err(|cause| Failure::new(ACTION, cause))
    }

    /// One holder more, if there may be: `in_use < max` and nothing else.
    fn take_licence(
        &self,
        job: &Job,
        shard: u8,
        limit: u32,
    ) -> Result<[TransactWriteItem; 2], Failure> {
        let pk = rows::licence_pk(&job.kind, shard);
        let count = Update::builder()
            .table_name(&self.table)
            .set_key(Some(key(&pk, "licence")))
            .update_expression("SET #max = if_not_exists(#max, :limit) ADD in_use :one, v :one")
            .condition_expression("attribute_not_exists(in_use) OR in_use < #max")
            .expression_attribute_names("#max", "max")
            .expression_attribute_values(":limit", number(limit))
            .expression_attribute_values(":one", number(1))
            .build()
            .map_err(|cause| Failure::new(ACTION, cause))?;
        let mut row = Builder::keyed(&pk, &rows::holder_sk(&job.id))
            .with("attempt", number(job.attempt))
            .with_some("due", job.due_at().map(|at| text(at.to_string())));
        row = row.with_some("worker", job.worker.as_ref().map(|worker| text(worker.as_str())));
        let holder = Put::builder()
            .table_name(&self.table)
            .set_item(Some(row.build()))
            .condition_expression("attribute_not_exists(pk)")
            .build()
            .map_err(|cause| Failure::new(ACTION, cause))?;
        Ok([update(count), put(holder)])
    }

    /// One holder less: this one, who must be there.
    pub(super) fn give_licence(
        &self,
        kind: &TypeName,
        shard: u8,
        holder: &JobId,
    ) -> Result<[TransactWriteItem; 2], Failure> {
        let pk = rows::licence_pk(kind, shard);
        let count = Update::builder()
            .table_name(&self.table)
            .set_key(Some(key(&pk, "licence")))
            .update_expression("ADD in_use :less, v :one")
            .condition_expression("in_use > :zero")
            .expression_attribute_values(":less", number(-1))
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":zero", number(0))
            .build()
            .map_err(|cause| Failure::new(ACTION, cause))?;
        let holder = Delete::builder()
            .table_name(&self.table)
            .set_key(Some(key(&pk, &rows::holder_sk(holder))))
            .condition_expression("attribute_exists(pk)")
            .build()
            .map_err(|cause| Failure::new(ACTION, cause))?;
        Ok([update(count), delete(holder)])
    }

    fn edge_delete(&self, parent: &JobId, child: &JobId) -> Result<TransactWriteItem, Failure> {
        Delete::builder()
            .table_name(&self.table)
            .set_key(Some(key(&rows::job_pk(parent), &rows::child_sk(child))))
            .condition_expression("attribute_exists(pk)")
            .build()
            .map(delete)
            .map_err(|cause| Failure::new(ACTION, cause))
    }
}
