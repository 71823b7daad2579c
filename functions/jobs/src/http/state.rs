//! What the handlers share, and what all of them ask for.

use std::collections::HashMap;

use boundary::http::{Call, Problem, sentence};
use boundary::{Host, Misconfigured};
use domain::Timestamp;
use domain::accounts::{Principal, Role};
use domain::jobs::order::ahead_until;
use domain::jobs::{Actor, Event, Job, JobId, JobType, Priority, Refusal, TypeName, WakeUp};
use parking_lot::Mutex;
use store::Bucket;

use crate::engine::{Applied, Engine};
use crate::store::Jobs;

/// How long a node remembers a type's settings and how long its queue is.
const REMEMBERED_MS: i64 = 5_000;

/// Jobs ahead are counted up to this.
pub(crate) const COUNTED: i32 = 1_000;

/// What the handlers share.
#[derive(Debug)]
pub struct App {
    pub(crate) engine: Engine,
    pub(crate) jobs: Jobs,
    pub(crate) bucket: Bucket,
    kinds: Mutex<HashMap<TypeName, (Timestamp, JobType)>>,
    depths: Mutex<HashMap<(TypeName, Priority), (Timestamp, u64)>>,
}

impl App {
    pub(crate) fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        let engine = Engine::from_host(host)?;
        Ok(Self {
            jobs: engine.jobs.clone(),
            engine,
            bucket: Bucket::new(host.aws.s3(), host.vars.required("ARTIFACTS_BUCKET")?),
            kinds: Mutex::default(),
            depths: Mutex::default(),
        })
    }

    /// Lets an event happen to a job, and wakes up whoever has to look.
    pub(crate) async fn happen(
        &self,
        call: &Call,
        id: &JobId,
        event: &Event,
        by: &Actor,
        may: impl Fn(&Job) -> bool,
    ) -> Result<Job, Problem> {
        match self.engine.happen(id, event, by, may, (call.now, &call.trace)).await? {
            Applied::Changed(job) | Applied::Stays(job) => Ok(*job),
            Applied::Refused(refusal) => Err(refused(&refusal)),
            Applied::Unknown => Err(Problem::unknown("job")),
        }
    }

    /// A limit that was raised may let jobs in.
    pub(crate) async fn announce(&self, kind: &JobType, call: &Call) {
        self.kinds.lock().remove(&kind.name);
        self.engine.send(&WakeUp::ready(&kind.name), (call.now, &call.trace)).await;
    }

    /// A type that jobs may be submitted for, as it was within the last few seconds.
    pub(crate) async fn kind(&self, name: &TypeName, now: Timestamp) -> Result<JobType, Problem> {
        let known = self.kinds.lock().get(name).filter(|(at, _)| is_fresh(*at, now)).cloned();
        if let Some((_, kind)) = known {
            return Ok(kind);
        }
        let found = self.jobs.kind(name).await?;
        let kind = found.ok_or_else(|| unknown_type(name.as_str()))?;
        self.kinds.lock().insert(name.clone(), (now, kind.clone()));
        Ok(kind)
    }

    /// How many jobs a new one would have before it, as it was within the last few seconds.
    pub(crate) async fn depth(
        &self,
        kind: &JobType,
        priority: Priority,
        now: Timestamp,
    ) -> Result<u64, Problem> {
        let key = (kind.name.clone(), priority);
        let known = self.depths.lock().get(&key).filter(|(at, _)| is_fresh(*at, now)).copied();
        if let Some((_, depth)) = known {
            return Ok(depth);
        }
        let depth = self.ahead(kind, priority, now, now).await?;
        self.depths.lock().insert(key, (now, depth));
        Ok(depth)
    }

    /// How many jobs go before one that became ready at `ready_at`.
    pub(crate) async fn ahead(
        &self,
        kind: &JobType,
        priority: Priority,
        ready_at: Timestamp,
        now: Timestamp,
    ) -> Result<u64, Problem> {
        let aging = kind.settings.aging_seconds;
        let mut ahead = 0;
        for other in Priority::ALL {
            let until = ahead_until((priority, ready_at), other, now, aging);
            ahead += self.jobs.count_ready(&kind.name, other, until, COUNTED).await?;
        }
        Ok(ahead)
    }
}

/// The state that a job is in does not let that happen.
pub(crate) fn refused(refusal: &Refusal) -> Problem {
    Problem::conflict(sentence(&refusal.to_string()))
}

fn unknown_type(name: &str) -> Problem {
    let make = format!("an admin makes it with `PUT /api/v1/job-types/{name}`.");
    Problem::invalid_field("jobType", format!("There is no job type `{name}`; {make}"))
}

/// Whether a caller sees everyone's jobs.
pub(crate) fn sees_all(caller: &Principal) -> bool {
    let all = [Role::JobViewer, Role::JobWorker];
    caller.is_admin() || all.into_iter().any(|role| caller.roles.contains(role))
}

/// Whether a caller may look at a job.
pub(crate) fn sees(caller: &Principal, job: &Job) -> bool {
    sees_all(caller) || job.owner == caller.user_id
}

/// Whether a caller may cancel a job or have it again.
pub(crate) fn decides(caller: &Principal, job: &Job) -> bool {
    caller.is_admin() || job.owner == caller.user_id
}

fn is_fresh(at: Timestamp, now: Timestamp) -> bool {
    (0..REMEMBERED_MS).contains(&(now.as_millisecond() - at.as_millisecond()))
}
