//! The audit trail: a row for each change, which together lead to the job as it is.

use serde::{Deserialize, Serialize};

use super::transition::{JobDecision, JobEvent, transition};
use super::{Job, WorkerId};
use crate::Timestamp;
use crate::accounts::UserId;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Actor {
    User(UserId),
    Worker(WorkerId),
    /// `dispatch` or the sweep.
    System,
}

/// One change: the event, its time and its actor. Immutable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// The version that it made; 1 is the submission.
    pub version: u64,
    pub at: Timestamp,
    pub by: Actor,
    /// Absent in the record of the submission, which has the job instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<JobEvent>,
    /// The job as it was submitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submitted: Option<Box<Job>>,
}

impl AuditRecord {
    pub fn submission(job: &Job) -> Self {
        Self {
            version: job.version,
            at: job.created_at,
            by: Actor::User(job.owner.clone()),
            event: None,
            submitted: Some(Box::new(job.clone())),
        }
    }

    /// The record of a change that made `after`.
    pub fn change(after: &Job, event: JobEvent, by: Actor, at: Timestamp) -> Self {
        Self { version: after.version, at, by, event: Some(event), submitted: None }
    }
}

/// Replays a trail from its beginning: the job that it leads to, but for what heartbeats change and
/// `end_announced`. `None` if records are missing.
pub fn replay(trail: &[AuditRecord]) -> Option<Job> {
    let (first, changes) = trail.split_first()?;
    let mut job = *first.submitted.clone()?;
    for record in changes {
        // Nothing follows an end before it was announced.
        job.end_announced = job.status.is_final();
        let JobDecision::Change(next) = transition(&job, record.event.as_ref()?, record.at) else {
            return None;
        };
        if next.version != record.version {
            return None;
        }
        job = *next;
    }
    Some(job)
}
