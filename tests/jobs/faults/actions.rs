//! Actions of users, workers and admins, and their outcomes.

use http::Method;
use serde_json::{Value, json};
use tests::{Result, root_key};

use super::{ClaimedJob, Harness, POLLED};

#[derive(Debug, Clone)]
pub(super) enum Action {
    Submit { key: String, body: Value },
    Claim { worker: &'static str, max: u64 },
    Report { claimed: ClaimedJob, verb: &'static str, retryable: bool },
    Cancel(String),
    Retry(String),
    Limit(u64),
    Deliver,
}

pub(super) enum ActionOutcome {
    Nothing,
    Claimed(Vec<ClaimedJob>),
    Submitted { key: String, body: Value, id: String },
}

impl Action {
    /// The job that is retried.
    pub(super) fn retried(&self) -> Option<&str> {
        if let Self::Retry(id) = self { Some(id) } else { None }
    }

    pub(super) async fn perform(&self, harness: &Harness) -> Result<ActionOutcome> {
        match self {
            Self::Submit { key, body } => return submit(harness, key, body).await,
            Self::Claim { worker, max } => return Ok(claim(harness, worker, *max).await),
            Self::Report { claimed, verb, retryable } => {
                report(harness, claimed, verb, *retryable).await?;
            }
            Self::Cancel(id) => {
                let call = harness.lab.call(Method::DELETE, &format!("/api/v1/jobs/{id}"));
                call.by(&root_key()).send().await;
            }
            Self::Retry(id) => {
                harness.lab.post(&format!("/api/v1/jobs/{id}/retry"), &Value::Null).await;
            }
            Self::Limit(limit) => {
                harness.save_type(&json!({ "maxConcurrent": limit })).await;
            }
            Self::Deliver => {
                harness.lab.cloud.settle().await;
            }
        }
        Ok(ActionOutcome::Nothing)
    }
}

/// Repeats a submission until it has a definite answer, which is a job.
async fn submit(harness: &Harness, key: &str, body: &Value) -> Result<ActionOutcome> {
    for attempt in 0..40 {
        if attempt == 20 {
            harness.lab.cloud.faults.stop();
        }
        let call = harness.lab.call(Method::POST, "/api/v1/jobs").by(&root_key());
        let answer = call.header("idempotency-key", key).json(body).send().await;
        if answer.status == 201 {
            let id = answer.text("jobId").to_owned();
            return Ok(ActionOutcome::Submitted { key: key.to_owned(), body: body.clone(), id });
        }
        if answer.is_definite() {
            return Err(format!("{body} was answered {} {}", answer.status, answer.body));
        }
        harness.lab.advance_seconds(3);
    }
    Err(format!("{body} never got a definite answer"))
}

async fn claim(harness: &Harness, worker: &'static str, max: u64) -> ActionOutcome {
    let body = json!({ "workerId": worker, "max": max });
    let answer = harness.lab.post(&format!("/api/v1/job-types/{POLLED}/claim"), &body).await;
    let given = answer.body["jobs"].as_array().into_iter().flatten();
    let claimed = |job: &Value| ClaimedJob {
        job: job["jobId"].as_str().unwrap_or_default().to_owned(),
        worker,
        attempt: job["attempt"].as_u64().unwrap_or(0),
    };
    ActionOutcome::Claimed(given.map(claimed).collect())
}

async fn report(harness: &Harness, claimed: &ClaimedJob, verb: &str, retryable: bool) -> Result {
    let mut body = json!({ "workerId": claimed.worker, "attempt": claimed.attempt });
    if verb == "fail" {
        body["retryable"] = json!(retryable);
    }
    let began = harness.writes();
    let answer = harness.lab.post(&format!("/api/v1/jobs/{}/{verb}", claimed.job), &body).await;
    if verb == "heartbeat" && answer.status == 200 {
        return harness.check_fence(claimed, began);
    }
    Ok(())
}
