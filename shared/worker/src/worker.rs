//! A worker: claims jobs over HTTP and runs them concurrently.
//!
//! Trigger: none but itself; it polls, less often the longer there were no jobs. Guarantee: it never
//! claims more jobs than it can start at once, and ends only when all that it ran are reported or lost. A
//! claim whose response is lost costs a minute: its jobs go back to their queue.

mod id;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::backoff::Backoff;
use crate::{
    ApiError, CancellationToken, ClaimedJob, ConnectError, Context, Error, HttpJobApi, Job,
    JobOutput, RunOutcome, Timeouts, run_job, signal,
};

/// The most jobs that one claim may take.
const MAX_CLAIM: usize = 20;

/// What a worker reports to the program that runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerEvent {
    /// A run has ended.
    JobEnded(ClaimedJob, RunOutcome),
    /// Jobs could not be claimed; the worker will try again.
    ClaimFailed(ApiError),
}

type OnEvent = dyn Fn(WorkerEvent) + Send + Sync;

/// Claims jobs and runs them.
#[must_use = "a worker does nothing until it is run"]
pub struct Worker {
    http: HttpJobApi,
    job_types: Vec<String>,
    concurrency: usize,
    poll_interval: (Duration, Duration),
    timeouts: Timeouts,
    stopping: BoxFuture<'static, ()>,
    on_event: Arc<OnEvent>,
}

impl Worker {
    /// A worker for the API at `url`, with a key that has the role job-worker. It is named after the
    /// machine and the process. Nothing is sent yet.
    pub fn connect(url: &str, key: &str) -> Result<Self, ConnectError> {
        Ok(Self::with_api(HttpJobApi::new(url, key, &id::unique())?))
    }

    pub(crate) fn with_api(http: HttpJobApi) -> Self {
        Self {
            http,
            job_types: Vec::new(),
            concurrency: 1,
            poll_interval: (Duration::from_secs(1), Duration::from_secs(10)),
            timeouts: Timeouts::default(),
            stopping: Box::pin(signal::shutdown()),
            on_event: Arc::new(|_| {}),
        }
    }

    /// Sets the worker's id: 1 to 128 printable ASCII characters without spaces, unique to this process.
    pub fn id(self, id: &str) -> Self {
        Self { http: self.http.with_worker_id(id), ..self }
    }

    /// Claims jobs of this type too. Types take turns in being claimed first.
    pub fn job_type(mut self, job_type: &str) -> Self {
        self.job_types.push(job_type.to_owned());
        self
    }

    /// Sets how many jobs run at once; 1 by default.
    pub fn concurrency(self, jobs: usize) -> Self {
        Self { concurrency: jobs.max(1), ..self }
    }

    /// Sets the time between two claims while there are no jobs: `min` at first, growing to `max`; 1 and 10
    /// seconds by default.
    pub fn poll_interval(self, min: Duration, max: Duration) -> Self {
        Self { poll_interval: (min, max), ..self }
    }

    /// Sets how long handlers may go on once they have to stop; 25 seconds by default.
    pub fn stop_grace(mut self, grace: Duration) -> Self {
        self.timeouts.stop_grace = grace;
        self
    }

    /// Stops when `stopping` ends, instead of on SIGTERM or Ctrl-C.
    pub fn stop_on(self, stopping: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { stopping: Box::pin(stopping), ..self }
    }

    /// Calls `on_event` for every event, to write a log or count.
    pub fn on_event(self, on_event: impl Fn(WorkerEvent) + Send + Sync + 'static) -> Self {
        Self { on_event: Arc::new(on_event), ..self }
    }

    /// Runs jobs with `handler` until it is stopped. An error means that the API refuses this
    /// worker: the key, the role or the type is wrong. Jobs that run by then are still run to their end.
    pub async fn run<H, F>(mut self, handler: H) -> Result<(), ApiError>
    where
        H: Fn(Job, Context) -> F + Send + Sync + 'static,
        F: Future<Output = Result<JobOutput, Error>> + Send + 'static,
    {
        let stop = CancellationToken::new();
        let stopping = std::mem::replace(&mut self.stopping, Box::pin(std::future::pending()));
        let listen = async {
            stopping.await;
            stop.cancel();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            ended = self.work(&stop, Arc::new(handler)) => ended,
            () = listen => Ok(()),
        }
    }

