//! Reads everything about a delivery, decides, and does what was decided.

use crate::store::Look;
use boundary::batch::ReceivedMessage;
use boundary::telemetry::Trace;
use domain::accounts::UserId;
use domain::notifications::due::spread;
use domain::notifications::{
    Address, Decision, DeliveryId, Event, Facts, ProviderState, Standing, Status, Verdict, Why,
    decide,
};
use domain::{Failure, Timestamp};

use crate::deliver::hand_over::hand_over;
use crate::deliver::{State, after};

/// How often a delivery or its person may change under our hands before the message comes back.
const ROUNDS: usize = 6;

/// Those who wait for a provider to work again come back within so long of each other.
const CROWD_MS: u64 = 5_000;

/// What came of a round.
pub(crate) enum Round {
    /// There is nothing more to do.
    Done,
    /// Something has changed since it was read: look again.
    Again,
}

/// What one message brings, and has done already.
pub(crate) struct Turn<'a> {
    pub(crate) trace: &'a Trace,
    /// Whether the person's limits have counted it.
    pub(crate) counted: bool,
}

/// Looks at a delivery that may be due.
pub(crate) async fn look(
    state: &State,
    id: &DeliveryId,
    message: &ReceivedMessage,
) -> Result<(), Failure> {
    let hint = message.group.as_deref().map(UserId::outside);
    let mut turn = Turn { trace: &message.trace, counted: false };
    for _ in 0..ROUNDS {
        // What is not there was forgotten long after it ended.
        let Some(look) = state.notifications.look(id, hint.as_ref()).await? else { return Ok(()) };
        if look.delivery.status == Status::Failed && message.receive_count > 1 {
            // Whoever had the message before may have stopped before its letter was kept.
            return after::keep_letter(state, &look.notification, &look.delivery).await;
        }
        match round(state, &look, &mut turn).await? {
            Round::Done => return Ok(()),
            Round::Again => {}
        }
    }
    Err(Failure::new("decide about the delivery", "it keeps changing"))
}

async fn round(state: &State, look: &Look, turn: &mut Turn<'_>) -> Result<Round, Failure> {
    let address = look.person.contacts.address(&look.delivery.id.way);
    let decision = decided(state, look, address.as_ref(), Verdict::Within);
    match (decision, address) {
        (Decision::Send { provider, trial, .. }, Some(address)) => {
            hand_over(state, look, &address, &provider, trial, turn).await
        }
        (decision, _) => write(state, look, decision, turn.trace).await,
    }
}

/// What is to be done, given what the limiter says.
pub(crate) fn decided(
    state: &State,
    look: &Look,
    address: Option<&Address>,
    verdict: Verdict,
) -> Decision {
    let now = state.now();
    let providers: Vec<ProviderState> = address
        .map(|address| state.gates.states(state.providers.for_address(address), now))
        .unwrap_or_default();
    let facts = Facts {
        notification: &look.notification,
        delivery: &look.delivery,
        preferences: &look.person.preferences,
        // Whether the address is suppressed is part of the claim.
        standing: if address.is_some() { Standing::Good } else { Standing::Gone },
        verdict,
        providers: &providers,
    };
    decide(&facts, now)
}

/// Writes a decision not to send now.
pub(crate) async fn write(
    state: &State,
    look: &Look,
    decision: Decision,
    trace: &Trace,
) -> Result<Round, Failure> {
    let event = match decision {
        Decision::Leave => return Ok(Round::Done),
        Decision::Send { .. } => return Ok(Round::Again),
        Decision::Suppress { why } => Event::Suppressed { why },
        Decision::DeadLetter { class, why } => Event::DeadLettered { class, why },
        Decision::Defer { until, why } => Event::Deferred { until: apart(look, until, &why), why },
    };
    after::apply(state, look, &event, trace).await
}

/// A deferral's end, a little apart from everybody else's; one that was decided before stays as it is.
fn apart(look: &Look, until: Timestamp, why: &Why) -> Timestamp {
    let id = &look.delivery.id;
    if until == look.delivery.ready_at {
        return until;
    }
    let later = if matches!(why, Why::Quiet | Why::Limited { .. }) {
        spread(until, look.notification.priority, id)
    } else if matches!(why, Why::ProviderDown { .. }) {
        let ms = i64::try_from(id.lot() % CROWD_MS).unwrap_or(0);
        Timestamp::from_millisecond(until.as_millisecond() + ms).unwrap_or(until)
    } else {
        until
    };
    // At its expiry it ends, and not later.
    look.notification.expires_at.map_or(later, |at| later.min(at.max(until)))
}
