//! Assigning the ready jobs of a type and sending them to the worker queue.

use boundary::telemetry::Trace;
use domain::Result;
use domain::jobs::{Assignment, DeliveryMode, Job, JobId, JobTypeName, WakeUp};
use futures::StreamExt;
use futures::stream;

use crate::dispatch::{CONCURRENCY, State};

/// Jobs assigned by one read of the queue.
const BATCH: usize = 50;

/// Assigns the jobs of a type that may run. Those of a polled type are assigned when a worker claims them.
pub(crate) async fn assign_ready(
    state: &State,
    name: &JobTypeName,
    unindexed: &[JobId],
    trace: &Trace,
) -> Result {
    let started_at = state.clock.now();
    loop {
        let Some(job_type) = state.engine.jobs.job_type(name).await? else { return Ok(()) };
        if job_type.settings.delivery == DeliveryMode::Poll {
            return Ok(());
        }
        let now = state.clock.now();
        let assigned = state.engine.assign(&job_type, None, unindexed, BATCH, now).await?;
        let send = |job| send_assignment(state, job, trace);
        stream::iter(&assigned.jobs).for_each_concurrent(CONCURRENCY, send).await;
        if !assigned.more {
            return Ok(());
        }
        if state.is_over_budget(started_at) {
            state.engine.send_wake_up(&WakeUp::jobs_ready(name), state.now_in(trace)).await;
            return Ok(());
        }
    }
}

/// A job whose assignment is lost misses its heartbeats, and is assigned again.
async fn send_assignment(state: &State, job: &Job, trace: &Trace) {
    let sent = state.work.send(&Assignment::new(job), 0, &trace.traceparent()).await;
    state.engine.log_failed_send(sent, state.now_in(trace));
}
