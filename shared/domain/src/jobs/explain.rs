//! Why a job is not running: the one reason that, taken away, lets it go on.

use super::licence::Licence;
use super::transition::SILENCE_SECONDS;
use super::{Delivery, Job, JobId, Settings, Status, after};
use crate::Timestamp;

/// What was found out about a job and its surroundings.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    pub job: &'a Job,
    /// Its type's settings.
    pub settings: Settings,
    /// Its type's licences.
    pub licences: &'a [Licence],
    /// Dependencies that have not ended.
    pub open: &'a [JobId],
    /// Jobs of its type that go first.
    pub ahead: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// It is running.
    Running,
    /// It is running, and was asked to stop.
    Stopping,
    /// It is over.
    Ended,
    /// It waits for others.
    Dependencies(Vec<JobId>),
    /// Its time comes later: it was submitted so, or has just failed.
    NotBefore {
        at: Timestamp,
        /// Whether because a run failed.
        backoff: bool,
    },
    /// Its type lets nothing run.
    Paused,
    /// All licences are taken.
    LimitReached {
        /// How many there are.
        limit: u32,
        /// How many are taken; more than there are, if the limit was lowered.
        in_use: u32,
    },
    /// Others go first.
    Behind { ahead: u64 },
    /// Nothing is in its way: a worker only has to ask for it.
    WaitsForClaim,
    /// Nothing is in its way: it is being handed out.
    Next,
    /// A worker was told and has not begun; it goes back to the queue then.
    Assigned { until: Timestamp },
}

pub fn explain(facts: &Facts<'_>, now: Timestamp) -> Reason {
    let Facts { job, settings, .. } = facts;
    match job.status {
        Status::Completed | Status::Failed | Status::Cancelled => Reason::Ended,
        Status::Running if job.cancel_requested_at.is_some() => Reason::Stopping,
        Status::Running => Reason::Running,
        Status::Assigned => {
            Reason::Assigned { until: after(job.assigned_at.unwrap_or(now), SILENCE_SECONDS) }
        }
        Status::Waiting => Reason::Dependencies(facts.open.to_vec()),
        Status::Queued if job.ready_at > now => {
            Reason::NotBefore { at: job.ready_at, backoff: job.not_before != Some(job.ready_at) }
        }
        Status::Queued if settings.max_concurrent == 0 => Reason::Paused,
        Status::Queued => {
            let in_use: u32 = facts.licences.iter().map(|licence| licence.in_use).sum();
            if in_use >= settings.max_concurrent {
                Reason::LimitReached { limit: settings.max_concurrent, in_use }
            } else if facts.ahead > 0 {
                Reason::Behind { ahead: facts.ahead }
            } else if settings.delivery == Delivery::Poll {
                Reason::WaitsForClaim
            } else {
                Reason::Next
            }
        }
    }
}
