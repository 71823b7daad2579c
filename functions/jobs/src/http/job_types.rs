//! Job types: their limits and queues, and changing them while jobs run.

use std::sync::Arc;

use boundary::http::{
    Call, IfMatch, Json, Operation, Path, Problem, Result, State, Upserted, Versioned,
};
use domain::accounts::Role;
use domain::jobs::licence::LicenceShard;
use domain::jobs::{DeliveryMode, JobPriority, JobType, JobTypeSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::new_job::RetryBody;
use super::{NewTypePath, TypePath, Viewer};
use crate::http::state::{App, MAX_COUNTED};
use crate::store::SaveOutcome;

/// Saves that a taken licence may undo before the request fails.
const MAX_TRIES: usize = 8;

/// Settings of a type. Those left out stay as they are, or have their defaults in a new type.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct JobTypeBody {
    /// Jobs that may run at once, 0 to 100000. Lowered below those that run, no job starts until enough have
    /// ended.
    max_concurrent: Option<u32>,
    /// For jobs that bring no policy of their own.
    retry_policy: Option<RetryBody>,
    /// For jobs that bring no timeout of their own.
    timeout_seconds: Option<u32>,
    /// `sqs` (a message on the worker queue) or `poll` (workers claim).
    #[schemars(with = "Option<String>")]
    delivery: Option<DeliveryMode>,
    /// A job gains a level of priority for each of these that it has waited; 300 if left out.
    aging_seconds: Option<u32>,
    /// Rows that its licences are split over, 1 to 16: one carries some 250 jobs a second.
    licence_shards: Option<u8>,
}

impl JobTypeBody {
    fn or_defaults(&self, defaults: JobTypeSettings) -> JobTypeSettings {
        JobTypeSettings {
            max_concurrent: self.max_concurrent.unwrap_or(defaults.max_concurrent),
            licence_shards: self.licence_shards.unwrap_or(defaults.licence_shards),
            retry: self
                .retry_policy
                .map_or(defaults.retry, |retry| retry.or_defaults(defaults.retry)),
            timeout_seconds: self.timeout_seconds.unwrap_or(defaults.timeout_seconds),
            delivery: self.delivery.unwrap_or(defaults.delivery),
            aging_seconds: self.aging_seconds.unwrap_or(defaults.aging_seconds),
        }
    }
}

/// A type, its licences and its queue.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobTypeView {
    job_type: String,
    max_concurrent: u32,
    /// Jobs that hold a licence; more than `maxConcurrent` after it was lowered.
    in_use: u32,
    /// Ready jobs that do not run yet, by priority; counted up to 1,000 each.
    queued: QueuedView,
    /// How long the oldest of them has waited.
    oldest_wait_seconds: u64,
    retry_policy: RetryPolicyView,
    timeout_seconds: u32,
    /// `sqs` or `poll`.
    delivery: &'static str,
    aging_seconds: u32,
    licence_shards: u8,
    version: u64,
}

/// Jobs by priority.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) struct QueuedView {
    p0: u64,
    p1: u64,
    p2: u64,
    p3: u64,
}

/// How often a job is tried, and the backoff between runs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RetryPolicyView {
    max_attempts: u32,
    backoff_seconds: u32,
}

/// All types.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct JobTypesView {
    items: Vec<JobTypeView>,
}

pub(super) const LIST: Operation =
    Operation::get("/api/v1/job-types", "listJobTypes", "List job types").key();

pub(super) async fn list(
    State(app): State<Arc<App>>,
    call: Call,
    _: Viewer,
) -> Result<Json<JobTypesView>> {
    let mut items = Vec::new();
    for job_type in app.jobs.job_types().await? {
        items.push(view(&app, &job_type, &call).await?);
    }
    Ok(Json(JobTypesView { items }))
}

pub(super) const READ: Operation =
    Operation::get("/api/v1/job-types/{jobType}", "readJobType", "Read a job type")
        .key()
        .refuses(&[404]);

