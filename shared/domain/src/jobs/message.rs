//! Messages of jobs: wake-ups and assignments on queues, notices on a topic. Rows are the truth.

use serde::{Deserialize, Serialize};

use super::{Job, JobId, JobPriority, JobStatus, JobTypeName};
use crate::{Message, Timestamp};

/// A message on the queue `dispatch`: it names rows to read and carries no state. Unknown fields are
/// ignored, so that old and new functions can run side by side during a deployment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum WakeUp {
    /// Jobs of a type may be ready to assign.
    JobsReady {
        /// Format version; 1.
        v: u8,
        job_type: JobTypeName,
        /// A ready job that the index may not show yet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        job_id: Option<JobId>,
    },
    /// A job ended: its dependents, its licence's next job and the topic are to be updated.
    JobEnded {
        /// Format version; 1.
        v: u8,
        job_id: JobId,
    },
    /// Missed heartbeats are to be looked for.
    WorkersWatched {
        /// Format version; 1.
        v: u8,
    },
}

impl Message for WakeUp {
    const SEND_ACTION: &'static str = "send a wake-up";
}

/// The longest delay of an SQS message; the sweep wakes `dispatch` up for what is later.
const MAX_DELAY_SECONDS: i64 = 900;

impl WakeUp {
    pub fn jobs_ready(job_type: &JobTypeName) -> Self {
        Self::JobsReady { v: 1, job_type: job_type.clone(), job_id: None }
    }

    pub fn job_ended(id: &JobId) -> Self {
        Self::JobEnded { v: 1, job_id: id.clone() }
    }

    /// The wake-up that a change written at `now` calls for, and its delay in seconds.
    pub fn for_change(before: Option<&Job>, after: &Job, now: Timestamp) -> Option<(Self, u32)> {
        let was = before.map(|job| job.status);
        if after.status.is_final() {
            return (!was.is_some_and(JobStatus::is_final))
                .then(|| (Self::job_ended(&after.id), 0));
        }
        if after.status != JobStatus::Queued || was == Some(JobStatus::Queued) {
            return None;
        }
        let wait_ms = after.ready_at.as_millisecond() - now.as_millisecond();
        let seconds = (wait_ms.max(0) + 999) / 1_000;
        let (job_type, job_id) = (after.job_type.clone(), Some(after.id.clone()));
        (seconds <= MAX_DELAY_SECONDS).then(|| {
            let delay = u32::try_from(seconds).unwrap_or(0);
            (Self::JobsReady { v: 1, job_type, job_id }, delay)
        })
    }
}

/// A message on the queue `work`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum Assignment {
    /// A job was assigned: begin.
    JobAssigned {
        /// Format version; 1.
        v: u8,
        job_id: JobId,
        attempt: u32,
    },
}

impl Message for Assignment {
    const SEND_ACTION: &'static str = "send an assignment";
}

impl Assignment {
    pub fn new(job: &Job) -> Self {
        Self::JobAssigned { v: 1, job_id: job.id.clone(), attempt: job.attempt }
    }
}

/// A job that ended, on the topic `job-events`; subscriptions filter by its attributes `jobType`,
/// `status` and `priority`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobEnded {
    /// Format version; 1.
    pub v: u8,
    pub job_id: JobId,
    pub job_type: JobTypeName,
    pub status: JobStatus,
    pub priority: JobPriority,
    /// The last one.
    pub attempt: u32,
    /// With the id, a key for receivers that must act once.
    pub ended_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A message on the topic `job-events`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum JobNotice {
    JobEnded(JobEnded),
}

impl JobNotice {
    pub fn job_ended(job: &Job) -> Self {
        Self::JobEnded(JobEnded {
            v: 1,
            job_id: job.id.clone(),
            job_type: job.job_type.clone(),
            status: job.status,
            priority: job.priority,
            attempt: job.attempt,
            ended_at: job.ended_at,
            error: job.error.clone(),
        })
    }
}

impl Message for JobNotice {
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
