//! Submitting: the job, the record of it, its payload, the answer kept for a repeat and an edge from
//! each open dependency, in one transaction.

use aws_sdk_dynamodb::types::{ConditionCheck, Put, TransactWriteItem};
use domain::jobs::{Job, JobId, Record, Status};
use domain::{Failure, Timestamp};

use super::{Jobs, rows};
use crate::Idempotency;
use crate::idempotency::{Answer, Claim, Request};
use crate::row::{Item, key, text};
use crate::transaction::{Transacted, check, put, transact};

const ACTION: &str = "submit the job";

/// A job to write.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The job.
    pub job: &'a Job,
    /// Its payload, if that goes into a row: JSON.
    pub payload: Option<&'a str>,
    /// Its dependencies that have not ended.
    pub open: &'a [JobId],
    /// What a repeat of the request is to be told.
    pub once: Option<(&'a Request<'a>, &'a Answer)>,
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub enum Submitted {
    /// The job is there.
    Created,
    /// The request was made before: its answer, or why there is none.
    Before(Claim),
    /// A dependency has ended meanwhile: look again.
    DependencyMoved,
}

impl Jobs {
    /// Writes a new job, all of it or nothing.
    pub async fn submit(
        &self,
        wanted: Wanted<'_>,
        now: Timestamp,
        token: &str,
    ) -> Result<Submitted, Failure> {
        let job = wanted.job;
        let mut items = vec![
            self.new_row(rows::job(job)?)?,
            self.new_row(rows::record(&job.id, &Record::submission(job))?)?,
        ];
        if let Some(payload) = wanted.payload {
            items.push(self.new_row(rows::payload(job, payload))?);
        }
        let once_at = items.len();
        if let Some((request, answer)) = wanted.once {
            items.push(self.once.answered(request, answer, now)?);
        }
        for parent in wanted.open {
            items.push(self.still_open(parent)?);
            items.push(self.new_row(key(&rows::job_pk(parent), &rows::child_sk(&job.id)))?);
        }
        let outcome = transact(&self.client, ACTION, items, token).await?;
        if matches!(outcome, Transacted::Committed) {
            return Ok(Submitted::Created);
        }
        if let (Some((request, _)), Some(met)) = (wanted.once, outcome.refused(once_at)) {
            return Ok(Submitted::Before(Idempotency::met(met, request)?));
        }
        Ok(Submitted::DependencyMoved)
    }

    fn new_row(&self, item: Item) -> Result<TransactWriteItem, Failure> {
        Put::builder()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression("attribute_not_exists(pk)")
            .build()
            .map(put)
            .map_err(|cause| Failure::new(ACTION, cause))
    }

    /// A job that ends at the same time must not overlook the new edge: one of the two is first.
    fn still_open(&self, parent: &JobId) -> Result<TransactWriteItem, Failure> {
        let mut open = ConditionCheck::builder()
            .table_name(&self.table)
            .set_key(Some(rows::job_key(parent)))
            .condition_expression(
                "attribute_exists(pk) AND NOT #status IN (:completed, :failed, :cancelled)",
            )
            .expression_attribute_names("#status", "status");
        for (name, status) in [
            (":completed", Status::Completed),
            (":failed", Status::Failed),
            (":cancelled", Status::Cancelled),
        ] {
            open = open.expression_attribute_values(name, text(status.name()));
        }
        open.build().map(check).map_err(|cause| Failure::new(ACTION, cause))
    }
}
