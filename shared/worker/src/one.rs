//! One job, from its ticket to its end.
//!
//! Effect: the job is started, the handler runs in a task of its own while heartbeats are sent, and
//! its answer is reported. Guarantee: the handler does not outlive this future, unless it never lets
//! go of its thread; a panic is a failure worth another run; what is lost is not reported.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinError, JoinSet};
use tokio::time::sleep;

use crate::pulse::Pulse;
use crate::{Cancelled, Context, Done, Error, Job, Line, Payload, Started, Stop, Ticket, Trouble};

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// How long a handler may go on once it was told to stop, before it is stopped and its job is
    /// failed as worth another run.
    pub grace: Duration,
    /// The same for a handler whose job is lost, which may be running elsewhere already.
    pub lost_grace: Duration,
    /// How long the worker goes on without being heard before it takes the job for lost.
    pub silence: Duration,
}

impl Default for Patience {
    /// 25 seconds, 5 seconds, and the 60 seconds after which the job is given to another.
    fn default() -> Self {
        Self {
            grace: Duration::from_secs(25),
            lost_grace: Duration::from_secs(5),
            silence: Duration::from_mins(1),
        }
    }
}

/// How a job ended for this worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// It is done, and that was heard.
    Completed,
    /// It could not be done, and that was heard.
    Failed(Error),
    /// It is somebody else's, or was over. If the answer to the last word was lost, that word may
    /// have counted.
    Gone,
    /// Nothing was heard for so long that it has to be taken for lost.
    Silent,
    /// Its start or its failure was refused for good; it will be missed and given to another.
    Refused(Trouble),
}

impl Ending {
    /// Of a job that nothing more is said about.
    pub(crate) const fn lost(why: Cancelled) -> Self {
        match why {
            Cancelled::Silent => Self::Silent,
            Cancelled::Gone | Cancelled::ByOwner | Cancelled::Stopping => Self::Gone,
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed => f.write_str("completed"),
            Self::Failed(error) if error.is_retryable() => {
                write!(f, "failed, worth another run: {error}")
            }
            Self::Failed(error) => write!(f, "failed: {error}"),
            Self::Gone => f.write_str("not this worker's any more"),
            Self::Silent => f.write_str("given up after a long silence"),
            Self::Refused(trouble) => write!(f, "refused: {trouble}"),
        }
    }
}

/// Runs the job of `ticket` with `handler`.
pub async fn run_one<H, F>(
    line: Arc<dyn Line>,
    ticket: Ticket,
    patience: Patience,
    stop: &Stop,
    handler: H,
) -> Ending
where
    H: FnOnce(Job, Context) -> F + Send + 'static,
    F: Future<Output = Result<Done, Error>> + Send + 'static,
{
    let mut pulse = Pulse::new(Arc::clone(&line), ticket.clone(), patience.silence);
    let started = match pulse.start().await {
        Ok(started) => started,
        Err(ending) => return ending,
    };
    let ctx = Context::new(line, ticket.clone());
    // Dropping the set stops the task.
    let mut task = JoinSet::new();
    task.spawn(handle(ticket, started, ctx.clone(), handler));
    let outcome = tokio::select! {
        biased;
        Some(joined) = task.join_next() => Some(answered(joined)),
        () = run_out(&ctx, patience) => None,
        () = attend(&mut pulse, &ctx, stop) => None,
    };
    drop(task);
    match (ctx.told(), outcome) {
        (Some(why), _) if why.is_lost() => Ending::lost(why),
        (_, Some(Ok(done))) => pulse.report(Ok(listed(done, &ctx))).await,
        (_, Some(Err(error))) => pulse.report(Err(error)).await,
        (why, None) => pulse.report(Err(why.unwrap_or(Cancelled::Stopping).into())).await,
    }
}

/// Brings the payload and calls the handler, in a task: heartbeats are sent meanwhile.
async fn handle<H, F>(
    ticket: Ticket,
    started: Started,
    ctx: Context,
    handler: H,
) -> Result<Done, Error>
where
    H: FnOnce(Job, Context) -> F,
    F: Future<Output = Result<Done, Error>>,
{
    let payload = match started.payload {
        Payload::Here(payload) => payload,
        Payload::At(place) => ctx.fetch(&place).await?,
    };
    let job = Job {
        id: ticket.job_id,
        job_type: started.job_type,
        attempt: ticket.attempt,
        timeout: started.timeout,
        payload,
    };
    handler(job, ctx).await
}

/// Sends heartbeats and listens for the wish to stop, for as long as it is waited for.
async fn attend(pulse: &mut Pulse, ctx: &Context, stop: &Stop) {
    let alive = async {
        let why = tokio::select! {
            why = pulse.keep(ctx) => why,
            why = ctx.lost() => why,
        };
        ctx.tell(why);
    };
    let stopping = async {
        stop.called().await;
        ctx.tell(Cancelled::Stopping);
    };
    tokio::join!(alive, stopping);
    std::future::pending::<()>().await;
}

/// Ends when the handler has been told to stop and its grace has run out.
async fn run_out(ctx: &Context, patience: Patience) {
    ctx.cancelled().await;
    let lost = async {
        ctx.lost().await;
        sleep(patience.lost_grace).await;
    };
    tokio::select! {
        () = lost => {}
        () = sleep(patience.grace) => {}
    }
}

/// What the handler's task came to.
fn answered(joined: Result<Result<Done, Error>, JoinError>) -> Result<Done, Error> {
    joined.unwrap_or_else(|broken| Err(Error::retry(panic_message(broken))))
}

fn panic_message(broken: JoinError) -> String {
    let Ok(payload) = broken.try_into_panic() else {
        return "the handler was stopped".to_owned();
    };
    let said = payload.downcast_ref::<&str>().copied();
    let said = said.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    said.map_or("the handler panicked".to_owned(), |said| format!("the handler panicked: {said}"))
}

/// Adds what was uploaded to what the handler lists itself.
fn listed(mut done: Done, ctx: &Context) -> Done {
    for name in ctx.artifacts() {
        if !done.artifacts.contains(&name) {
            done.artifacts.push(name);
        }
    }
    done
}
