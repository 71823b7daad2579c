//! The end of a run: complete, fail, and a place for what it leaves.

use std::sync::Arc;

use boundary::http::{Call, Json, Operation, Path, Problem, State};
use boundary::telemetry::{Unit, measure_by};
use domain::accounts::Role;
use domain::jobs::{Actor, Artifact, Decision, Event, JobId, Worker, transition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::bucket::PRESIGNED_SECONDS;

use super::JobPath;
use super::state::{App, refused};
use super::view::JobView;

/// The longest answer and the longest reason that are kept in a job's row.
const MAX_RESULT_LENGTH: usize = 4 * 1024;
const MAX_ERROR_LENGTH: usize = 1_000;

/// Done.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CompleteBody {
    /// Who speaks.
    worker_id: String,
    /// Of which run.
    attempt: u32,
    /// What was uploaded, at most 20.
    #[serde(default)]
    artifacts: Vec<ArtifactBody>,
    /// Any JSON up to 4 KB, for whoever submitted the job.
    result: Option<Value>,
}

/// Something that was uploaded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArtifactBody {
    /// Under this name.
    name: String,
}

pub(super) const COMPLETE: Operation =
    Operation::post("/api/v1/jobs/{jobId}/complete", "completeJob", "Done")
        .role(Role::JobWorker)
        .refuses(&[404, 409]);

pub(super) async fn complete(
    State(app): State<Arc<App>>,
    call: Call,
    Json(body): Json<CompleteBody>,
    Path(id): Path<JobPath>,
) -> Result<Json<JobView>, Problem> {
    let worker = Worker::parse(&body.worker_id)?;
    if body.artifacts.len() > Artifact::MOST {
        return Err(Problem::field("artifacts", "at most 20"));
    }
    let named = body.artifacts.iter().map(|artifact| Artifact::parse(&artifact.name));
    let mut artifacts = named.collect::<Result<Vec<_>, _>>()?;
    artifacts.sort_by(|a, b| a.name.cmp(&b.name));
    artifacts.dedup();
    let result = body.result.filter(|value| !value.is_null()).map(|value| value.to_string());
    if result.as_ref().is_some_and(|json| json.len() > MAX_RESULT_LENGTH) {
        let rule = "at most 4096 bytes; upload more as an artifact";
        return Err(Problem::field("result", rule));
    }
    let attempt = body.attempt;
    let event = Event::Completed { worker: worker.clone(), attempt, artifacts, result };
    ended(&app, &call, &id, event, worker).await
}

/// Given up.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FailBody {
    /// Who speaks.
    worker_id: String,
    /// Of which run.
    attempt: u32,
    /// Whether another run might do better.
    retryable: bool,
    /// Why, up to 1,000 characters.
    #[serde(default)]
    error: String,
}

pub(super) const FAIL: Operation =
    Operation::post("/api/v1/jobs/{jobId}/fail", "failJob", "Given up")
        .role(Role::JobWorker)
        .refuses(&[404, 409]);

pub(super) async fn fail(
    State(app): State<Arc<App>>,
    call: Call,
    Json(body): Json<FailBody>,
    Path(id): Path<JobPath>,
) -> Result<Json<JobView>, Problem> {
    let worker = Worker::parse(&body.worker_id)?;
    if body.error.chars().count() > MAX_ERROR_LENGTH {
        return Err(Problem::field("error", "at most 1000 characters"));
    }
    let event = Event::Failed {
        worker: worker.clone(),
        attempt: body.attempt,
        retryable: body.retryable,
        error: body.error,
        jitter: u64::from_be_bytes(app.engine.entropy.bytes()),
    };
    ended(&app, &call, &id, event, worker).await
}

async fn ended(
    app: &App,
    call: &Call,
    id: &JobId,
    event: Event,
    worker: Worker,
) -> Result<Json<JobView>, Problem> {
    let job = app.happen(call, id, &event, &Actor::Worker(worker), |_| true).await?;
    if let (Some(started), true) = (job.started_at, job.status.is_final()) {
        let dimensions = vec![("JobType", job.kind.as_str().to_owned())];
        let ms = call.now.as_millisecond() - started.as_millisecond();
        let seconds = f64::from(i32::try_from(ms.max(0)).unwrap_or(i32::MAX)) / 1_000.0;
        measure_by("job_duration_seconds", Unit::Seconds, seconds, dimensions);
    }
    Ok(Json(JobView::of(&job, call.now)))
}

/// What is to be uploaded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct UploadBody {
    /// Who speaks.
    worker_id: String,
    /// Of which run.
    attempt: u32,
    /// 1 to 100 letters, digits, `.`, `_` and `-`, not beginning with a dot.
    name: String,
}

/// Where to upload it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UploadView {
    name: String,
    /// `PUT` the bytes here; then name it in `artifacts` when the job completes.
    url: String,
    method: &'static str,
    expires_at: String,
}

pub(super) const ADD_ARTIFACT: Operation =
    Operation::post("/api/v1/jobs/{jobId}/artifacts", "addArtifact", "A place for what it leaves")
        .role(Role::JobWorker)
        .refuses(&[404, 409]);

pub(super) async fn add_artifact(
    State(app): State<Arc<App>>,
    call: Call,
    Json(body): Json<UploadBody>,
    Path(id): Path<JobPath>,
) -> Result<Json<UploadView>, Problem> {
    let worker = Worker::parse(&body.worker_id)?;
    let artifact = Artifact::parse(&body.name)?;
    let found = app.jobs.find(&id).await?;
    let job = found.ok_or_else(|| Problem::unknown("job"))?;
    // Only who runs the job may leave anything with it.
    let event = Event::Beaten { worker, attempt: body.attempt, progress: None };
    if let Decision::Refuse(refusal) = transition(&job, &event, call.now) {
        return Err(refused(&refusal));
    }
    let url = app.bucket.presign_upload(&artifact.key(&job)).await?;
    let expires_ms =
        call.now.as_millisecond() + i64::try_from(PRESIGNED_SECONDS * 1_000).unwrap_or(0);
    let expires_at = domain::Timestamp::from_millisecond(expires_ms).unwrap_or(call.now);
    let view =
        UploadView { name: artifact.name, url, method: "PUT", expires_at: expires_at.to_string() };
    Ok(Json(view))
}
