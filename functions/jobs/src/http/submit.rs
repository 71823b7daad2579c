//! Submitting a job: one transaction, one wake-up.

use std::sync::Arc;

use boundary::http::{
    Call, Caller, Created, IdempotencyKey, Json, Operation, Problem, Repeatable, Result, State,
};
use boundary::idempotency::{self, RequestKey};
use boundary::telemetry::{Unit, measure_by};
use domain::Timestamp;
use domain::accounts::{Role, UserId};
use domain::jobs::{
    self, Job, JobId, JobStatus, JobType, JobTypeName, MAX_ROW_PAYLOAD_LENGTH, PayloadLocation,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use store::Bucket;

use super::new_job::{NewJob, parse_ids, unknown_dependency};
use crate::http::state::{App, may_read};
use crate::store::{JobInsert, SubmitOutcome};

/// Payloads over 256 KB go to the bucket; Lambda takes 6 MB.
pub(super) const MAX_BODY_LENGTH: usize = 4 * 1024 * 1024;

/// Submissions that a dependency's end may undo before the request fails.
const MAX_TRIES: usize = 5;

/// A job that was submitted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SubmittedView {
    job_id: String,
    status: &'static str,
    /// Its approximate position among the ready jobs of its type, 1 is next; absent while it waits for its
    /// dependencies or its earliest start.
    queue_position: Option<u64>,
    created_at: String,
}

pub(super) const SUBMIT: Operation = Operation::post("/api/v1/jobs", "submitJob", "Submit a job")
    .description("Its id comes back at once; watch it with `GET /api/v1/jobs/{jobId}`.")
    .role(Role::JobSubmitter)
    .body_up_to(MAX_BODY_LENGTH);

pub(super) async fn submit(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Json(new): Json<NewJob>,
    IdempotencyKey(header): IdempotencyKey,
) -> Result<SubmitResponse> {
    let key = header.or_else(|| new.idempotency_key.clone());
    let dependencies = parse_ids(&new.dependencies)?;
    submit_one(&app, &call, &caller, new, dependencies, key.map(|key| RequestKey::new(key, &call)))
        .await
}

pub(super) type SubmitResponse = Repeatable<Created<SubmittedView>>;

/// Submits one job.
pub(super) async fn submit_one(
    app: &App,
    call: &Call,
    caller: &Caller,
    new: NewJob,
    dependencies: Vec<JobId>,
    key: Option<RequestKey>,
) -> Result<SubmitResponse> {
    let name = JobTypeName::parse(&new.job_type)?;
    let job_type = app.job_type(&name, call.now).await?;
    let payload = new.payload.as_ref().filter(|value| !value.is_null()).map(Value::to_string);
    let place = match &payload {
        None => PayloadLocation::None,
        Some(json) if json.len() <= MAX_ROW_PAYLOAD_LENGTH => PayloadLocation::Row,
        Some(_) => PayloadLocation::Bucket,
    };
    let submission = new.checked(dependencies, &job_type, place, call.now)?;
    let id = JobId::new(call.now, app.engine.entropy.bytes());
    if let (PayloadLocation::Bucket, Some(json)) = (place, &payload) {
        app.bucket.put(&Bucket::payload_key(&id), json.clone().into_bytes()).await?;
    }
    let row_payload = payload.as_deref().filter(|_| place == PayloadLocation::Row);
    let pending = PendingSubmission { id, job_type, submission, payload: row_payload, key };
    pending.write(app, call, caller).await
}

struct PendingSubmission<'a> {
    id: JobId,
    job_type: JobType,
    submission: jobs::Submission,
    payload: Option<&'a str>,
    key: Option<RequestKey>,
}

impl PendingSubmission<'_> {
    async fn write(self, app: &App, call: &Call, caller: &Caller) -> Result<SubmitResponse> {
        let owner: &UserId = &caller.user_id;
        let claimant = app.engine.entropy.token();
        let request =
            self.key.as_ref().map(|key| key.request(call, owner.as_str(), "submitJob", &claimant));
        for _ in 0..MAX_TRIES {
            let (open, failed) = self.dependencies(app, caller).await?;
            let count = u32::try_from(open.len()).unwrap_or(u32::MAX);
            let job = self.submission.build(
                self.id.clone(),
                &self.job_type,
                owner,
                count,
                failed.as_ref(),
                call.now,
            );
            let response = Repeatable::first(&created(app, &job, &self.job_type, call.now).await?);
            let insert = JobInsert {
                job: &job,
                payload: self.payload,
                open_dependencies: &open,
                idempotency: request.as_ref().map(|request| (request, response.stored())),
            };
            match app.jobs.submit(insert, call.now, &app.engine.entropy.token()).await? {
                SubmitOutcome::Created => {
                    count_submission(&job);
                    app.engine.wake_dispatch_for(None, &job, (call.now, &call.trace)).await;
                    return Ok(response);
                }
                SubmitOutcome::Repeated(claim) => {
                    return idempotency::replay(claim, call.now).map(Repeatable::again);
                }
                SubmitOutcome::DependencyEnded => {}
            }
        }
        Err(Problem::unavailable("Its dependencies keep changing.", 1))
    }

    /// The open dependencies, and one that ended without completing.
    async fn dependencies(
        &self,
        app: &App,
        caller: &Caller,
    ) -> Result<(Vec<JobId>, Option<JobId>)> {
        let ids = &self.submission.dependencies;
        if ids.is_empty() {
            return Ok((Vec::new(), None));
        }
        let mut found = app.jobs.find_all(ids).await?;
        found.retain(|job| may_read(caller, job));
        let is_there = |id: &&JobId| found.iter().any(|job| job.id == **id);
        if let Some(missing) = ids.iter().find(|id| !is_there(id)) {
            return Err(unknown_dependency(missing.as_str()));
        }
        let open = found.iter().filter(|job| !job.status.is_final()).map(|job| job.id.clone());
        let failed =
            found.iter().find(|job| job.status.is_final() && job.status != JobStatus::Completed);
        Ok((open.collect(), failed.map(|job| job.id.clone())))
    }
}

async fn created(
    app: &App,
    job: &Job,
    job_type: &JobType,
    now: Timestamp,
) -> Result<Created<SubmittedView>> {
    let queue_position = if job.status == JobStatus::Queued && job.ready_at <= now {
        Some(app.queue_depth(job_type, job.priority, now).await? + 1)
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
        ("JobType", job.job_type.as_str().to_owned()),
        ("Priority", job.priority.name().to_owned()),
    ];
    measure_by("jobs_submitted_total", Unit::Count, 1.0, dimensions);
}
