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
use std::sync::{Mutex, PoisonError};

use boundary::batch::{Consumer, Message, Unhandled};
use boundary::telemetry::{Log, Trace};
use boundary::{Clock, Entropy, Host, Misconfigured};
use domain::jobs::{Bell, Job, JobId, Message as Said, TypeName, bells};
use domain::{Failure, Timestamp};
use messaging::{DeadLetters, Doorbells, JobEvents};
use store::Jobs;

/// A message is worked on for no longer than this; then the bell is rung again.
const BUDGET_MS: i64 = 25_000;

/// Calls in flight for one message.
const AT_ONCE: usize = 8;

/// What the handler shares between messages.
#[derive(Debug)]
pub struct State {
    jobs: Jobs,
    bells: Doorbells,
    events: JobEvents,
    dead_letters: DeadLetters,
    clock: Clock,
    entropy: Entropy,
    log: Log,
    /// Messages that were dealt with together with others of their batch.
    done: Mutex<HashSet<String>>,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Consumer<State>, Misconfigured> {
    let dispatch = host.vars.required("DISPATCH_QUEUE")?;
    let work = host.vars.required("WORK_QUEUE")?;
    let state = State {
        jobs: host.jobs()?,
        bells: Doorbells::new(host.aws.sqs(), dispatch, Some(work)),
        events: JobEvents::new(host.aws.sns(), host.vars.required("JOB_EVENTS_TOPIC")?),
        dead_letters: DeadLetters::new(host.aws.sqs(), host.vars.required("WORK_DEAD_LETTERS")?),
        clock: host.clock.clone(),
        entropy: host.entropy.clone(),
        log: host.log.clone(),
        done: Mutex::default(),
    };
    let consumer =
        Consumer::new(host, "dispatchJobs", "DISPATCH_DEAD_LETTERS", state, |state, message| {
            Box::pin(handle(state, message))
        })?;
    Ok(consumer.first(|state, messages| Box::pin(together(state, messages))))
}

/// A thousand submissions ring a thousand times: a batch looks at each type once.
async fn together(state: &State, messages: &[Message]) -> Result<(), Failure> {
    let mut rung: HashMap<TypeName, (Vec<JobId>, Vec<&Message>)> = HashMap::new();
    for message in messages {
        if let Ok(Said::JobsReady { job_type, job_id, .. }) = serde_json::from_str(&message.body) {
            let (ids, heard) = rung.entry(job_type).or_default();
            ids.extend(job_id);
            heard.push(message);
        }
    }
    for (kind, (ids, heard)) in rung {
        let [first, _, ..] = heard.as_slice() else { continue };
        let handed_out = hand_out::hand_out(state, &kind, &ids, &first.trace).await;
        // What fails here is tried again, message by message.
        if handed_out.is_ok() {
            let mut done = state.done.lock().unwrap_or_else(PoisonError::into_inner);
            done.extend(heard.into_iter().map(|message| message.body.clone()));
        }
    }
    Ok(())
}

async fn handle(state: &State, message: &Message) -> Result<(), Unhandled> {
    let said: Said = serde_json::from_str(&message.body)
        .map_err(|malformed| Unhandled::Unreadable(malformed.to_string()))?;
    match said {
        Said::JobsReady { job_type, job_id, .. } => {
            if !state.is_done(&message.body) {
                let ids: Vec<JobId> = job_id.into_iter().collect();
                hand_out::hand_out(state, &job_type, &ids, &message.trace).await?;
            }
        }
        Said::JobEnded { job_id, .. } => ended::tell(state, &job_id, &message.trace).await?,
        Said::WorkersWatched { .. } => watch::watch(state, &message.trace).await?,
        Said::JobAssigned { .. } => {
            return Err(Unhandled::Unreadable("this is for the worker queue".to_owned()));
        }
    }
    Ok(())
}

impl State {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Whether a message was dealt with together with others; asking forgets it.
    fn is_done(&self, body: &str) -> bool {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).remove(body)
    }

    fn is_late(&self, since: Timestamp) -> bool {
        self.now().as_millisecond() - since.as_millisecond() > BUDGET_MS
    }

    /// Rings for a change that is written. The sweep rings for what could not be rung here.
    async fn ring(&self, before: &Job, after: &Job, trace: &Trace) {
        let now = self.now();
        let Some(bell) = bells(Some(before), after, now) else { return };
        self.try_ring(&bell, trace).await;
    }

    async fn try_ring(&self, bell: &Bell, trace: &Trace) {
        if let Err(failure) = self.bells.ring(bell, &trace.traceparent()).await {
            self.log.warn(self.now(), trace, &failure.chain());
        }
    }
}
