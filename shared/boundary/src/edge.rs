//! A lean edge for one hot path: an event's few needed fields in, a response out, nothing between.
//!
//! [`crate::http`] finds operations, identifies callers and writes a line for every request; where a
//! request costs microseconds, that would be most of them. A function here answers at once if it can
//! ([`EdgeReply::Ready`]) and does the rest after the answer is out ([`Phase`]). Guarantee: a panic is
//! response like any other fault. Absent: routes, identity, bodies, a log line for each request.

mod event;
mod response;

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use domain::Failure;
use futures::FutureExt;
use futures::future::BoxFuture;
use store::capacity::CapacityUsed;

use crate::http::Problem;
use crate::telemetry::{InvocationReport, Log, LogFields, Trace};
use crate::{Clock, Entropy, Function, Host, Invocation};

pub use event::{Headers, HttpEvent};
pub use response::EdgeResponse;

/// What a handler returns.
pub enum EdgeReply<'a> {
    /// The response, without having waited for anything.
    Ready(EdgeResponse),
    /// Something has to be waited for first.
    Pending(BoxFuture<'a, EdgeResponse>),
}

impl fmt::Debug for EdgeReply<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(answer) => f.debug_tuple("Ready").field(answer).finish(),
            Self::Pending(_) => f.write_str("Pending"),
        }
    }
}

/// When a function works without a request that waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Before the first event: what makes the first response faster.
    Start,
    /// The response is out and the next event not asked for: Lambda does not freeze the environment.
    AfterResponse,
    /// The environment is about to end; there is half a second.
    Shutdown,
}

type Handler<S> = for<'a> fn(&'a S, HttpEvent) -> EdgeReply<'a>;
type PhaseHandler<S> = for<'a> fn(&'a S, Phase) -> BoxFuture<'a, ()>;

/// A function with a hot path.
pub struct Edge<S> {
    shared: Arc<Shared<S>>,
}

struct Shared<S> {
    name: &'static str,
    state: S,
    handler: Handler<S>,
    run_phase: PhaseHandler<S>,
    clock: Clock,
    entropy: Entropy,
    log: Log,
    stage: String,
}

impl<S> Clone for Edge<S> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<S> fmt::Debug for Edge<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Edge").field("name", &self.shared.name).finish_non_exhaustive()
    }
}

impl<S: Send + Sync + 'static> Edge<S> {
    /// A function on `host` that answers with `handler` and does the rest in `run_phase`.
    pub fn new(
        host: &Host,
        name: &'static str,
        state: S,
        handler: Handler<S>,
        run_phase: PhaseHandler<S>,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                name,
                state,
                handler,
                run_phase,
                clock: host.clock.clone(),
                entropy: host.entropy.clone(),
                log: host.log.clone(),
                stage: host.vars.optional("STAGE").unwrap_or("local").to_owned(),
            }),
        }
    }

    /// Answers one request, also when the handler panics.
    pub async fn handle(&self, event: HttpEvent) -> EdgeResponse {
        let shared = &self.shared;
        let handled =
            std::panic::catch_unwind(AssertUnwindSafe(|| (shared.handler)(&shared.state, event)));
        let response = match handled {
            Ok(EdgeReply::Ready(answer)) => return answer,
            Ok(EdgeReply::Pending(work)) => AssertUnwindSafe(work).catch_unwind().await,
            Err(panic) => Err(panic),
        };
        response.unwrap_or_else(|_| {
            shared.report("answer the request");
            EdgeResponse::problem(Problem::panicked(), "/")
        })
    }

    /// Does what waits for that phase.
    pub async fn run_phase(&self, phase: Phase) {
        let work = (self.shared.run_phase)(&self.shared.state, phase);
        if AssertUnwindSafe(work).catch_unwind().await.is_err() {
            self.shared.report("work after the answer");
        }
    }
}

impl<S> Shared<S> {
    fn report(&self, action: &'static str) {
        let fault = Failure::new(action, "the handler panicked").chain();
        self.log.report(&InvocationReport {
            at: self.clock.now(),
            milliseconds: 0.0,
            stage: &self.stage,
            operation: self.name,
            message: format!("{} panicked", self.name),
            trace: &Trace::new(&self.entropy),
            capacity: CapacityUsed::default(),
            fault: Some(&fault),
            fields: LogFields::new(),
            metrics: Vec::new(),
        });
    }
}

impl<S: Send + Sync + 'static> Function for Edge<S> {
    fn invoke<'a>(
        &'a self,
        event: &'a [u8],
        _: Invocation,
    ) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        Box::pin(async move {
            let event = serde_json::from_slice(event).map_err(|error| error.to_string())?;
            serde_json::to_vec(&self.handle(event).await).map_err(|error| error.to_string())
        })
    }

    fn after_response(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.run_phase(Phase::AfterResponse))
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.run_phase(Phase::Shutdown))
    }
}

#[cfg(test)]
pub(crate) mod tests;
