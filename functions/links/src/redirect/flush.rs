//! Work outside of requests: at the start, after an answer (clicks go to the queue, metrics into the
//! log) and before the environment ends.
//!
//! Guarantee: when this returns, every click was taken by the queue, is pending under load (see
//! `domain::links::flush_policy`), or waits for a queue that failed. A batch that may have arrived is
//! sent again under the same id.

use std::time::Duration;

use boundary::edge::Phase;
use boundary::telemetry::{Trace, collect_metrics};
use domain::Timestamp;
use store::capacity;

use crate::redirect::State;
use crate::redirect::visitor_hash::same_day;

/// How long the start waits for the day's salt.
const SALT_TIMEOUT: Duration = Duration::from_secs(2);

/// Batches sent after one answer; more are sent after the next.
const MAX_BATCHES: usize = 10;

pub(crate) async fn run_phase(state: &State, phase: Phase) {
    let now = state.clock.now();
    match phase {
        // The first visitor would otherwise pay for the first connection to the store. A slow store
        // must not delay the start; the first request that needs the salt reads it again.
        Phase::Start => {
            let _ = tokio::time::timeout(SALT_TIMEOUT, state.load_salt(now)).await;
            state.limiter.refresh(now).await;
            return;
        }
        Phase::AfterResponse => {
            let tidying = capacity::metered(state.limiter.after_response());
            let (((), capacity), measures) = Box::pin(collect_metrics(tidying)).await;
            state.metrics.record_capacity(capacity);
            state.metrics.record_measures(&measures);
            hash_visits(state).await;
            let pending = state.metrics.pending();
            let age_ms = now.as_millisecond() - pending.since_ms;
            if !state.flush_policy.should_flush(pending.requests, age_ms, pending.gap_ms) {
                return;
            }
            if !state.click_buffer.is_backing_off(now.as_millisecond()) {
                send(state, now, MAX_BATCHES).await;
            }
        }
        Phase::Shutdown => {
            hash_visits(state).await;
            send(state, now, usize::MAX).await;
            state.limiter.shutdown().await;
        }
    }
    state.metrics.record_clicks(0, state.click_buffer.take_dropped());
    if let Some(line) = state.metrics.take_line(&state.stage, now) {
        state.log.line(&line);
    }
}

/// Turns visits into clicks even if they are not sent yet, so that no address stays in memory.
async fn hash_visits(state: &State) {
    while let Some(at) = state.click_buffer.oldest_visit() {
        let salt = match state.daily_salt.get(at) {
            Some(salt) => salt,
            None => state.load_salt(at).await,
        };
        state.click_buffer.hash_visits(&salt, &state.geo_ip, |other| same_day(at, other));
    }
}

async fn send(state: &State, now: Timestamp, max_batches: usize) {
    for _ in 0..max_batches {
        let Some(batch) = state.click_buffer.next_batch(&state.entropy) else { return };
        let trace = Trace::new(&state.entropy);
        match state.click_queue.send(&batch, &trace.traceparent()).await {
            Ok(()) => {
                state.click_buffer.mark_sent(&batch);
                state.metrics.record_clicks(batch.clicks.len() as u64, 0);
            }
            Err(failure) => {
                state.click_buffer.mark_failed(now.as_millisecond());
                state.metrics.record_fault(failure.chain());
                return;
            }
        }
    }
}
