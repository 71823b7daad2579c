//! A lean edge for one hot path: an event's few needed fields in, an answer out, nothing between.
//!
//! [`crate::http`] finds operations, identifies callers and writes a line for every request; where a
//! request costs microseconds, that would be most of them. A function here answers at once if it can
//! ([`Step::Now`]) and does the rest after the answer is out ([`Moment`]). Guarantee: a panic is
//! answered like any other fault. Absent: routes, identity, bodies, a log line for each request.

mod answer;
mod event;

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use domain::Failure;
use futures::FutureExt;
use futures::future::BoxFuture;
use store::tally::Tally;

use crate::http::Problem;
use crate::telemetry::{Fields, Log, Report, Trace};
use crate::{Clock, Entropy, Function, Host, Invocation};

pub use answer::Answer;
pub use event::{Event, Headers};

/// What a handler comes to.
pub enum Step<'a> {
    /// The answer, without having waited for anything.
    Now(Answer),
    /// Something has to be waited for first.
    Later(BoxFuture<'a, Answer>),
}

impl fmt::Debug for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Now(answer) => f.debug_tuple("Now").field(answer).finish(),
            Self::Later(_) => f.write_str("Later"),
        }
    }
}

/// When work runs that nobody waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Before the first event: whatever makes the first answer faster.
    Start,
    /// The answer is out and the next event not asked for: Lambda does not freeze the environment.
    AfterAnswer,
    /// The environment is about to end; there is half a second.
    Shutdown,
}

type Handler<S> = for<'a> fn(&'a S, Event) -> Step<'a>;
type Aside<S> = for<'a> fn(&'a S, Moment) -> BoxFuture<'a, ()>;

/// A function with a hot path.
pub struct Edge<S> {
    shared: Arc<Shared<S>>,
}

struct Shared<S> {
    name: &'static str,
    state: S,
    handler: Handler<S>,
    aside: Aside<S>,
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
    /// A function on `host` that answers with `handler` and does the rest in `aside`.
    pub fn new(
        host: &Host,
        name: &'static str,
        state: S,
        handler: Handler<S>,
        aside: Aside<S>,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                name,
                state,
                handler,
                aside,
                clock: host.clock.clone(),
                entropy: host.entropy.clone(),
                log: host.log.clone(),
                stage: host.vars.optional("STAGE").unwrap_or("local").to_owned(),
            }),
        }
    }

    /// Answers one request, whatever happens.
    pub async fn handle(&self, event: Event) -> Answer {
        let shared = &self.shared;
        let handled =
            std::panic::catch_unwind(AssertUnwindSafe(|| (shared.handler)(&shared.state, event)));
        let answered = match handled {
            Ok(Step::Now(answer)) => return answer,
            Ok(Step::Later(work)) => AssertUnwindSafe(work).catch_unwind().await,
            Err(panic) => Err(panic),
        };
        answered.unwrap_or_else(|_| {
            shared.report("answer the request");
            Answer::problem(Problem::panicked(), "/")
        })
    }

    /// Does what waits for that moment.
    pub async fn meanwhile(&self, moment: Moment) {
        let work = (self.shared.aside)(&self.shared.state, moment);
        if AssertUnwindSafe(work).catch_unwind().await.is_err() {
            self.shared.report("work after the answer");
        }
    }
}

impl<S> Shared<S> {
    fn report(&self, action: &'static str) {
        let fault = Failure::new(action, "the handler panicked").chain();
        self.log.report(&Report {
            at: self.clock.now(),
            milliseconds: 0.0,
            stage: &self.stage,
            operation: self.name,
            message: format!("{} panicked", self.name),
            trace: &Trace::new(&self.entropy),
            tally: Tally::default(),
            fault: Some(&fault),
            fields: Fields::new(),
            measures: Vec::new(),
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

    fn after(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.meanwhile(Moment::AfterAnswer))
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.meanwhile(Moment::Shutdown))
    }
}

#[cfg(test)]
pub(crate) mod tests;
