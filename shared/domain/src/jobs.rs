//! Jobs: work that is handed to one worker at a time, watched, tried again and never lost.
//!
//! ```text
//!  submit ─▶ WAITING ─ last dependency ─▶ QUEUED ─ assign ─▶ ASSIGNED ─ start ─▶ RUNNING ─▶ COMPLETED
//!               │                          ▲ ▲  ▲               │                  │ │
//!               │                          │ │  └─ not started ─┘                  │ └─▶ FAILED
//!               │                          │ └──── failed or missed, attempt + 1 ──┘
//!               └────── cancel (any state but the ends) ─▶ CANCELLED ── retry ─▶ QUEUED
//! ```
//!
//! [`transition`] is all of it: a job, an event and the time make a decision, and the store does no
//! more than write that decision down if the job is still what it was. The invariants, as absences:
//!
//! - No licence holder without a job: a licence is taken in the transaction that makes a job ASSIGNED, and
//!   given back in the one that makes it anything but ASSIGNED or RUNNING.
//! - No report of a worker counts that does not name the attempt it was given: [`Job::attempt`] is the
//!   fencing token, and grows whenever a run that began has ended without success.
//! - No run beyond [`Job::last_attempt`], whether attempts failed or missed their heartbeats.
//! - No state that a message carries: a wake-up names a row, and the row is read.
//! - No job that waits for ever behind later ones: see [`aging`] for the bound.

pub mod aging;
mod audit;
pub mod explain;
pub mod graph;
mod job;
mod job_type;
pub mod licence;
#[cfg(test)]
mod licence_model;
mod message;
mod submission;
mod transition;

pub use audit::{Actor, AuditRecord, replay};
pub use job::{
    Artifact, Job, JobId, JobPriority, JobStatus, OnDependencyFailure, PayloadLocation,
    RetryPolicy, WorkerId,
};
pub use job_type::{
    DeliveryMode, JobType, JobTypeName, JobTypeSettings, builtin_job_type, builtin_job_type_names,
};
pub use message::{Assignment, JobEnded, JobNotice, WakeUp};
pub use submission::{MAX_DEPENDENCIES, MAX_ROW_PAYLOAD_LENGTH, Submission};
pub use transition::{
    HEARTBEAT_INTERVAL_SECONDS, HEARTBEAT_TIMEOUT_SECONDS, JobDecision, JobEvent, JobRefusal,
    MAX_RESULT_LENGTH, transition,
};

use crate::Timestamp;

/// `seconds` later, at most the last timestamp there is.
pub(crate) fn after(at: Timestamp, seconds: i64) -> Timestamp {
    after_ms(at, seconds.saturating_mul(1_000))
}

pub(crate) fn after_ms(at: Timestamp, ms: i64) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond().saturating_add(ms)).unwrap_or(Timestamp::MAX)
}
