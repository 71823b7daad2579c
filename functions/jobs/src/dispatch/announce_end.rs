//! A job ended: its dependents are updated, its licence goes to the next job, the topic gets a notice.

use boundary::telemetry::{Trace, Unit, measure, measure_by};
use domain::Result;
use domain::jobs::{Actor, Job, JobEvent, JobId, JobNotice, JobStatus, WakeUp};
use futures::stream;
use futures::{StreamExt, TryStreamExt};

use crate::dispatch::assign::assign_ready;
use crate::dispatch::{CONCURRENCY, State};
use crate::engine::Applied;

/// Announces a job's end, unless that was done. Each step may be repeated; the last one marks the end as
/// announced, so a run that is cut off anywhere is completed by the next.
pub(crate) async fn announce_end(state: &State, id: &JobId, trace: &Trace) -> Result {
    let started_at = state.clock.now();
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
            .try_for_each_concurrent(CONCURRENCY, |child| notify_child(state, &job, child, trace))
            .await?;
        if state.is_over_budget(started_at) {
            state.engine.send_wake_up(&WakeUp::job_ended(id), state.now_in(trace)).await;
            return Ok(());
        }
    }
    if job.end_announced {
        return Ok(());
    }
    assign_ready(state, &job.job_type, &[], trace).await?;
    if job.status == JobStatus::Failed && job.started_at.is_some() {
        let reason = job.error.as_deref().unwrap_or("it failed");
        let body = serde_json::json!({
            "type": "JobFailed", "v": 1, "jobId": job.id.as_str(), "jobType": job.job_type.as_str(),
            "attempt": job.attempt,
        });
        state.dead_letters.send(&body.to_string(), reason, job.id.as_str(), "jobs").await?;
    }
    state.events.publish(&JobNotice::job_ended(&job), &trace.traceparent()).await?;
    jobs.mark_end_announced(&job).await?;
    let dimensions = vec![
        ("JobType", job.job_type.as_str().to_owned()),
        ("Status", job.status.name().to_owned()),
    ];
    measure_by("jobs_completed_total", Unit::Count, 1.0, dimensions);
    // Failure rates are computed from these two, over all types.
    measure("jobs_ended", Unit::Count, 1.0);
    let failed = f64::from(u8::from(job.status == JobStatus::Failed));
    measure("jobs_failed", Unit::Count, failed);
    Ok(())
}

/// Counts the end once, because the edge is deleted in the same transaction.
async fn notify_child(state: &State, parent: &Job, child: JobId, trace: &Trace) -> Result {
    let event = JobEvent::DependencyEnded {
        dependency: parent.id.clone(),
        completed: parent.status == JobStatus::Completed,
    };
    let (engine, by) = (&state.engine, Actor::System);
    match engine.apply_event(&child, &event, &by, |_| true, state.now_in(trace)).await? {
        Applied::Changed(_) => Ok(()),
        Applied::Unchanged(_) | Applied::Refused(_) | Applied::NotFound => {
            engine.jobs.remove_child(&parent.id, &child).await
        }
    }
}
