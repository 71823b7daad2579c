//! One job, from its claim to its end.
//!
//! Effect: the job is started, the handler runs in a task of its own while heartbeats are sent, and its
//! outcome is reported. Guarantee: the handler does not outlive this future, unless it blocks its thread; a
//! panic is a retryable failure; nothing is reported about a job that another worker has.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinError, JoinSet};
use tokio::time::sleep;

use crate::heartbeat::Heartbeat;
use crate::{
    ApiError, CancellationToken, ClaimedJob, Context, Error, Job, JobApi, JobOutput, Payload,
    StartedJob, StopReason,
};

/// Time limits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// How long a handler may go on once it has to stop, before it is aborted and its job is failed as
    /// retryable.
    pub stop_grace: Duration,
    /// The same for a handler whose job is lost, which may be running elsewhere already.
    pub fenced_grace: Duration,
    /// How long the worker goes on without a successful request before it takes the job for lost.
    pub heartbeat_timeout: Duration,
}

impl Default for Timeouts {
    /// 25 seconds, 5 seconds, and the 60 seconds after which the job goes to another worker.
    fn default() -> Self {
        Self {
            stop_grace: Duration::from_secs(25),
            fenced_grace: Duration::from_secs(5),
            heartbeat_timeout: Duration::from_mins(1),
        }
    }
}

/// How a job ended for this worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOutcome {
    /// It completed, and the API accepted that.
    Completed,
    /// It failed, and the API accepted that.
    Failed(Error),
    /// It belongs to another worker, or was over. If the reply to the last report was lost, that report may
    /// have counted.
    Fenced,
    /// No request got through within the heartbeat timeout.
    HeartbeatTimeout,
    /// Its start or its failure was refused for good; it goes to another worker once its heartbeats are missed.
    Refused(ApiError),
}

impl RunOutcome {
    /// The outcome of a job that is no longer this worker's.
    pub(crate) const fn lost(why: StopReason) -> Self {
        match why {
            StopReason::HeartbeatTimeout => Self::HeartbeatTimeout,
            StopReason::Fenced | StopReason::JobCancelled | StopReason::WorkerStopping => {
                Self::Fenced
            }
        }
    }
}

impl fmt::Display for RunOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed => f.write_str("completed"),
            Self::Failed(error) if error.is_retryable() => {
                write!(f, "failed, retryable: {error}")
            }
            Self::Failed(error) => write!(f, "failed: {error}"),
            Self::Fenced => f.write_str("not this worker's any more"),
            Self::HeartbeatTimeout => f.write_str("given up after the heartbeat timeout"),
            Self::Refused(error) => write!(f, "refused: {error}"),
        }
    }
}

/// Runs a claimed job with `handler`.
pub async fn run_job<H, F>(
    api: Arc<dyn JobApi>,
    claimed: ClaimedJob,
    timeouts: Timeouts,
    stop: &CancellationToken,
    handler: H,
) -> RunOutcome
where
    H: FnOnce(Job, Context) -> F + Send + 'static,
    F: Future<Output = Result<JobOutput, Error>> + Send + 'static,
{
    let mut heartbeat =
        Heartbeat::new(Arc::clone(&api), claimed.clone(), timeouts.heartbeat_timeout);
    let started = match heartbeat.start().await {
        Ok(started) => started,
        Err(outcome) => return outcome,
    };
    let ctx = Context::new(api, claimed.clone());
    // Dropping the set stops the task.
    let mut task = JoinSet::new();
    task.spawn(handle(claimed, started, ctx.clone(), handler));
    let outcome = tokio::select! {
        biased;
        Some(joined) = task.join_next() => Some(handler_result(joined)),
        () = grace_period(&ctx, timeouts) => None,
        () = keep_alive(&mut heartbeat, &ctx, stop) => None,
    };
    drop(task);
    match (ctx.stop_reason(), outcome) {
        (Some(why), _) if why.is_lost() => RunOutcome::lost(why),
        (_, Some(Ok(output))) => heartbeat.report(Ok(with_uploads(output, &ctx))).await,
        (_, Some(Err(error))) => heartbeat.report(Err(error)).await,
        (why, None) => {
            heartbeat.report(Err(why.unwrap_or(StopReason::WorkerStopping).into())).await
        }
    }
}

/// Downloads the payload and calls the handler, in a task: heartbeats are sent meanwhile.
async fn handle<H, F>(
    claimed: ClaimedJob,
    started: StartedJob,
    ctx: Context,
    handler: H,
) -> Result<JobOutput, Error>
where
    H: FnOnce(Job, Context) -> F,
    F: Future<Output = Result<JobOutput, Error>>,
{
    let payload = match started.payload {
        Payload::Inline(payload) => payload,
        Payload::Remote(address) => ctx.fetch_payload(&address).await?,
    };
    let job = Job {
        id: claimed.job_id,
        job_type: started.job_type,
        attempt: claimed.attempt,
        timeout: started.timeout,
        payload,
    };
    handler(job, ctx).await
}

/// Sends heartbeats and waits for the worker to be stopped, until it is dropped.
async fn keep_alive(heartbeat: &mut Heartbeat, ctx: &Context, stop: &CancellationToken) {
    let alive = async {
        let why = tokio::select! {
            why = heartbeat.send_periodically(ctx) => why,
            why = ctx.lost() => why,
        };
        ctx.request_stop(why);
    };
    let stopping = async {
        stop.cancelled().await;
        ctx.request_stop(StopReason::WorkerStopping);
    };
    tokio::join!(alive, stopping);
    std::future::pending::<()>().await;
}

/// Ends when the handler has to stop and its grace has run out.
async fn grace_period(ctx: &Context, timeouts: Timeouts) {
    ctx.cancelled().await;
    let lost = async {
        ctx.lost().await;
        sleep(timeouts.fenced_grace).await;
    };
    tokio::select! {
        () = lost => {}
        () = sleep(timeouts.stop_grace) => {}
    }
}

/// The handler's result, or its panic as an error.
fn handler_result(joined: Result<Result<JobOutput, Error>, JoinError>) -> Result<JobOutput, Error> {
    joined.unwrap_or_else(|broken| Err(Error::retryable(panic_message(broken))))
}

fn panic_message(broken: JoinError) -> String {
    let Ok(payload) = broken.try_into_panic() else {
        return "the handler was stopped".to_owned();
    };
    let message = payload.downcast_ref::<&str>().copied();
    let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    message
        .map_or("the handler panicked".to_owned(), |text| format!("the handler panicked: {text}"))
}

/// Adds uploaded artifacts to those that the handler lists itself.
fn with_uploads(mut output: JobOutput, ctx: &Context) -> JobOutput {
    for name in ctx.artifacts() {
        if !output.artifacts.contains(&name) {
            output.artifacts.push(name);
        }
    }
    output
}
