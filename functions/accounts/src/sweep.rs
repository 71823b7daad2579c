//! Publishes account events whose first publication did not happen or is not known to have.
//!
//! Trigger: every five minutes. Effect: each change that has waited in the outbox for a minute is
//! published and taken out. Guarantee: every committed change is published at least once.

use boundary::schedule::{Run, Summary, Task};
use boundary::{Host, Misconfigured};
use domain::Result;
use domain::accounts::AuditEntry;
use messaging::AccountEvents;
use serde_json::json;
use store::Accounts;

/// The request that made the change may still be publishing it.
const GRACE_MS: i64 = 60_000;

/// Events published in one run at most; what is left waits for the next.
const MAX_EVENTS_PER_RUN: i32 = 100;

/// What the handler shares between runs.
#[derive(Debug)]
pub struct State {
    accounts: Accounts,
    events: AccountEvents,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Task<State>, Misconfigured> {
    let topic = host.vars.required("ACCOUNT_EVENTS_TOPIC")?;
    let state =
        State { accounts: host.accounts()?, events: AccountEvents::new(host.aws.sns(), topic) };
    Ok(Task::new(host, "sweepAccounts", state, |state, run| Box::pin(sweep(state, run))))
}

async fn sweep(state: &State, run: &Run) -> Result<Summary> {
    let before = format!("{:013}", run.now.as_millisecond() - GRACE_MS);
    let waiting = state.accounts.unpublished(&before, MAX_EVENTS_PER_RUN).await?;
    let mut published = 0;
    let mut failed = None;
    for audit in &waiting {
        // One that can't be published must not keep the others waiting behind it.
        match publish(state, audit, run).await {
            Ok(()) => published += 1,
            Err(failure) => failed = Some(failure),
        }
    }
    match failed {
        Some(failure) => Err(failure),
        None => Ok(Summary::from_iter([("published".to_owned(), json!(published))])),
    }
}

async fn publish(state: &State, audit: &AuditEntry, run: &Run) -> Result {
    state.events.publish(audit, &run.trace.traceparent()).await?;
    state.accounts.mark_published(audit).await
}
