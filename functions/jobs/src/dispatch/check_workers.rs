//! Missed heartbeats, runs that take too long, and licences whose job does not hold them.

use boundary::telemetry::{Trace, Unit, measure, measure_by};
use domain::Result;
use domain::jobs::{Actor, Job, JobDecision, JobEvent, JobId, JobStatus, JobType, transition};

use crate::dispatch::State;
use crate::engine::Applied;
use crate::store::LicenceHolder;

/// Checks every job that has held a licence long enough to have missed its heartbeats or its timeout.
pub(crate) async fn check_workers(state: &State, trace: &Trace) -> Result {
    let mut running = 0_u32;
    for job_type in state.engine.jobs.job_types().await? {
        for shard in 0..job_type.shard_count() {
            running += check_shard(state, &job_type, shard, trace).await?;
        }
    }
    measure("worker_active_count", Unit::Count, running.into());
    Ok(())
}

/// Returns how many are running.
async fn check_shard(state: &State, job_type: &JobType, shard: u8, trace: &Trace) -> Result<u32> {
    let now = state.clock.now();
    let holders = state.engine.jobs.holders(&job_type.name, shard, usize::MAX).await?;
    let is_due = |holder: &&LicenceHolder| holder.check_due_at.is_none_or(|due_at| due_at <= now);
    let due: Vec<JobId> = holders.iter().filter(is_due).map(|holder| holder.job.clone()).collect();
    let recent = u32::try_from(holders.len() - due.len()).unwrap_or(u32::MAX);
    let mut running = recent;
    for ids in due.chunks(100) {
        let found = state.engine.jobs.find_all(ids).await?;
        for id in ids {
            let job = found.iter().find(|job| job.id == *id);
            let Some(job) = job.filter(|job| job.shard == Some(shard)) else {
                // The job ended without returning this licence.
                state
                    .engine
                    .jobs
                    .reclaim_licence(&job_type.name, shard, id, &state.engine.entropy.token())
                    .await?;
                let dimensions = vec![("JobType", job_type.name.as_str().to_owned())];
                measure_by("license_drift", Unit::Count, 1.0, dimensions);
                continue;
            };
            running += u32::from(job.status == JobStatus::Running);
            check_heartbeat(state, job, trace).await?;
        }
    }
    Ok(running)
}

async fn check_heartbeat(state: &State, job: &Job, trace: &Trace) -> Result {
    let jitter = u64::from_be_bytes(state.engine.entropy.bytes());
    let event = JobEvent::Checked { heartbeat_at: job.heartbeat_at, jitter };
    let (now, trace) = state.now_in(trace);
    if !matches!(transition(job, &event, now), JobDecision::Change(_)) {
        return Ok(());
    }
    let by = Actor::System;
    let applied = state.engine.apply_event(&job.id, &event, &by, |_| true, (now, trace)).await?;
    if let Applied::Changed(_) = applied {
        let dimensions = vec![("JobType", job.job_type.as_str().to_owned())];
        measure_by("heartbeat_missed_total", Unit::Count, 1.0, dimensions);
        measure("heartbeat_missed_total", Unit::Count, 1.0);
    }
    Ok(())
}
