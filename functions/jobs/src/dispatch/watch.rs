//! Silent workers, runs that take too long, and licences that nobody needs.

use boundary::telemetry::{Trace, Unit, measure, measure_by};
use domain::Failure;
use domain::jobs::{Actor, Decision, Event, Job, JobId, JobType, Status, transition};

use crate::dispatch::State;
use crate::engine::Applied;
use crate::store::Holder;

/// Looks at everyone who has held a licence for long enough to have fallen silent or to be too slow.
pub(crate) async fn watch(state: &State, trace: &Trace) -> Result<(), Failure> {
    let mut running = 0_u32;
    for kind in state.engine.jobs.kinds().await? {
        for shard in 0..kind.widest.max(kind.settings.shards) {
            running += watch_shard(state, &kind, shard, trace).await?;
        }
    }
    measure("worker_active_count", Unit::Count, running.into());
    Ok(())
}

/// Says how many are running.
async fn watch_shard(
    state: &State,
    kind: &JobType,
    shard: u8,
    trace: &Trace,
) -> Result<u32, Failure> {
    let now = state.clock.now();
    let holders = state.engine.jobs.holders(&kind.name, shard, usize::MAX).await?;
    let is_old = |holder: &&Holder| holder.due_at.is_none_or(|due_at| due_at <= now);
    let old: Vec<JobId> = holders.iter().filter(is_old).map(|holder| holder.job.clone()).collect();
    let young = u32::try_from(holders.len() - old.len()).unwrap_or(u32::MAX);
    let mut running = young;
    for ids in old.chunks(100) {
        let found = state.engine.jobs.find_all(ids).await?;
        for id in ids {
            let job = found.iter().find(|job| job.id == *id);
            let Some(job) = job.filter(|job| job.shard == Some(shard)) else {
                // It ended or was lost, and its licence was left behind.
                state
                    .engine
                    .jobs
                    .evict(&kind.name, shard, id, &state.engine.entropy.token())
                    .await?;
                let dimensions = vec![("JobType", kind.name.as_str().to_owned())];
                measure_by("license_drift", Unit::Count, 1.0, dimensions);
                continue;
            };
            running += u32::from(job.status == Status::Running);
            look_at(state, job, trace).await?;
        }
    }
    Ok(running)
}

async fn look_at(state: &State, job: &Job, trace: &Trace) -> Result<(), Failure> {
    let jitter = u64::from_be_bytes(state.engine.entropy.bytes());
    let event = Event::Checked { heard_at: job.beat_at, jitter };
    let (now, trace) = state.at(trace);
    if !matches!(transition(job, &event, now), Decision::Become(_)) {
        return Ok(());
    }
    let by = Actor::System;
    let applied = state.engine.happen(&job.id, &event, &by, |_| true, (now, trace)).await?;
    if let Applied::Changed(_) = applied {
        let dimensions = vec![("JobType", job.kind.as_str().to_owned())];
        measure_by("heartbeat_missed_total", Unit::Count, 1.0, dimensions);
        measure("heartbeat_missed_total", Unit::Count, 1.0);
    }
    Ok(())
}
