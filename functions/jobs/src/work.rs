//! A sample worker: the demo job types, through the protocol that any worker speaks.
//!
//! Trigger: the worker queue, whose messages only name a job and an attempt. Effect: the job is begun,
//! kept alive and ended as `shared/worker` does it for workers elsewhere; only the line is another, as
//! no function calls another function: each word is the same transaction that the function `jobs`
//! makes of it. Guarantee: a message that is doubled, late or about another attempt does nothing; a job
//! whose worker is cut off goes to another within about a minute.

mod demo;
mod line;

use std::sync::Arc;

use boundary::batch::{Consumer, ReceivedMessage};
use boundary::{Host, Misconfigured};
use domain::Failure;
use domain::jobs::{Assignment, Worker};
use worker::{Patience, Stop, Ticket, run_one};

use line::Direct;

/// What the handler shares between messages.
#[derive(Debug)]
pub struct State {
    line: Direct,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Consumer<State>, Misconfigured> {
    let state = State { line: Direct::from_host(host)? };
    Consumer::typed(host, "work", "WORK_DEAD_LETTERS", state, |state, said, message| {
        Box::pin(work(state, said, message))
    })
}

async fn work(state: &State, said: Assignment, message: &ReceivedMessage) -> Result<(), Failure> {
    let Assignment::JobAssigned { job_id, attempt, .. } = said;
    let line = state.line.for_message(&message.trace);
    let ticket = Ticket { job_id: job_id.as_str().to_owned(), attempt };
    let tools = demo::Tools { line: line.clone() };
    let handler = move |job, ctx| demo::run(tools, job, ctx);
    // However it ends: what was not reported is found silent, and begun by someone else.
    run_one(Arc::new(line), ticket, Patience::default(), &Stop::new(), handler).await;
    Ok(())
}

/// A name that no other worker has.
fn worker_named(token: &str) -> Option<Worker> {
    Worker::parse(&format!("work-{token}")).ok()
}
