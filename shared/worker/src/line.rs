//! The line to whoever keeps the jobs: what a worker says about the job it holds, and what it hears.
//!
//! There are two: [`Http`](crate::Http) speaks the API, and the function `work` writes to the store.
//! Guarantee asked of an implementation: every method says one word and waits for its answer, with
//! the worker's id and the ticket's attempt; it never retries, since the caller knows for how long
//! that makes sense. A refusal because the job is no longer the worker's is [`Answer::Gone`], never a
//! [`Trouble`]. Repeating `start`, `complete` and `fail` with the same ticket must do no harm.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::Value;

use crate::{Done, Error};

/// What a worker says about a job it holds.
#[async_trait]
pub trait Line: Send + Sync + 'static {
    /// The worker begins.
    async fn start(&self, ticket: &Ticket) -> Result<Answer<Started>, Trouble>;

    /// The worker is still at it, and this far, 0 to 100, if the handler has said so.
    async fn heartbeat(
        &self,
        ticket: &Ticket,
        progress: Option<u8>,
    ) -> Result<Answer<Action>, Trouble>;

    /// The job is done.
    async fn complete(&self, ticket: &Ticket, done: &Done) -> Result<Answer<()>, Trouble>;

    /// The job could not be done.
    async fn fail(&self, ticket: &Ticket, error: &Error) -> Result<Answer<()>, Trouble>;

    /// Puts an artifact of the job where its name in [`Done::artifacts`] will find it.
    async fn artifact(
        &self,
        ticket: &Ticket,
        name: &str,
        bytes: Bytes,
    ) -> Result<Answer<()>, Trouble>;

    /// The JSON text of a payload that [`Started`] did not bring along, from [`Payload::At`].
    async fn payload(&self, ticket: &Ticket, at: &str) -> Result<Bytes, Trouble>;
}

/// Which run of which job.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ticket {
    /// The job.
    pub job_id: String,
    /// The fence: a word from an attempt that is over is refused.
    pub attempt: u32,
}

/// How a word was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer<T> {
    /// As it was meant.
    Accepted(T),
    /// The job is not this worker's, not in a state for that, or not there: stop, and say nothing
    /// more about it.
    Gone,
}

impl<T> Answer<T> {
    /// The same with what `change` makes of the answer.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Answer<U> {
        match self {
            Self::Accepted(answer) => Answer::Accepted(change(answer)),
            Self::Gone => Answer::Gone,
        }
    }
}

/// What is known once a job has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Started {
    /// What kind of work it is.
    pub job_type: String,
    /// How long it may run.
    pub timeout: Duration,
    /// How often a heartbeat is expected.
    pub heartbeat: Duration,
    /// What it was submitted with.
    pub payload: Payload,
}

/// Where a payload is.
#[derive(Debug, Clone, PartialEq)]
pub enum Payload {
    /// Here; `null` if there is none.
    Here(Value),
    /// To be asked for with [`Line::payload`], while heartbeats are already being sent.
    At(String),
}

/// What a heartbeat is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Go on.
    Continue,
    /// The job's owner does not want it any more.
    Cancel,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The same word may be taken later: a limit, a server in trouble, no connection.
    #[error("{cause}")]
    Passing {
        /// What happened.
        cause: String,
        /// How long to wait, if that was said.
        wait: Option<Duration>,
    },
    /// The same word will be refused again.
    #[error("{cause}")]
    Lasting {
        /// What happened.
        cause: String,
    },
}

impl Trouble {
    /// Worth repeating after a while.
    pub fn passing(cause: impl Into<String>) -> Self {
        Self::Passing { cause: cause.into(), wait: None }
    }

    /// Not worth repeating.
    pub fn lasting(cause: impl Into<String>) -> Self {
        Self::Lasting { cause: cause.into() }
    }

    /// At least how long to wait before saying it again.
    pub(crate) fn wait(&self) -> Duration {
        match self {
            Self::Passing { wait, .. } => wait.unwrap_or_default(),
            Self::Lasting { .. } => Duration::ZERO,
        }
    }
}
