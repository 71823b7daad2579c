//! Callbacks of a provider. A bounce is its last word; a complaint proves that something arrived.

use super::{Transition, attempt_end, become_with, end};
use crate::Timestamp;
use crate::notifications::{AttemptOutcome, CallbackKind, Class, Delivery, Reason, Status};

pub(super) fn called_back(
    delivery: &Delivery,
    kind: CallbackKind,
    at: Timestamp,
    now: Timestamp,
) -> Transition {
    let out = may_be_out(delivery);
    match kind {
        _ if delivery.bounced_at.is_some() || !out => Transition::Unchanged,
        CallbackKind::Delivered => become_with(delivery, |next| arrived(next, now)),
        CallbackKind::Complained => become_with(delivery, |next| {
            arrived(next, now);
            next.complained_at = next.complained_at.or(Some(at));
        }),
        CallbackKind::Bounced { hard } => {
            // Before an attempt that goes on, or comes, has ended, a full mailbox says nothing about it.
            let undecided = !delivery.status.is_final();
            if undecided && !hard {
                return Transition::Unchanged;
            }
            become_with(delivery, |next| {
                settle(next, now);
                next.bounced_at = Some(at);
                next.class = Some(if hard { Class::InvalidRecipient } else { Class::Outage });
                end(next, Status::Failed, Some(Reason::Bounced { hard }), now);
            })
        }
    }
}

/// Whether anything was handed over, perhaps.
fn may_be_out(delivery: &Delivery) -> bool {
    delivery.uncertain > 0 || matches!(delivery.status, Status::Sending | Status::Delivered)
}

fn arrived(next: &mut Delivery, now: Timestamp) {
    if next.status != Status::Delivered {
        settle(next, now);
        end(next, Status::Delivered, None, now);
    }
}

/// What was uncertain is so no more, and late words about it say nothing new.
fn settle(next: &mut Delivery, now: Timestamp) {
    if next.status == Status::Sending {
        attempt_end::close(next, next.attempt, AttemptOutcome::Accepted, now);
    }
    for entry in next.attempts.iter_mut().filter(|entry| entry.outcome == AttemptOutcome::Lost) {
        entry.outcome = AttemptOutcome::Unknown;
    }
    next.uncertain = 0;
}
