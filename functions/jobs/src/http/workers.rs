//! The workers' operations: claim, start, heartbeat.

use std::sync::Arc;

use boundary::http::{Call, Json, Operation, Path, Problem, Result, State};
use domain::accounts::Role;
use domain::jobs::{
    Actor, DeliveryMode, HEARTBEAT_INTERVAL_SECONDS, Job, JobEvent, PayloadLocation, WorkerId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::Bucket;

use super::{JobPath, TypePath};
use crate::http::state::{App, found};

/// The start of a run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StartBody {
    /// 1 to 128 printable ASCII characters, different for each worker.
    worker_id: String,
    /// As it came with the claim or the assignment.
    attempt: u32,
}

/// A claim.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ClaimBody {
    /// 1 to 128 printable ASCII characters, different for each worker.
    worker_id: String,
    /// The most jobs to take, 1 to 20; 1 if left out.
    #[schemars(range(min = 1, max = 20))]
    max: Option<usize>,
}

/// Jobs to start, each within 60 s.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ClaimView {
    jobs: Vec<TaskView>,
}

/// A job as its worker gets it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskView {
    job_id: String,
    job_type: String,
    /// To be sent with every report.
    attempt: u32,
    timeout_seconds: u32,
    payload: Option<Value>,
    /// A link to a payload over 256 KB; works for 15 minutes.
    payload_url: Option<String>,
    /// How often to send a heartbeat.
    heartbeat_seconds: u32,
}

pub(super) const CLAIM: Operation = Operation::post("/api/v1/job-types/{jobType}/claim", "claimJobs", "Claim jobs to work on")
    .description("For types whose `delivery` is `poll`. Start each within 60 s, or it goes to another worker. No jobs means: \
         claim again later.")
    .role(Role::JobWorker)
    .refuses(&[404, 409]);

pub(super) async fn claim(
    State(app): State<Arc<App>>,
    call: Call,
    Json(body): Json<ClaimBody>,
    Path(name): Path<TypePath>,
) -> Result<Json<ClaimView>> {
    let worker = WorkerId::parse(&body.worker_id)?;
    let max = body.max.unwrap_or(1);
    if !(1..=20).contains(&max) {
        return Err(Problem::field("max", "a number from 1 to 20"));
    }
    let found = app.jobs.job_type(&name).await?;
    let job_type = found.ok_or_else(|| Problem::unknown("job type"))?;
    if job_type.settings.delivery != DeliveryMode::Poll {
        return Err(Problem::conflict("Jobs of this type go to the worker queue."));
    }
    let assigned = app.engine.assign(&job_type, Some(&worker), &[], max, call.now).await?;
    let mut jobs = Vec::new();
    for job in &assigned.jobs {
        jobs.push(task(&app, job).await?);
    }
    Ok(Json(ClaimView { jobs }))
}

pub(super) const START: Operation =
    Operation::post("/api/v1/jobs/{jobId}/start", "startJob", "Start a job")
        .description("409 means that the job is not this worker's: drop it.")
        .role(Role::JobWorker)
        .refuses(&[404, 409]);

pub(super) async fn start(
    State(app): State<Arc<App>>,
    call: Call,
    Json(body): Json<StartBody>,
    Path(id): Path<JobPath>,
) -> Result<Json<TaskView>> {
    let worker = WorkerId::parse(&body.worker_id)?;
    let event = JobEvent::Started { worker: worker.clone(), attempt: body.attempt };
    let job = app.apply_event(&call, &id, &event, &Actor::Worker(worker), |_| true).await?;
    Ok(Json(task(&app, &job).await?))
}

async fn task(app: &App, job: &Job) -> Result<TaskView> {
    let payload = match job.payload {
        PayloadLocation::Row => app.jobs.payload(&job.id).await?,
        PayloadLocation::None | PayloadLocation::Bucket => None,
    };
    let payload_url = match job.payload {
        PayloadLocation::Bucket => {
            Some(app.bucket.presign_download(&Bucket::payload_key(&job.id))?)
        }
        PayloadLocation::None | PayloadLocation::Row => None,
    };
    Ok(TaskView {
        job_id: job.id.as_str().to_owned(),
        job_type: job.job_type.as_str().to_owned(),
        attempt: job.attempt,
        timeout_seconds: job.timeout_seconds,
        payload: payload.and_then(|json| serde_json::from_str(&json).ok()),
        payload_url,
        heartbeat_seconds: HEARTBEAT_INTERVAL_SECONDS,
    })
}

/// A heartbeat.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct HeartbeatBody {
    worker_id: String,
    attempt: u32,
    /// 0 to 100.
    #[schemars(range(min = 0, max = 100))]
    progress: Option<u8>,
}

/// Whether to continue.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HeartbeatView {
    /// `continue` or `cancel`.
    action: &'static str,
}

pub(super) const HEARTBEAT: Operation =
    Operation::post("/api/v1/jobs/{jobId}/heartbeat", "beatJob", "Send a heartbeat")
        .description("Every 20 s; after 60 s without one the job goes to another worker.")
        .role(Role::JobWorker)
        .refuses(&[404, 409]);

pub(super) async fn heartbeat(
    State(app): State<Arc<App>>,
    call: Call,
    Json(body): Json<HeartbeatBody>,
    Path(id): Path<JobPath>,
) -> Result<Json<HeartbeatView>> {
    let worker = WorkerId::parse(&body.worker_id)?;
    if body.progress.is_some_and(|progress| progress > 100) {
        return Err(Problem::field("progress", "a number from 0 to 100"));
    }
    let run = (worker, body.attempt);
    let job = found(app.engine.record_heartbeat(&id, run, body.progress, call.now).await?)?;
    let action = if job.cancel_requested_at.is_some() { "cancel" } else { "continue" };
    Ok(Json(HeartbeatView { action }))
}
