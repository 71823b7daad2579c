//! The state of the function, and what several handlers need of it.

use std::collections::HashMap;

use boundary::http::{Call, Problem, Result, sentence};
use boundary::{Host, Misconfigured};
use domain::Timestamp;
use domain::accounts::{Principal, Role};
use domain::jobs::aging::ahead_cutoff;
use domain::jobs::{Actor, Job, JobEvent, JobId, JobPriority, JobType, JobTypeName, WakeUp};
use parking_lot::Mutex;
use store::Bucket;

use crate::engine::{Applied, Engine};
use crate::store::Jobs;

/// How long an instance caches a type's settings and the length of its queue.
const CACHE_TTL_MS: i64 = 5_000;

/// Jobs ahead are counted up to this.
pub(crate) const MAX_COUNTED: i32 = 1_000;

#[derive(Debug)]
pub struct App {
    pub(crate) engine: Engine,
    pub(crate) jobs: Jobs,
    pub(crate) bucket: Bucket,
    job_types: Mutex<HashMap<JobTypeName, (Timestamp, JobType)>>,
    queue_depths: Mutex<HashMap<(JobTypeName, JobPriority), (Timestamp, u64)>>,
}

impl App {
    pub(crate) fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        let engine = Engine::from_host(host)?;
        Ok(Self {
            jobs: engine.jobs.clone(),
            engine,
            bucket: Bucket::new(host.aws.bucket(host.vars.required("ARTIFACTS_BUCKET")?)),
            job_types: Mutex::default(),
            queue_depths: Mutex::default(),
        })
    }

    /// Applies an event to a job, and sends the wake-up that it calls for.
    pub(crate) async fn apply_event(
        &self,
        call: &Call,
        id: &JobId,
        event: &JobEvent,
        by: &Actor,
        visible: impl Fn(&Job) -> bool,
    ) -> Result<Job> {
        found(self.engine.apply_event(id, event, by, visible, (call.now, &call.trace)).await?)
    }

    /// Wakes `dispatch` up: a raised limit may let jobs run.
    pub(crate) async fn limit_changed(&self, job_type: &JobType, call: &Call) {
        self.job_types.lock().remove(&job_type.name);
        self.engine
            .send_wake_up(&WakeUp::jobs_ready(&job_type.name), (call.now, &call.trace))
            .await;
    }

    /// A type, at most a few seconds old.
    pub(crate) async fn job_type(&self, name: &JobTypeName, now: Timestamp) -> Result<JobType> {
        let known = self.job_types.lock().get(name).filter(|(at, _)| is_fresh(*at, now)).cloned();
        if let Some((_, job_type)) = known {
            return Ok(job_type);
        }
        let found = self.jobs.job_type(name).await?;
        let job_type = found.ok_or_else(|| unknown_type(name.as_str()))?;
        self.job_types.lock().insert(name.clone(), (now, job_type.clone()));
        Ok(job_type)
    }

    /// How many jobs would go before a new one, at most a few seconds old.
    pub(crate) async fn queue_depth(
        &self,
        job_type: &JobType,
        priority: JobPriority,
        now: Timestamp,
    ) -> Result<u64> {
        let key = (job_type.name.clone(), priority);
        let known =
            self.queue_depths.lock().get(&key).filter(|(at, _)| is_fresh(*at, now)).copied();
        if let Some((_, depth)) = known {
            return Ok(depth);
        }
        let depth = self.count_ahead(job_type, priority, now, now).await?;
        self.queue_depths.lock().insert(key, (now, depth));
        Ok(depth)
    }

    /// How many jobs go before one that became ready at `ready_at`.
    pub(crate) async fn count_ahead(
        &self,
        job_type: &JobType,
        priority: JobPriority,
        ready_at: Timestamp,
        now: Timestamp,
    ) -> Result<u64> {
        let aging = job_type.settings.aging_seconds;
        let mut ahead = 0;
        for other in JobPriority::ALL {
            let until = ahead_cutoff((priority, ready_at), other, now, aging);
            ahead += self.jobs.count_ready(&job_type.name, other, until, MAX_COUNTED).await?;
        }
        Ok(ahead)
    }
}

/// The job that an event was applied to: 409 if it was refused, 404 if there is none.
pub(crate) fn found(applied: Applied) -> Result<Job> {
    match applied {
        Applied::Changed(job) | Applied::Unchanged(job) => Ok(*job),
        Applied::Refused(refusal) => Err(Problem::conflict(sentence(&refusal.to_string()))),
        Applied::NotFound => Err(Problem::unknown("job")),
    }
}

fn unknown_type(name: &str) -> Problem {
    let make = format!("an admin makes it with `PUT /api/v1/job-types/{name}`.");
    Problem::invalid_field("jobType", format!("There is no job type `{name}`; {make}"))
}

/// Whether a caller may read all jobs.
pub(crate) fn may_read_all(caller: &Principal) -> bool {
    let all = [Role::JobViewer, Role::JobWorker];
    caller.is_admin() || all.into_iter().any(|role| caller.roles.contains(role))
}

pub(crate) fn may_read(caller: &Principal, job: &Job) -> bool {
    may_read_all(caller) || job.owner == caller.user_id
}

/// Whether a caller may cancel or retry a job.
pub(crate) fn may_manage(caller: &Principal, job: &Job) -> bool {
    caller.is_admin() || job.owner == caller.user_id
}

fn is_fresh(at: Timestamp, now: Timestamp) -> bool {
    (0..CACHE_TTL_MS).contains(&(now.as_millisecond() - at.as_millisecond()))
}
