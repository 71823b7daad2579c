//! Up to a hundred jobs at once, each answered on its own; they may depend on each other.

use std::collections::HashMap;
use std::sync::Arc;

use boundary::http::{Call, Caller, Json, Operation, Problem, State, parse_json, sentence};
use boundary::idempotency::{self, RequestKey};
use domain::accounts::Role;
use domain::jobs::JobId;
use domain::jobs::graph::{MARK, Node, sort};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::new_job::{NewJob, ids};
use super::submit::{BODY_CAP, Submission, submit_one};
use crate::http::state::App;

/// Jobs in one request.
const MOST: usize = 100;

/// Jobs to submit, each on its own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bulk {
    /// Up to 100.
    #[schemars(length(min = 1, max = 100), with = "Vec<NamedJob>")]
    jobs: Vec<Value>,
}

/// A job with a name that the others of the request may use: how an entry is documented. It is read in
/// two steps, because its name decides when its turn comes.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its shape is used")]
pub(crate) struct NamedJob {
    /// What the others of this request call it: their `dependencies` may have `@name`.
    name: Option<String>,
    #[schemars(flatten)]
    job: NewJob,
}

/// What became of each, in the order they were sent.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BulkView {
    created: usize,
    /// Sent before, with the same key.
    repeated: usize,
    failed: usize,
    results: Vec<BulkResult>,
}

/// What became of one.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BulkResult {
    /// The status it would have been answered with alone.
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// What it would have been answered with alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<Value>,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<Value>,
}

/// An entry before it is read as a job.
struct Entry {
    value: Value,
    name: Option<String>,
    dependencies: Vec<String>,
}

pub(super) const SUBMIT_ALL: Operation =
    Operation::post("/api/v1/jobs/bulk", "submitJobs", "Submit up to 100 jobs")
        .description(
            "Each is answered on its own, in the order they were sent. A job may have a `name`, and the others \
             may depend on `@name`; a cycle is refused with its members.",
        )
        .role(Role::JobSubmitter)
        .body_up_to(BODY_CAP)
        .charges_itself();

pub(super) async fn submit_all(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Json(bulk): Json<Bulk>,
) -> Result<Json<BulkView>, Problem> {
    if !(1..=MOST).contains(&bulk.jobs.len()) {
        return Err(Problem::field("jobs", format!("1 to {MOST} jobs")));
    }
    call.charge(u32::try_from(bulk.jobs.len()).unwrap_or(u32::MAX)).await?;
    let entries: Vec<Entry> = bulk.jobs.into_iter().map(entry).collect();
    let nodes: Vec<Node<'_>> = entries
        .iter()
        .map(|entry| Node { name: entry.name.as_deref(), dependencies: &entry.dependencies })
        .collect();
    let sorted = sort(&nodes);
    let mut answers: Vec<Option<Result<Submission, Problem>>> =
        entries.iter().map(|_| None).collect();
    for (index, flaw) in sorted.flaws {
        answers[index] =
            Some(Err(Problem::invalid_field("dependencies", sentence(&flaw.to_string()))));
    }
    // One after the other: whoever depends on another has to come after it.
    let mut made: HashMap<String, JobId> = HashMap::new();
    for index in sorted.order {
        let answer = one_of_many(&app, &call, &caller, &entries[index], &made).await;
        if let (Some(name), Ok(response)) = (&entries[index].name, &answer) {
            made.extend(job_id(response).map(|id| (name.clone(), id)));
        }
        answers[index] = Some(answer);
    }
    let results: Vec<BulkResult> = answers
        .into_iter()
        .zip(entries)
        .filter_map(|(answer, entry)| Some(result(answer?, entry.name, &call.path)))
        .collect();
    let created = results.iter().filter(|result| result.status == 201).count();
    let failed = results.iter().filter(|result| result.problem.is_some()).count();
    let repeated = results.len() - created - failed;
    Ok(Json(BulkView { created, repeated, failed, results }))
}

/// Takes the name off, which a job has only here.
fn entry(mut value: Value) -> Entry {
    let name = value.as_object_mut().and_then(|object| object.remove("name"));
    let name = name.and_then(|name| name.as_str().map(str::to_owned));
    let listed = value["dependencies"].as_array().cloned().unwrap_or_default();
    let dependencies =
        listed.iter().filter_map(|entry| entry.as_str().map(str::to_owned)).collect();
    Entry { value, name, dependencies }
}

async fn one_of_many(
    app: &App,
    call: &Call,
    caller: &Caller,
    entry: &Entry,
    made: &HashMap<String, JobId>,
) -> Result<Submission, Problem> {
    let new: NewJob = parse_json(entry.value.clone())?;
    let mut dependencies = Vec::new();
    for written in &entry.dependencies {
        match written.strip_prefix(MARK) {
            None => dependencies.extend(ids(std::slice::from_ref(written))?),
            Some(name) => dependencies.push(made.get(name).cloned().ok_or_else(|| {
                let detail = format!("The job named `{name}` was refused, so this one is too.");
                Problem::invalid_field("dependencies", detail)
            })?),
        }
    }
    let fingerprint = idempotency::fingerprint(&call.path, entry.value.to_string().as_bytes());
    let key = new.idempotency_key.clone().map(|text| RequestKey { text, fingerprint });
    submit_one(app, call, caller, new, dependencies, key).await
}

fn job_id(submission: &Submission) -> Option<JobId> {
    let body: Value = serde_json::from_slice(&submission.stored().body).ok()?;
    JobId::parse(body["jobId"].as_str()?)
}

fn result(answer: Result<Submission, Problem>, name: Option<String>, path: &str) -> BulkResult {
    match answer {
        Ok(submission) => {
            let kept = submission.stored();
            let status = if submission.is_repeat() { 200 } else { kept.status };
            let job = serde_json::from_slice(&kept.body).ok();
            BulkResult { status, name, job, problem: None }
        }
        Err(problem) => {
            let (status, problem) = (problem.status(), Some(problem.to_json(path)));
            BulkResult { status, name, job: None, problem }
        }
    }
}
