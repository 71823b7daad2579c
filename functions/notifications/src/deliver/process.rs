//! Loads everything about a delivery, decides, and carries the decision out.

use crate::store::DeliverySnapshot;
use boundary::batch::ReceivedMessage;
use boundary::telemetry::Trace;
use domain::accounts::UserId;
use domain::notifications::due::spread;
use domain::notifications::{
    Address, AddressState, DeliveryDecision, DeliveryId, Event, Facts, LimitVerdict, ProviderState,
    Reason, Status, decide,
};
use domain::{Failure, Result, Timestamp};

use crate::deliver::send::send;
use crate::deliver::{State, follow_up};

/// How often a delivery or its recipient may change meanwhile before the message goes back to its queue.
const MAX_TRIES: usize = 6;

/// Deliveries that wait for a failing provider are spread over so long.
const PROVIDER_DOWN_JITTER_MS: u64 = 5_000;

pub(crate) enum Outcome {
    /// There is nothing more to do.
    Done,
    /// Something has changed since it was read: load it again.
    Retry,
}

/// The message at hand, and what was already done for it.
pub(crate) struct MessageContext<'a> {
    pub(crate) trace: &'a Trace,
    /// Whether the delivery was charged to the user's limits.
    pub(crate) limits_charged: bool,
}

/// Handles a delivery that may be due.
pub(crate) async fn process(state: &State, id: &DeliveryId, message: &ReceivedMessage) -> Result {
    let hint = message.group.as_deref().map(UserId::outside);
    let mut context = MessageContext { trace: &message.trace, limits_charged: false };
    for _ in 0..MAX_TRIES {
        // A row that is not there has expired, long after its delivery ended.
        let Some(snapshot) = state.notifications.load(id, hint.as_ref()).await? else {
            return Ok(());
        };
        if snapshot.delivery.status == Status::Failed && message.receive_count > 1 {
            // The instance that had the message before may have crashed before it sent the dead letter.
            return follow_up::send_to_dead_letters(
                state,
                &snapshot.notification,
                &snapshot.delivery,
            )
            .await;
        }
        match run_once(state, &snapshot, &mut context).await? {
            Outcome::Done => return Ok(()),
            Outcome::Retry => {}
        }
    }
    Err(Failure::new("decide about the delivery", "it keeps changing"))
}

async fn run_once(
    state: &State,
    snapshot: &DeliverySnapshot,
    context: &mut MessageContext<'_>,
) -> Result<Outcome> {
    let address = snapshot.recipient.contacts.address(&snapshot.delivery.id.endpoint);
    let decision = decide_now(state, snapshot, address.as_ref(), LimitVerdict::Within);
    match (decision, address) {
        (DeliveryDecision::Send { provider, trial, .. }, Some(address)) => {
            send(state, snapshot, &address, &provider, trial, context).await
        }
        (decision, _) => apply_decision(state, snapshot, decision, context.trace).await,
    }
}

/// What is to be done, given what the limiter says.
pub(crate) fn decide_now(
    state: &State,
    snapshot: &DeliverySnapshot,
    address: Option<&Address>,
    verdict: LimitVerdict,
) -> DeliveryDecision {
    let now = state.now();
    let providers: Vec<ProviderState> = address
        .map(|address| state.breakers.states(state.providers.for_address(address), now))
        .unwrap_or_default();
    let facts = Facts {
        notification: &snapshot.notification,
        delivery: &snapshot.delivery,
        preferences: &snapshot.recipient.preferences,
        // Whether the address is suppressed is part of the claim.
        address_state: if address.is_some() { AddressState::Usable } else { AddressState::Gone },
        verdict,
        providers: &providers,
    };
    decide(&facts, now)
}

/// Writes a decision not to send now.
pub(crate) async fn apply_decision(
    state: &State,
    snapshot: &DeliverySnapshot,
    decision: DeliveryDecision,
    trace: &Trace,
) -> Result<Outcome> {
    let event = match decision {
        DeliveryDecision::Ignore => return Ok(Outcome::Done),
        DeliveryDecision::Send { .. } => return Ok(Outcome::Retry),
        DeliveryDecision::Suppress { reason } => Event::Suppressed { reason },
        DeliveryDecision::DeadLetter { class, reason } => Event::DeadLettered { class, reason },
        DeliveryDecision::Defer { until, reason } => {
            Event::Deferred { until: staggered(snapshot, until, &reason), reason }
        }
    };
    follow_up::apply(state, snapshot, &event, trace).await
}

/// A deferral's end, spread by delivery; one that was decided before stays as it is.
fn staggered(snapshot: &DeliverySnapshot, until: Timestamp, reason: &Reason) -> Timestamp {
    let id = &snapshot.delivery.id;
    if until == snapshot.delivery.ready_at {
        return until;
    }
    let later = if matches!(reason, Reason::DoNotDisturb | Reason::Limited { .. }) {
        spread(until, snapshot.notification.priority, id)
    } else if matches!(reason, Reason::ProviderDown { .. }) {
        let ms = i64::try_from(id.stable_hash() % PROVIDER_DOWN_JITTER_MS).unwrap_or(0);
        Timestamp::from_millisecond(until.as_millisecond() + ms).unwrap_or(until)
    } else {
        until
    };
    // At its expiry it ends, and not later.
    snapshot.notification.expires_at.map_or(later, |at| later.min(at.max(until)))
}
