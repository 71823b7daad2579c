//! Finds what a lost message left of the feed's work, and writes down what is hot.
//!
//! Trigger: every minute. Effect: work that was begun a while ago and is not done gets its message again;
//! counters that nobody was told of are added up; the hottest posts are written down.
//! Guarantee: whatever message was lost, what it was about goes on within two minutes; a run that is cut off
//! or doubled says something twice and does nothing twice.

mod heat;
mod totals;

use crate::store::Feed;
use boundary::schedule::{Run, Summary, Task};
use boundary::telemetry::{Unit, measure};
use boundary::{Clock, Host, Misconfigured};
use domain::{Failure, Timestamp};
use messaging::FanOutQueue;
use serde_json::json;

/// Work that was begun so long ago and is not done was forgotten, or is in a long queue; either way
/// another message does no harm.
const PATIENCE_MS: i64 = 20_000;

/// Read at once.
const PAGE: usize = 100;

/// Work is begun for so long; the next run goes on.
const BUDGET_MS: i64 = 40_000;

/// What the handler shares between runs.
#[derive(Debug)]
pub struct State {
    feed: Feed,
    queue: FanOutQueue,
    clock: Clock,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Task<State>, Misconfigured> {
    let state = State {
        feed: Feed::from_host(host)?,
        queue: FanOutQueue::new(host.aws.sqs(), host.vars.required("FAN_OUT_QUEUE")?),
        clock: host.clock.clone(),
    };
    Ok(Task::new(host, "sweepFeed", state, |state, run| Box::pin(sweep(state, run))))
}

async fn sweep(state: &State, run: &Run) -> Result<Summary, Failure> {
    let said_again = say_again(state, run).await?;
    measure("FeedWorkForgotten", Unit::Count, float(said_again));
    let folded = totals::fold(state, run).await?;
    let trending = heat::write_down(state, run).await?;
    let summary = json!({ "saidAgain": said_again, "folded": folded, "trending": trending });
    Ok(summary.as_object().cloned().unwrap_or_default())
}

/// Says again what begins work that is not done.
async fn say_again(state: &State, run: &Run) -> Result<usize, Failure> {
    let mut said = 0;
    for list in in_turn(Feed::WORK_LISTS, run.now) {
        let mut after: Option<String> = None;
        while !state.is_late(run.now) {
            let (found, next) = state.feed.unfinished(list, after.as_deref(), PAGE).await?;
            let old =
                |since: Timestamp| run.now.as_millisecond() - since.as_millisecond() >= PATIENCE_MS;
            let forgotten = found.into_iter().filter(|work| old(work.since));
            let messages: Vec<_> = forgotten.map(|work| work.message).collect();
            said += messages.len();
            state.queue.say(messages, &run.trace.traceparent()).await?;
            after = next;
            if after.is_none() {
                break;
            }
        }
    }
    Ok(said)
}

impl State {
    fn is_late(&self, since: Timestamp) -> bool {
        self.clock.now().as_millisecond() - since.as_millisecond() > BUDGET_MS
    }
}

/// Lists, beginning with another one each minute: what is on the first may take all of the time.
fn in_turn(lists: u8, now: Timestamp) -> impl Iterator<Item = u8> {
    let first = now.as_second().div_euclid(60).rem_euclid(i64::from(lists));
    let first = u8::try_from(first).unwrap_or(0);
    (0..lists).map(move |list| (first + list) % lists)
}

fn float(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
