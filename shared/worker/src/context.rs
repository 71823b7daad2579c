//! What a handler has at hand while it works: progress, artifacts, and whether to stop.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::backoff::Backoff;
use crate::{Answer, Error, Line, Ticket, Trouble};

/// How often an upload or a download is tried.
const TRIES: u32 = 5;

/// Says that no progress was told.
const UNTOLD: u8 = u8::MAX;

/// A handler's side of the job it runs; clones are of the same job.
#[derive(Clone)]
pub struct Context(Arc<Shared>);

struct Shared {
    line: Arc<dyn Line>,
    ticket: Ticket,
    progress: AtomicU8,
    artifacts: Mutex<Vec<String>>,
    told: watch::Sender<Option<Cancelled>>,
}

/// Why a handler has to stop. With `?` it is an [`Error`] worth another run, which is right for each:
/// a job whose owner cancelled it is not run again all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Cancelled {
    /// The job's owner does not want it any more.
    #[error("the job was cancelled")]
    ByOwner,
    /// The worker is stopping.
    #[error("the worker was stopped")]
    Stopping,
    /// The job is somebody else's, or over.
    #[error("the job is not this worker's any more")]
    Gone,
    /// No word got through for so long that the job has to be taken for lost.
    #[error("the worker was not heard for too long")]
    Silent,
}

impl Cancelled {
    /// Whether nothing more is to be said about the job.
    pub(crate) const fn is_lost(self) -> bool {
        matches!(self, Self::Gone | Self::Silent)
    }
}

impl Context {
    pub(crate) fn new(line: Arc<dyn Line>, ticket: Ticket) -> Self {
        Self(Arc::new(Shared {
            line,
            ticket,
            progress: AtomicU8::new(UNTOLD),
            artifacts: Mutex::default(),
            told: watch::Sender::new(None),
        }))
    }

    /// The job is this far, 0 to 100. The next heartbeat carries it.
    pub fn progress(&self, percent: u8) {
        self.0.progress.store(percent.min(100), Ordering::Relaxed);
    }

    /// Keeps `bytes` as an artifact of the job, listed once the job is done. The same name again
    /// replaces what was kept under it.
    pub async fn upload(&self, name: &str, bytes: impl Into<Bytes>) -> Result<(), Error> {
        let bytes = bytes.into();
        let put = || self.0.line.artifact(&self.0.ticket, name, bytes.clone());
        match self.insist(put).await? {
            Answer::Accepted(()) => {
                let mut artifacts = self.artifacts_mut();
                if !artifacts.iter().any(|listed| listed == name) {
                    artifacts.push(name.to_owned());
                }
                Ok(())
            }
            Answer::Gone => {
                self.tell(Cancelled::Gone);
                Err(Cancelled::Gone.into())
            }
        }
    }

    /// Waits until the handler has to stop, and says why.
    pub async fn cancelled(&self) -> Cancelled {
        self.told_that(|_| true).await
    }

    /// An error once the handler has to stop: `ctx.check()?` between two steps.
    pub fn check(&self) -> Result<(), Cancelled> {
        self.told().map_or(Ok(()), Err)
    }

    /// Whether the handler has to stop.
    pub fn is_cancelled(&self) -> bool {
        self.told().is_some()
    }

    /// The payload that lies at `at`.
    pub(crate) async fn fetch(&self, at: &str) -> Result<serde_json::Value, Error> {
        let bytes = self.insist(|| self.0.line.payload(&self.0.ticket, at)).await;
        // Another run is given another place to look.
        let bytes = bytes
            .map_err(|cause| Error::retry(format!("the payload could not be fetched: {cause}")))?;
        serde_json::from_slice(&bytes)
            .map_err(|cause| Error::give_up(format!("the payload is not JSON: {cause}")))
    }

    /// Waits until nothing more is to be said about the job.
    pub(crate) async fn lost(&self) -> Cancelled {
        self.told_that(Cancelled::is_lost).await
    }

    /// Why the handler has to stop, if it has to.
    pub(crate) fn told(&self) -> Option<Cancelled> {
        *self.0.told.borrow()
    }

    /// Tells the handler to stop. The first reason stays, unless the job is lost after it.
    pub(crate) fn tell(&self, why: Cancelled) {
        self.0.told.send_if_modified(|told| {
            let news = told.is_none_or(|before| why.is_lost() && !before.is_lost());
            if news {
                *told = Some(why);
            }
            news
        });
    }

    /// How far the handler says it is.
    pub(crate) fn percent(&self) -> Option<u8> {
        Some(self.0.progress.load(Ordering::Relaxed)).filter(|percent| *percent != UNTOLD)
    }

    /// The names of what was uploaded.
    pub(crate) fn artifacts(&self) -> Vec<String> {
        self.artifacts_mut().clone()
    }

    async fn told_that(&self, matters: impl Fn(Cancelled) -> bool) -> Cancelled {
        let mut told = self.0.told.subscribe();
        // The sender is `self`, so that this never fails.
        match told.wait_for(|told| told.is_some_and(&matters)).await.map(|told| *told) {
            Ok(Some(why)) => why,
            Ok(None) | Err(_) => std::future::pending().await,
        }
    }

    /// Tries a transfer a few times, but not for a job that is lost.
    async fn insist<T, F>(&self, call: impl Fn() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Trouble>>,
    {
        let mut backoff = Backoff::for_words();
        let mut left = TRIES;
        loop {
            if let Some(why) = self.told().filter(|why| why.is_lost()) {
                return Err(why.into());
            }
            left -= 1;
            match call().await {
                Ok(answer) => return Ok(answer),
                Err(Trouble::Lasting { cause }) => return Err(Error::give_up(cause)),
                Err(Trouble::Passing { cause, .. }) if left == 0 => {
                    return Err(Error::retry(cause));
                }
                Err(trouble @ Trouble::Passing { .. }) => {
                    sleep(backoff.next().max(trouble.wait())).await;
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
        f.debug_struct("Context").field("ticket", &self.0.ticket).finish_non_exhaustive()
    }
}
