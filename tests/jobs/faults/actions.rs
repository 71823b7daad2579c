//! What people and workers want, and what comes of it.

use http::Method;
use serde_json::{Value, json};
use tests::root_key;

use super::{POLLED, Ticket, Watch};

/// Something that somebody wants.
#[derive(Debug, Clone)]
pub(super) enum Wish {
    Submit { key: String, body: Value },
    Claim { worker: &'static str, max: u64 },
    Say { ticket: Ticket, verb: &'static str, retryable: bool },
    Cancel(String),
    Retry(String),
    Limit(u64),
    Deliver,
}

/// What came of it.
pub(super) enum Done {
    Nothing,
    Given(Vec<Ticket>),
    Made { key: String, body: Value, id: String },
}

impl Wish {
    /// The job that is wanted again.
    pub(super) fn retried(&self) -> Option<&str> {
        if let Self::Retry(id) = self { Some(id) } else { None }
    }

    pub(super) async fn fulfil(&self, watch: &Watch) -> Result<Done, String> {
        match self {
            Self::Submit { key, body } => return submit(watch, key, body).await,
            Self::Claim { worker, max } => return Ok(claim(watch, worker, *max).await),
            Self::Say { ticket, verb, retryable } => {
                say(watch, ticket, verb, *retryable).await?;
            }
            Self::Cancel(id) => {
                let call = watch.lab.call(Method::DELETE, &format!("/api/v1/jobs/{id}"));
                call.by(&root_key()).send().await;
            }
            Self::Retry(id) => {
                watch.lab.post(&format!("/api/v1/jobs/{id}/retry"), &Value::Null).await;
            }
            Self::Limit(limit) => {
                watch.decide(&json!({ "maxConcurrent": limit })).await;
            }
            Self::Deliver => {
                watch.lab.cloud.settle().await;
            }
        }
        Ok(Done::Nothing)
    }
}

/// Repeats a submission until it has a definite answer, which is a job.
async fn submit(watch: &Watch, key: &str, body: &Value) -> Result<Done, String> {
    for attempt in 0..40 {
        if attempt == 20 {
            watch.lab.cloud.faults.stop();
        }
        let call = watch.lab.call(Method::POST, "/api/v1/jobs").by(&root_key());
        let answer = call.header("idempotency-key", key).json(body).send().await;
        let in_progress = answer.text("type") == "/docs#in-progress";
        if answer.status == 201 {
            let id = answer.text("jobId").to_owned();
            return Ok(Done::Made { key: key.to_owned(), body: body.clone(), id });
        }
        if !answer.status.is_server_error() && !in_progress {
            return Err(format!("{body} was answered {} {}", answer.status, answer.body));
        }
        watch.lab.advance_seconds(3);
    }
    Err(format!("{body} never got a definite answer"))
}

async fn claim(watch: &Watch, worker: &'static str, max: u64) -> Done {
    let body = json!({ "workerId": worker, "max": max });
    let answer = watch.lab.post(&format!("/api/v1/job-types/{POLLED}/claim"), &body).await;
    let given = answer.body["jobs"].as_array().into_iter().flatten();
    let ticket = |job: &Value| Ticket {
        job: job["jobId"].as_str().unwrap_or_default().to_owned(),
        worker,
        attempt: job["attempt"].as_u64().unwrap_or(0),
    };
    Done::Given(given.map(ticket).collect())
}

async fn say(watch: &Watch, ticket: &Ticket, verb: &str, retryable: bool) -> Result<(), String> {
    let mut body = json!({ "workerId": ticket.worker, "attempt": ticket.attempt });
    if verb == "fail" {
        body["retryable"] = json!(retryable);
    }
    let began = watch.writes();
    let answer = watch.lab.post(&format!("/api/v1/jobs/{}/{verb}", ticket.job), &body).await;
    if verb == "heartbeat" && answer.status == 200 {
        return watch.hold_fence(ticket, began);
    }
    Ok(())
}
