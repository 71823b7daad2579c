//! The state machine of a job: one pure function.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Artifact, Job, JobId, JobStatus, OnDependencyFailure, WorkerId, after, after_ms};
use crate::{Rejected, Timestamp};

/// How often workers send heartbeats.
pub const HEARTBEAT_INTERVAL_SECONDS: u32 = 20;

/// A worker without a heartbeat for so long is taken for dead; two heartbeats may get lost before.
pub const HEARTBEAT_TIMEOUT_SECONDS: i64 = 60;

/// The longest result that is stored in a job's row, as JSON.
pub const MAX_RESULT_LENGTH: usize = 4 * 1024;

/// Something that happens to a job. Random bytes come in with it, so that replaying the events leads to
/// the same job.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum JobEvent {
    DependencyEnded {
        dependency: JobId,
        completed: bool,
    },
    Assigned {
        /// The licence shard that its licence is of.
        shard: u8,
        /// The worker that claimed it, if its type is polled.
        worker: Option<WorkerId>,
    },
    Started {
        worker: WorkerId,
        attempt: u32,
    },
    #[serde(rename = "beaten")]
    Heartbeat {
        worker: WorkerId,
        attempt: u32,
        progress: Option<u8>,
    },
    Completed {
        worker: WorkerId,
        attempt: u32,
        artifacts: Vec<Artifact>,
        /// JSON.
        result: Option<String>,
    },
    Failed {
        worker: WorkerId,
        attempt: u32,
        /// Whether another run might do better.
        retryable: bool,
        error: String,
        /// Random; decides the backoff.
        jitter: u64,
    },
    /// `dispatch` checked whether its worker missed its heartbeats or its timeout.
    Checked {
        /// The last heartbeat it read: the audit trail has no heartbeats, and must replay to the same job.
        #[serde(alias = "heardAt")]
        heartbeat_at: Option<Timestamp>,
        /// Random; decides the backoff.
        jitter: u64,
    },
    Cancelled,
    Retried,
}

