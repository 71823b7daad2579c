//! Submitting a job: one transaction, one doorbell.

use std::sync::Arc;

use boundary::http::{
    Call, Caller, Created, IdempotencyKey, Json, Operation, Problem, Repeatable, State,
};
use boundary::idempotency;
use boundary::telemetry::{Unit, measure_of};
use domain::Timestamp;
use domain::accounts::{Role, UserId};
use domain::jobs::{
    self, Job, JobId, JobType, LONGEST_PAYLOAD, OnDependencyFailure, PayloadPlace, Priority,
    Rejected, RetryPolicy, Status, TypeName,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::Bucket;
use store::idempotency::Request as Once;

use crate::http::state::{App, sees};
use crate::store::{Submitted, Wanted};

/// Payloads over 256 KB go to the bucket; Lambda takes 6 MB.
pub(super) const BODY_CAP: usize = 4 * 1024 * 1024;

/// Dependencies may end while we look at them; more often than this is a fault.
const TRIES: usize = 5;

/// A job to submit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewJob {
    /// A type that exists; `GET /api/v1/job-types` lists them.
    pub(crate) job_type: String,
    /// `P0` to `P3`; `P2` if left out.
    #[schemars(with = "Option<String>")]
    pub(crate) priority: Option<String>,
    /// Any JSON, for the worker. Over 256 KB it is kept in a bucket, and the worker gets a link.
    pub(crate) payload: Option<Value>,
    /// A repeat with the same key and body within 24 hours gets the first answer. The header
    /// `Idempotency-Key` does the same.
    pub(crate) idempotency_key: Option<String>,
    /// How often it is tried; as its type says if left out.
    pub(crate) retry_policy: Option<RetryBody>,
    /// Ids of jobs that have to end first, at most 40.
    #[serde(default)]
    pub(crate) dependencies: Vec<String>,
    /// Not to run before that.
    #[schemars(with = "Option<String>")]
    pub(crate) not_before: Option<Timestamp>,
    /// How long one run may take, 1 to 86400; as its type says if left out.
    pub(crate) timeout_seconds: Option<u32>,
    /// `fail` (if left out) or `run`: what happens if a dependency does not complete.
    #[schemars(with = "Option<String>")]
    pub(crate) on_dependency_failure: Option<OnDependencyFailure>,
}

/// How often, and how soon again.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RetryBody {
    /// Runs at most, 1 to 100.
    pub(crate) max_attempts: Option<u32>,
    /// Before the second run, 0 to 3600; doubled before each further one, and spread.
    pub(crate) backoff_seconds: Option<u32>,
}

impl RetryBody {
    pub(crate) fn over(self, usual: RetryPolicy) -> RetryPolicy {
        RetryPolicy {
            max_attempts: self.max_attempts.unwrap_or(usual.max_attempts),
            backoff_seconds: self.backoff_seconds.unwrap_or(usual.backoff_seconds),
        }
    }
}

/// A job that was submitted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SubmittedView {
    job_id: String,
    status: &'static str,
    /// About where it stands among the jobs of its type, 1 is next; absent while it waits for others
    /// or for its time.
    queue_position: Option<u64>,
    created_at: String,
}

pub(super) const SUBMIT: Operation = Operation::post("/api/v1/jobs", "submitJob", "Submit a job")
    .says("Its id comes back at once; watch it with `GET /api/v1/jobs/{jobId}`.")
    .by(Role::JobSubmitter)
    .body_up_to(BODY_CAP);

pub(super) async fn submit(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Json(new): Json<NewJob>,
    IdempotencyKey(header): IdempotencyKey,
) -> Result<Submission, Problem> {
    let key = header.or_else(|| new.idempotency_key.clone());
    let print = idempotency::digest(&call.path, &call.body);
    let dependencies = ids(&new.dependencies)?;
    submit_one(&app, &call, &caller, new, dependencies, key.map(|key| (key, print))).await
}

/// What a submission is answered with, alone or as one of many.
pub(super) type Submission = Repeatable<Created<SubmittedView>>;

/// Submits one job; `once` is the key it goes by and what it is told apart by.
pub(super) async fn submit_one(
    app: &App,
    call: &Call,
    caller: &Caller,
    new: NewJob,
    dependencies: Vec<JobId>,
    once: Option<(String, [u8; 32])>,
) -> Result<Submission, Problem> {
    let name = TypeName::parse(&new.job_type)?;
    let kind = app.kind(&name, call.now).await?;
    let payload = new.payload.as_ref().filter(|value| !value.is_null()).map(Value::to_string);
    let place = match &payload {
        None => PayloadPlace::Nowhere,
        Some(json) if json.len() <= LONGEST_PAYLOAD => PayloadPlace::Row,
        Some(_) => PayloadPlace::Bucket,
    };
    let wanted = checked(&new, dependencies, &kind, place, call.now)?;
    let id = JobId::made_from(call.now, app.engine.entropy.bytes());
    if let (PayloadPlace::Bucket, Some(json)) = (place, &payload) {
        app.bucket.keep(&Bucket::payload_key(&id), json.clone().into_bytes()).await?;
    }
    let kept = payload.as_deref().filter(|_| place == PayloadPlace::Row);
    let draft = Draft { id, kind, wanted, payload: kept, once };
    draft.write(app, call, caller).await
}

