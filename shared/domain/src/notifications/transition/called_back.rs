//! What a provider says later. A bounce is its last word; a complaint proves that something arrived.

use super::{Step, become_with, end, handed};
use crate::Timestamp;
use crate::notifications::{Class, Delivery, Fate, Outcome, Status, Why};

pub(super) fn called_back(delivery: &Delivery, fate: Fate, at: Timestamp, now: Timestamp) -> Step {
    let out = may_be_out(delivery);
    match fate {
        _ if delivery.bounced_at.is_some() || !out => Step::Stay,
        Fate::Delivered => become_with(delivery, |next| arrived(next, now)),
        Fate::Complained => become_with(delivery, |next| {
            arrived(next, now);
            next.complained_at = next.complained_at.or(Some(at));
        }),
        Fate::Bounced { hard } => {
            // Before an attempt that goes on, or comes, has ended, a full mailbox says nothing about it.
            let undecided = !delivery.status.is_final();
            if undecided && !hard {
                return Step::Stay;
            }
            become_with(delivery, |next| {
                settle(next, now);
                next.bounced_at = Some(at);
                next.class = Some(if hard { Class::InvalidRecipient } else { Class::Outage });
                end(next, Status::Failed, Some(Why::Bounced { hard }), now);
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
        handed::close(next, next.attempt, Outcome::Accepted, now);
    }
    for entry in next.trail.iter_mut().filter(|entry| entry.outcome == Outcome::Lost) {
        entry.outcome = Outcome::Unknown;
    }
    next.uncertain = 0;
}
