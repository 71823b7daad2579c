//! Sends: everything that could still be in the way, then claim, speak, record.

use std::sync::Arc;
use std::time::Duration;

use crate::store::{Claim, Claimed, Look};
use boundary::telemetry::Trace;
use domain::notifications::{
    Address, Class, Decision, Delivery, Event, Priority, ProviderName, SendOutcome, Verdict, Why,
    quiet_until,
};
use domain::{Failure, Timestamp};
use providers::Provider;

use crate::deliver::look::{Round, Turn, decided, write};
use crate::deliver::slots::{Slot, Taken};
use crate::deliver::text::{self, Text};
use crate::deliver::{State, after, limits, measures};

/// Providers bound their own time; this is for one that is told to take more than there is.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whoever could not use a slot in time comes back after so long.
const BUSY_MS: i64 = 1_000;

/// Hands a delivery to `name`, if nothing is in the way.
pub(crate) async fn hand_over(
    state: &State,
    look: &Look,
    address: &Address,
    name: &ProviderName,
    trial: bool,
    turn: &mut Turn<'_>,
) -> Result<Round, Failure> {
    let trace = turn.trace;
    let text = match text::make(state, look).await? {
        Ok(text) => text,
        Err(unfit) => {
            let why = Why::Unrenderable { reason: unfit };
            let given_up = Decision::DeadLetter { class: Class::Content, why };
            return write(state, look, given_up, trace).await;
        }
    };
    let slot = match state.pool.take(state, name, look.notification.priority).await? {
        Taken::Slot(slot) => slot,
        Taken::Later(at) => return busy(state, look, name, at, trace).await,
    };
    if trial && !state.gates.try_one(state, name).await? {
        return Ok(Round::Again);
    }
    if !turn.counted
        && let verdict @ Verdict::Beyond { .. } = limits::verdict(state, look).await
    {
        let decision = decided(state, look, Some(address), verdict);
        return write(state, look, decision, trace).await;
    }
    turn.counted = true;
    slot.wait(state, true).await;
    let now = state.now();
    if is_late(look, now) {
        return Ok(Round::Again);
    }
    let by = state.token();
    let claim = Claim {
        delivery: &look.delivery,
        person: &look.person,
        address,
        by: &by,
        provider: name,
        rendering: text.rendering.as_ref(),
    };
    match state.notifications.claim(claim, now, &state.token()).await? {
        Claimed::Claimed(claimed) => {
            speak(state, look, &claimed, Speech { address, name, text, slot, trial }, trace)
                .await?;
            Ok(Round::Done)
        }
        Claimed::Suppressed(suppression) => {
            let why = Why::AddressSuppressed { because: suppression.because };
            after::apply(state, look, &Event::Suppressed { why }, trace).await
        }
        Claimed::Moved | Claimed::PersonMoved | Claimed::Refused(_) => Ok(Round::Again),
    }
}

/// What is said to whom.
struct Speech<'a> {
    address: &'a Address,
    name: &'a ProviderName,
    text: Text,
    slot: Slot,
    trial: bool,
}

/// Speaks to the provider, once, and writes down what it said.
async fn speak(
    state: &State,
    look: &Look,
    claimed: &Delivery,
    speech: Speech<'_>,
    trace: &Trace,
) -> Result<(), Failure> {
    let Speech { address, name, text, slot, trial } = speech;
    let in_time = slot.wait(state, false).await;
    let provider =
        state.providers.for_address(address).find(|provider| provider.name() == name.as_str());
    let (Some(provider), true) = (provider, in_time) else {
        // Nobody was spoken to: the attempt is given back.
        let until = later(state.now());
        let why = Why::ProviderBusy { provider: name.clone() };
        let event = Event::Released { attempt: claimed.attempt, until, why };
        let token = || state.token();
        let applied = state.notifications.apply_from(claimed, &event, state.now(), token).await?;
        return after::follow(state, &look.notification, applied, trace).await;
    };
    measures::waited(claimed, look.delivery.ready_at, state.now());
    let handed = ask(state, provider, text.parcel(look, address)).await;
    state.gates.saw(name, &handed);
    if trial {
        state.gates.tell(state, trace).await;
    }
    after::remedy(state, claimed, address, &handed, trace).await;
    let (jitter, token) = (state.jitter(), || state.token());
    let recorded = state.notifications.record(claimed, &handed, jitter, state.now(), token).await?;
    after::follow(state, &look.notification, recorded, trace).await
}

async fn ask(
    state: &State,
    provider: &Arc<dyn Provider>,
    parcel: domain::notifications::ProviderMessage,
) -> SendOutcome {
    let began = state.now();
    let asked = tokio::time::timeout(PATIENCE, provider.send(&parcel, began)).await;
    let handed = asked.unwrap_or_else(|_| SendOutcome::Unknown {
        said: "it took longer than there was".to_owned(),
    });
    measures::asked(provider.name(), &handed, began, state.now());
    handed
}

/// The provider takes no more at the moment.
async fn busy(
    state: &State,
    look: &Look,
    name: &ProviderName,
    until: Timestamp,
    trace: &Trace,
) -> Result<Round, Failure> {
    let until = look.notification.expires_at.map_or(until, |at| at.min(until));
    let why = Why::ProviderBusy { provider: name.clone() };
    write(state, look, Decision::Defer { until, why }, trace).await
}

/// Whether its time ran out between the decision to send it and the claim: a slot, a store that was
/// asked again or a clock that was set has taken so long. Then it is decided about anew.
fn is_late(look: &Look, now: Timestamp) -> bool {
    let Look { notification, person, .. } = look;
    let quiet = || quiet_until(&person.preferences, now).is_some();
    notification.is_expired(now) || (notification.priority != Priority::Critical && quiet())
}

fn later(now: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(now.as_millisecond() + BUSY_MS).unwrap_or(now)
}

/// Whether limits of a person are passed by what is this urgent.
pub(crate) fn passes_limits(priority: Priority) -> bool {
    priority == Priority::Critical
}
