//! What a worker reports about the job it holds, and the replies.
//!
//! There are two implementations: [`HttpJobApi`](crate::HttpJobApi), and the function `work`'s, which writes
//! to the store.
//! Guarantee asked of an implementation: every method sends one request with the worker's id
//! and the claim's attempt; it never retries, since the caller knows for how long that makes sense. A
//! refusal because the job is no longer the worker's is [`Reply::Fenced`], never an [`ApiError`].
//! Repeating `start`, `complete` and `fail` with the same attempt must do no harm.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use crate::{Error, JobOutput};

/// A worker's requests about a job that it has claimed.
#[async_trait]
pub trait JobApi: Send + Sync + 'static {
    /// The worker starts the job.
    async fn start(&self, job: &ClaimedJob) -> ApiResult<StartedJob>;

    /// The worker still runs the job; `progress` is 0 to 100, if the handler has reported any.
    async fn heartbeat(&self, job: &ClaimedJob, progress: Option<u8>)
    -> ApiResult<HeartbeatAction>;

    /// The job is done.
    async fn complete(&self, job: &ClaimedJob, output: &JobOutput) -> ApiResult;

    /// The job failed.
    async fn fail(&self, job: &ClaimedJob, error: &Error) -> ApiResult;

    /// Uploads an artifact that [`JobOutput::artifacts`] will name.
    async fn upload_artifact(&self, job: &ClaimedJob, name: &str, bytes: Bytes) -> ApiResult;

    /// Downloads the JSON text of a [`Payload::Remote`].
    async fn fetch_payload(&self, job: &ClaimedJob, address: &str) -> Result<Bytes, ApiError>;
}

/// A job that was given to this worker.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClaimedJob {
    /// The job's id.
    pub job_id: String,
    /// The fencing token: reports of an attempt that is over are refused.
    pub attempt: u32,
}

/// The outcome of a request about a claimed job.
pub type ApiResult<T = ()> = Result<Reply<T>, ApiError>;

/// How a report was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply<T> {
    /// It counts.
    Accepted(T),
    /// The job is not this worker's, not in a status for that, or does not exist: stop, and report nothing
    /// more about it.
    Fenced,
}

impl<T> Reply<T> {
    /// Maps the accepted value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Reply<U> {
        match self {
            Self::Accepted(value) => Reply::Accepted(change(value)),
            Self::Fenced => Reply::Fenced,
        }
    }
}

/// A job that the worker has started.
#[derive(Debug, Clone, PartialEq)]
pub struct StartedJob {
    /// The type of the job.
    pub job_type: String,
    /// The longest that it may run.
    pub timeout: Duration,
    /// How often a heartbeat is expected.
    pub heartbeat: Duration,
    /// The payload it was submitted with.
    pub payload: Payload,
}

/// Where a payload is.
#[derive(Debug, Clone, PartialEq)]
pub enum Payload {
    /// The payload itself; `null` if there is none.
    Inline(Value),
    /// An address for [`JobApi::fetch_payload`], which is called while heartbeats are already being sent.
    Remote(String),
}

/// The reply to a heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HeartbeatAction {
    /// The worker goes on.
    Continue,
    /// The job's owner cancelled it.
    Cancel,
}

/// Why a request has no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// The same request may succeed later: a rate limit, a server error, no connection.
    #[error("{cause}")]
    Transient {
        /// What happened.
        cause: String,
        /// The response's `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// The same request will be refused again.
    #[error("{cause}")]
    Permanent {
        /// What happened.
        cause: String,
    },
}

impl ApiError {
    /// An error without a `Retry-After`.
    pub fn transient(cause: impl Into<String>) -> Self {
        Self::Transient { cause: cause.into(), retry_after: None }
    }

    /// An error that repeating the request does not change.
    pub fn permanent(cause: impl Into<String>) -> Self {
        Self::Permanent { cause: cause.into() }
    }

    /// The least time to wait before the next try.
    pub(crate) fn retry_after(&self) -> Duration {
        match self {
            Self::Transient { retry_after, .. } => retry_after.unwrap_or_default(),
            Self::Permanent { .. } => Duration::ZERO,
        }
    }
}
