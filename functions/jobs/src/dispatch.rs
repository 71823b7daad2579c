//! Assigns jobs, announces their ends, and checks workers for missed heartbeats.
//!
//! Trigger: the queue `dispatch`, whose messages only name rows to read. Effect: jobs that may run get a
//! licence and a worker (one transaction each); dependents of a job that ended are updated, each once;
//! jobs of workers that missed their heartbeats are queued again. Guarantee: a message that is lost, late,
//! doubled or out of order changes nothing but the time at which something happens; a type at its limit
//! keeps no other type waiting.

mod announce_end;
mod assign;
mod check_workers;

use std::collections::{HashMap, HashSet};

use boundary::batch::{Consumer, ReceivedMessage};
use boundary::telemetry::Trace;
use boundary::{Clock, Host, Misconfigured};
use domain::jobs::{Assignment, JobId, JobNotice, JobTypeName, WakeUp};
use domain::{Result, Timestamp};
use messaging::{DeadLetters, Queue, Topic};
use parking_lot::Mutex;

use crate::engine::Engine;

/// Time spent on one message; after it another one is sent to continue.
const BUDGET_MS: i64 = 25_000;

/// Concurrent calls for one message.
const CONCURRENCY: usize = 8;

#[derive(Debug)]
pub struct State {
    engine: Engine,
    work: Queue<Assignment>,
    events: Topic<JobNotice>,
    dead_letters: DeadLetters,
    clock: Clock,
    /// Bodies of messages that were handled together with others of their batch.
    handled: Mutex<HashSet<String>>,
}

pub fn function(host: &Host) -> Result<Consumer<State>, Misconfigured> {
    let state = State {
        engine: Engine::from_host(host)?,
        work: host.queue("WORK_QUEUE")?,
        events: host.topic("JOB_EVENTS_TOPIC")?,
        dead_letters: DeadLetters::new(host.aws.sqs(), host.vars.required("WORK_DEAD_LETTERS")?),
        clock: host.clock.clone(),
        handled: Mutex::default(),
    };
    let consumer = Consumer::typed(
        host,
        "dispatchJobs",
        "DISPATCH_DEAD_LETTERS",
        state,
        |state, wake_up, message| Box::pin(handle(state, wake_up, message)),
    )?;
    Ok(consumer.before_batch(|state, messages| Box::pin(assign_batch(state, messages))))
}

/// A thousand submissions send a thousand wake-ups: a batch assigns each type once.
async fn assign_batch(state: &State, messages: &[ReceivedMessage]) -> Result {
    let mut woken: HashMap<JobTypeName, (Vec<JobId>, Vec<&ReceivedMessage>)> = HashMap::new();
    for message in messages {
        if let Ok(WakeUp::JobsReady { job_type, job_id, .. }) = serde_json::from_str(&message.body)
        {
            let (ids, batch) = woken.entry(job_type).or_default();
            ids.extend(job_id);
            batch.push(message);
        }
    }
    for (job_type, (ids, batch)) in woken {
        let [first, _, ..] = batch.as_slice() else { continue };
        let assigned = assign::assign_ready(state, &job_type, &ids, &first.trace).await;
        // After a failure each message is handled on its own.
        if assigned.is_ok() {
            let bodies = batch.into_iter().map(|message| message.body.clone());
            state.handled.lock().extend(bodies);
        }
    }
    Ok(())
}

async fn handle(state: &State, wake_up: WakeUp, message: &ReceivedMessage) -> Result {
    match wake_up {
        WakeUp::JobsReady { .. } if state.take_handled(&message.body) => Ok(()),
        WakeUp::JobsReady { job_type, job_id, .. } => {
            let unindexed: Vec<JobId> = job_id.into_iter().collect();
            assign::assign_ready(state, &job_type, &unindexed, &message.trace).await
        }
        WakeUp::JobEnded { job_id, .. } => {
            announce_end::announce_end(state, &job_id, &message.trace).await
        }
        WakeUp::WorkersWatched { .. } => check_workers::check_workers(state, &message.trace).await,
    }
}

impl State {
    fn now_in<'t>(&self, trace: &'t Trace) -> (Timestamp, &'t Trace) {
        (self.clock.now(), trace)
    }

    /// Whether a message was handled together with others; removes it from the list.
    fn take_handled(&self, body: &str) -> bool {
        self.handled.lock().remove(body)
    }

    fn is_over_budget(&self, started_at: Timestamp) -> bool {
        self.clock.now().as_millisecond() - started_at.as_millisecond() > BUDGET_MS
    }
}
