//! The workers' side: claim, start, heartbeat, complete, fail, and a place for what they leave.

use std::sync::Arc;

use boundary::http::{Call, Json, Operation, Path, Problem, State};
use boundary::telemetry::{Unit, measure_of};
use domain::accounts::Role;
use domain::jobs::{
    Actor, Artifact, Decision, Delivery, Event, Job, JobId, PayloadPlace, Rejected, Worker,
    transition,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::Bucket;
use store::bucket::LINK_SECONDS;

use super::view::JobView;
use super::{JobPath, TypePath};
use crate::http::state::App;
use crate::store::Beaten;

/// How often a worker should speak: two words may get lost before it counts as silent.
const HEARTBEAT_SECONDS: u32 = 20;

/// The longest answer and the longest reason that are kept in a job's row.
const LONGEST_RESULT: usize = 4 * 1024;
const LONGEST_ERROR: usize = 1_000;

/// Who speaks, and of which run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StartBody {
    /// 1 to 128 printable ASCII characters, different for each worker.
    worker_id: String,
    /// The attempt that the worker was given.
    attempt: u32,
}

/// How many jobs a worker wants.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ClaimBody {
    /// 1 to 128 printable ASCII characters, different for each worker.
    worker_id: String,
    /// At most, 1 to 20; 1 if left out.
    #[schemars(range(min = 1, max = 20))]
    max: Option<usize>,
}

/// Jobs to begin with, each within 60 s.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ClaimView {
    jobs: Vec<TaskView>,
}

/// What a worker needs to know of a job.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskView {
    job_id: String,
    job_type: String,
    /// To be sent with every word.
    attempt: u32,
    timeout_seconds: u32,
    payload: Option<Value>,
    /// Where a payload over 256 KB is; works for 15 minutes.
    payload_url: Option<String>,
    /// How often to send a heartbeat.
    heartbeat_seconds: u32,
}

pub(super) const CLAIM: Operation = Operation::post("/api/v1/job-types/{jobType}/claim", "claimJobs", "Take jobs to work on")
    .says("For types whose `delivery` is `poll`. Start each within 60 s, or it goes to someone else. No jobs means: \
         ask again later.")
    .by(Role::JobWorker)
    .refuses(&[404, 409]);

pub(super) async fn claim(
    State(app): State<Arc<App>>,
    call: Call,
    Json(body): Json<ClaimBody>,
    Path(name): Path<TypePath>,
) -> Result<Json<ClaimView>, Problem> {
    let worker = Worker::parse(&body.worker_id)?;
    let most = body.max.unwrap_or(1);
    if !(1..=20).contains(&most) {
        return Err(Problem::field("max", "a number from 1 to 20"));
    }
    let found = app.jobs.kind(&name).await?;
    let kind = found.ok_or_else(|| Problem::unknown("job type"))?;
    if kind.settings.delivery != Delivery::Poll {
        return Err(Problem::conflict("Jobs of this type go to the worker queue."));
    }
    let assigned = app.engine.assign(&kind, Some(&worker), &[], most, call.now).await?;
    let mut jobs = Vec::new();
    for job in &assigned.jobs {
        jobs.push(task(&app, job).await?);
    }
    Ok(Json(ClaimView { jobs }))
}

pub(super) const START: Operation =
    Operation::post("/api/v1/jobs/{jobId}/start", "startJob", "Begin")
        .says("409 means that the job is someone else's, or nobody's: leave it.")
        .by(Role::JobWorker)
        .refuses(&[404, 409]);

pub(super) async fn start(
    State(app): State<Arc<App>>,
    call: Call,
    Json(body): Json<StartBody>,
    Path(id): Path<JobPath>,
) -> Result<Json<TaskView>, Problem> {
    let worker = Worker::parse(&body.worker_id)?;
    let event = Event::Started { worker: worker.clone(), attempt: body.attempt };
    let job = app.happen(&call, &id, &event, &Actor::Worker(worker), |_| true).await?;
    Ok(Json(task(&app, &job).await?))
}

