//! What jobs says to others: wake-ups inside, notices outside. Rows are the truth.

use serde::{Deserialize, Serialize};

use super::{Job, JobId, Priority, Status, TypeName};
use crate::{Message, Timestamp};

/// What the queue `dispatch` is told, told apart by `type`: look there. Fields that a reader does not know are
/// passed over, so that old and new functions can run side by side during a deployment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum WakeUp {
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
        job_id: JobId,
    },
    /// Look for silent workers.
    WorkersWatched {
        /// Format version; 1.
        v: u8,
    },
}

impl Message for WakeUp {
    const SEND_ACTION: &'static str = "send a wake-up";
}

/// Queues keep a message back no longer than this; the sweep wakes up for what is later.
const MAX_DELAY_SECONDS: i64 = 900;

impl WakeUp {
    /// There may be something of a type to hand out.
    pub fn ready(job_type: &TypeName) -> Self {
        Self::JobsReady { v: 1, job_type: job_type.clone(), job_id: None }
    }

    /// A job ended.
    pub fn ended(id: &JobId) -> Self {
        Self::JobEnded { v: 1, job_id: id.clone() }
    }

    /// Who has to look at a change that was written at `now`, and how many seconds later.
    pub fn after(before: Option<&Job>, after: &Job, now: Timestamp) -> Option<(Self, u32)> {
        let was = before.map(|job| job.status);
        if after.status.is_final() {
            return (!was.is_some_and(Status::is_final)).then(|| (Self::ended(&after.id), 0));
        }
        if after.status != Status::Queued || was == Some(Status::Queued) {
            return None;
        }
        let wait_ms = after.ready_at.as_millisecond() - now.as_millisecond();
        let seconds = (wait_ms.max(0) + 999) / 1_000;
        let (job_type, job_id) = (after.kind.clone(), Some(after.id.clone()));
        (seconds <= MAX_DELAY_SECONDS).then(|| {
            let delay = u32::try_from(seconds).unwrap_or(0);
            (Self::JobsReady { v: 1, job_type, job_id }, delay)
        })
    }
}

/// What the queue `work` is told, told apart by `type` like every message.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum Assignment {
    /// A job was assigned: begin.
    JobAssigned {
        /// Format version; 1.
        v: u8,
        job_id: JobId,
        /// With which attempt.
        attempt: u32,
    },
}

impl Message for Assignment {
    const SEND_ACTION: &'static str = "tell a worker";
}

impl Assignment {
    /// A worker has to begin with a job.
    pub fn of(job: &Job) -> Self {
        Self::JobAssigned { v: 1, job_id: job.id.clone(), attempt: job.attempt }
    }
}

/// What the topic `job-events` says of a job that ended; subscriptions filter by its attributes
/// `jobType`, `status` and `priority`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobEnded {
    /// Format version; 1.
    pub v: u8,
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

impl Message for Notice {
    const SEND_ACTION: &'static str = "publish a job's end";

    fn attributes(&self) -> Vec<(&'static str, String)> {
        let Self::JobEnded(job) = self;
        vec![
            ("jobType", job.job_type.as_str().to_owned()),
            ("status", job.status.name().to_owned()),
            ("priority", job.priority.name().to_owned()),
        ]
    }
}
