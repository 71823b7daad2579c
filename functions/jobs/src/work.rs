//! A sample worker: the demo job types, through the protocol of any other worker.
//!
//! Trigger: the worker queue, whose messages only name a job and an attempt. Effect: the job is started,
//! kept alive and ended by `shared/worker`, as in workers elsewhere; only its [`worker::JobApi`] is another
//! one: no function calls another function, so each report is the transaction that the function `jobs` would
//! make of it. Guarantee: a message that is doubled, late or about another attempt does nothing; a job whose
//! worker is cut off goes to another within about a minute.

mod demo;
mod job_api;

use std::sync::Arc;

use boundary::batch::{Consumer, ReceivedMessage};
use boundary::{Host, Misconfigured};
use domain::Result;
use domain::jobs::Assignment;
use worker::{CancellationToken, ClaimedJob, Timeouts, run_job};

use job_api::StoreJobApi;

#[derive(Debug)]
pub struct State {
    api: StoreJobApi,
}

pub fn function(host: &Host) -> Result<Consumer<State>, Misconfigured> {
    let state = State { api: StoreJobApi::from_host(host)? };
    Consumer::typed(host, "work", "WORK_DEAD_LETTERS", state, |state, assignment, message| {
        Box::pin(work(state, assignment, message))
    })
}

async fn work(state: &State, assignment: Assignment, message: &ReceivedMessage) -> Result {
    let Assignment::JobAssigned { job_id, attempt, .. } = assignment;
    let api = state.api.for_message(&message.trace);
    let claimed = ClaimedJob { job_id: job_id.as_str().to_owned(), attempt };
    let demo_api = api.clone();
    let handler = move |job, ctx| demo::run(demo_api, job, ctx);
    // Any outcome will do: a job that was not reported misses its heartbeats and is assigned again.
    run_job(Arc::new(api), claimed, Timeouts::default(), &CancellationToken::new(), handler).await;
    Ok(())
}
