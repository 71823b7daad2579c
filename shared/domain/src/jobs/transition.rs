//! What an event makes of a job: one pure function.

use serde::{Deserialize, Serialize};

use super::{Artifact, Job, JobId, OnDependencyFailure, Status, Worker, after, after_ms};
use crate::Timestamp;

/// A worker that was not heard of for so long is taken for dead. Workers speak every 20 s, so two
/// words may get lost.
pub const SILENCE_SECONDS: i64 = 60;

/// Something that happens to a job. What chance decides comes in with it, so that a trail of events
/// leads to the same job whenever it is walked.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Event {
    /// A dependency ended.
    DependencyEnded {
        dependency: JobId,
        /// Whether it completed.
        completed: bool,
    },
    /// There is a licence for it.
    Assigned {
        /// Of which part of its type's licences.
        shard: u8,
        /// Who asked for it, if workers of its type ask.
        worker: Option<Worker>,
    },
    /// A worker begins.
    Started {
        worker: Worker,
        /// With which attempt.
        attempt: u32,
    },
    /// A worker says that it is still at it.
    Beaten {
        worker: Worker,
        /// With which attempt.
        attempt: u32,
        /// How far it is.
        progress: Option<u8>,
    },
    /// A worker is done.
    Completed {
        worker: Worker,
        /// With which attempt.
        attempt: u32,
        /// What it left in the bucket.
        artifacts: Vec<Artifact>,
        /// What it answers: JSON.
        result: Option<String>,
    },
    /// A worker gives up.
    Failed {
        worker: Worker,
        /// With which attempt.
        attempt: u32,
        /// Whether another run might do better.
        retryable: bool,
        error: String,
        /// Decides how long to wait.
        jitter: u64,
    },
    /// Someone looks whether its worker is silent or too slow.
    Checked {
        /// The last heartbeat they know of: a trail has no heartbeats, and must lead to the same.
        heard_at: Option<Timestamp>,
        /// Decides how long to wait.
        jitter: u64,
    },
    /// Its owner does not want it any more.
    Cancelled,
    /// Its owner wants it again.
    Retried,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It becomes this.
    Become(Box<Job>),
    /// There is nothing to do: it has happened already, or does not matter any more.
    Stay,
    /// That can't be.
    Refuse(Refusal),
}

/// Why something can't be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A word from a run that is over.
    #[error("attempt {sent} is over; the job is at attempt {current}")]
    StaleAttempt {
        /// The attempt it came from.
        sent: u32,
        /// The attempt the job is at.
        current: u32,
    },
    /// Another worker has it.
    #[error("another worker has this job")]
    OtherWorker,
    /// It is in no state for that.
    #[error("the job is {}", .0.name())]
    Is(Status),
    /// Its time has not come.
    #[error("the job may not run yet")]
    NotReady,
    /// The end it came to is still being told to everyone who waits for it.
    #[error("the job's end is still being announced; try again in a moment")]
    Unsettled,
}

/// Decides what `event`, at `now`, makes of `job`.
pub fn transition(job: &Job, event: &Event, now: Timestamp) -> Decision {
    match event {
        Event::DependencyEnded { dependency, completed } => {
            dependency_ended(job, dependency, *completed, now)
        }
        Event::Assigned { shard, worker } => assigned(job, *shard, worker.as_ref(), now),
        Event::Started { worker, attempt } => started(job, worker, *attempt, now),
        Event::Beaten { worker, attempt, progress } => {
            beaten(job, worker, *attempt, *progress, now)
        }
        Event::Completed { worker, attempt, artifacts, result } => {
            match at_work(job, worker, *attempt) {
                Ok(()) => become_with(job, |next| {
                    end(next, Status::Completed, now);
                    next.progress = 100;
                    next.error = None;
                    next.artifacts.clone_from(artifacts);
                    next.result.clone_from(result);
                }),
                // The same word again: its answer was lost.
                Err(_) if is_by(job, Status::Completed, worker, *attempt) => Decision::Stay,
                Err(refusal) => Decision::Refuse(refusal),
            }
        }
        Event::Failed { worker, attempt, retryable, error, jitter } => {
            match at_work(job, worker, *attempt) {
                Ok(()) => become_with(job, |next| {
                    let delay_ms = job.retry.delay_ms(job.attempt, *jitter);
                    run_failed(next, error, *retryable, after_ms(now, delay_ms), now);
                }),
                Err(_) if is_by(job, Status::Failed, worker, *attempt) => Decision::Stay,
                Err(_) if is_by(job, Status::Cancelled, worker, *attempt) => Decision::Stay,
                Err(refusal) => Decision::Refuse(refusal),
            }
        }
        Event::Checked { heard_at, jitter } => checked(job, *heard_at, *jitter, now),
        Event::Cancelled => cancelled(job, now),
        Event::Retried => retried(job, now),
    }
}

