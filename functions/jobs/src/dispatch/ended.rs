//! A job ended: whoever waits for it is told, its licence goes to the next, the world hears of it.

use boundary::telemetry::{Trace, Unit, measure, measure_by};
use domain::Failure;
use domain::jobs::{Actor, Event, Job, JobId, Notice, Status, WakeUp};
use futures::stream;
use futures::{StreamExt, TryStreamExt};

use crate::dispatch::hand_out::hand_out;
use crate::dispatch::{AT_ONCE, State};
use crate::engine::Applied;

/// Tells of a job's end, unless that was done. Each step may be repeated; the last one notes that all
/// of them are done, so a run that is cut off anywhere is made up for by the next.
pub(crate) async fn tell(state: &State, id: &JobId, trace: &Trace) -> Result<(), Failure> {
    let began = state.clock.now();
    let jobs = &state.engine.jobs;
    let Some(job) = jobs.find(id).await? else { return Ok(()) };
    if !job.status.is_final() {
        return Ok(());
    }
    loop {
        let children = jobs.children(id).await?;
        if children.is_empty() {
            break;
        }
        stream::iter(children)
            .map(Ok)
            .try_for_each_concurrent(AT_ONCE, |child| tell_child(state, &job, child, trace))
            .await?;
        if state.is_late(began) {
            state.engine.send(&WakeUp::ended(id), state.at(trace)).await;
            return Ok(());
        }
    }
    if job.settled {
        return Ok(());
    }
    hand_out(state, &job.kind, &[], trace).await?;
    if job.status == Status::Failed && job.started_at.is_some() {
        let reason = job.error.as_deref().unwrap_or("it failed");
        let body = serde_json::json!({
            "type": "JobFailed", "v": 1, "jobId": job.id.as_str(), "jobType": job.kind.as_str(),
            "attempt": job.attempt,
        });
        state.dead_letters.send(&body.to_string(), reason, job.id.as_str(), "jobs").await?;
    }
    state.events.publish(&Notice::ended(&job), &trace.traceparent()).await?;
    jobs.settled(&job).await?;
    let dimensions =
        vec![("JobType", job.kind.as_str().to_owned()), ("Status", job.status.name().to_owned())];
    measure_by("jobs_completed_total", Unit::Count, 1.0, dimensions);
    // Rates are of these two: no type has to be known for them.
    measure("jobs_ended", Unit::Count, 1.0);
    let failed = f64::from(u8::from(job.status == Status::Failed));
    measure("jobs_failed", Unit::Count, failed);
    Ok(())
}

/// Counts the end once, because the edge goes away in the same transaction.
async fn tell_child(
    state: &State,
    parent: &Job,
    child: JobId,
    trace: &Trace,
) -> Result<(), Failure> {
    let event = Event::DependencyEnded {
        dependency: parent.id.clone(),
        completed: parent.status == Status::Completed,
    };
    let (engine, by) = (&state.engine, Actor::System);
    match engine.happen(&child, &event, &by, |_| true, state.at(trace)).await? {
        Applied::Changed(_) => Ok(()),
        Applied::Stays(_) | Applied::Refused(_) | Applied::Unknown => {
            engine.jobs.forget_child(&parent.id, &child).await
        }
    }
}
