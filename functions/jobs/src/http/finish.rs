//! The end of a run: complete, fail, and upload links for artifacts.

use std::sync::Arc;

use boundary::http::{Call, Json, Operation, Path, Problem, Result, State};
use boundary::telemetry::{Unit, measure_by};
use domain::accounts::Role;
use domain::jobs::{Actor, Artifact, JobEvent, JobId, WorkerId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::bucket::PRESIGNED_SECONDS;

use super::JobPath;
use super::state::{App, found};
use super::view::JobView;

/// The longest reason that is stored in a job's row, in characters.
const MAX_ERROR_LENGTH: usize = 1_000;

/// A completion.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CompleteBody {
    worker_id: String,
    attempt: u32,
    /// Uploaded artifacts, at most 20.
    #[serde(default)]
    artifacts: Vec<ArtifactBody>,
    /// Any JSON up to 4 KB, for the user who submitted the job.
    result: Option<Value>,
}

/// An uploaded artifact.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArtifactBody {
    name: String,
}

pub(super) const COMPLETE: Operation =
    Operation::post("/api/v1/jobs/{jobId}/complete", "completeJob", "Complete a job")
        .role(Role::JobWorker)
        .refuses(&[404, 409]);

pub(super) async fn complete(
    State(app): State<Arc<App>>,
    call: Call,
    Json(body): Json<CompleteBody>,
    Path(id): Path<JobPath>,
) -> Result<Json<JobView>> {
    let worker = WorkerId::parse(&body.worker_id)?;
    let artifacts = body.artifacts.iter().map(|artifact| artifact.name.as_str());
    let result = body.result.as_ref().filter(|value| !value.is_null());
    let event = JobEvent::completed(worker.clone(), body.attempt, artifacts, result)?;
    end_run(&app, &call, &id, event, worker).await
}

/// A failure.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FailBody {
    worker_id: String,
    attempt: u32,
    /// Whether another run may succeed.
    retryable: bool,
    /// The reason, up to 1,000 characters.
    #[serde(default)]
    error: String,
}

pub(super) const FAIL: Operation =
    Operation::post("/api/v1/jobs/{jobId}/fail", "failJob", "Fail a job")
        .role(Role::JobWorker)
        .refuses(&[404, 409]);

pub(super) async fn fail(
    State(app): State<Arc<App>>,
    call: Call,
    Json(body): Json<FailBody>,
    Path(id): Path<JobPath>,
) -> Result<Json<JobView>> {
    let worker = WorkerId::parse(&body.worker_id)?;
    if body.error.chars().count() > MAX_ERROR_LENGTH {
        return Err(Problem::field("error", "at most 1000 characters"));
    }
    let event = JobEvent::Failed {
        worker: worker.clone(),
        attempt: body.attempt,
        retryable: body.retryable,
        error: body.error,
        jitter: u64::from_be_bytes(app.engine.entropy.bytes()),
    };
    end_run(&app, &call, &id, event, worker).await
}

async fn end_run(
    app: &App,
    call: &Call,
    id: &JobId,
    event: JobEvent,
    worker: WorkerId,
) -> Result<Json<JobView>> {
    let job = app.apply_event(call, id, &event, &Actor::Worker(worker), |_| true).await?;
    if let (Some(started), true) = (job.started_at, job.status.is_final()) {
        let dimensions = vec![("JobType", job.job_type.as_str().to_owned())];
        let ms = call.now.as_millisecond() - started.as_millisecond();
        let seconds = f64::from(i32::try_from(ms.max(0)).unwrap_or(i32::MAX)) / 1_000.0;
        measure_by("job_duration_seconds", Unit::Seconds, seconds, dimensions);
    }
    Ok(Json(JobView::new(&job, call.now)))
}

/// An artifact to upload.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct UploadBody {
    worker_id: String,
    attempt: u32,
    /// 1 to 100 letters, digits, `.`, `_` and `-`, not beginning with a dot.
    name: String,
}

/// An upload link.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UploadView {
    name: String,
    /// `PUT` the bytes here; then name it in `artifacts` when the job completes.
    url: String,
    method: &'static str,
    expires_at: String,
}

pub(super) const ADD_ARTIFACT: Operation = Operation::post(
    "/api/v1/jobs/{jobId}/artifacts",
    "addArtifact",
    "Get an upload link for an artifact",
)
.role(Role::JobWorker)
.refuses(&[404, 409]);

pub(super) async fn add_artifact(
    State(app): State<Arc<App>>,
    call: Call,
    Json(body): Json<UploadBody>,
    Path(id): Path<JobPath>,
) -> Result<Json<UploadView>> {
    let worker = WorkerId::parse(&body.worker_id)?;
    let artifact = Artifact::parse(&body.name)?;
    // Only the worker that runs the job may add artifacts to it.
    let job = found(app.engine.check_attempt(&id, (worker, body.attempt), call.now).await?)?;
    let url = app.bucket.presign_upload(&artifact.key(&job))?;
    let expires_ms =
        call.now.as_millisecond() + i64::try_from(PRESIGNED_SECONDS * 1_000).unwrap_or(0);
    let expires_at = domain::Timestamp::from_millisecond(expires_ms).unwrap_or(call.now);
    let view =
        UploadView { name: artifact.name, url, method: "PUT", expires_at: expires_at.to_string() };
    Ok(Json(view))
}