struct Draft<'a> {
    id: JobId,
    kind: JobType,
    wanted: jobs::Submission,
    payload: Option<&'a str>,
    once: Option<(String, [u8; 32])>,
}

impl Draft<'_> {
    async fn write(self, app: &App, call: &Call, caller: &Caller) -> Result<Submission, Problem> {
        let owner: &UserId = &caller.user_id;
        let claimant = app.engine.entropy.token();
        let once = self.once.as_ref().map(|(key, fingerprint)| Once {
            caller: owner.as_str(),
            operation: "submitJob",
            key,
            fingerprint: *fingerprint,
            claimant: &claimant,
            deadline: call.deadline,
        });
        for _ in 0..TRIES {
            let (open, failed) = self.dependencies(app, caller).await?;
            let count = u32::try_from(open.len()).unwrap_or(u32::MAX);
            let job = self.wanted.job(
                self.id.clone(),
                &self.kind,
                owner,
                count,
                failed.as_ref(),
                call.now,
            );
            let answer = Repeatable::first(&answer(app, &job, &self.kind, call.now).await?);
            let wanted = Wanted {
                job: &job,
                payload: self.payload,
                open: &open,
                once: once.as_ref().map(|once| (once, answer.kept())),
            };
            match app.jobs.submit(wanted, call.now, &app.engine.entropy.token()).await? {
                Submitted::Created => {
                    count_submission(&job);
                    app.engine.wake_up(None, &job, (call.now, &call.trace)).await;
                    return Ok(answer);
                }
                Submitted::Before(claim) => {
                    return idempotency::met(claim, call.now).map(Repeatable::again);
                }
                Submitted::DependencyMoved => {}
            }
        }
        Err(Problem::unavailable("Its dependencies keep changing.", 1))
    }

    /// Which dependencies are open, and one that ended without completing.
    async fn dependencies(
        &self,
        app: &App,
        caller: &Caller,
    ) -> Result<(Vec<JobId>, Option<JobId>), Problem> {
        let wanted = &self.wanted.dependencies;
        if wanted.is_empty() {
            return Ok((Vec::new(), None));
        }
        let mut found = app.jobs.find_all(wanted).await?;
        found.retain(|job| sees(caller, job));
        let is_there = |id: &&JobId| found.iter().any(|job| job.id == **id);
        if let Some(missing) = wanted.iter().find(|id| !is_there(id)) {
            return Err(unknown_dependency(missing.as_str()));
        }
        let open = found.iter().filter(|job| !job.status.is_final()).map(|job| job.id.clone());
        let failed =
            found.iter().find(|job| job.status.is_final() && job.status != Status::Completed);
        Ok((open.collect(), failed.map(|job| job.id.clone())))
    }
}

/// The ids that a caller wrote.
pub(crate) fn ids(written: &[String]) -> Result<Vec<JobId>, Problem> {
    let id = |text: &String| JobId::parse(text).ok_or_else(|| unknown_dependency(text));
    written.iter().map(id).collect()
}

fn unknown_dependency(written: &str) -> Problem {
    let shown: String = written.chars().take(64).collect();
    Problem::unfit("dependencies", format!("There is no job `{shown}` to depend on."))
}

fn checked(
    new: &NewJob,
    dependencies: Vec<JobId>,
    kind: &JobType,
    payload: PayloadPlace,
    now: Timestamp,
) -> Result<jobs::Submission, Rejected> {
    let priority = match &new.priority {
        None => Priority::P2,
        Some(name) => Priority::named(name).ok_or_else(|| Rejected::Field {
            field: "priority".to_owned(),
            rule: "`P0`, `P1`, `P2` or `P3`".to_owned(),
        })?,
    };
    jobs::Submission {
        priority,
        retry: new.retry_policy.map(|retry| retry.over(kind.settings.retry)),
        timeout_seconds: new.timeout_seconds,
        dependencies,
        on_dependency_failure: new.on_dependency_failure.unwrap_or_default(),
        not_before: new.not_before,
        payload,
    }
    .checked(now)
}

async fn answer(
    app: &App,
    job: &Job,
    kind: &JobType,
    now: Timestamp,
) -> Result<Created<SubmittedView>, Problem> {
    let queue_position = if job.status == Status::Queued && job.ready_at <= now {
        Some(app.depth(kind, job.priority, now).await? + 1)
    } else {
        None
    };
    let body = SubmittedView {
        job_id: job.id.as_str().to_owned(),
        status: job.status.name(),
        queue_position,
        created_at: job.created_at.to_string(),
    };
    let location = format!("/api/v1/jobs/{}", job.id.as_str());
    Ok(Created { location, body })
}

fn count_submission(job: &Job) {
    let dimensions = vec![
        ("JobType", job.kind.as_str().to_owned()),
        ("Priority", job.priority.name().to_owned()),
    ];
    measure_of("jobs_submitted_total", Unit::Count, 1.0, dimensions);
}
