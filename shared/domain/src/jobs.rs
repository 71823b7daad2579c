//! Jobs: work that is handed to one worker at a time, watched, tried again and never lost.
//!
//! ```text
//!  submit ─▶ WAITING ─ last dependency ─▶ QUEUED ─ assign ─▶ ASSIGNED ─ start ─▶ RUNNING ─▶ COMPLETED
//!               │                          ▲ ▲  ▲               │                  │ │
//!               │                          │ │  └─ not started ─┘                  │ └─▶ FAILED
//!               │                          │ └──── failed or silent, attempt + 1 ──┘
//!               └────── cancel (any state but the ends) ─▶ CANCELLED ── retry ─▶ QUEUED
//! ```
//!
//! [`transition`] is all of it: a job, an event and the time make a decision, and the store does no
//! more than write that decision down if the job is still what it was. The invariants, as absences:
//!
//! - No holder without a job: a licence is taken in the transaction that makes a job ASSIGNED, and
//!   given back in the one that makes it anything but ASSIGNED or RUNNING.
//! - No word of a worker counts that does not name the attempt it was given: [`Job::attempt`] is the
//!   fencing token, and grows whenever a run that began has ended without success.
//! - No run beyond [`Job::last_attempt`], whether attempts ended by failing or by falling silent.
//! - No state that a message carries: wake-ups say "look", rows say what there is to see.
//! - No job that waits for ever behind later ones: see [`order`] for the bound.

pub mod explain;
pub mod graph;
mod job;
mod kind;
pub mod licence;
mod message;
#[cfg(test)]
mod model;
pub mod order;
mod record;
mod submission;
mod transition;

pub use job::{
    Artifact, Job, JobId, OnDependencyFailure, PayloadPlace, Priority, RetryPolicy, Status, Worker,
};
pub use kind::{Delivery, JobType, Settings, TypeName, builtin, builtins};
pub use message::{Assignment, JobEnded, Notice, WakeUp};
pub use record::{Actor, Record, replay};
pub use submission::{LONGEST_PAYLOAD, MOST_DEPENDENCIES, Submission};
pub use transition::{Decision, Event, Refusal, SILENCE_SECONDS, transition};

use crate::Timestamp;

/// The caller's mistake, in the domain's words; the boundary knows what HTTP calls it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// A field breaks its rule.
    #[error("{field}: {rule}")]
    Field {
        /// The field, as the caller wrote it.
        field: String,
        /// What the field must be.
        rule: String,
    },
    /// No such job, or none that the caller may know of.
    #[error("there is no such job")]
    UnknownJob,
    /// No such type.
    #[error("there is no job type `{0}`")]
    UnknownType(String),
    /// The job is not in a state in which that can be done.
    #[error("{0}")]
    Refused(Refusal),
}

impl Rejected {
    pub(crate) fn field(field: impl Into<String>, rule: impl Into<String>) -> Self {
        Self::Field { field: field.into(), rule: rule.into() }
    }
}

/// `seconds` later; the end of time where there is no such moment.
pub(crate) fn after(at: Timestamp, seconds: i64) -> Timestamp {
    after_ms(at, seconds.saturating_mul(1_000))
}

pub(crate) fn after_ms(at: Timestamp, ms: i64) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond().saturating_add(ms)).unwrap_or(Timestamp::MAX)
}
