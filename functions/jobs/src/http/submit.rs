//! Submitting a job: one transaction, one wake-up.

use std::sync::Arc;

use boundary::http::{
    Call, Caller, Created, IdempotencyKey, Json, Operation, Problem, Repeatable, State,
};
use boundary::idempotency::{self, RequestKey};
use boundary::telemetry::{Unit, measure_by};
use domain::Timestamp;
use domain::accounts::{Role, UserId};
use domain::jobs::{self, Job, JobId, JobType, MAX_PAYLOAD_LENGTH, PayloadPlace, Status, TypeName};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use store::Bucket;

use super::new_job::{NewJob, ids, unknown_dependency};
use crate::http::state::{App, sees};
use crate::store::{Submitted, Wanted};

/// Payloads over 256 KB go to the bucket; Lambda takes 6 MB.
pub(super) const BODY_CAP: usize = 4 * 1024 * 1024;

/// Dependencies may end while we look at them; more often than this is a fault.
const TRIES: usize = 5;

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
    .description("Its id comes back at once; watch it with `GET /api/v1/jobs/{jobId}`.")
    .role(Role::JobSubmitter)
    .body_up_to(BODY_CAP);

pub(super) async fn submit(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Json(new): Json<NewJob>,
    IdempotencyKey(header): IdempotencyKey,
) -> Result<Submission, Problem> {
    let key = header.or_else(|| new.idempotency_key.clone());
    let dependencies = ids(&new.dependencies)?;
    submit_one(&app, &call, &caller, new, dependencies, key.map(|key| RequestKey::new(key, &call)))
        .await
}

/// What a submission is answered with, alone or as one of many.
pub(super) type Submission = Repeatable<Created<SubmittedView>>;

/// Submits one job.
pub(super) async fn submit_one(
    app: &App,
    call: &Call,
    caller: &Caller,
    new: NewJob,
    dependencies: Vec<JobId>,
    key: Option<RequestKey>,
) -> Result<Submission, Problem> {
    let name = TypeName::parse(&new.job_type)?;
    let kind = app.kind(&name, call.now).await?;
    let payload = new.payload.as_ref().filter(|value| !value.is_null()).map(Value::to_string);
    let place = match &payload {
        None => PayloadPlace::Nowhere,
        Some(json) if json.len() <= MAX_PAYLOAD_LENGTH => PayloadPlace::Row,
        Some(_) => PayloadPlace::Bucket,
    };
    let wanted = new.checked(dependencies, &kind, place, call.now)?;
    let id = JobId::made_from(call.now, app.engine.entropy.bytes());
    if let (PayloadPlace::Bucket, Some(json)) = (place, &payload) {
        app.bucket.put(&Bucket::payload_key(&id), json.clone().into_bytes()).await?;
    }
    let kept = payload.as_deref().filter(|_| place == PayloadPlace::Row);
    let draft = Draft { id, kind, wanted, payload: kept, key };
    draft.write(app, call, caller).await
}

struct Draft<'a> {
    id: JobId,
    kind: JobType,
    wanted: jobs::Submission,
    payload: Option<&'a str>,
    key: Option<RequestKey>,
}

impl Draft<'_> {
    async fn write(self, app: &App, call: &Call, caller: &Caller) -> Result<Submission, Problem> {
        let owner: &UserId = &caller.user_id;
        let claimant = app.engine.entropy.token();
        let once = self.key.as_ref();
        let once = once.map(|key| key.request(call, owner.as_str(), "submitJob", &claimant));
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
                once: once.as_ref().map(|once| (once, answer.stored())),
            };
            match app.jobs.submit(wanted, call.now, &app.engine.entropy.token()).await? {
                Submitted::Created => {
                    count_submission(&job);
                    app.engine.wake_up(None, &job, (call.now, &call.trace)).await;
                    return Ok(answer);
                }
                Submitted::Before(claim) => {
                    return idempotency::replay(claim, call.now).map(Repeatable::again);
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
    measure_by("jobs_submitted_total", Unit::Count, 1.0, dimensions);
}
