//! Submitting a job: one transaction, one doorbell.

use boundary::http::{Answer, Error, Problem, Request, Response};
use boundary::idempotency;
use boundary::telemetry::{Unit, measure_of};
use domain::Timestamp;
use domain::accounts::UserId;
use domain::jobs::{
    Job, JobId, JobType, LONGEST_PAYLOAD, OnDependencyFailure, PayloadPlace, Priority, Rejected,
    RetryPolicy, Status, Submission, TypeName,
};
use http::{StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::Bucket;
use store::idempotency::Request as Once;
use store::jobs::{Submitted, Wanted};

use crate::State;
use crate::state::sees;

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

pub(crate) async fn one(state: &State, request: Request) -> Answer {
    let new: NewJob = request.json()?;
    let header = request.idempotency_key()?.map(str::to_owned);
    let key = header.or_else(|| new.idempotency_key.clone());
    let print = idempotency::digest(&request.path, &request.body);
    let dependencies = ids(&new.dependencies)?;
    submit(state, &request, new, dependencies, key.map(|key| (key, print))).await
}

/// Submits one job; `once` is the key it goes by and what it is told apart by.
pub(crate) async fn submit(
    state: &State,
    request: &Request,
    new: NewJob,
    dependencies: Vec<JobId>,
    once: Option<(String, [u8; 32])>,
) -> Answer {
    let owner = request.caller()?.user_id.clone();
    let name = TypeName::parse(&new.job_type)?;
    let kind = state.kind(&name, request.now).await?;
    let payload = new.payload.as_ref().filter(|value| !value.is_null()).map(Value::to_string);
    let place = match &payload {
        None => PayloadPlace::Nowhere,
        Some(json) if json.len() <= LONGEST_PAYLOAD => PayloadPlace::Row,
        Some(_) => PayloadPlace::Bucket,
    };
    let submission = checked(&new, dependencies, &kind, place, request.now)?;
    let id = JobId::made_from(request.now, state.entropy.bytes());
    if let (PayloadPlace::Bucket, Some(json)) = (place, &payload) {
        state.bucket.keep(&Bucket::payload_key(&id), json.clone().into_bytes()).await?;
    }
    let kept = payload.as_deref().filter(|_| place == PayloadPlace::Row);
    let draft = Draft { id, kind, submission, payload: kept, once };
    draft.write(state, request, &owner).await
}

struct Draft<'a> {
    id: JobId,
    kind: JobType,
    submission: Submission,
    payload: Option<&'a str>,
    once: Option<(String, [u8; 32])>,
}

impl Draft<'_> {
    async fn write(self, state: &State, request: &Request, owner: &UserId) -> Answer {
        let claimant = state.entropy.token();
        let once = self.once.as_ref().map(|(key, fingerprint)| Once {
            caller: owner.as_str(),
            operation: "submitJob",
            key,
            fingerprint: *fingerprint,
            claimant: &claimant,
            deadline: request.deadline,
        });
        for _ in 0..TRIES {
            let (open, failed) = self.dependencies(state, request).await?;
            let count = u32::try_from(open.len()).unwrap_or(u32::MAX);
            let job = self.submission.job(
                self.id.clone(),
                &self.kind,
                owner,
                count,
                failed.as_ref(),
                request.now,
            );
            let response = answer(state, &job, &self.kind, request.now).await?;
            let kept = idempotency::kept(&response, response.text().into_bytes());
            let wanted = Wanted {
                job: &job,
                payload: self.payload,
                open: &open,
                once: once.as_ref().map(|once| (once, &kept)),
            };
            match state.jobs.submit(wanted, request.now, &state.entropy.token()).await? {
                Submitted::Created => {
                    count_submission(&job);
                    state.ring(None, &job, request).await;
                    return Ok(response);
                }
                Submitted::Before(claim) => return idempotency::met(claim, request.now),
                Submitted::DependencyMoved => {}
            }
        }
        Err(Problem::unavailable("Its dependencies keep changing.", 1).into())
    }

    /// Which dependencies are open, and one that ended without completing.
    async fn dependencies(
        &self,
        state: &State,
        request: &Request,
    ) -> Result<(Vec<JobId>, Option<JobId>), Error> {
        let wanted = &self.submission.dependencies;
        if wanted.is_empty() {
            return Ok((Vec::new(), None));
        }
        let caller = request.caller()?;
        let mut found = state.jobs.find_all(wanted).await?;
        found.retain(|job| sees(caller, job));
        let is_there = |id: &&JobId| found.iter().any(|job| job.id == **id);
        if let Some(missing) = wanted.iter().find(|id| !is_there(id)) {
            return Err(unknown_dependency(missing.as_str()).into());
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
) -> Result<Submission, Rejected> {
    let priority = match &new.priority {
        None => Priority::P2,
        Some(name) => Priority::named(name).ok_or_else(|| Rejected::Field {
            field: "priority".to_owned(),
            rule: "`P0`, `P1`, `P2` or `P3`".to_owned(),
        })?,
    };
    Submission {
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
    state: &State,
    job: &Job,
    kind: &JobType,
    now: Timestamp,
) -> Result<Response, Error> {
    let queue_position = if job.status == Status::Queued && job.ready_at <= now {
        Some(state.depth(kind, job.priority, now).await? + 1)
    } else {
        None
    };
    let view = SubmittedView {
        job_id: job.id.as_str().to_owned(),
        status: job.status.name(),
        queue_position,
        created_at: job.created_at.to_string(),
    };
    let location = format!("/api/v1/jobs/{}", job.id.as_str());
    Ok(Response::json(StatusCode::CREATED, &view).with_text(header::LOCATION, &location))
}

fn count_submission(job: &Job) {
    let dimensions = vec![
        ("JobType", job.kind.as_str().to_owned()),
        ("Priority", job.priority.name().to_owned()),
    ];
    measure_of("jobs_submitted_total", Unit::Count, 1.0, dimensions);
}
