//! Reading one job: its state, why it is not running, and its audit trail.

use std::sync::Arc;

use boundary::http::{Call, Cursor, Json, Operation, Problem, Query, Result, State};
use domain::jobs::explain::{self, ExplainInput, Explanation};
use domain::jobs::{Job, JobStatus, builtin_job_type};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Visible;
use super::view::{EventView, JobView};
use crate::http::state::App;

/// Holders that an explanation names.
const NAMED_HOLDERS: usize = 20;

pub(super) const READ: Operation =
    Operation::get("/api/v1/jobs/{jobId}", "readJob", "Read a job").key();

pub(super) async fn read(
    State(app): State<Arc<App>>,
    call: Call,
    Visible(job): Visible,
) -> Result<Json<JobView>> {
    Ok(Json(JobView::with_links(&job, &app, call.now).await?))
}

/// Why a job is not running.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExplainView {
    job_id: String,
    status: &'static str,
    /// One of `running`, `stopping`, `ended`, `dependencies`, `not-before`, `backoff`, `paused`,
    /// `limit-reached`, `behind`, `waits-for-claim`, `next`, `assigned`.
    reason: &'static str,
    /// The reason as a sentence.
    explanation: String,
    /// Its position among the ready jobs of its type, 1 is next; counted up to 1,000 a priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_position: Option<u64>,
    /// Dependencies that have not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    open_dependencies: Option<Vec<String>>,
    /// When the reason ends by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    /// Licences of its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_concurrent: Option<u32>,
    /// Licences in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_use: Option<u32>,
    /// Jobs that hold them, at most 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    held_by: Option<Vec<String>>,
}

pub(super) const EXPLAIN: Operation = Operation::get(
    "/api/v1/jobs/{jobId}/explain",
    "explainJob",
    "Explain why a job is not running",
)
.description("The one obstacle without which it would go on.")
.key();

pub(super) async fn explain(
    State(app): State<Arc<App>>,
    call: Call,
    Visible(job): Visible,
) -> Result<Json<ExplainView>> {
    let found = app.jobs.job_type(&job.job_type).await?;
    let job_type = found
        .or_else(|| builtin_job_type(&job.job_type))
        .ok_or_else(|| Problem::unknown("job type"))?;
    let licences = app.jobs.licence_shards(&job_type).await?;
    let mut open = Vec::new();
    if job.status == JobStatus::Waiting {
        let parents = app.jobs.find_all(&job.dependencies).await?;
        let unfinished = parents.into_iter().filter(|parent| !parent.status.is_final());
        open.extend(unfinished.map(|parent| parent.id));
    }
    let queued = job.status == JobStatus::Queued && job.ready_at <= call.now;
    let ahead = if queued {
        app.count_ahead(&job_type, job.priority, job.ready_at, call.now).await?
    } else {
        0
    };
    let facts = ExplainInput {
        job: &job,
        settings: job_type.settings,
        licences: &licences,
        open_dependencies: &open,
        ahead,
    };
    let explanation = explain::explain(&facts, call.now);
    let mut view = ExplainView {
        job_id: job.id.as_str().to_owned(),
        status: job.status.name(),
        queue_position: queued.then_some(ahead + 1),
        ..ExplainView::default()
    };
    if let Explanation::LimitReached { .. } = explanation {
        view.held_by = Some(holders(&app, &job, job_type.shard_count()).await?);
    }
    view.describe(&explanation, &job);
    Ok(Json(view))
}

async fn holders(app: &App, job: &Job, shards: u8) -> Result<Vec<String>> {
    let mut held = Vec::new();
    for shard in 0..shards {
        let more = app.jobs.holders(&job.job_type, shard, NAMED_HOLDERS).await?;
        held.extend(more.into_iter().map(|holder| holder.job.as_str().to_owned()));
    }
    held.truncate(NAMED_HOLDERS);
    Ok(held)
}

impl ExplainView {
    fn describe(&mut self, explanation: &Explanation, job: &Job) {
        let (name, sentence) = match explanation {
            Explanation::Running => ("running", "It is running.".to_owned()),
            Explanation::Stopping => (
                "stopping",
                "It is running; its worker is told to stop at its next heartbeat.".to_owned(),
            ),
            Explanation::Ended => ("ended", format!("It is {}.", job.status.name())),
            Explanation::Dependencies(open) => {
                self.open_dependencies =
                    Some(open.iter().map(|id| id.as_str().to_owned()).collect());
                ("dependencies", format!("It waits for other jobs to end: {}.", open.len()))
            }
            Explanation::NotBefore { at, backoff } => {
                self.until = Some(at.to_string());
                if *backoff {
                    let last = job.attempt.saturating_sub(1);
                    ("backoff", format!("Attempt {last} failed; it runs again from {at} on."))
                } else {
                    ("not-before", format!("It was submitted to run from {at} on."))
                }
            }
            Explanation::Paused => {
                self.max_concurrent = Some(0);
                ("paused", "Its type has `maxConcurrent` 0, so nothing of it runs.".to_owned())
            }
            Explanation::LimitReached { limit, in_use } => {
                (self.max_concurrent, self.in_use) = (Some(*limit), Some(*in_use));
                let sentence = format!(
                    "Every licence of its type is taken: {in_use} in use, {limit} allowed."
                );
                ("limit-reached", sentence)
            }
            Explanation::Behind { ahead } => (
                "behind",
                format!("There are licences, but other jobs of its type go first: {ahead}."),
            ),
            Explanation::WaitsForClaim => {
                ("waits-for-claim", "It is next; a worker has to claim it.".to_owned())
            }
            Explanation::Next => ("next", "It is next, and being assigned.".to_owned()),
            Explanation::Assigned { until } => {
                self.until = Some(until.to_string());
                let sentence = format!(
                    "It was sent to a worker; if none starts it, it is queued again at {until}."
                );
                ("assigned", sentence)
            }
        };
        (self.reason, self.explanation) = (name, sentence);
    }
}

/// A page of an audit trail.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuditTrailQuery {
    /// `nextCursor` of the page before.
    cursor: Option<String>,
    /// How many at most, 1 to 100; 50 if left out.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<i32>,
}

/// A page of an audit trail.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditTrailView {
    items: Vec<EventView>,
    /// Pass it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

pub(super) const EVENTS: Operation =
    Operation::get("/api/v1/jobs/{jobId}/events", "readJobEvents", "Read a job's audit trail")
        .description("Every change since its submission, oldest first; kept for 90 days.")
        .key();

pub(super) async fn events(
    State(app): State<Arc<App>>,
    Query(query): Query<AuditTrailQuery>,
    Visible(job): Visible,
) -> Result<Json<AuditTrailView>> {
    const LIST: &str = "job-events";
    let limit = query.limit.unwrap_or(50);
    if !(1..=100).contains(&limit) {
        return Err(Problem::field("limit", "a number from 1 to 100"));
    }
    let after = query.cursor.map(|text| Cursor::decode(LIST, &text)).transpose()?;
    if after.as_ref().is_some_and(|position| position.parse::<u64>().is_err()) {
        return Err(Cursor::invalid());
    }
    let page = app.jobs.audit_trail(&job.id, limit, after.as_deref()).await?;
    let next_cursor = page.next.map(|next| Cursor::new(LIST, &next).as_str().to_owned());
    let items = page.items.iter().map(EventView::from).collect();
    Ok(Json(AuditTrailView { items, next_cursor }))
}
