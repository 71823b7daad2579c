//! Jobs as the API shows them.

use boundary::http::Result;
use domain::Timestamp;
use domain::jobs::{Actor, AuditRecord, Job, JobStatus};
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
    /// 0 to 100, as its worker reported.
    progress: u8,
    /// The current run, or the one it is queued for, or the last one.
    attempt: u32,
    /// The last attempt that it gets.
    last_attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<String>,
    created_at: String,
    /// The earliest start of its current attempt.
    ready_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    heartbeat_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
    /// Extrapolated from its progress; only while it runs and has reported any.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_end_at: Option<String>,
    /// Whether its worker is told to stop at its next heartbeat.
    cancel_requested: bool,
    timeout_seconds: u32,
    dependencies: Vec<String>,
    /// What its worker uploaded, each with a link that works for 15 minutes.
    artifacts: Vec<ArtifactView>,
    /// What its worker returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    /// Why the last run failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// A file that a worker uploaded for its job.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ArtifactView {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

impl JobView {
    /// Without links: for lists.
    pub(crate) fn new(job: &Job, now: Timestamp) -> Self {
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
        let artifacts = job.artifacts.iter();
        Self {
            job_id: job.id.as_str().to_owned(),
            job_type: job.job_type.as_str().to_owned(),
            status: job.status.name(),
            priority: job.priority.name(),
            progress: job.progress,
            attempt: job.attempt,
            last_attempt: job.last_attempt,
            worker: job.worker.as_ref().map(|worker| worker.as_str().to_owned()),
            created_at: job.created_at.to_string(),
            ready_at: job.ready_at.to_string(),
            started_at: time(job.started_at),
            heartbeat_at: time(job.heartbeat_at),
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

    /// With links to its artifacts.
    pub(crate) async fn with_links(job: &Job, app: &App, now: Timestamp) -> Result<Self> {
        let mut view = Self::new(job, now);
        for (shown, artifact) in view.artifacts.iter_mut().zip(&job.artifacts) {
            shown.url = Some(app.bucket.presign_download(&artifact.key(job))?);
        }
        Ok(view)
    }
}

/// When a run will end, extrapolated from its progress.
fn estimate(job: &Job, now: Timestamp) -> Option<Timestamp> {
    let started_ms = job.started_at.filter(|_| job.status == JobStatus::Running)?.as_millisecond();
    let took_ms = now.as_millisecond() - started_ms;
    let progress = i64::from(job.progress);
    (progress > 0 && took_ms > 0)
        .then(|| Timestamp::from_millisecond(started_ms + took_ms * 100 / progress).ok())
        .flatten()
}

/// One record of a job's audit trail.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EventView {
    /// The version that it made.
    version: u64,
    at: String,
    /// `user …`, `worker …` or `system`.
    by: String,
    /// The event and its fields: `attempt`, `error`, `worker` and the like.
    what: Value,
}

impl From<&AuditRecord> for EventView {
    fn from(record: &AuditRecord) -> Self {
        let by = match &record.by {
            Actor::User(user) => format!("user {}", user.as_str()),
            Actor::Worker(worker) => format!("worker {}", worker.as_str()),
            Actor::System => "system".to_owned(),
        };
        let what = match (&record.event, &record.submitted) {
            (Some(event), _) => serde_json::to_value(event).unwrap_or_default(),
            (None, Some(job)) => serde_json::json!({
                "event": "submitted", "jobType": job.job_type.as_str(), "priority": job.priority.name(),
                "status": job.status.name(),
            }),
            (None, None) => Value::Null,
        };
        Self { version: record.version, at: record.at.to_string(), by, what }
    }
}
