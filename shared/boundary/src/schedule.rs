//! Functions that a schedule invokes.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use domain::{Result, Timestamp};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use store::capacity;

use crate::telemetry::{InvocationReport, Log, LogFields, Stopwatch, Trace, collect_metrics};
use crate::{Clock, Entropy, Host};

/// One run, as its handler sees it.
#[derive(Debug)]
pub struct Run {
    /// When it began.
    pub now: Timestamp,
    /// A trace of its own.
    pub trace: Trace,
}

/// What a run did, for the log and the answer to the invocation.
pub type Summary = LogFields;

type Handler<S> = for<'a> fn(&'a S, &'a Run) -> BoxFuture<'a, Result<Summary>>;

/// A function that a schedule invokes.
pub struct Task<S> {
    shared: Arc<Shared<S>>,
}

struct Shared<S> {
    name: &'static str,
    state: S,
    handler: Handler<S>,
    clock: Clock,
    entropy: Entropy,
    log: Log,
    stage: String,
}

impl<S> Clone for Task<S> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<S> fmt::Debug for Task<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("name", &self.shared.name).finish_non_exhaustive()
    }
}

impl<S: Send + Sync + 'static> Task<S> {
    /// A task on `host`.
    pub fn new(host: &Host, name: &'static str, state: S, handler: Handler<S>) -> Self {
        Self {
            shared: Arc::new(Shared {
                name,
                state,
                handler,
                clock: host.clock.clone(),
                entropy: host.entropy.clone(),
                log: host.log.clone(),
                stage: host.vars.optional("STAGE").unwrap_or("local").to_owned(),
            }),
        }
    }

    /// Runs once; an error makes the invocation fail, and the next run picks up what is left.
    pub async fn handle(&self) -> Result<Value, String> {
        let shared = &self.shared;
        let stopwatch = Stopwatch::start();
        let run = Run { now: shared.clock.now(), trace: Trace::new(&shared.entropy) };
        let work = AssertUnwindSafe((shared.handler)(&shared.state, &run)).catch_unwind();
        let ((outcome, capacity), metrics) = collect_metrics(capacity::metered(work)).await;
        let outcome = match outcome {
            Ok(outcome) => outcome.map_err(|failure| failure.chain()),
            Err(_) => Err("the handler panicked".to_owned()),
        };
        shared.log.report(&InvocationReport {
            at: run.now,
            milliseconds: stopwatch.milliseconds(),
            stage: &shared.stage,
            operation: shared.name,
            message: format!("{} ran", shared.name),
            trace: &run.trace,
            capacity,
            fault: outcome.as_ref().err().map(String::as_str),
            fields: outcome.clone().unwrap_or_default(),
            metrics,
        });
        outcome.map(|summary| json!(summary))
    }
}
