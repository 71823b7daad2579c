//! Resends the messages of pending work, adds up counters, and stores the trending posts.
//!
//! Trigger: every minute. Effect: work that was begun a while ago and is not done gets its message again;
//! counters whose message was lost are added up; the trending posts are stored.
//! Guarantee: work whose message was lost goes on within two minutes; a run that is cut off
//! or doubled says something twice and does nothing twice.

mod totals;
mod trending;

use crate::store::FeedStore;
use boundary::schedule::{Run, Summary, Task};
use boundary::telemetry::{Unit, measure};
use boundary::{Clock, Host, Misconfigured};
use domain::{Result, Timestamp};
use messaging::FanOutQueue;
use serde_json::json;

/// Work that was begun so long ago and is not done was forgotten, or is in a long queue; either way
/// another message does no harm.
const RESEND_AFTER_MS: i64 = 20_000;

const PAGE: usize = 100;

/// Work is begun for so long; the next run goes on.
const BUDGET_MS: i64 = 40_000;

#[derive(Debug)]
pub struct State {
    feed: FeedStore,
    queue: FanOutQueue,
    clock: Clock,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Task<State>, Misconfigured> {
    let state = State {
        feed: FeedStore::from_host(host)?,
        queue: FanOutQueue::new(host.aws.sqs(), host.vars.required("FAN_OUT_QUEUE")?),
        clock: host.clock.clone(),
    };
    Ok(Task::new(host, "sweepFeed", state, |state, run| Box::pin(sweep(state, run))))
}

async fn sweep(state: &State, run: &Run) -> Result<Summary> {
    let resent = resend_pending(state, run).await?;
    measure("FeedWorkForgotten", Unit::Count, float(resent));
    let folded = totals::aggregate(state, run).await?;
    let trending = trending::write_snapshot(state, run).await?;
    let summary = json!({ "saidAgain": resent, "folded": folded, "trending": trending });
    Ok(summary.as_object().cloned().unwrap_or_default())
}

async fn resend_pending(state: &State, run: &Run) -> Result<usize> {
    let mut resent = 0;
    for list in rotated_lists(FeedStore::WORK_LISTS, run.now) {
        let mut after: Option<String> = None;
        while !state.is_out_of_time(run.now) {
            let (found, next) = state.feed.pending_work(list, after.as_deref(), PAGE).await?;
            let old = |since: Timestamp| {
                run.now.as_millisecond() - since.as_millisecond() >= RESEND_AFTER_MS
            };
            let forgotten = found.into_iter().filter(|work| old(work.since));
            let messages: Vec<_> = forgotten.map(|work| work.message).collect();
            resent += messages.len();
            state.queue.send(messages, &run.trace.traceparent()).await?;
            after = next;
            if after.is_none() {
                break;
            }
        }
    }
    Ok(resent)
}

impl State {
    fn is_out_of_time(&self, since: Timestamp) -> bool {
        self.clock.now().as_millisecond() - since.as_millisecond() > BUDGET_MS
    }
}

/// Lists, beginning with another one each minute: what is on the first may take all of the time.
fn rotated_lists(lists: u8, now: Timestamp) -> impl Iterator<Item = u8> {
    let first = now.as_second().div_euclid(60).rem_euclid(i64::from(lists));
    let first = u8::try_from(first).unwrap_or(0);
    (0..lists).map(move |list| (first + list) % lists)
}

fn float(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
