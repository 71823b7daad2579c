//! What jobs says to others: doorbells inside, notices outside. Rows are the truth.

use serde::{Deserialize, Serialize};

use super::{Job, JobId, Priority, Status, TypeName};
use crate::Timestamp;

/// Any message of this system, told apart by `type`. Fields that a reader does not know are passed
/// over, so that old and new functions can run side by side during a deployment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum Message {
    /// There may be something to hand out.
    JobsReady {
        /// Format version; 1.
        v: u8,
        /// Of which type.
        job_type: TypeName,
        /// A job that an index may not show yet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        job_id: Option<JobId>,
    },
    /// A job ended: tell who waits for it.
    JobEnded {
        /// Format version; 1.
        v: u8,
        /// Which.
        job_id: JobId,
    },
    /// Look for silent workers.
    WorkersWatched {
        /// Format version; 1.
        v: u8,
    },
    /// A job was assigned: begin.
    JobAssigned {
        /// Format version; 1.
        v: u8,
        /// Which.
        job_id: JobId,
        /// With which attempt.
        attempt: u32,
    },
}

/// A doorbell to ring once a change is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bell {
    /// There may be something to hand out, maybe this job, so many seconds from now.
    Ready(TypeName, Option<JobId>, u32),
    /// A job ended.
    Ended(JobId),
    /// A job waits for a worker to begin.
    Work(JobId, u32),
}

/// Queues keep a message back no longer than this; the sweep rings for what is later.
const LONGEST_DELAY_SECONDS: i64 = 900;

/// Who has to be told of a change, written at `now`.
pub fn bells(before: Option<&Job>, after: &Job, now: Timestamp) -> Option<Bell> {
    let was = before.map(|job| job.status);
    match after.status {
        Status::Queued if was != Some(Status::Queued) => {
            let wait_ms = after.ready_at.as_millisecond() - now.as_millisecond();
            let seconds = (wait_ms.max(0) + 999) / 1_000;
            if seconds > LONGEST_DELAY_SECONDS {
                return None;
            }
            let delay = u32::try_from(seconds).unwrap_or(0);
            Some(Bell::Ready(after.kind.clone(), Some(after.id.clone()), delay))
        }
        Status::Assigned if was != Some(Status::Assigned) => {
            Some(Bell::Work(after.id.clone(), after.attempt))
        }
        Status::Completed | Status::Failed | Status::Cancelled
            if !was.is_some_and(Status::is_final) =>
        {
            Some(Bell::Ended(after.id.clone()))
        }
        Status::Waiting
        | Status::Queued
        | Status::Assigned
        | Status::Running
        | Status::Completed
        | Status::Failed
        | Status::Cancelled => None,
    }
}

/// What the topic `job-events` says of a job that ended; subscriptions filter by its attributes
/// `jobType`, `status` and `priority`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobEnded {
    /// Format version; 1.
    pub v: u8,
    /// Which job.
    pub job_id: JobId,
    /// What kind of work it was.
    pub job_type: TypeName,
    /// How it ended.
    pub status: Status,
    /// How urgent it was.
    pub priority: Priority,
    /// Which run was the last.
    pub attempt: u32,
    /// When it ended; with the id, what a receiver that must act once keeps.
    pub ended_at: Option<Timestamp>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A notice on the topic, told apart by `type` like every message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum Notice {
    /// A job came to its end.
    JobEnded(JobEnded),
}

impl Notice {
    /// The notice of a job that ended.
    pub fn ended(job: &Job) -> Self {
        Self::JobEnded(JobEnded {
            v: 1,
            job_id: job.id.clone(),
            job_type: job.kind.clone(),
            status: job.status,
            priority: job.priority,
            attempt: job.attempt,
            ended_at: job.ended_at,
            error: job.error.clone(),
        })
    }
}