    async fn work<H, F>(&self, stop: &CancellationToken, handler: Arc<H>) -> Result<(), ApiError>
    where
        H: Fn(Job, Context) -> F + Send + Sync + 'static,
        F: Future<Output = Result<JobOutput, Error>> + Send + 'static,
    {
        let mut running = JoinSet::new();
        let polled = tokio::select! {
            biased;
            () = stop.cancelled() => Ok(()),
            refused = self.poll(&mut running, stop, &handler) => Err(refused),
        };
        while running.join_next().await.is_some() {}
        polled
    }

    /// Claims jobs and runs them, until a claim is refused for good. Dropping it loses no more than one claim.
    async fn poll<H, F>(
        &self,
        running: &mut JoinSet<()>,
        stop: &CancellationToken,
        handler: &Arc<H>,
    ) -> ApiError
    where
        H: Fn(Job, Context) -> F + Send + Sync + 'static,
        F: Future<Output = Result<JobOutput, Error>> + Send + 'static,
    {
        let mut backoff = Backoff::new(self.poll_interval.0, self.poll_interval.1);
        for turn in (0..self.job_types.len().max(1)).cycle() {
            while running.try_join_next().is_some() {}
            while running.len() >= self.concurrency {
                running.join_next().await;
                backoff.reset();
            }
            match self.claim(turn, self.concurrency - running.len()).await {
                Ok(claimed) if claimed.is_empty() => sleep(backoff.next()).await,
                Ok(claimed) => {
                    backoff.reset();
                    for job in claimed {
                        running.spawn(self.run_claimed(job, stop.clone(), Arc::clone(handler)));
                    }
                }
                Err(refused @ ApiError::Permanent { .. }) => return refused,
                Err(error) => {
                    let wait = backoff.next().max(error.retry_after());
                    (self.on_event)(WorkerEvent::ClaimFailed(error));
                    sleep(wait).await;
                }
            }
        }
        ApiError::permanent("there are no types to claim jobs of")
    }

    /// Claims up to `free` jobs, first of the type whose turn it is. An error after jobs of another type were
    /// claimed is dropped: the next claim meets it again.
    async fn claim(&self, turn: usize, free: usize) -> Result<Vec<ClaimedJob>, ApiError> {
        if self.job_types.is_empty() {
            return Err(ApiError::permanent("the worker was given no type of jobs to take"));
        }
        let mut jobs = Vec::new();
        let (later, first) = self.job_types.split_at(turn);
        for job_type in first.iter().chain(later) {
            let room = free.saturating_sub(jobs.len()).min(MAX_CLAIM);
            if room == 0 {
                break;
            }
            match self.http.claim(job_type, room).await {
                Ok(claimed) => jobs.extend(claimed),
                Err(error) if jobs.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(jobs)
    }

    fn run_claimed<H, F>(
        &self,
        claimed: ClaimedJob,
        stop: CancellationToken,
        handler: Arc<H>,
    ) -> impl Future<Output = ()> + use<H, F>
    where
        H: Fn(Job, Context) -> F + Send + Sync + 'static,
        F: Future<Output = Result<JobOutput, Error>> + Send + 'static,
    {
        let (api, timeouts) = (Arc::new(self.http.clone()), self.timeouts);
        let on_event = Arc::clone(&self.on_event);
        async move {
            let call = move |job, ctx| (*handler)(job, ctx);
            let outcome = run_job(api, claimed.clone(), timeouts, &stop, call).await;
            on_event(WorkerEvent::JobEnded(claimed, outcome));
        }
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (http, types) = (&self.http, &self.job_types);
        f.debug_struct("Worker").field("http", http).field("types", types).finish_non_exhaustive()
    }
}

impl fmt::Display for WorkerEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::JobEnded(claimed, outcome) => {
                write!(f, "job {}, attempt {}: {outcome}", claimed.job_id, claimed.attempt)
            }
            Self::ClaimFailed(error) => write!(f, "no jobs could be claimed: {error}"),
        }
    }
}
