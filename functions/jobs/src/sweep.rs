//! Finds what a lost wake-up left behind, and counts licences.
//!
//! Trigger: every minute. Effect: wakes `dispatch` up for types that have jobs to hand out, for ends that were
//! not told, and four times a minute for silent workers, if anything is held; counts each type's holders
//! against its licence rows and corrects them; tells again of dependencies that have ended and are still waited
//! for. Guarantee: whatever message was lost, what it was about goes on within about a minute; a run that is cut
//! off or doubled does nothing twice.

use boundary::schedule::{Run, Summary, Task};
use boundary::telemetry::{Unit, measure, measure_by};
use boundary::{Host, Misconfigured};
use domain::jobs::{Delivery, Job, JobType, Priority, WakeUp};
use domain::{Failure, Timestamp};
use messaging::Queue;
use serde_json::json;

use crate::store::Jobs;

/// Ends that are younger are about to be told.
const UNTOLD_MS: i64 = 30_000;

/// Ends told of in one run, of each list.
const MAX_ENDS: i32 = 250;

/// Waiting jobs looked at in one run, of each list.
const MAX_WAITING: i32 = 50;

/// Jobs counted of each priority.
const COUNTED: i32 = 10_000;

/// When to look for silent workers until the next run.
const WATCHES: [u32; 4] = [0, 15, 30, 45];

/// What the handler shares between runs.
#[derive(Debug)]
pub struct State {
    jobs: Jobs,
    dispatch: Queue<WakeUp>,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Task<State>, Misconfigured> {
    let state = State { jobs: Jobs::from_host(host)?, dispatch: host.queue("DISPATCH_QUEUE")? };
    Ok(Task::new(host, "sweepJobs", state, |state, run| Box::pin(sweep(state, run))))
}

async fn sweep(state: &State, run: &Run) -> Result<Summary, Failure> {
    let State { jobs, dispatch } = state;
    let trace = run.trace.traceparent();
    let (mut ready, mut held, mut drift, mut used_up) = (0, 0, 0, 0.0_f64);
    for kind in jobs.kinds().await? {
        let depth = measure_queue(jobs, &kind, run.now).await?;
        if depth > 0 && kind.settings.delivery == Delivery::Sqs {
            dispatch.send(&WakeUp::ready(&kind.name), 0, &trace).await?;
        }
        let counted = count_licences(jobs, &kind).await?;
        (ready, held, drift) = (ready + depth, held + counted.held, drift + counted.drift);
        if depth > 0 {
            used_up = used_up.max(counted.share);
        }
    }
    measure("license_utilization", Unit::Percent, used_up);
    if held > 0 {
        let watches = WATCHES.map(|delay| (WakeUp::WorkersWatched { v: 1 }, delay));
        dispatch.send_all(watches, &trace).await?;
    }
    let before = Timestamp::from_millisecond(run.now.as_millisecond() - UNTOLD_MS);
    let untold = jobs.unsettled(before.unwrap_or(run.now), MAX_ENDS).await?;
    dispatch.send_all(untold.iter().map(|id| (WakeUp::ended(id), 0)), &trace).await?;
    let (mut walk, mut overlooked) = (jobs.waiting(MAX_WAITING), 0);
    while let Some(page) = walk.next_page().await? {
        for job in page {
            overlooked += tell_again(state, &job, &trace).await?;
        }
    }
    walk.save_position().await?;
    let summary = json!({
        "ready": ready, "held": held, "drift": drift, "untold": untold.len(), "overlooked": overlooked,
    });
    Ok(summary.as_object().cloned().unwrap_or_default())
}

/// Says how many jobs of a type are ready.
async fn measure_queue(jobs: &Jobs, kind: &JobType, now: Timestamp) -> Result<u64, Failure> {
    let mut all = 0;
    for priority in Priority::ALL {
        let depth = jobs.count_ready(&kind.name, priority, now, COUNTED).await?;
        if depth > 0 {
            let dimensions = vec![
                ("JobType", kind.name.as_str().to_owned()),
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

/// Counts holders against what the rows say. Rows that people come to and leave while they are counted
/// are counted again by the next run: what is seen then is no drift but traffic.
async fn count_licences(jobs: &Jobs, kind: &JobType) -> Result<Licences, Failure> {
    let mut found = Licences { held: 0, drift: 0, share: 0.0 };
    for shard in 0..kind.widest.max(kind.settings.shards) {
        let Some(counted) = jobs.recount(&kind.name, shard).await? else { continue };
        found.held += counted.holders.len();
        let holders = u32::try_from(counted.holders.len()).unwrap_or(u32::MAX);
        if holders != counted.licence.in_use {
            found.drift += u64::from(holders.abs_diff(counted.licence.in_use));
            jobs.correct(&kind.name, &counted).await?;
        }
    }
    let dimensions = || vec![("JobType", kind.name.as_str().to_owned())];
    if found.held > 0 {
        let limit = f64::from(kind.settings.max_concurrent.max(1));
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

/// Tells again of dependencies that have ended: if all went well there are none.
async fn tell_again(state: &State, job: &Job, trace: &str) -> Result<usize, Failure> {
    let mut ended = state.jobs.find_all(&job.dependencies).await?;
    ended.retain(|parent| parent.status.is_final() && parent.settled);
    let again = ended.iter().map(|parent| (WakeUp::ended(&parent.id), 0));
    state.dispatch.send_all(again, trace).await?;
    Ok(ended.len())
}

fn float(count: u64) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
