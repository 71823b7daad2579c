//! The workers' side: claim, start, heartbeat.

use std::sync::Arc;

use boundary::http::{Call, Json, Operation, Path, Problem, State};
use domain::accounts::Role;
use domain::jobs::{Actor, Decision, Delivery, Event, Job, PayloadPlace, Worker, transition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::Bucket;

use super::{JobPath, TypePath};
use crate::http::state::{App, refused};
use crate::store::Beaten;

/// How often a worker should speak: two words may get lost before it counts as silent.
const HEARTBEAT_SECONDS: u32 = 20;

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
    .description("For types whose `delivery` is `poll`. Start each within 60 s, or it goes to someone else. No jobs means: \
         ask again later.")
    .role(Role::JobWorker)
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
        .description("409 means that the job is someone else's, or nobody's: leave it.")
        .role(Role::JobWorker)
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
            Some(app.bucket.presign_download(&Bucket::payload_key(&job.id)).await?)
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
        .description("Every 20 s; after 60 s of silence the job goes to someone else.")
        .role(Role::JobWorker)
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
        Beaten::Refused(None) => Err(Problem::unknown("job")),
        Beaten::Refused(Some(job)) => {
            let progress = body.progress;
            let event = Event::Beaten { worker, attempt: body.attempt, progress };
            match transition(&job, &event, now) {
                Decision::Refuse(refusal) => Err(refused(&refusal)),
                // It has become this worker's since; the next heartbeat says so.
                Decision::Become(_) | Decision::Stay => Ok(Json(BeatView { action: "continue" })),
            }
        }
    }
}