fn dependency_ended(job: &Job, dependency: &JobId, completed: bool, now: Timestamp) -> Decision {
    if job.open_dependencies == 0 || !job.dependencies.contains(dependency) {
        return Decision::Stay;
    }
    become_with(job, |next| {
        // A job that was cancelled counts on: it may be wanted again.
        next.open_dependencies -= 1;
        if job.status != Status::Waiting {
            return;
        }
        if !completed && job.on_dependency_failure == OnDependencyFailure::Fail {
            end(next, Status::Failed, now);
            next.error = Some(format!("its dependency {} did not complete", dependency.as_str()));
        } else if next.open_dependencies == 0 {
            queue(next, job.not_before.map_or(now, |at| at.max(now)));
        }
    })
}

fn assigned(job: &Job, shard: u8, worker: Option<&Worker>, now: Timestamp) -> Decision {
    if job.status != Status::Queued {
        return Decision::Refuse(Refusal::Is(job.status));
    }
    if job.ready_at > now {
        return Decision::Refuse(Refusal::NotReady);
    }
    become_with(job, |next| {
        next.status = Status::Assigned;
        next.assigned_at = Some(now);
        next.shard = Some(shard);
        next.worker = worker.cloned();
        next.beat_at = None;
    })
}

fn started(job: &Job, worker: &Worker, attempt: u32, now: Timestamp) -> Decision {
    if is_by(job, Status::Running, worker, attempt) {
        return Decision::Stay;
    }
    if job.attempt != attempt {
        return Decision::Refuse(Refusal::StaleAttempt { sent: attempt, current: job.attempt });
    }
    let others = job.worker.as_ref().is_some_and(|named| named != worker);
    if job.status.holds() && others {
        return Decision::Refuse(Refusal::OtherWorker);
    }
    if job.status != Status::Assigned {
        return Decision::Refuse(Refusal::Is(job.status));
    }
    become_with(job, |next| {
        next.status = Status::Running;
        next.worker = Some(worker.clone());
        next.started_at = Some(now);
        next.beat_at = Some(now);
        next.progress = 0;
    })
}

fn beaten(
    job: &Job,
    worker: &Worker,
    attempt: u32,
    progress: Option<u8>,
    now: Timestamp,
) -> Decision {
    match at_work(job, worker, attempt) {
        Ok(()) => Decision::Become(Box::new(Job {
            beat_at: Some(now),
            progress: progress.unwrap_or(job.progress),
            ..job.clone()
        })),
        Err(refusal) => Decision::Refuse(refusal),
    }
}