pub(super) async fn read(
    State(app): State<Arc<App>>,
    call: Call,
    _: Viewer,
    Path(name): Path<TypePath>,
) -> Result<Versioned<Json<JobTypeView>>> {
    let job_type = app.jobs.job_type(&name).await?.ok_or_else(|| Problem::unknown("job type"))?;
    Ok(Versioned(job_type.version, Json(view(&app, &job_type, &call).await?)))
}

pub(super) const SAVE: Operation =
    Operation::put("/api/v1/job-types/{jobType}", "saveJobType", "Create or change a job type")
        .description("Takes effect at once. Lowering `maxConcurrent` ends no running job.")
        .role(Role::Admin)
        .refuses(&[503]);

pub(super) async fn save(
    State(app): State<Arc<App>>,
    call: Call,
    Path(name): Path<NewTypePath>,
    Json(body): Json<JobTypeBody>,
    version: Option<IfMatch>,
) -> Result<Versioned<Upserted<JobTypeView>>> {
    for _ in 0..MAX_TRIES {
        let found = app.jobs.job_type(&name).await?;
        let current = found.as_ref().map_or(0, |job_type| job_type.version);
        if version.is_some_and(|IfMatch(version)| version != current) {
            return Err(Problem::version_mismatch());
        }
        let defaults = found.as_ref().map(|job_type| job_type.settings).unwrap_or_default();
        let settings = body.or_defaults(defaults).checked()?;
        let peak_shards =
            found.as_ref().map_or(1, |job_type| job_type.peak_shards).max(settings.licence_shards);
        let job_type = JobType {
            name: name.clone(),
            settings,
            updated_at: Some(call.now),
            peak_shards,
            version: current + 1,
        };
        let rows: Vec<LicenceShard> = app.jobs.licence_shards(&job_type).await?;
        match app.jobs.save_job_type(&job_type, &rows, &app.engine.entropy.token()).await? {
            SaveOutcome::Conflict => {}
            SaveOutcome::Saved => {
                app.limit_changed(&job_type, &call).await;
                let body = view(&app, &job_type, &call).await?;
                return Ok(Versioned(job_type.version, Upserted { is_new: current == 0, body }));
            }
        }
    }
    Err(Problem::unavailable("The type is too busy to be changed.", 1))
}

async fn view(app: &App, job_type: &JobType, call: &Call) -> Result<JobTypeView> {
    let rows = app.jobs.licence_shards(job_type).await?;
    let mut counts = [0; 4];
    let mut oldest_ms = call.now.as_millisecond();
    for (priority, count) in JobPriority::ALL.into_iter().zip(&mut counts) {
        *count = app.jobs.count_ready(&job_type.name, priority, call.now, MAX_COUNTED).await?;
        if *count > 0 {
            let first = app.jobs.ready_jobs(&job_type.name, priority, call.now, 1).await?;
            let ready = first.first().map(|job| job.ready_at.as_millisecond());
            oldest_ms = oldest_ms.min(ready.unwrap_or(oldest_ms));
        }
    }
    let [p0, p1, p2, p3] = counts;
    let waited_ms = (call.now.as_millisecond() - oldest_ms).max(0);
    let settings = job_type.settings;
    Ok(JobTypeView {
        job_type: job_type.name.as_str().to_owned(),
        max_concurrent: settings.max_concurrent,
        in_use: rows.iter().map(|row| row.in_use).sum(),
        queued: QueuedView { p0, p1, p2, p3 },
        oldest_wait_seconds: u64::try_from(waited_ms / 1_000).unwrap_or(0),
        retry_policy: RetryPolicyView {
            max_attempts: settings.retry.max_attempts,
            backoff_seconds: settings.retry.backoff_seconds,
        },
        timeout_seconds: settings.timeout_seconds,
        delivery: match settings.delivery {
            DeliveryMode::Sqs => "sqs",
            DeliveryMode::Poll => "poll",
        },
        aging_seconds: settings.aging_seconds,
        licence_shards: settings.licence_shards,
        version: job_type.version,
    })
}
