//! Handing out: the first of a type's queue, as far as there are licences.

use boundary::telemetry::Trace;
use domain::Failure;
use domain::jobs::{Assignment, Delivery, Job, JobId, TypeName, WakeUp};
use futures::StreamExt;
use futures::stream;

use crate::dispatch::{AT_ONCE, State};

/// Jobs handed out between two looks at the queue.
const BATCH: usize = 50;

/// Hands out what may run of a type. Workers of a type that is polled take their jobs themselves.
pub(crate) async fn hand_out(
    state: &State,
    name: &TypeName,
    also: &[JobId],
    trace: &Trace,
) -> Result<(), Failure> {
    let began = state.clock.now();
    loop {
        let Some(kind) = state.engine.jobs.kind(name).await? else { return Ok(()) };
        if kind.settings.delivery == Delivery::Poll {
            return Ok(());
        }
        let now = state.clock.now();
        let assigned = state.engine.assign(&kind, None, also, BATCH, now).await?;
        let tell = |job| tell_worker(state, job, trace);
        stream::iter(&assigned.jobs).for_each_concurrent(AT_ONCE, tell).await;
        if !assigned.more {
            return Ok(());
        }
        if state.is_late(began) {
            state.engine.send(&WakeUp::ready(name), state.at(trace)).await;
            return Ok(());
        }
    }
}

/// A job whose worker is not told is found silent, and handed out again.
async fn tell_worker(state: &State, job: &Job, trace: &Trace) {
    let sent = state.work.send(&Assignment::of(job), 0, &trace.traceparent()).await;
    state.engine.note(sent, state.at(trace));
}