fn checked(job: &Job, heard_at: Option<Timestamp>, jitter: u64, now: Timestamp) -> Decision {
    // Clocks differ: a heartbeat may be noted with a time before the start, and is none the less heard.
    let heard_at = heard_at.max(job.started_at);
    if job.beat_at > heard_at {
        return Decision::Stay;
    }
    let past = |since: Option<Timestamp>, seconds: i64| {
        since.is_some_and(|since| after(since, seconds) <= now)
    };
    match job.status {
        // Nothing has begun, so nothing was used up, and whoever begins late is still the first.
        Status::Assigned if past(job.assigned_at, SILENCE_SECONDS) => become_with(job, |next| {
            queue(next, job.ready_at);
            next.worker = None;
        }),
        Status::Running if past(heard_at, SILENCE_SECONDS) => become_with(job, |next| {
            let error = format!("its worker was silent for {SILENCE_SECONDS} s");
            run_failed(next, &error, true, now, now);
        }),
        Status::Running if past(job.started_at, job.timeout_seconds.into()) => {
            become_with(job, |next| {
                let error = format!("it ran longer than {} s", job.timeout_seconds);
                let delay_ms = job.retry.delay_ms(job.attempt, jitter);
                run_failed(next, &error, true, after_ms(now, delay_ms), now);
            })
        }
        Status::Waiting
        | Status::Queued
        | Status::Assigned
        | Status::Running
        | Status::Completed
        | Status::Failed
        | Status::Cancelled => Decision::Stay,
    }
}

fn cancelled(job: &Job, now: Timestamp) -> Decision {
    match job.status {
        Status::Waiting | Status::Queued | Status::Assigned => {
            become_with(job, |next| end(next, Status::Cancelled, now))
        }
        Status::Running if job.cancel_requested_at.is_none() => {
            become_with(job, |next| next.cancel_requested_at = Some(now))
        }
        Status::Running | Status::Cancelled => Decision::Stay,
        Status::Completed | Status::Failed => Decision::Refuse(Refusal::Is(job.status)),
    }
}

fn retried(job: &Job, now: Timestamp) -> Decision {
    if !matches!(job.status, Status::Failed | Status::Cancelled) {
        return Decision::Refuse(Refusal::Is(job.status));
    }
    if !job.settled {
        return Decision::Refuse(Refusal::Unsettled);
    }
    become_with(job, |next| {
        next.attempt = job.attempt + 1;
        next.last_attempt = job.attempt + job.retry.max_attempts;
        next.ended_at = None;
        next.cancel_requested_at = None;
        next.worker = None;
        next.progress = 0;
        next.settled = false;
        if job.open_dependencies > 0 {
            next.status = Status::Waiting;
        } else {
            queue(next, now);
        }
    })
}

/// A run that began has ended without success: again, if there may be another and it is wanted.
fn run_failed(next: &mut Job, error: &str, retryable: bool, again_at: Timestamp, now: Timestamp) {
    next.error = Some(error.to_owned());
    if next.cancel_requested_at.is_some() {
        end(next, Status::Cancelled, now);
    } else if retryable && next.attempt < next.last_attempt {
        next.attempt += 1;
        next.worker = None;
        next.progress = 0;
        queue(next, again_at);
    } else {
        end(next, Status::Failed, now);
    }
}

fn queue(next: &mut Job, ready_at: Timestamp) {
    next.status = Status::Queued;
    next.ready_at = ready_at;
    next.shard = None;
    next.assigned_at = None;
}

fn end(next: &mut Job, status: Status, now: Timestamp) {
    next.status = status;
    next.ended_at = Some(now);
    next.shard = None;
    next.settled = false;
}

fn become_with(job: &Job, change: impl FnOnce(&mut Job)) -> Decision {
    let mut next = Box::new(job.clone());
    change(&mut next);
    next.version = job.version + 1;
    Decision::Become(next)
}

/// Whether this worker, with this attempt, is the one who runs the job.
fn at_work(job: &Job, worker: &Worker, attempt: u32) -> Result<(), Refusal> {
    if job.attempt != attempt {
        return Err(Refusal::StaleAttempt { sent: attempt, current: job.attempt });
    }
    if job.status != Status::Running {
        return Err(Refusal::Is(job.status));
    }
    if job.worker.as_ref() == Some(worker) { Ok(()) } else { Err(Refusal::OtherWorker) }
}

fn is_by(job: &Job, status: Status, worker: &Worker, attempt: u32) -> bool {
    job.status == status && job.attempt == attempt && job.worker.as_ref() == Some(worker)
}

#[cfg(test)]
mod tests;
