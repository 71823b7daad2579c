//! Up to a hundred jobs at once, each answered on its own; they may depend on each other.

use std::collections::HashMap;
use std::sync::Arc;

use boundary::http::{Call, Caller, Json, Operation, Problem, Result, State, parse_json, sentence};
use boundary::idempotency::{self, RequestKey};
use domain::accounts::Role;
use domain::jobs::JobId;
use domain::jobs::graph::{JobNode, REFERENCE_PREFIX, topological_sort};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::new_job::{NewJob, parse_ids};
use super::submit::{MAX_BODY_LENGTH, SubmitResponse, submit_one};
use crate::http::state::App;

/// Jobs in one request.
const MAX_JOBS: usize = 100;

/// Jobs to submit, each on its own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bulk {
    /// Up to 100.
    #[schemars(length(min = 1, max = 100), with = "Vec<NamedJob>")]
    jobs: Vec<Value>,
}

/// A job with a name that the others of the request may depend on: how an entry is documented. It is read
/// in two steps, because all names are needed before the first job is submitted.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its shape is used")]
pub(crate) struct NamedJob {
    /// Others of this request may depend on it by `@name`.
    name: Option<String>,
    #[schemars(flatten)]
    job: NewJob,
}

/// The results, in the order in which the jobs were sent.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BulkView {
    created: usize,
    /// Submitted before, with the same key.
    repeated: usize,
    failed: usize,
    results: Vec<BulkResult>,
}

/// The result of one.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BulkResult {
    /// The status of a submission of its own.
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The body of a submission of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<Value>,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<Value>,
}

struct Entry {
    value: Value,
    name: Option<String>,
    dependencies: Vec<String>,
}

pub(super) const SUBMIT_BULK: Operation =
    Operation::post("/api/v1/jobs/bulk", "submitJobs", "Submit up to 100 jobs")
        .description(
            "Each is answered on its own, in the order they were sent. A job may have a `name`, and the others \
             may depend on `@name`; a cycle is refused with its members.",
        )
        .role(Role::JobSubmitter)
        .body_up_to(MAX_BODY_LENGTH)
        .charges_itself();

pub(super) async fn submit_bulk(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Json(bulk): Json<Bulk>,
) -> Result<Json<BulkView>> {
    if !(1..=MAX_JOBS).contains(&bulk.jobs.len()) {
        return Err(Problem::field("jobs", format!("1 to {MAX_JOBS} jobs")));
    }
    call.charge(u32::try_from(bulk.jobs.len()).unwrap_or(u32::MAX)).await?;
    let entries: Vec<Entry> = bulk.jobs.into_iter().map(read_entry).collect();
    let nodes: Vec<JobNode<'_>> = entries
        .iter()
        .map(|entry| JobNode { name: entry.name.as_deref(), dependencies: &entry.dependencies })
        .collect();
    let sorted = topological_sort(&nodes);
    let mut answers: Vec<Option<Result<SubmitResponse>>> = entries.iter().map(|_| None).collect();
    for (index, error) in sorted.rejected {
        answers[index] =
            Some(Err(Problem::invalid_field("dependencies", sentence(&error.to_string()))));
    }
    // In sequence: a job must be submitted after its dependencies.
    let mut submitted: HashMap<String, JobId> = HashMap::new();
    for index in sorted.order {
        let answer = submit_entry(&app, &call, &caller, &entries[index], &submitted).await;
        if let (Some(name), Ok(response)) = (&entries[index].name, &answer) {
            submitted.extend(job_id(response).map(|id| (name.clone(), id)));
        }
        answers[index] = Some(answer);
    }
    let results: Vec<BulkResult> = answers
        .into_iter()
        .zip(entries)
        .filter_map(|(answer, entry)| Some(entry_result(answer?, entry.name, &call.path)))
        .collect();
    let created = results.iter().filter(|result| result.status == 201).count();
    let failed = results.iter().filter(|result| result.problem.is_some()).count();
    let repeated = results.len() - created - failed;
    Ok(Json(BulkView { created, repeated, failed, results }))
}

/// Removes the name, which only an entry of a bulk request has.
fn read_entry(mut value: Value) -> Entry {
    let name = value.as_object_mut().and_then(|object| object.remove("name"));
    let name = name.and_then(|name| name.as_str().map(str::to_owned));
    let listed = value["dependencies"].as_array().cloned().unwrap_or_default();
    let dependencies =
        listed.iter().filter_map(|entry| entry.as_str().map(str::to_owned)).collect();
    Entry { value, name, dependencies }
}

async fn submit_entry(
    app: &App,
    call: &Call,
    caller: &Caller,
    entry: &Entry,
    submitted: &HashMap<String, JobId>,
) -> Result<SubmitResponse> {
    let new: NewJob = parse_json(entry.value.clone())?;
    let mut dependencies = Vec::new();
    for written in &entry.dependencies {
        match written.strip_prefix(REFERENCE_PREFIX) {
            None => dependencies.extend(parse_ids(std::slice::from_ref(written))?),
            Some(name) => dependencies.push(submitted.get(name).cloned().ok_or_else(|| {
                let detail = format!("The job named `{name}` was refused, so this one is too.");
                Problem::invalid_field("dependencies", detail)
            })?),
        }
    }
    let fingerprint = idempotency::fingerprint(&call.path, entry.value.to_string().as_bytes());
    let key = new.idempotency_key.clone().map(|text| RequestKey { text, fingerprint });
    submit_one(app, call, caller, new, dependencies, key).await
}

fn job_id(response: &SubmitResponse) -> Option<JobId> {
    let body: Value = serde_json::from_slice(&response.stored().body).ok()?;
    JobId::parse(body["jobId"].as_str()?)
}

fn entry_result(answer: Result<SubmitResponse>, name: Option<String>, path: &str) -> BulkResult {
    match answer {
        Ok(response) => {
            let stored = response.stored();
            let status = if response.is_repeat() { 200 } else { stored.status };
            let job = serde_json::from_slice(&stored.body).ok();
            BulkResult { status, name, job, problem: None }
        }
        Err(problem) => {
            let (status, problem) = (problem.status(), Some(problem.to_json(path)));
            BulkResult { status, name, job: None, problem }
        }
    }
}
