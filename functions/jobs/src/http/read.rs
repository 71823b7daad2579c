//! Looking at one job: how it is, why it is not running, and how it got there.

use std::sync::Arc;

use boundary::http::{Call, Cursor, Json, Operation, Problem, Query, State};
use domain::jobs::explain::{self, Facts, Reason};
use domain::jobs::{Job, Status, builtin};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Visible;
use super::view::{EventView, JobView};
use crate::http::state::App;

/// Holders that an explanation names.
const NAMED_HOLDERS: usize = 20;

pub(super) const READ: Operation =
    Operation::get("/api/v1/jobs/{jobId}", "readJob", "How is it?").key();

pub(super) async fn read(
    State(app): State<Arc<App>>,
    call: Call,
    Visible(job): Visible,
) -> Result<Json<JobView>, Problem> {
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
    /// The same as a sentence.
    explanation: String,
    /// Where it stands among the jobs of its type, 1 is next; counted up to 1,000 a priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_position: Option<u64>,
    /// Dependencies that have not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    open_dependencies: Option<Vec<String>>,
    /// When that changes by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    /// Licences of its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_concurrent: Option<u32>,
    /// Licences that are taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_use: Option<u32>,
    /// Jobs that have them, at most 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    held_by: Option<Vec<String>>,
}

pub(super) const EXPLAIN: Operation =
    Operation::get("/api/v1/jobs/{jobId}/explain", "explainJob", "Why is it not running?")
        .description("The one reason that, taken away, lets it go on.")
        .key();

pub(super) async fn explain(
    State(app): State<Arc<App>>,
    call: Call,
    Visible(job): Visible,
) -> Result<Json<ExplainView>, Problem> {
    let found = app.jobs.kind(&job.kind).await?;
    let kind = found.or_else(|| builtin(&job.kind)).ok_or_else(|| Problem::unknown("job type"))?;
    let licences = app.jobs.licences(&kind).await?;
    let mut open = Vec::new();
    if job.status == Status::Waiting {
        let parents = app.jobs.find_all(&job.dependencies).await?;
        let unfinished = parents.into_iter().filter(|parent| !parent.status.is_final());
        open.extend(unfinished.map(|parent| parent.id));
    }
    let queued = job.status == Status::Queued && job.ready_at <= call.now;
    let ahead =
        if queued { app.ahead(&kind, job.priority, job.ready_at, call.now).await? } else { 0 };
    let facts =
        Facts { job: &job, settings: kind.settings, licences: &licences, open: &open, ahead };
    let reason = explain::explain(&facts, call.now);
    let mut view = ExplainView {
        job_id: job.id.as_str().to_owned(),
        status: job.status.name(),
        queue_position: queued.then_some(ahead + 1),
        ..ExplainView::default()
    };
    if let Reason::LimitReached { .. } = reason {
        view.held_by = Some(holders(&app, &job, kind.widest.max(kind.settings.shards)).await?);
    }
    view.tell(&reason, &job);
    Ok(Json(view))
}

async fn holders(app: &App, job: &Job, shards: u8) -> Result<Vec<String>, Problem> {
    let mut held = Vec::new();
    for shard in 0..shards {
        let more = app.jobs.holders(&job.kind, shard, NAMED_HOLDERS).await?;
        held.extend(more.into_iter().map(|holder| holder.job.as_str().to_owned()));
    }
    held.truncate(NAMED_HOLDERS);
    Ok(held)
}

impl ExplainView {
    fn tell(&mut self, reason: &Reason, job: &Job) {
        let (name, sentence) = match reason {
            Reason::Running => ("running", "It is running.".to_owned()),
            Reason::Stopping => (
                "stopping",
                "It is running; its worker hears at its next heartbeat that it should stop."
                    .to_owned(),
            ),
            Reason::Ended => ("ended", format!("It is {}.", job.status.name())),
            Reason::Dependencies(open) => {
                self.open_dependencies =
                    Some(open.iter().map(|id| id.as_str().to_owned()).collect());
                ("dependencies", format!("It waits for others to end: {}.", open.len()))
            }
            Reason::NotBefore { at, backoff } => {
                self.until = Some(at.to_string());
                if *backoff {
                    let last = job.attempt.saturating_sub(1);
                    ("backoff", format!("Attempt {last} failed; it runs again from {at} on."))
                } else {
                    ("not-before", format!("It was submitted to run from {at} on."))
                }
            }
            Reason::Paused => {
                self.max_concurrent = Some(0);
                ("paused", "Its type has `maxConcurrent` 0, so nothing of it runs.".to_owned())
            }
            Reason::LimitReached { limit, in_use } => {
                (self.max_concurrent, self.in_use) = (Some(*limit), Some(*in_use));
                let sentence = format!(
                    "Every licence of its type is taken: {in_use} in use, {limit} allowed."
                );
                ("limit-reached", sentence)
            }
            Reason::Behind { ahead } => {
                ("behind", format!("There are licences, but others of its type go first: {ahead}."))
            }
            Reason::WaitsForClaim => {
                ("waits-for-claim", "It is next; a worker has to claim it.".to_owned())
            }
            Reason::Next => ("next", "It is next, and being handed out.".to_owned()),
            Reason::Assigned { until } => {
                self.until = Some(until.to_string());
                let sentence = format!(
                    "A worker was told to begin; if none does it is queued again at {until}."
                );
                ("assigned", sentence)
            }
        };
        (self.reason, self.explanation) = (name, sentence);
    }
}

/// Which page of a trail.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrailQuery {
    /// `nextCursor` of the page before.
    cursor: Option<String>,
    /// How many at most, 1 to 100; 50 if left out.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<i32>,
}

/// A page of a trail.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrailView {
    items: Vec<EventView>,
    /// Pass it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

pub(super) const EVENTS: Operation =
    Operation::get("/api/v1/jobs/{jobId}/events", "readJobEvents", "How did it get there?")
        .description("Every change since its submission, oldest first; kept for 90 days.")
        .key();

pub(super) async fn events(
    State(app): State<Arc<App>>,
    Query(query): Query<TrailQuery>,
    Visible(job): Visible,
) -> Result<Json<TrailView>, Problem> {
    const LIST: &str = "job-events";
    let limit = query.limit.unwrap_or(50);
    if !(1..=100).contains(&limit) {
        return Err(Problem::field("limit", "a number from 1 to 100"));
    }
    let after = query.cursor.map(|text| Cursor::decode(LIST, &text)).transpose()?;
    if after.as_ref().is_some_and(|position| position.parse::<u64>().is_err()) {
        return Err(Cursor::invalid());
    }
    let page = app.jobs.trail(&job.id, limit, after.as_deref()).await?;
    let next_cursor = page.next.map(|next| Cursor::new(LIST, &next).as_str().to_owned());
    let items = page.items.iter().map(EventView::from).collect();
    Ok(Json(TrailView { items, next_cursor }))
}
