//! A handler's access to its job: progress, artifacts, and whether to stop.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::backoff::Backoff;
use crate::{ApiError, ClaimedJob, Error, JobApi, Reply};

/// How often an upload or a download is tried.
const MAX_TRIES: u32 = 5;

/// The handler has reported no progress.
const NO_PROGRESS: u8 = u8::MAX;

/// A handler's side of the job it runs; clones are of the same job.
#[derive(Clone)]
pub struct Context(Arc<Shared>);

struct Shared {
    api: Arc<dyn JobApi>,
    claimed: ClaimedJob,
    progress: AtomicU8,
    artifacts: Mutex<Vec<String>>,
    stop: watch::Sender<Option<StopReason>>,
}

/// Why a handler has to stop. With `?` it becomes a retryable [`Error`], which is right for each: a job
/// whose owner cancelled it is not run again anyway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StopReason {
    /// The job's owner cancelled it.
    #[error("the job was cancelled")]
    JobCancelled,
    /// The worker is stopping.
    #[error("the worker was stopped")]
    WorkerStopping,
    /// The API fenced this worker off: the job belongs to another worker, or is over.
    #[error("the job is not this worker's any more")]
    Fenced,
    /// No request got through within the heartbeat timeout, so the job belongs to another worker by now.
    #[error("no heartbeat got through for too long")]
    HeartbeatTimeout,
}

impl StopReason {
    /// Whether the job is no longer this worker's, so that nothing more may be reported.
    pub(crate) const fn is_lost(self) -> bool {
        matches!(self, Self::Fenced | Self::HeartbeatTimeout)
    }
}

impl Context {
    pub(crate) fn new(api: Arc<dyn JobApi>, claimed: ClaimedJob) -> Self {
        Self(Arc::new(Shared {
            api,
            claimed,
            progress: AtomicU8::new(NO_PROGRESS),
            artifacts: Mutex::default(),
            stop: watch::Sender::new(None),
        }))
    }

    /// Sets the job's progress, 0 to 100. The next heartbeat reports it.
    pub fn progress(&self, percent: u8) {
        self.0.progress.store(percent.min(100), Ordering::Relaxed);
    }

    /// Uploads `bytes` as an artifact of the job, listed once the job is done. The same name again
    /// replaces the first upload.
    pub async fn upload(&self, name: &str, bytes: impl Into<Bytes>) -> Result<(), Error> {
        let bytes = bytes.into();
        let put = || self.0.api.upload_artifact(&self.0.claimed, name, bytes.clone());
        match self.with_retries(put).await? {
            Reply::Accepted(()) => {
                let mut artifacts = self.artifacts_mut();
                if !artifacts.iter().any(|listed| listed == name) {
                    artifacts.push(name.to_owned());
                }
                Ok(())
            }
            Reply::Fenced => {
                self.request_stop(StopReason::Fenced);
                Err(StopReason::Fenced.into())
            }
        }
    }

    /// Waits until the handler has to stop.
    pub async fn cancelled(&self) -> StopReason {
        self.wait_for_stop(|_| true).await
    }

    /// An error once the handler has to stop: `ctx.check()?` between two steps.
    pub fn check(&self) -> Result<(), StopReason> {
        self.stop_reason().map_or(Ok(()), Err)
    }

    /// Whether the handler has to stop.
    pub fn is_cancelled(&self) -> bool {
        self.stop_reason().is_some()
    }

    /// The payload at an address of [`Payload::Remote`](crate::Payload).
    pub(crate) async fn fetch_payload(&self, address: &str) -> Result<serde_json::Value, Error> {
        let bytes = self.with_retries(|| self.0.api.fetch_payload(&self.0.claimed, address)).await;
        // Another run gets another address.
        let bytes = bytes.map_err(|cause| {
            Error::retryable(format!("the payload could not be fetched: {cause}"))
        })?;
        serde_json::from_slice(&bytes)
            .map_err(|cause| Error::permanent(format!("the payload is not JSON: {cause}")))
    }

    /// Waits until the job is no longer this worker's.
    pub(crate) async fn lost(&self) -> StopReason {
        self.wait_for_stop(StopReason::is_lost).await
    }

    pub(crate) fn stop_reason(&self) -> Option<StopReason> {
        *self.0.stop.borrow()
    }

    /// Makes the handler stop. The first reason stays, unless the job is lost after it.
    pub(crate) fn request_stop(&self, why: StopReason) {
        self.0.stop.send_if_modified(|reason| {
            let changes = reason.is_none_or(|before| why.is_lost() && !before.is_lost());
            if changes {
                *reason = Some(why);
            }
            changes
        });
    }

    pub(crate) fn percent(&self) -> Option<u8> {
        Some(self.0.progress.load(Ordering::Relaxed)).filter(|percent| *percent != NO_PROGRESS)
    }

    /// The names of uploaded artifacts.
    pub(crate) fn artifacts(&self) -> Vec<String> {
        self.artifacts_mut().clone()
    }

    async fn wait_for_stop(&self, matters: impl Fn(StopReason) -> bool) -> StopReason {
        let mut stop = self.0.stop.subscribe();
        // The sender is `self`, so that this never fails.
        match stop.wait_for(|reason| reason.is_some_and(&matters)).await.map(|reason| *reason) {
            Ok(Some(why)) => why,
            Ok(None) | Err(_) => std::future::pending().await,
        }
    }

    /// Repeats a transfer after transient errors, but not for a job that is lost.
    async fn with_retries<T, F>(&self, call: impl Fn() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, ApiError>>,
    {
        let mut backoff = Backoff::for_requests();
        let mut left = MAX_TRIES;
        loop {
            if let Some(why) = self.stop_reason().filter(|why| why.is_lost()) {
                return Err(why.into());
            }
            left -= 1;
            match call().await {
                Ok(answer) => return Ok(answer),
                Err(ApiError::Permanent { cause }) => return Err(Error::permanent(cause)),
                Err(ApiError::Transient { cause, .. }) if left == 0 => {
                    return Err(Error::retryable(cause));
                }
                Err(error @ ApiError::Transient { .. }) => {
                    sleep(backoff.next().max(error.retry_after())).await;
                }
            }
        }
    }

    /// A handler that panicked while it listed an artifact left the list whole.
    fn artifacts_mut(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.artifacts.lock()
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("claimed", &self.0.claimed).finish_non_exhaustive()
    }
}
