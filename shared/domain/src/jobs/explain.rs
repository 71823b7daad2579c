//! Why a job is not running: the one obstacle without which it would go on.

use super::licence::LicenceShard;
use super::transition::HEARTBEAT_TIMEOUT_SECONDS;
use super::{DeliveryMode, Job, JobId, JobStatus, JobTypeSettings, after};
use crate::Timestamp;

#[derive(Debug, Clone)]
pub struct ExplainInput<'a> {
    pub job: &'a Job,
    /// Of its type.
    pub settings: JobTypeSettings,
    pub licences: &'a [LicenceShard],
    /// Dependencies that have not ended.
    pub open_dependencies: &'a [JobId],
    /// Jobs of its type that go first.
    pub ahead: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Explanation {
    Running,
    /// It is running, and was cancelled.
    Stopping,
    Ended,
    Dependencies(Vec<JobId>),
    /// Its `not_before` is in the future, or its last run failed and it backs off.
    NotBefore {
        at: Timestamp,
        backoff: bool,
    },
    /// Its type has a limit of 0.
    Paused,
    /// All licences are taken.
    LimitReached {
        limit: u32,
        /// More than `limit` after it was lowered.
        in_use: u32,
    },
    /// Jobs that go first.
    Behind {
        ahead: u64,
    },
    /// Nothing is in its way: the next worker that claims gets it.
    WaitsForClaim,
    /// Nothing is in its way: `dispatch` is about to assign it.
    Next,
    /// Its worker has not begun; it is queued again at `until`.
    Assigned {
        until: Timestamp,
    },
}

pub fn explain(input: &ExplainInput<'_>, now: Timestamp) -> Explanation {
    let ExplainInput { job, settings, .. } = input;
    match job.status {
        JobStatus::Completed | JobStatus::Failed | JobStatus::Cancelled => Explanation::Ended,
        JobStatus::Running if job.cancel_requested_at.is_some() => Explanation::Stopping,
        JobStatus::Running => Explanation::Running,
        JobStatus::Assigned => Explanation::Assigned {
            until: after(job.assigned_at.unwrap_or(now), HEARTBEAT_TIMEOUT_SECONDS),
        },
        JobStatus::Waiting => Explanation::Dependencies(input.open_dependencies.to_vec()),
        JobStatus::Queued if job.ready_at > now => Explanation::NotBefore {
            at: job.ready_at,
            backoff: job.not_before != Some(job.ready_at),
        },
        JobStatus::Queued if settings.max_concurrent == 0 => Explanation::Paused,
        JobStatus::Queued => {
            let in_use: u32 = input.licences.iter().map(|licence| licence.in_use).sum();
            if in_use >= settings.max_concurrent {
                Explanation::LimitReached { limit: settings.max_concurrent, in_use }
            } else if input.ahead > 0 {
                Explanation::Behind { ahead: input.ahead }
            } else if settings.delivery == DeliveryMode::Poll {
                Explanation::WaitsForClaim
            } else {
                Explanation::Next
            }
        }
    }
}
