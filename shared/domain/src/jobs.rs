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
pub use submission::{MAX_DEPENDENCIES, MAX_PAYLOAD_LENGTH, Submission};
pub use transition::{Decision, Event, Refusal, SILENCE_SECONDS, transition};

use crate::Timestamp;

/// `seconds` later; the end of time where there is no such moment.
pub(crate) fn after(at: Timestamp, seconds: i64) -> Timestamp {
    after_ms(at, seconds.saturating_mul(1_000))
}

pub(crate) fn after_ms(at: Timestamp, ms: i64) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond().saturating_add(ms)).unwrap_or(Timestamp::MAX)
}
