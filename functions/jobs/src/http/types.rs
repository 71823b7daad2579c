//! Job types: how many may run, what is queued, and changing it while it runs.

use std::sync::Arc;

use boundary::http::{Call, IfMatch, Json, Operation, Path, Problem, State, Upserted, Versioned};
use domain::accounts::Role;
use domain::jobs::licence::Licence;
use domain::jobs::{Delivery, JobType, Priority, Settings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::new_job::RetryBody;
use super::{NewTypePath, TypePath, Viewer};
use crate::http::state::{App, COUNTED};
use crate::store::Saved;

/// Licences may be taken while a type is saved; more often than this is a fault.
const TRIES: usize = 8;

/// What is decided about a type. What is left out stays as it is, or as usual for a new one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TypeBody {
    /// Jobs of it that may run at once, 0 to 100000. Lowered below what runs, nothing is let in until
    /// enough have ended.
    max_concurrent: Option<u32>,
    /// For jobs that say nothing about it.
    retry_policy: Option<RetryBody>,
    /// For jobs that say nothing about it.
    timeout_seconds: Option<u32>,
    /// `sqs` (a message on the worker queue) or `poll` (workers claim).
    #[schemars(with = "Option<String>")]
    delivery: Option<Delivery>,
    /// A job gains a level of priority for each of these that it has waited; 300 if left out.
    aging_seconds: Option<u32>,
    /// Over how many rows its licences are spread, 1 to 16: one carries some 250 jobs a second.
    licence_shards: Option<u8>,
}

impl TypeBody {
    fn over(&self, usual: Settings) -> Settings {
        Settings {
            max_concurrent: self.max_concurrent.unwrap_or(usual.max_concurrent),
            shards: self.licence_shards.unwrap_or(usual.shards),
            retry: self.retry_policy.map_or(usual.retry, |retry| retry.over(usual.retry)),
            timeout_seconds: self.timeout_seconds.unwrap_or(usual.timeout_seconds),
            delivery: self.delivery.unwrap_or(usual.delivery),
            aging_seconds: self.aging_seconds.unwrap_or(usual.aging_seconds),
        }
    }
}

/// A type as it stands.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TypeView {
    job_type: String,
    max_concurrent: u32,
    /// Jobs that hold a licence; more than `maxConcurrent` after it was lowered.
    in_use: u32,
    /// Jobs that may run and do not, by priority; counted up to 1,000 each.
    queued: QueuedView,
    /// How long the first of them has waited.
    oldest_wait_seconds: u64,
    retry_policy: PolicyView,
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

/// How often, and how soon again.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PolicyView {
    max_attempts: u32,
    backoff_seconds: u32,
}

/// Every type.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TypesView {
    items: Vec<TypeView>,
}

pub(super) const LIST: Operation =
    Operation::get("/api/v1/job-types", "listJobTypes", "List job types").key();

pub(super) async fn list(
    State(app): State<Arc<App>>,
    call: Call,
    _: Viewer,
) -> Result<Json<TypesView>, Problem> {
    let mut items = Vec::new();
    for kind in app.jobs.kinds().await? {
        items.push(view(&app, &kind, &call).await?);
    }
    Ok(Json(TypesView { items }))
}

pub(super) const READ: Operation =
    Operation::get("/api/v1/job-types/{jobType}", "readJobType", "How many run, how many wait?")
        .key()
        .refuses(&[404]);

pub(super) async fn read(
    State(app): State<Arc<App>>,
    call: Call,
    _: Viewer,
    Path(name): Path<TypePath>,
) -> Result<Versioned<Json<TypeView>>, Problem> {
    let kind = app.jobs.kind(&name).await?.ok_or_else(|| Problem::unknown("job type"))?;
    Ok(Versioned(kind.version, Json(view(&app, &kind, &call).await?)))
}

pub(super) const SAVE: Operation =
    Operation::put("/api/v1/job-types/{jobType}", "saveJobType", "Make or change a job type")
        .description("Takes effect at once. Lowering `maxConcurrent` ends nothing that runs.")
        .role(Role::Admin)
        .refuses(&[503]);

pub(super) async fn save(
    State(app): State<Arc<App>>,
    call: Call,
    Path(name): Path<NewTypePath>,
    Json(body): Json<TypeBody>,
    version: Option<IfMatch>,
) -> Result<Versioned<Upserted<TypeView>>, Problem> {
    for _ in 0..TRIES {
        let found = app.jobs.kind(&name).await?;
        let stands = found.as_ref().map_or(0, |kind| kind.version);
        if version.is_some_and(|IfMatch(version)| version != stands) {
            return Err(Problem::version_mismatch());
        }
        let usual = found.as_ref().map(|kind| kind.settings).unwrap_or_default();
        let settings = body.over(usual).checked()?;
        let widest = found.as_ref().map_or(1, |kind| kind.widest).max(settings.shards);
        let kind = JobType {
            name: name.clone(),
            settings,
            updated_at: Some(call.now),
            widest,
            version: stands + 1,
        };
        let rows: Vec<Licence> = app.jobs.licences(&kind).await?;
        match app.jobs.save_kind(&kind, &rows, &app.engine.entropy.token()).await? {
            Saved::Moved => {}
            Saved::Saved => {
                app.announce(&kind, &call).await;
                let body = view(&app, &kind, &call).await?;
                return Ok(Versioned(kind.version, Upserted { is_new: stands == 0, body }));
            }
        }
    }
    Err(Problem::unavailable("The type is too busy to be changed.", 1))
}

async fn view(app: &App, kind: &JobType, call: &Call) -> Result<TypeView, Problem> {
    let rows = app.jobs.licences(kind).await?;
    let mut counts = [0; 4];
    let mut oldest_ms = call.now.as_millisecond();
    for (priority, count) in Priority::ALL.into_iter().zip(&mut counts) {
        *count = app.jobs.count_ready(&kind.name, priority, call.now, COUNTED).await?;
        if *count > 0 {
            let first = app.jobs.ready(&kind.name, priority, call.now, 1).await?;
            let ready = first.first().map(|job| job.ready_at.as_millisecond());
            oldest_ms = oldest_ms.min(ready.unwrap_or(oldest_ms));
        }
    }
    let [p0, p1, p2, p3] = counts;
    let waited_ms = (call.now.as_millisecond() - oldest_ms).max(0);
    let settings = kind.settings;
    Ok(TypeView {
        job_type: kind.name.as_str().to_owned(),
        max_concurrent: settings.max_concurrent,
        in_use: rows.iter().map(|row| row.in_use).sum(),
        queued: QueuedView { p0, p1, p2, p3 },
        oldest_wait_seconds: u64::try_from(waited_ms / 1_000).unwrap_or(0),
        retry_policy: PolicyView {
            max_attempts: settings.retry.max_attempts,
            backoff_seconds: settings.retry.backoff_seconds,
        },
        timeout_seconds: settings.timeout_seconds,
        delivery: match settings.delivery {
            Delivery::Sqs => "sqs",
            Delivery::Poll => "poll",
        },
        aging_seconds: settings.aging_seconds,
        licence_shards: settings.shards,
        version: kind.version,
    })
}
