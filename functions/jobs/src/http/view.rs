//! Jobs as callers see them.

use boundary::http::Problem;
use domain::Timestamp;
use domain::jobs::{Actor, Job, Record, Status};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::http::state::App;

/// A job.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobView {
    job_id: String,
    job_type: String,
    /// `WAITING`, `QUEUED`, `ASSIGNED`, `RUNNING`, `COMPLETED`, `FAILED` or `CANCELLED`.
    status: &'static str,
    /// `P0` to `P3`.
    priority: &'static str,
    /// 0 to 100, as its worker says.
    progress: u8,
    /// The run it is queued for, or that is going on, or was the last.
    attempt: u32,
    /// The last run that it gets.
    last_attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<String>,
    created_at: String,
    /// From when on it may run.
    ready_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    heartbeat_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
    /// When it will be done if it goes on as it has: only while it runs and says how far it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_end_at: Option<String>,
    /// Its worker was asked to stop.
    cancel_requested: bool,
    timeout_seconds: u32,
    dependencies: Vec<String>,
    /// What it left, each with a link that works for 15 minutes.
    artifacts: Vec<ArtifactView>,
    /// What its worker answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    /// Why the last run failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Something that a job left.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ArtifactView {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

impl JobView {
    /// Without links: for lists.
    pub(crate) fn of(job: &Job, now: Timestamp) -> Self {
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
        let artifacts = job.artifacts.iter();
        Self {
            job_id: job.id.as_str().to_owned(),
            job_type: job.kind.as_str().to_owned(),
            status: job.status.name(),
            priority: job.priority.name(),
            progress: job.progress,
            attempt: job.attempt,
            last_attempt: job.last_attempt,
            worker: job.worker.as_ref().map(|worker| worker.as_str().to_owned()),
            created_at: job.created_at.to_string(),
            ready_at: job.ready_at.to_string(),
            started_at: time(job.started_at),
            heartbeat_at: time(job.beat_at),
            ended_at: time(job.ended_at),
            estimated_end_at: time(estimate(job, now)),
            cancel_requested: job.cancel_requested_at.is_some(),
            timeout_seconds: job.timeout_seconds,
            dependencies: job.dependencies.iter().map(|id| id.as_str().to_owned()).collect(),
            artifacts: artifacts
                .map(|artifact| ArtifactView { name: artifact.name.clone(), url: None })
                .collect(),
            result: job.result.as_deref().and_then(|json| serde_json::from_str(json).ok()),
            error: job.error.clone(),
        }
    }

    /// With links to what it left.
    pub(crate) async fn with_links(job: &Job, app: &App, now: Timestamp) -> Result<Self, Problem> {
        let mut view = Self::of(job, now);
        for (shown, artifact) in view.artifacts.iter_mut().zip(&job.artifacts) {
            shown.url = Some(app.bucket.presign_download(&artifact.key(job)).await?);
        }
        Ok(view)
    }
}

/// When a run will be done if it goes on as it has.
fn estimate(job: &Job, now: Timestamp) -> Option<Timestamp> {
    let started_ms = job.started_at.filter(|_| job.status == Status::Running)?.as_millisecond();
    let took_ms = now.as_millisecond() - started_ms;
    let progress = i64::from(job.progress);
    (progress > 0 && took_ms > 0)
        .then(|| Timestamp::from_millisecond(started_ms + took_ms * 100 / progress).ok())
        .flatten()
}

/// One change of a job.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EventView {
    /// The version that it made.
    version: u64,
    at: String,
    /// `user …`, `worker …` or `system`.
    by: String,
    /// What happened, with what came with it: `attempt`, `error`, `worker` and the like.
    what: Value,
}

impl From<&Record> for EventView {
    fn from(record: &Record) -> Self {
        let by = match &record.by {
            Actor::User(user) => format!("user {}", user.as_str()),
            Actor::Worker(worker) => format!("worker {}", worker.as_str()),
            Actor::System => "system".to_owned(),
        };
        let what = match (&record.event, &record.submitted) {
            (Some(event), _) => serde_json::to_value(event).unwrap_or_default(),
            (None, Some(job)) => serde_json::json!({
                "event": "submitted", "jobType": job.kind.as_str(), "priority": job.priority.name(),
                "status": job.status.name(),
            }),
            (None, None) => Value::Null,
        };
        Self { version: record.version, at: record.at.to_string(), by, what }
    }
}
