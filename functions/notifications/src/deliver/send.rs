//! Sends a delivery: render, slot, breaker trial, limits; then claim, call the provider, record.

use std::sync::Arc;
use std::time::Duration;

use crate::store::{AttemptClaim, ClaimOutcome, DeliverySnapshot};
use boundary::telemetry::Trace;
use domain::notifications::{
    Address, Class, Delivery, DeliveryDecision, Event, LimitVerdict, Priority, ProviderName,
    Reason, SendOutcome, do_not_disturb_until,
};
use domain::{Result, Timestamp};
use providers::Provider;

use crate::deliver::process::{MessageContext, Outcome, apply_decision, decide_now};
use crate::deliver::render::{self, RenderedText};
use crate::deliver::slots::{Slot, SlotOutcome};
use crate::deliver::{State, follow_up, limits, metrics};

/// Providers have timeouts of their own; this bounds one that is configured with too long a one.
const PROVIDER_TIMEOUT: Duration = Duration::from_secs(20);

/// A delivery that missed its slot is retried after so long.
const MISSED_SLOT_RETRY_MS: i64 = 1_000;

/// Sends a delivery through the provider `name`, unless something stops or defers it.
pub(crate) async fn send(
    state: &State,
    snapshot: &DeliverySnapshot,
    address: &Address,
    name: &ProviderName,
    trial: bool,
    context: &mut MessageContext<'_>,
) -> Result<Outcome> {
    let trace = context.trace;
    let text = match render::render(state, snapshot).await? {
        Ok(text) => text,
        Err(error) => {
            let reason = Reason::Unrenderable { reason: error };
            let given_up = DeliveryDecision::DeadLetter { class: Class::Content, reason };
            return apply_decision(state, snapshot, given_up, trace).await;
        }
    };
    let slot = match state.slot_pool.take(state, name, snapshot.notification.priority).await? {
        SlotOutcome::Slot(slot) => slot,
        SlotOutcome::Later(at) => return defer_while_busy(state, snapshot, name, at, trace).await,
    };
    if trial && !state.breakers.begin_trial(state, name).await? {
        return Ok(Outcome::Retry);
    }
    if !context.limits_charged
        && let verdict @ LimitVerdict::Exceeded { .. } = limits::check(state, snapshot).await
    {
        let decision = decide_now(state, snapshot, Some(address), verdict);
        return apply_decision(state, snapshot, decision, trace).await;
    }
    context.limits_charged = true;
    slot.wait(state, true).await;
    let now = state.now();
    if must_decide_again(snapshot, now) {
        return Ok(Outcome::Retry);
    }
    let by = state.token();
    let claim = AttemptClaim {
        delivery: &snapshot.delivery,
        recipient: &snapshot.recipient,
        address,
        by: &by,
        provider: name,
        rendering: text.rendering.as_ref(),
    };
    match state.notifications.claim(claim, now, &state.token()).await? {
        ClaimOutcome::Won(claimed) => {
            call_provider(
                state,
                snapshot,
                &claimed,
                ClaimedSend { address, name, text, slot, trial },
                trace,
            )
            .await?;
            Ok(Outcome::Done)
        }
        ClaimOutcome::Suppressed(suppression) => {
            let reason = Reason::AddressSuppressed { reason: suppression.reason };
            follow_up::apply(state, snapshot, &Event::Suppressed { reason }, trace).await
        }
        ClaimOutcome::Conflict | ClaimOutcome::RecipientChanged | ClaimOutcome::Illegal(_) => {
            Ok(Outcome::Retry)
        }
    }
}

struct ClaimedSend<'a> {
    address: &'a Address,
    name: &'a ProviderName,
    text: RenderedText,
    slot: Slot,
    trial: bool,
}

/// Calls the provider, once, and records the outcome.
async fn call_provider(
    state: &State,
    snapshot: &DeliverySnapshot,
    claimed: &Delivery,
    send: ClaimedSend<'_>,
    trace: &Trace,
) -> Result {
    let ClaimedSend { address, name, text, slot, trial } = send;
    let in_time = slot.wait(state, false).await;
    let provider =
        state.providers.for_address(address).find(|provider| provider.name() == name.as_str());
    let (Some(provider), true) = (provider, in_time) else {
        // No provider was called: the attempt is given back.
        let until = retry_at(state.now());
        let reason = Reason::ProviderBusy { provider: name.clone() };
        let event = Event::Released { attempt: claimed.attempt, until, reason };
        let token = || state.token();
        let applied = state.notifications.apply_from(claimed, &event, state.now(), token).await?;
        return follow_up::follow_up(state, &snapshot.notification, applied, trace).await;
    };
    metrics::queue_wait(claimed, snapshot.delivery.ready_at, state.now());
    let outcome = call_with_timeout(state, provider, text.into_message(snapshot, address)).await;
    state.breakers.record(name, &outcome);
    if trial {
        state.breakers.flush(state, trace).await;
    }
    follow_up::apply_remedy(state, claimed, address, &outcome, trace).await;
    let (jitter, token) = (state.jitter(), || state.token());
    let recorded =
        state.notifications.record(claimed, &outcome, jitter, state.now(), token).await?;
    follow_up::follow_up(state, &snapshot.notification, recorded, trace).await
}

async fn call_with_timeout(
    state: &State,
    provider: &Arc<dyn Provider>,
    message: domain::notifications::ProviderMessage,
) -> SendOutcome {
    let began = state.now();
    let called = tokio::time::timeout(PROVIDER_TIMEOUT, provider.send(&message, began)).await;
    let outcome = called.unwrap_or_else(|_| SendOutcome::Unknown {
        reason: "it took longer than there was".to_owned(),
    });
    metrics::provider_call(provider.name(), &outcome, began, state.now());
    outcome
}

/// The provider takes no more at the moment.
async fn defer_while_busy(
    state: &State,
    snapshot: &DeliverySnapshot,
    name: &ProviderName,
    until: Timestamp,
    trace: &Trace,
) -> Result<Outcome> {
    let until = snapshot.notification.expires_at.map_or(until, |at| at.min(until));
    let reason = Reason::ProviderBusy { provider: name.clone() };
    apply_decision(state, snapshot, DeliveryDecision::Defer { until, reason }, trace).await
}

/// Whether it expired, or do-not-disturb began, between the decision to send it and the claim: waiting
/// for a slot or a retried request may take that long. Then it is decided about anew.
fn must_decide_again(snapshot: &DeliverySnapshot, now: Timestamp) -> bool {
    let DeliverySnapshot { notification, recipient, .. } = snapshot;
    let quiet = || do_not_disturb_until(&recipient.preferences, now).is_some();
    notification.is_expired(now) || (notification.priority != Priority::Critical && quiet())
}

fn retry_at(now: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(now.as_millisecond() + MISSED_SLOT_RETRY_MS).unwrap_or(now)
}

/// Whether limits of a person are passed by what is this urgent.
pub(crate) fn passes_limits(priority: Priority) -> bool {
    priority == Priority::Critical
}
