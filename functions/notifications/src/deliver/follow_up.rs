//! What follows from a change that is written: a queue message for a delivery that waits, a dead letter
//! for one that failed.

use crate::store::{ApplyOutcome, CountedEvent, DeliverySnapshot};
use boundary::telemetry::Trace;
use domain::notifications::due::{Schedule, schedule};
use domain::notifications::{
    Address, Class, DeadLetter, Delivery, Endpoint, Event, Notification, Remedy, SendOutcome,
    Status, Suppression,
};
use domain::{Failure, Result};

use crate::deliver::process::Outcome;
use crate::deliver::{State, metrics};

/// Applies an event to a delivery as it was read, and follows up.
pub(crate) async fn apply(
    state: &State,
    snapshot: &DeliverySnapshot,
    event: &Event,
    trace: &Trace,
) -> Result<Outcome> {
    let now = state.now();
    let token = || state.token();
    let applied = state.notifications.apply_from(&snapshot.delivery, event, now, token).await?;
    follow_up(state, &snapshot.notification, applied, trace).await?;
    Ok(Outcome::Done)
}

/// Follows up on a change, and on one that was made before: the instance that made it may have crashed
/// right after.
pub(crate) async fn follow_up(
    state: &State,
    notification: &Notification,
    applied: ApplyOutcome,
    trace: &Trace,
) -> Result {
    let (after, changed) = match applied {
        ApplyOutcome::Changed { after, .. } => (after, true),
        ApplyOutcome::Unchanged(delivery) => (delivery, false),
        // Another instance was faster, and follows up on its own change.
        ApplyOutcome::Illegal(..) | ApplyOutcome::NotFound => return Ok(()),
    };
    if changed {
        metrics::status_changed(&after);
    }
    match after.status {
        Status::Pending if changed || is_only_message(state, &after) => {
            enqueue(state, &after, trace).await
        }
        Status::Failed => send_to_dead_letters(state, notification, &after).await,
        Status::Delivered if changed => {
            count_sent(state, &after, trace).await;
            Ok(())
        }
        Status::Pending
        | Status::Sending
        | Status::Delivered
        | Status::Suppressed
        | Status::Cancelled
        | Status::Unknown => Ok(()),
    }
}

/// Clocks are apart by no more than this.
const MAX_CLOCK_SKEW_MS: i64 = 10_000;

/// Whether the message which led here may be the only one about a delivery that waits as it did
/// before: the one of its acceptance, which comes at once, or one that came early by our clock. Any
/// other is a copy, and copies end here.
fn is_only_message(state: &State, delivery: &Delivery) -> bool {
    let wait_ms = delivery.ready_at.as_millisecond() - state.now().as_millisecond();
    delivery.version == 1 || wait_ms <= MAX_CLOCK_SKEW_MS
}

/// Sends a message for when a delivery is due. The message that led here is used up, so there has to be another,
/// unless it waits in a bucket.
async fn enqueue(state: &State, delivery: &Delivery, trace: &Trace) -> Result {
    match schedule(delivery.ready_at, state.now()) {
        Schedule::Queue { delay_seconds } => {
            state.queues.send_due([(delivery, delay_seconds)], &trace.traceparent()).await
        }
        Schedule::Bucket => Ok(()),
    }
}

/// Sends a dead letter to the dead letters of its queue. The row is the truth; this raises the alarm.
pub(crate) async fn send_to_dead_letters(
    state: &State,
    notification: &Notification,
    delivery: &Delivery,
) -> Result {
    const ACTION: &str = "write a dead letter";
    let Some(dead_letter) = DeadLetter::from_failed(notification, delivery) else { return Ok(()) };
    let body = serde_json::to_string(&dead_letter).map_err(|cause| Failure::new(ACTION, cause))?;
    let reason = format!("{}: {}", dead_letter.class.name(), dead_letter.remedy.advice());
    let dead_letters = state.dead_letters.queue(delivery.channel(), delivery.priority);
    dead_letters.send(&body, &reason, &delivery.id.key(), "notifications").await
}

/// Drops or suppresses an address that a provider refuses for good. It is done before the outcome is
/// written, because the row does not say which address it was; what fails here is
/// done by the next refusal.
pub(crate) async fn apply_remedy(
    state: &State,
    delivery: &Delivery,
    address: &Address,
    outcome: &SendOutcome,
    trace: &Trace,
) {
    let SendOutcome::Refused { class: class @ (Class::InvalidRecipient | Class::OptedOut), .. } =
        outcome
    else {
        return;
    };
    let done = match (Remedy::for_class(*class, &delivery.id.endpoint), &delivery.id.endpoint) {
        (Remedy::DropDevice, Endpoint::Push(device)) => {
            let token = || state.token();
            let removed = state.notifications.remove_device(&delivery.user, device, address, token);
            removed.await.map(|_| ())
        }
        (Remedy::SuppressAddress(reason), _) => {
            let suppression = Suppression { reason, at: state.now() };
            state.notifications.suppress(address, &suppression).await.map(|_| ())
        }
        _ => Ok(()),
    };
    if let Err(failure) = done {
        state.warn(&failure, trace);
    }
}

/// Counts what was sent, by variant of the template. A count that fails is missing, and no more.
async fn count_sent(state: &State, delivery: &Delivery, trace: &Trace) {
    let Some(rendering) = &delivery.rendering else { return };
    let (now, token) = (state.now(), state.token());
    let counted =
        state.notifications.count(&delivery.id, rendering, CountedEvent::Sent, now, &token).await;
    if let Err(failure) = counted {
        state.warn(&failure, trace);
    }
}
