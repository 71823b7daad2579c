//! What happens once the answer is out: clicks go to the queue, numbers into the log.
//!
//! Guarantee: when this returns, every click was taken by the queue, is held for company that is
//! likely to come (see `domain::links::hold`), or waits for a queue that refused it. A batch that may
//! have arrived is sent again under the same id.

use std::time::Duration;

use boundary::edge::Phase;
use boundary::telemetry::{Trace, collect_metrics};
use domain::Timestamp;
use store::capacity;

use crate::redirect::State;
use crate::redirect::visitors::same_day;

/// How long the start waits for the day's salt.
const START_PATIENCE: Duration = Duration::from_secs(2);

/// Batches sent after one answer; what waits beyond that goes after the next.
const BATCHES: usize = 10;

/// Does what belongs to `moment`.
pub(crate) async fn at(state: &State, phase: Phase) {
    let now = state.clock.now();
    match phase {
        // The first visitor would otherwise pay for the first connection to the store. A store that
        // is slow must not hold up the start; whoever needs the salt first asks again.
        Phase::Start => {
            let _ = tokio::time::timeout(START_PATIENCE, state.learn_salt(now)).await;
            state.limiter.refresh(now).await;
            return;
        }
        Phase::AfterResponse => {
            let tidying = capacity::metered(state.limiter.after_response());
            let (((), capacity), measures) = Box::pin(collect_metrics(tidying)).await;
            state.numbers.spent(capacity);
            state.numbers.measured(&measures);
            hash_visits(state).await;
            let waiting = state.numbers.waiting();
            let age_ms = now.as_millisecond() - waiting.since_ms;
            if !state.hold.should_send(waiting.requests, age_ms, waiting.gap_ms) {
                return;
            }
            if !state.outbox.is_quiet(now.as_millisecond()) {
                send(state, now, BATCHES).await;
            }
        }
        Phase::Shutdown => {
            hash_visits(state).await;
            send(state, now, usize::MAX).await;
            state.limiter.shutdown().await;
        }
    }
    state.numbers.clicks(0, state.outbox.take_dropped());
    if let Some(line) = state.numbers.line(&state.stage, now) {
        state.log.line(&line);
    }
}

/// Makes clicks of visits at once, whether or not they are sent: no address stays.
async fn hash_visits(state: &State) {
    while let Some(at) = state.outbox.first_visit() {
        let salt = match state.visitors.salt(at) {
            Some(salt) => salt,
            None => state.learn_salt(at).await,
        };
        state.outbox.hash_with(&salt, &state.places, |other| same_day(at, other));
    }
}

async fn send(state: &State, now: Timestamp, most: usize) {
    for _ in 0..most {
        let Some(batch) = state.outbox.batch(&state.entropy) else { return };
        let trace = Trace::new(&state.entropy);
        match state.clicks.send(&batch, &trace.traceparent()).await {
            Ok(()) => {
                state.outbox.sent(&batch);
                state.numbers.clicks(batch.clicks.len() as u64, 0);
            }
            Err(failure) => {
                state.outbox.refused(now.as_millisecond());
                state.numbers.broke(failure.chain());
                return;
            }
        }
    }
}
