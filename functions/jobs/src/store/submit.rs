//! Submitting: the job, its audit record, its payload, the answer for a repeat and an edge from each open
//! dependency, in one transaction.

use domain::jobs::{AuditRecord, Job, JobId};
use domain::{Result, Timestamp};
use store::idempotency::{Claim, IdempotentRequest, StoredResponse};
use store::{ABSENT, Idempotency, TxOutcome, given};

use super::Jobs;
use super::rows::{self, EdgeRow, JobRow, PayloadRow, RecordRow};

#[derive(Debug, Clone, Copy)]
pub struct JobInsert<'a> {
    pub job: &'a Job,
    /// JSON, if it goes into a row.
    pub payload: Option<&'a str>,
    /// Those that have not ended.
    pub open_dependencies: &'a [JobId],
    /// The answer to a repeat of the request.
    pub idempotency: Option<(&'a IdempotentRequest<'a>, &'a StoredResponse)>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum SubmitOutcome {
    Created,
    /// The request was made before: its answer, or why there is none.
    Repeated(Claim),
    /// A dependency has ended since it was read.
    DependencyEnded,
}

/// The rows of a submission.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    New,
    StoredResponse,
    Parent,
}

impl Jobs {
    /// Writes a new job, all of it or nothing.
    pub async fn submit(
        &self,
        insert: JobInsert<'_>,
        now: Timestamp,
        token: &str,
    ) -> Result<SubmitOutcome> {
        let JobInsert { job, payload, open_dependencies, idempotency } = insert;
        let mut tx = self.table.tx("submit the job").put(Part::New, JobRow(job), ABSENT).put(
            Part::New,
            RecordRow(&job.id, &AuditRecord::submission(job)),
            ABSENT,
        );
        if let Some(payload) = payload {
            tx = tx.put(Part::New, PayloadRow { job, payload }, ABSENT);
        }
        if let Some((request, answer)) = idempotency {
            tx = tx.item(
                Part::StoredResponse,
                self.idempotency.claim_with_response(request, answer, now),
            );
        }
        for parent in open_dependencies {
            // A dependency that ends at the same time either fails this check or sees the new edge.
            let still_open =
                given("attribute_exists(pk) AND NOT #status IN (:completed, :failed, :cancelled)")
                    .with(":completed", "COMPLETED")
                    .with(":failed", "FAILED")
                    .with(":cancelled", "CANCELLED");
            tx = tx.check(Part::Parent, rows::job(parent), still_open).put(
                Part::New,
                EdgeRow(parent, &job.id),
                ABSENT,
            );
        }
        let TxOutcome::ConditionFailed(lost) = tx.commit(token).await? else {
            return Ok(SubmitOutcome::Created);
        };
        match idempotency.zip(lost.at(Part::StoredResponse)) {
            Some(((request, _), met)) => {
                Ok(SubmitOutcome::Repeated(Idempotency::read_claim(met, request)?))
            }
            None => Ok(SubmitOutcome::DependencyEnded),
        }
    }
}
