//! Makes up for lost wake-ups, and counts licences.
//!
//! Trigger: every minute. Effect: wakes `dispatch` up for types that have jobs to assign, for ends that are not
//! announced, and four times a minute to check workers, if any job holds a licence; counts each type's holders
//! against its licence rows and corrects them; announces dependencies again that have ended and are still
//! waited for. Guarantee: a job whose message was lost goes on within about a minute; a run that is cut off or
//! doubled does nothing twice.

use boundary::schedule::{Run, Summary, Task};
use boundary::telemetry::{Unit, measure, measure_by};
use boundary::{Host, Misconfigured};
use domain::jobs::{DeliveryMode, Job, JobPriority, JobType, WakeUp};
use domain::{Result, Timestamp};
use messaging::Queue;
use serde_json::json;

use crate::store::Jobs;

/// Ends that are younger are being announced.
const ANNOUNCE_DELAY_MS: i64 = 30_000;

/// Ends announced again in one run, of each list.
const MAX_ENDS: i32 = 250;

/// Waiting jobs checked in one run, of each list.
const MAX_WAITING: i32 = 50;

/// Jobs counted of each priority.
const MAX_COUNTED: i32 = 10_000;

/// Delays of the wake-ups that check workers until the next run, in seconds.
const WORKER_CHECKS: [u32; 4] = [0, 15, 30, 45];

#[derive(Debug)]
pub struct State {
    jobs: Jobs,
    dispatch: Queue<WakeUp>,
}

pub fn function(host: &Host) -> Result<Task<State>, Misconfigured> {
    let state = State { jobs: Jobs::from_host(host)?, dispatch: host.queue("DISPATCH_QUEUE")? };
    Ok(Task::new(host, "sweepJobs", state, |state, run| Box::pin(sweep(state, run))))
}

async fn sweep(state: &State, run: &Run) -> Result<Summary> {
    let State { jobs, dispatch } = state;
    let trace = run.trace.traceparent();
    let (mut ready, mut held, mut drift, mut highest_share) = (0, 0, 0, 0.0_f64);
    for job_type in jobs.job_types().await? {
        let depth = measure_queue(jobs, &job_type, run.now).await?;
        if depth > 0 && job_type.settings.delivery == DeliveryMode::Sqs {
            dispatch.send(&WakeUp::jobs_ready(&job_type.name), 0, &trace).await?;
        }
        let counted = count_licences(jobs, &job_type).await?;
        (ready, held, drift) = (ready + depth, held + counted.held, drift + counted.drift);
        if depth > 0 {
            highest_share = highest_share.max(counted.share);
        }
    }
    measure("license_utilization", Unit::Percent, highest_share);
    if held > 0 {
        let checks = WORKER_CHECKS.map(|delay| (WakeUp::WorkersWatched { v: 1 }, delay));
        dispatch.send_all(checks, &trace).await?;
    }
    let before = Timestamp::from_millisecond(run.now.as_millisecond() - ANNOUNCE_DELAY_MS);
    let untold = jobs.unannounced_ends(before.unwrap_or(run.now), MAX_ENDS).await?;
    dispatch.send_all(untold.iter().map(|id| (WakeUp::job_ended(id), 0)), &trace).await?;
    let (mut walk, mut overlooked) = (jobs.walk_waiting(MAX_WAITING), 0);
    while let Some(page) = walk.next_page().await? {
        for job in page {
            overlooked += announce_dependencies(state, &job, &trace).await?;
        }
    }
    walk.save_position().await?;
    let summary = json!({
        "ready": ready, "held": held, "drift": drift, "untold": untold.len(), "overlooked": overlooked,
    });
    Ok(summary.as_object().cloned().unwrap_or_default())
}

/// Measures and returns how many jobs of a type are ready.
async fn measure_queue(jobs: &Jobs, job_type: &JobType, now: Timestamp) -> Result<u64> {
    let mut all = 0;
    for priority in JobPriority::ALL {
        let depth = jobs.count_ready(&job_type.name, priority, now, MAX_COUNTED).await?;
        if depth > 0 {
            let dimensions = vec![
                ("JobType", job_type.name.as_str().to_owned()),
                ("Priority", priority.name().to_owned()),
            ];
            measure_by("queue_depth", Unit::Count, float(depth), dimensions);
        }
        all += depth;
    }
    measure("queue_depth", Unit::Count, float(all));
    Ok(all)
}

struct Licences {
    held: usize,
    drift: u64,
    share: f64,
}

/// Counts holders against what the rows say. Rows that change while they are counted are left to the next
/// run: a difference would be traffic, not drift.
async fn count_licences(jobs: &Jobs, job_type: &JobType) -> Result<Licences> {
    let mut found = Licences { held: 0, drift: 0, share: 0.0 };
    for shard in 0..job_type.shard_count() {
        let Some(counted) = jobs.count_holders(&job_type.name, shard).await? else { continue };
        found.held += counted.holders.len();
        let holders = u32::try_from(counted.holders.len()).unwrap_or(u32::MAX);
        if holders != counted.licence.in_use {
            found.drift += u64::from(holders.abs_diff(counted.licence.in_use));
            jobs.correct_count(&job_type.name, &counted).await?;
        }
    }
    let dimensions = || vec![("JobType", job_type.name.as_str().to_owned())];
    if found.held > 0 {
        let limit = f64::from(job_type.settings.max_concurrent.max(1));
        let share = 100.0 * float(found.held as u64) / limit;
        measure_by("license_utilization", Unit::Percent, share, dimensions());
        found.share = share;
    }
    if found.drift > 0 {
        measure_by("license_drift", Unit::Count, float(found.drift), dimensions());
    }
    measure("license_drift", Unit::Count, float(found.drift));
    Ok(found)
}

/// Announces ended dependencies of a waiting job again: without lost messages there are none.
async fn announce_dependencies(state: &State, job: &Job, trace: &str) -> Result<usize> {
    let mut ended = state.jobs.find_all(&job.dependencies).await?;
    ended.retain(|parent| parent.status.is_final() && parent.end_announced);
    let wake_ups = ended.iter().map(|parent| (WakeUp::job_ended(&parent.id), 0));
    state.dispatch.send_all(wake_ups, trace).await?;
    Ok(ended.len())
}

fn float(count: u64) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
