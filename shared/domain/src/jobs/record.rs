//! The audit trail: a row for each change, which together lead to the job as it is.

use serde::{Deserialize, Serialize};

use super::transition::{Decision, Event, transition};
use super::{Job, Worker};
use crate::Timestamp;
use crate::accounts::UserId;

/// Who caused a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Actor {
    /// Someone with a key.
    User(UserId),
    Worker(Worker),
    /// The product itself.
    System,
}

/// One change: what happened, when, and who caused it. It never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The version that it made; 1 is the submission.
    pub version: u64,
    pub at: Timestamp,
    pub by: Actor,
    /// What; a submission has the job instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Event>,
    /// The job as it was submitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submitted: Option<Box<Job>>,
}

impl Record {
    /// The record of a submission.
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
    pub fn change(after: &Job, event: Event, by: Actor, at: Timestamp) -> Self {
        Self { version: after.version, at, by, event: Some(event), submitted: None }
    }
}

/// Walks a trail from its beginning: the job that it leads to, but for what heartbeats say and whether
/// everyone was told of its end. `None` if it is no whole trail.
pub fn replay(trail: &[Record]) -> Option<Job> {
    let (first, changes) = trail.split_first()?;
    let mut job = *first.submitted.clone()?;
    for record in changes {
        // Nothing follows an end before everyone was told of it.
        job.settled = job.status.is_final();
        let Decision::Become(next) = transition(&job, record.event.as_ref()?, record.at) else {
            return None;
        };
        if next.version != record.version {
            return None;
        }
        job = *next;
    }
    Some(job)
}
