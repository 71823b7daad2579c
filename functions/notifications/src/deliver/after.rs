//! What follows from a change that is written: a message for what waits, a letter for what failed.

use crate::store::{Applied, Look, What};
use boundary::telemetry::Trace;
use domain::Failure;
use domain::notifications::due::{Place, place};
use domain::notifications::{
    Address, Class, DeadLetter, Delivery, Event, Notification, Remedy, SendOutcome, Status,
    Suppression, Way,
};

use crate::deliver::look::Round;
use crate::deliver::{State, measures};

/// Lets an event happen to a delivery as it was read, and does what follows.
pub(crate) async fn apply(
    state: &State,
    look: &Look,
    event: &Event,
    trace: &Trace,
) -> Result<Round, Failure> {
    let now = state.now();
    let token = || state.token();
    let applied = state.notifications.apply_from(&look.delivery, event, now, token).await?;
    follow(state, &look.notification, applied, trace).await?;
    Ok(Round::Done)
}

/// Does what follows from a change, and from one that was made before: whoever made it may have
/// stopped there.
pub(crate) async fn follow(
    state: &State,
    notification: &Notification,
    applied: Applied,
    trace: &Trace,
) -> Result<(), Failure> {
    let (after, changed) = match applied {
        Applied::Changed { after, .. } => (after, true),
        Applied::Stays(delivery) => (delivery, false),
        // Somebody else was faster, and does what follows from theirs.
        Applied::Refused(..) | Applied::Unknown => return Ok(()),
    };
    if changed {
        measures::became(&after);
    }
    match after.status {
        Status::Pending if changed || is_alone(state, &after) => ring(state, &after, trace).await,
        Status::Failed => keep_letter(state, notification, &after).await,
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
const APART_MS: i64 = 10_000;

/// Whether the message which led here may be the only one about a delivery that waits as it did
/// before: the one of its acceptance, which comes at once, or one that came early by our clock. Any
/// other is a copy, and copies end here.
fn is_alone(state: &State, delivery: &Delivery) -> bool {
    let wait_ms = delivery.ready_at.as_millisecond() - state.now().as_millisecond();
    delivery.version == 1 || wait_ms <= APART_MS
}

/// Says that a delivery will be due. The message that led here is used up, so there has to be another,
/// unless it waits in a bucket.
async fn ring(state: &State, delivery: &Delivery, trace: &Trace) -> Result<(), Failure> {
    match place(delivery.ready_at, state.now()) {
        Place::Queue { delay_seconds } => {
            state.queues.due([(delivery, delay_seconds)], &trace.traceparent()).await
        }
        Place::Bucket => Ok(()),
    }
}

/// Leaves a letter with the dead ones of its queue. The row is the truth; the letter raises the alarm.
pub(crate) async fn keep_letter(
    state: &State,
    notification: &Notification,
    delivery: &Delivery,
) -> Result<(), Failure> {
    const ACTION: &str = "write a dead letter";
    let Some(letter) = DeadLetter::of(notification, delivery) else { return Ok(()) };
    let body = serde_json::to_string(&letter).map_err(|cause| Failure::new(ACTION, cause))?;
    let reason = format!("{}: {}", letter.class.name(), letter.remedy.advice());
    let letters = state.letters.of(delivery.channel(), delivery.priority);
    letters.send(&body, &reason, &delivery.id.key(), "notifications").await
}

/// Does what a refusal says about the address, which is true whatever becomes of the delivery. It is
/// done before that is written, because the row does not say which address it was; what fails here is
/// done by the next refusal.
pub(crate) async fn remedy(
    state: &State,
    delivery: &Delivery,
    address: &Address,
    handed: &SendOutcome,
    trace: &Trace,
) {
    let SendOutcome::Refused { class: class @ (Class::InvalidRecipient | Class::OptedOut), .. } =
        handed
    else {
        return;
    };
    let done = match (Remedy::of(*class, &delivery.id.way), &delivery.id.way) {
        (Remedy::DropDevice, Way::Push(device)) => {
            let token = || state.token();
            let dropped = state.notifications.drop_device(&delivery.user, device, address, token);
            dropped.await.map(|_| ())
        }
        (Remedy::SuppressAddress(because), _) => {
            let suppression = Suppression { because, at: state.now() };
            state.notifications.suppress(address, &suppression).await.map(|_| ())
        }
        _ => Ok(()),
    };
    if let Err(failure) = done {
        state.warn(&failure, trace);
    }
}

/// Counts what was sent for those who compare variants. A count that fails is missing, and no more.
async fn count_sent(state: &State, delivery: &Delivery, trace: &Trace) {
    let Some(rendering) = &delivery.rendering else { return };
    let (now, token) = (state.now(), state.token());
    let counted = state.notifications.count(&delivery.id, rendering, What::Sent, now, &token).await;
    if let Err(failure) = counted {
        state.warn(&failure, trace);
    }
}
