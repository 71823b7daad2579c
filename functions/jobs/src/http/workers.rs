//! The workers' side: claim, start, heartbeat, complete, fail, and a place for what they leave.

use boundary::http::{Answer, Error, Problem, Request, Response};
use boundary::telemetry::{Unit, measure_of};
use domain::jobs::{
    Actor, Artifact, Decision, Delivery, Event, Job, PayloadPlace, Rejected, TypeName, Worker,
    transition,
};
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::Bucket;
use store::bucket::LINK_SECONDS;
use store::jobs::Beaten;

use crate::State;
use crate::http::view::JobView;
use crate::state::named;

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

pub(crate) async fn claim(state: &State, request: Request) -> Answer {
    let body: ClaimBody = request.json()?;
    let worker = Worker::parse(&body.worker_id)?;
    let most = body.max.unwrap_or(1);
    if !(1..=20).contains(&most) {
        return Err(Problem::field("max", "a number from 1 to 20").into());
    }
    let name = TypeName::parse(request.param("jobType")).map_err(|_| unknown_type())?;
    let kind = state.jobs.kind(&name).await?.ok_or_else(unknown_type)?;
    if kind.settings.delivery != Delivery::Poll {
        return Err(Problem::conflict("Jobs of this type go to the worker queue.").into());
    }
    let token = || state.entropy.token();
    let assigned = state.jobs.assign(&kind, Some(&worker), &[], most, request.now, token).await?;
    let mut jobs = Vec::new();
    for (_, job) in &assigned.jobs {
        jobs.push(task(state, job).await?);
    }
    Ok(Response::json(StatusCode::OK, &ClaimView { jobs }))
}

fn unknown_type() -> Problem {
    Problem::unknown("job type")
}

pub(crate) async fn start(state: &State, request: Request) -> Answer {
    let body: StartBody = request.json()?;
    let worker = Worker::parse(&body.worker_id)?;
    let event = Event::Started { worker: worker.clone(), attempt: body.attempt };
    let job = state.happen(&request, &event, &Actor::Worker(worker), |_| true).await?;
    Ok(Response::json(StatusCode::OK, &task(state, &job).await?))
}

async fn task(state: &State, job: &Job) -> Result<TaskView, Error> {
    let payload = match job.payload {
        PayloadPlace::Row => state.jobs.payload(&job.id).await?,
        PayloadPlace::Nowhere | PayloadPlace::Bucket => None,
    };
    let payload_url = match job.payload {
        PayloadPlace::Bucket => {
            Some(state.bucket.download_link(&Bucket::payload_key(&job.id)).await?)
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

pub(crate) async fn heartbeat(state: &State, request: Request) -> Answer {
    let body: BeatBody = request.json()?;
    let worker = Worker::parse(&body.worker_id)?;
    if body.progress.is_some_and(|progress| progress > 100) {
        return Err(Problem::field("progress", "a number from 0 to 100").into());
    }
    let id = named(&request)?;
    let now = request.now;
    match state.jobs.beat(&id, &worker, body.attempt, body.progress, now).await? {
        Beaten::Noted(job) => {
            let action = if job.cancel_requested_at.is_some() { "cancel" } else { "continue" };
            Ok(Response::json(StatusCode::OK, &BeatView { action }))
        }
        Beaten::Refused(None) => Err(Rejected::UnknownJob.into()),
        Beaten::Refused(Some(job)) => {
            let progress = body.progress;
            let event = Event::Beaten { worker, attempt: body.attempt, progress };
            match transition(&job, &event, now) {
                Decision::Refuse(refusal) => Err(Rejected::Refused(refusal).into()),
                // It has become this worker's since; the next heartbeat says so.
                Decision::Become(_) | Decision::Stay => {
                    Ok(Response::json(StatusCode::OK, &BeatView { action: "continue" }))
                }
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

pub(crate) async fn complete(state: &State, request: Request) -> Answer {
    let body: CompleteBody = request.json()?;
    let worker = Worker::parse(&body.worker_id)?;
    if body.artifacts.len() > Artifact::MOST {
        return Err(Problem::field("artifacts", "at most 20").into());
    }
    let named = body.artifacts.iter().map(|artifact| Artifact::parse(&artifact.name));
    let mut artifacts = named.collect::<Result<Vec<_>, _>>()?;
    artifacts.sort_by(|a, b| a.name.cmp(&b.name));
    artifacts.dedup();
    let result = body.result.filter(|value| !value.is_null()).map(|value| value.to_string());
    if result.as_ref().is_some_and(|json| json.len() > LONGEST_RESULT) {
        let rule = "at most 4096 bytes; upload more as an artifact";
        return Err(Problem::field("result", rule).into());
    }
    let attempt = body.attempt;
    let event = Event::Completed { worker: worker.clone(), attempt, artifacts, result };
    ended(state, request, event, worker).await
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

pub(crate) async fn fail(state: &State, request: Request) -> Answer {
    let body: FailBody = request.json()?;
    let worker = Worker::parse(&body.worker_id)?;
    if body.error.chars().count() > LONGEST_ERROR {
        return Err(Problem::field("error", "at most 1000 characters").into());
    }
    let event = Event::Failed {
        worker: worker.clone(),
        attempt: body.attempt,
        retryable: body.retryable,
        error: body.error,
        jitter: u64::from_be_bytes(state.entropy.bytes()),
    };
    ended(state, request, event, worker).await
}

async fn ended(state: &State, request: Request, event: Event, worker: Worker) -> Answer {
    let job = state.happen(&request, &event, &Actor::Worker(worker), |_| true).await?;
    if let (Some(started), true) = (job.started_at, job.status.is_final()) {
        let dimensions = vec![("JobType", job.kind.as_str().to_owned())];
        let ms = request.now.as_millisecond() - started.as_millisecond();
        let seconds = f64::from(i32::try_from(ms.max(0)).unwrap_or(i32::MAX)) / 1_000.0;
        measure_of("job_duration_seconds", Unit::Seconds, seconds, dimensions);
    }
    Ok(Response::json(StatusCode::OK, &JobView::of(&job, request.now)))
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

pub(crate) async fn artifact(state: &State, request: Request) -> Answer {
    let body: UploadBody = request.json()?;
    let worker = Worker::parse(&body.worker_id)?;
    let artifact = Artifact::parse(&body.name)?;
    let found = state.jobs.find(&named(&request)?).await?;
    let job = found.ok_or(Rejected::UnknownJob)?;
    // Only who runs the job may leave anything with it.
    let event = Event::Beaten { worker, attempt: body.attempt, progress: None };
    if let Decision::Refuse(refusal) = transition(&job, &event, request.now) {
        return Err(Rejected::Refused(refusal).into());
    }
    let url = state.bucket.upload_link(&artifact.key(&job)).await?;
    let expires_ms =
        request.now.as_millisecond() + i64::try_from(LINK_SECONDS * 1_000).unwrap_or(0);
    let expires_at = domain::Timestamp::from_millisecond(expires_ms).unwrap_or(request.now);
    let view =
        UploadView { name: artifact.name, url, method: "PUT", expires_at: expires_at.to_string() };
    Ok(Response::json(StatusCode::OK, &view))
}
