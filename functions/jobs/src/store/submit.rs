//! Submitting: the job, the record of it, its payload, the answer kept for a repeat and an edge from
//! each open dependency, in one transaction.

use domain::jobs::{Job, JobId, Record};
use domain::{Failure, Timestamp};
use store::idempotency::{Claim, IdempotentRequest, StoredResponse};
use store::{ABSENT, Ended, Idempotency, given};

use super::Jobs;
use super::rows::{self, EdgeRow, JobRow, PayloadRow, RecordRow};

/// A job to write.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    pub job: &'a Job,
    /// Its payload, if that goes into a row: JSON.
    pub payload: Option<&'a str>,
    /// Its dependencies that have not ended.
    pub open: &'a [JobId],
    /// What a repeat of the request is to be told.
    pub once: Option<(&'a IdempotentRequest<'a>, &'a StoredResponse)>,
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
        wanted: Wanted<'_>,
        now: Timestamp,
        token: &str,
    ) -> Result<Submitted, Failure> {
        let Wanted { job, payload, open, once } = wanted;
        let mut tx = self.table.tx("submit the job").put(Part::New, JobRow(job), ABSENT).put(
            Part::New,
            RecordRow(&job.id, &Record::submission(job)),
            ABSENT,
        );
        if let Some(payload) = payload {
            tx = tx.put(Part::New, PayloadRow { job, payload }, ABSENT);
        }
        if let Some((request, answer)) = once {
            tx = tx.item(Part::StoredResponse, self.once.claim_with_response(request, answer, now));
        }
        for parent in open {
            // A job that ends at the same time must not overlook the new edge: one of the two is first.
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
        let Ended::Lost(lost) = tx.commit(token).await? else { return Ok(Submitted::Created) };
        match once.zip(lost.at(Part::StoredResponse)) {
            Some(((request, _), met)) => {
                Ok(Submitted::Before(Idempotency::read_claim(met, request)?))
            }
            None => Ok(Submitted::DependencyMoved),
        }
    }
}