async fn task(app: &App, job: &Job) -> Result<TaskView, Problem> {
    let payload = match job.payload {
        PayloadPlace::Row => app.jobs.payload(&job.id).await?,
        PayloadPlace::Nowhere | PayloadPlace::Bucket => None,
    };
    let payload_url = match job.payload {
        PayloadPlace::Bucket => {
            Some(app.bucket.download_link(&Bucket::payload_key(&job.id)).await?)
        }
        PayloadPlace::Nowhere | PayloadPlace::Row => None,
    };
    Ok(TaskView {
        job_id: job.id.as_str().to_owned(),
        job_type: job.kind.as_str().to_owned(),
        attempt: job.attempt,
        timeout_seconds: job.timeout_seconds,
        payload: payload.and_then(|json| serde_json::from_str(&json).ok()),
        payload_url,
        heartbeat_seconds: HEARTBEAT_SECONDS,
    })
}

/// Still at it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BeatBody {
    /// Who speaks.
    worker_id: String,
    /// Of which run.
    attempt: u32,
    /// How far it is, 0 to 100.
    #[schemars(range(min = 0, max = 100))]
    progress: Option<u8>,
}

/// Whether to go on.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BeatView {
    /// `continue` or `cancel`.
    action: &'static str,
}

pub(super) const HEARTBEAT: Operation =
    Operation::post("/api/v1/jobs/{jobId}/heartbeat", "beatJob", "Still at it")
        .says("Every 20 s; after 60 s of silence the job goes to someone else.")
        .by(Role::JobWorker)
        .refuses(&[404, 409]);

pub(super) async fn heartbeat(
    State(app): State<Arc<App>>,
    call: Call,
    Json(body): Json<BeatBody>,
    Path(id): Path<JobPath>,
) -> Result<Json<BeatView>, Problem> {
    let worker = Worker::parse(&body.worker_id)?;
    if body.progress.is_some_and(|progress| progress > 100) {
        return Err(Problem::field("progress", "a number from 0 to 100"));
    }
    let now = call.now;
    match app.jobs.beat(&id, &worker, body.attempt, body.progress, now).await? {
        Beaten::Noted(job) => {
            let action = if job.cancel_requested_at.is_some() { "cancel" } else { "continue" };
            Ok(Json(BeatView { action }))
        }
        Beaten::Refused(None) => Err(Rejected::UnknownJob.into()),
        Beaten::Refused(Some(job)) => {
            let progress = body.progress;
            let event = Event::Beaten { worker, attempt: body.attempt, progress };
            match transition(&job, &event, now) {
                Decision::Refuse(refusal) => Err(Rejected::Refused(refusal).into()),
                // It has become this worker's since; the next heartbeat says so.
                Decision::Become(_) | Decision::Stay => Ok(Json(BeatView { action: "continue" })),
            }
        }
    }
}

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
        .by(Role::JobWorker)
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
    if result.as_ref().is_some_and(|json| json.len() > LONGEST_RESULT) {
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
        .by(Role::JobWorker)
        .refuses(&[404, 409]);

pub(super) async fn fail(
    State(app): State<Arc<App>>,
    call: Call,
    Json(body): Json<FailBody>,
    Path(id): Path<JobPath>,
) -> Result<Json<JobView>, Problem> {
    let worker = Worker::parse(&body.worker_id)?;
    if body.error.chars().count() > LONGEST_ERROR {
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
        measure_of("job_duration_seconds", Unit::Seconds, seconds, dimensions);
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
        .by(Role::JobWorker)
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
    let job = found.ok_or(Rejected::UnknownJob)?;
    // Only who runs the job may leave anything with it.
    let event = Event::Beaten { worker, attempt: body.attempt, progress: None };
    if let Decision::Refuse(refusal) = transition(&job, &event, call.now) {
        return Err(Rejected::Refused(refusal).into());
    }
    let url = app.bucket.upload_link(&artifact.key(&job)).await?;
    let expires_ms = call.now.as_millisecond() + i64::try_from(LINK_SECONDS * 1_000).unwrap_or(0);
    let expires_at = domain::Timestamp::from_millisecond(expires_ms).unwrap_or(call.now);
    let view =
        UploadView { name: artifact.name, url, method: "PUT", expires_at: expires_at.to_string() };
    Ok(Json(view))
}
