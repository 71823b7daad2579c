//! Hands jobs out, tells everyone of their ends, and looks for silent workers.
//!
//! Trigger: the queue `dispatch`, whose messages only say where to look. Effect: jobs that may run get a
//! licence and a worker (one transaction each); whoever waits for a job that ended is told, each once;
//! jobs of silent workers are queued again. Guarantee: a message that is lost, late, doubled or out of
//! order changes nothing but the time at which something happens; a type at its limit keeps no other
//! type waiting.

mod ended;
mod hand_out;
mod watch;

use std::collections::{HashMap, HashSet};

use boundary::batch::{Consumer, ReceivedMessage};
use boundary::telemetry::Trace;
use boundary::{Clock, Host, Misconfigured};
use domain::jobs::{Assignment, JobId, Notice, TypeName, WakeUp};
use domain::{Failure, Timestamp};
use messaging::{DeadLetters, Queue, Topic};
use parking_lot::Mutex;

use crate::engine::Engine;

/// A message is worked on for no longer than this; then another one is sent to go on.
const BUDGET_MS: i64 = 25_000;

/// Calls in flight for one message.
const AT_ONCE: usize = 8;

/// What the handler shares between messages.
#[derive(Debug)]
pub struct State {
    engine: Engine,
    work: Queue<Assignment>,
    events: Topic<Notice>,
    dead_letters: DeadLetters,
    clock: Clock,
    /// Messages that were dealt with together with others of their batch.
    done: Mutex<HashSet<String>>,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Consumer<State>, Misconfigured> {
    let state = State {
        engine: Engine::from_host(host)?,
        work: host.queue("WORK_QUEUE")?,
        events: host.topic("JOB_EVENTS_TOPIC")?,
        dead_letters: DeadLetters::new(host.aws.sqs(), host.vars.required("WORK_DEAD_LETTERS")?),
        clock: host.clock.clone(),
        done: Mutex::default(),
    };
    let letters = "DISPATCH_DEAD_LETTERS";
    let consumer =
        Consumer::typed(host, "dispatchJobs", letters, state, |state, said, message| {
            Box::pin(handle(state, said, message))
        })?;
    Ok(consumer.before_batch(|state, messages| Box::pin(together(state, messages))))
}

/// A thousand submissions send a thousand wake-ups: a batch looks at each type once.
async fn together(state: &State, messages: &[ReceivedMessage]) -> Result<(), Failure> {
    let mut woken: HashMap<TypeName, (Vec<JobId>, Vec<&ReceivedMessage>)> = HashMap::new();
    for message in messages {
        if let Ok(WakeUp::JobsReady { job_type, job_id, .. }) = serde_json::from_str(&message.body)
        {
            let (ids, heard) = woken.entry(job_type).or_default();
            ids.extend(job_id);
            heard.push(message);
        }
    }
    for (kind, (ids, heard)) in woken {
        let [first, _, ..] = heard.as_slice() else { continue };
        let handed_out = hand_out::hand_out(state, &kind, &ids, &first.trace).await;
        // What fails here is tried again, message by message.
        if handed_out.is_ok() {
            let mut done = state.done.lock();
            done.extend(heard.into_iter().map(|message| message.body.clone()));
        }
    }
    Ok(())
}

async fn handle(state: &State, said: WakeUp, message: &ReceivedMessage) -> Result<(), Failure> {
    match said {
        WakeUp::JobsReady { .. } if state.is_done(&message.body) => Ok(()),
        WakeUp::JobsReady { job_type, job_id, .. } => {
            let also: Vec<JobId> = job_id.into_iter().collect();
            hand_out::hand_out(state, &job_type, &also, &message.trace).await
        }
        WakeUp::JobEnded { job_id, .. } => ended::tell(state, &job_id, &message.trace).await,
        WakeUp::WorkersWatched { .. } => watch::watch(state, &message.trace).await,
    }
}

impl State {
    /// Now, in that trace.
    fn at<'t>(&self, trace: &'t Trace) -> (Timestamp, &'t Trace) {
        (self.clock.now(), trace)
    }

    /// Whether a message was dealt with together with others; asking forgets it.
    fn is_done(&self, body: &str) -> bool {
        self.done.lock().remove(body)
    }

    fn is_late(&self, since: Timestamp) -> bool {
        self.clock.now().as_millisecond() - since.as_millisecond() > BUDGET_MS
    }
}