impl JobEvent {
    /// The completion that a worker reports, within bounds.
    pub fn completed<'a>(
        worker: WorkerId,
        attempt: u32,
        artifacts: impl ExactSizeIterator<Item = &'a str>,
        result: Option<&Value>,
    ) -> Result<Self, Rejected> {
        if artifacts.len() > Artifact::MAX_PER_JOB {
            return Err(Rejected::invalid("artifacts", "at most 20"));
        }
        let mut artifacts = artifacts.map(Artifact::parse).collect::<Result<Vec<_>, _>>()?;
        artifacts.sort_by(|a, b| a.name.cmp(&b.name));
        artifacts.dedup();
        let result = result.map(Value::to_string);
        if result.as_ref().is_some_and(|json| json.len() > MAX_RESULT_LENGTH) {
            let rule = "at most 4096 bytes; upload more as an artifact";
            return Err(Rejected::invalid("result", rule));
        }
        Ok(Self::Completed { worker, attempt, artifacts, result })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobDecision {
    Change(Box<Job>),
    /// It has happened already, or does not matter any more.
    NoChange,
    Refuse(JobRefusal),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JobRefusal {
    /// A report of a run that is over.
    #[error("attempt {sent} is over; the job is at attempt {current}")]
    StaleAttempt { sent: u32, current: u32 },
    #[error("another worker has this job")]
    OtherWorker,
    #[error("the job is {}", .0.name())]
    WrongStatus(JobStatus),
    #[error("the job may not run yet")]
    NotReady,
    #[error("the job's end is still being announced; try again in a moment")]
    EndNotAnnounced,
}

/// Decides what `event`, at `now`, makes of `job`.
pub fn transition(job: &Job, event: &JobEvent, now: Timestamp) -> JobDecision {
    match event {
        JobEvent::DependencyEnded { dependency, completed } => {
            dependency_ended(job, dependency, *completed, now)
        }
        JobEvent::Assigned { shard, worker } => assigned(job, *shard, worker.as_ref(), now),
        JobEvent::Started { worker, attempt } => started(job, worker, *attempt, now),
        JobEvent::Heartbeat { worker, attempt, progress } => {
            heartbeat_received(job, worker, *attempt, *progress, now)
        }
        JobEvent::Completed { worker, attempt, artifacts, result } => {
            match check_attempt(job, worker, *attempt) {
                Ok(()) => change(job, |next| {
                    end(next, JobStatus::Completed, now);
                    next.progress = 100;
                    next.error = None;
                    next.artifacts.clone_from(artifacts);
                    next.result.clone_from(result);
                }),
                // The same report again: its answer was lost.
                Err(_) if is_repeat_by(job, JobStatus::Completed, worker, *attempt) => {
                    JobDecision::NoChange
                }
                Err(refusal) => JobDecision::Refuse(refusal),
            }
        }
        JobEvent::Failed { worker, attempt, retryable, error, jitter } => {
            match check_attempt(job, worker, *attempt) {
                Ok(()) => change(job, |next| {
                    let delay_ms = job.retry.delay_ms(job.attempt, *jitter);
                    run_failed(next, error, *retryable, after_ms(now, delay_ms), now);
                }),
                Err(_) if is_repeat_by(job, JobStatus::Failed, worker, *attempt) => {
                    JobDecision::NoChange
                }
                Err(_) if is_repeat_by(job, JobStatus::Cancelled, worker, *attempt) => {
                    JobDecision::NoChange
                }
                Err(refusal) => JobDecision::Refuse(refusal),
            }
        }
        JobEvent::Checked { heartbeat_at, jitter } => checked(job, *heartbeat_at, *jitter, now),
        JobEvent::Cancelled => cancelled(job, now),
        JobEvent::Retried => retried(job, now),
    }
}

fn dependency_ended(job: &Job, dependency: &JobId, completed: bool, now: Timestamp) -> JobDecision {
    if job.open_dependencies == 0 || !job.dependencies.contains(dependency) {
        return JobDecision::NoChange;
    }
    change(job, |next| {
        // A cancelled job counts on: its owner may retry it.
        next.open_dependencies -= 1;
        if job.status != JobStatus::Waiting {
            return;
        }
        if !completed && job.on_dependency_failure == OnDependencyFailure::Fail {
            end(next, JobStatus::Failed, now);
            next.error = Some(format!("its dependency {} did not complete", dependency.as_str()));
        } else if next.open_dependencies == 0 {
            enqueue(next, job.not_before.map_or(now, |at| at.max(now)));
        }
    })
}

fn assigned(job: &Job, shard: u8, worker: Option<&WorkerId>, now: Timestamp) -> JobDecision {
    if job.status != JobStatus::Queued {
        return JobDecision::Refuse(JobRefusal::WrongStatus(job.status));
    }
    if job.ready_at > now {
        return JobDecision::Refuse(JobRefusal::NotReady);
    }
    change(job, |next| {
        next.status = JobStatus::Assigned;
        next.assigned_at = Some(now);
        next.shard = Some(shard);
        next.worker = worker.cloned();
        next.heartbeat_at = None;
    })
}

fn started(job: &Job, worker: &WorkerId, attempt: u32, now: Timestamp) -> JobDecision {
    if is_repeat_by(job, JobStatus::Running, worker, attempt) {
        return JobDecision::NoChange;
    }
    if job.attempt != attempt {
        return JobDecision::Refuse(JobRefusal::StaleAttempt {
            sent: attempt,
            current: job.attempt,
        });
    }
    let others = job.worker.as_ref().is_some_and(|named| named != worker);
    if job.status.holds_licence() && others {
        return JobDecision::Refuse(JobRefusal::OtherWorker);
    }
    if job.status != JobStatus::Assigned {
        return JobDecision::Refuse(JobRefusal::WrongStatus(job.status));
    }
    change(job, |next| {
        next.status = JobStatus::Running;
        next.worker = Some(worker.clone());
        next.started_at = Some(now);
        next.heartbeat_at = Some(now);
        next.progress = 0;
    })
}

fn heartbeat_received(
    job: &Job,
    worker: &WorkerId,
    attempt: u32,
    progress: Option<u8>,
    now: Timestamp,
) -> JobDecision {
    match check_attempt(job, worker, attempt) {
        Ok(()) => JobDecision::Change(Box::new(Job {
            heartbeat_at: Some(now),
            progress: progress.unwrap_or(job.progress),
            ..job.clone()
        })),
        Err(refusal) => JobDecision::Refuse(refusal),
    }
}

fn checked(job: &Job, heartbeat_at: Option<Timestamp>, jitter: u64, now: Timestamp) -> JobDecision {
    // Clocks differ: a heartbeat may be recorded with a time before the start.
    let heartbeat_at = heartbeat_at.max(job.started_at);
    if job.heartbeat_at > heartbeat_at {
        return JobDecision::NoChange;
    }
    let past = |since: Option<Timestamp>, seconds: i64| {
        since.is_some_and(|since| after(since, seconds) <= now)
    };
    match job.status {
        // No run has begun, so no attempt is used up, and a worker that starts late still may.
        JobStatus::Assigned if past(job.assigned_at, HEARTBEAT_TIMEOUT_SECONDS) => {
            change(job, |next| {
                enqueue(next, job.ready_at);
                next.worker = None;
            })
        }
        JobStatus::Running if past(heartbeat_at, HEARTBEAT_TIMEOUT_SECONDS) => {
            change(job, |next| {
                let error = format!("its worker was silent for {HEARTBEAT_TIMEOUT_SECONDS} s");
                run_failed(next, &error, true, now, now);
            })
        }
        JobStatus::Running if past(job.started_at, job.timeout_seconds.into()) => {
            change(job, |next| {
                let error = format!("it ran longer than {} s", job.timeout_seconds);
                let delay_ms = job.retry.delay_ms(job.attempt, jitter);
                run_failed(next, &error, true, after_ms(now, delay_ms), now);
            })
        }
        JobStatus::Waiting
        | JobStatus::Queued
        | JobStatus::Assigned
        | JobStatus::Running
        | JobStatus::Completed
        | JobStatus::Failed
        | JobStatus::Cancelled => JobDecision::NoChange,
    }
}

fn cancelled(job: &Job, now: Timestamp) -> JobDecision {
    match job.status {
        JobStatus::Waiting | JobStatus::Queued | JobStatus::Assigned => {
            change(job, |next| end(next, JobStatus::Cancelled, now))
        }
        JobStatus::Running if job.cancel_requested_at.is_none() => {
            change(job, |next| next.cancel_requested_at = Some(now))
        }
        JobStatus::Running | JobStatus::Cancelled => JobDecision::NoChange,
        JobStatus::Completed | JobStatus::Failed => {
            JobDecision::Refuse(JobRefusal::WrongStatus(job.status))
        }
    }
}

fn retried(job: &Job, now: Timestamp) -> JobDecision {
    if !matches!(job.status, JobStatus::Failed | JobStatus::Cancelled) {
        return JobDecision::Refuse(JobRefusal::WrongStatus(job.status));
    }
    if !job.end_announced {
        return JobDecision::Refuse(JobRefusal::EndNotAnnounced);
    }
    change(job, |next| {
        next.attempt = job.attempt + 1;
        next.last_attempt = job.attempt + job.retry.max_attempts;
        next.ended_at = None;
        next.cancel_requested_at = None;
        next.worker = None;
        next.progress = 0;
        next.end_announced = false;
        if job.open_dependencies > 0 {
            next.status = JobStatus::Waiting;
        } else {
            enqueue(next, now);
        }
    })
}

/// A run ended without success: the job is queued again unless it was cancelled or this was the last attempt.
fn run_failed(next: &mut Job, error: &str, retryable: bool, retry_at: Timestamp, now: Timestamp) {
    next.error = Some(error.to_owned());
    if next.cancel_requested_at.is_some() {
        end(next, JobStatus::Cancelled, now);
    } else if retryable && next.attempt < next.last_attempt {
        next.attempt += 1;
        next.worker = None;
        next.progress = 0;
        enqueue(next, retry_at);
    } else {
        end(next, JobStatus::Failed, now);
    }
}

fn enqueue(next: &mut Job, ready_at: Timestamp) {
    next.status = JobStatus::Queued;
    next.ready_at = ready_at;
    next.shard = None;
    next.assigned_at = None;
}

fn end(next: &mut Job, status: JobStatus, now: Timestamp) {
    next.status = status;
    next.ended_at = Some(now);
    next.shard = None;
    next.end_announced = false;
}

fn change(job: &Job, edit: impl FnOnce(&mut Job)) -> JobDecision {
    let mut next = Box::new(job.clone());
    edit(&mut next);
    next.version = job.version + 1;
    JobDecision::Change(next)
}

/// Whether this worker runs the job with this attempt.
fn check_attempt(job: &Job, worker: &WorkerId, attempt: u32) -> Result<(), JobRefusal> {
    if job.attempt != attempt {
        return Err(JobRefusal::StaleAttempt { sent: attempt, current: job.attempt });
    }
    if job.status != JobStatus::Running {
        return Err(JobRefusal::WrongStatus(job.status));
    }
    if job.worker.as_ref() == Some(worker) { Ok(()) } else { Err(JobRefusal::OtherWorker) }
}

fn is_repeat_by(job: &Job, status: JobStatus, worker: &WorkerId, attempt: u32) -> bool {
    job.status == status && job.attempt == attempt && job.worker.as_ref() == Some(worker)
}

#[cfg(test)]
mod tests;
