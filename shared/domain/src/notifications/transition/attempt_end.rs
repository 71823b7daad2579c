//! How an attempt ended, as its claimant reports it; also when the report comes late.

use super::{IllegalTransition, Transition, become_with, end, perhaps_sent, wait};
use crate::Timestamp;
use crate::notifications::retry::retry_ms;
use crate::notifications::{
    AttemptOutcome, Class, Delivery, Reason, SendOutcome, Status, after_ms,
};

/// What the claimant of an attempt reports.
pub(super) enum AttemptEnd<'a> {
    Released(Timestamp, &'a Reason),
    /// The provider's outcome, and a random number for the backoff.
    Sent(&'a SendOutcome, u64),
}

pub(super) fn resolve(
    delivery: &Delivery,
    attempt: u32,
    report: &AttemptEnd<'_>,
    now: Timestamp,
) -> Transition {
    let known = delivery.attempts.iter().find(|entry| entry.number == attempt);
    match known.map(|entry| entry.outcome) {
        Some(AttemptOutcome::Open)
            if delivery.status == Status::Sending && delivery.attempt == attempt =>
        {
            become_with(delivery, |next| settle(next, attempt, report, now))
        }
        // Something else has decided: an older attempt that was taken for lost has succeeded after all.
        Some(AttemptOutcome::Open) => {
            become_with(delivery, |next| close(next, attempt, outcome(report), now))
        }
        Some(AttemptOutcome::Lost) => late(delivery, attempt, report, now),
        // A callback was faster than the provider's answer, which alone knows what they call it.
        Some(AttemptOutcome::Accepted) => become_with(delivery, |next| {
            if let AttemptEnd::Sent(SendOutcome::Accepted { reference }, _) = report
                && next.reference.is_none()
            {
                next.reference.clone_from(reference);
            }
        }),
        Some(AttemptOutcome::Refused | AttemptOutcome::Unknown | AttemptOutcome::Released) => {
            Transition::Unchanged
        }
        None => Transition::Illegal(IllegalTransition::StaleAttempt {
            sent: attempt,
            current: delivery.attempt,
        }),
    }
}

fn settle(next: &mut Delivery, attempt: u32, report: &AttemptEnd<'_>, now: Timestamp) {
    match report {
        AttemptEnd::Released(until, reason) => {
            close(next, attempt, AttemptOutcome::Released, now);
            released(next, *until, reason, now);
        }
        AttemptEnd::Sent(SendOutcome::Accepted { reference }, _) => {
            close(next, attempt, AttemptOutcome::Accepted, now);
            next.reference.clone_from(reference);
            end(next, Status::Delivered, None, now);
        }
        AttemptEnd::Sent(SendOutcome::Refused { class, retry_after_seconds, reason }, jitter) => {
            close(next, attempt, AttemptOutcome::Refused, now);
            record_reason(next, attempt, Some(*class), reason);
            refused(next, *class, *retry_after_seconds, *jitter, now);
        }
        AttemptEnd::Sent(SendOutcome::Unknown { reason }, jitter) => {
            close(next, attempt, AttemptOutcome::Unknown, now);
            record_reason(next, attempt, None, reason);
            perhaps_sent(next, *jitter, now);
        }
    }
}

/// A report after the claim had expired. It settles what was uncertain; if nothing else happened
/// meanwhile, the delivery goes on from there.
fn late(delivery: &Delivery, attempt: u32, report: &AttemptEnd<'_>, now: Timestamp) -> Transition {
    if matches!(report, AttemptEnd::Sent(SendOutcome::Unknown { .. }, _)) {
        return Transition::Unchanged;
    }
    become_with(delivery, |next| {
        let was = (next.status, next.bounced_at);
        next.uncertain = next.uncertain.saturating_sub(1);
        let accepted = matches!(report, AttemptEnd::Sent(SendOutcome::Accepted { .. }, _));
        if accepted && was.0 != Status::Delivered && was.1.is_none() {
            // A newer attempt may be going on; its end changes nothing any more.
            next.uncertain = 0;
            settle(next, attempt, report, now);
        } else if was.0 == Status::Unknown && next.uncertain == 0 {
            settle(next, attempt, report, now);
        } else {
            close(next, attempt, outcome(report), now);
            if matches!(report, AttemptEnd::Released(..)) {
                next.tries = next.tries.saturating_sub(1);
            }
        }
    })
}

fn outcome(report: &AttemptEnd<'_>) -> AttemptOutcome {
    match report {
        AttemptEnd::Released(..) => AttemptOutcome::Released,
        AttemptEnd::Sent(SendOutcome::Accepted { .. }, _) => AttemptOutcome::Accepted,
        AttemptEnd::Sent(SendOutcome::Refused { .. }, _) => AttemptOutcome::Refused,
        AttemptEnd::Sent(SendOutcome::Unknown { .. }, _) => AttemptOutcome::Unknown,
    }
}

fn released(next: &mut Delivery, until: Timestamp, reason: &Reason, now: Timestamp) {
    next.tries = next.tries.saturating_sub(1);
    match next.withdrawn.clone() {
        Some(reason) => end(next, Status::Cancelled, Some(reason), now),
        None => wait(next, until, reason.clone()),
    }
}

fn refused(
    next: &mut Delivery,
    class: Class,
    asked_seconds: Option<u32>,
    jitter: u64,
    now: Timestamp,
) {
    let attempt = next.attempt;
    next.class = Some(class);
    if let Some(reason) = next.withdrawn.clone() {
        end(next, Status::Cancelled, Some(reason), now);
    } else if let Some(ms) = retry_ms(class, next.tries, asked_seconds, jitter) {
        wait(next, after_ms(now, ms), Reason::Backoff { attempt, class });
    } else {
        end(next, Status::Failed, Some(Reason::GivenUp { attempt, class }), now);
    }
}

/// Writes down how an attempt ended.
pub(super) fn close(next: &mut Delivery, attempt: u32, outcome: AttemptOutcome, now: Timestamp) {
    if let Some(entry) = next.attempts.iter_mut().find(|entry| entry.number == attempt) {
        entry.outcome = outcome;
        entry.ended_at = Some(now);
    }
}

/// The most of a provider's reason that is kept.
const MAX_REASON_LENGTH: usize = 200;

fn record_reason(next: &mut Delivery, attempt: u32, class: Option<Class>, reason: &str) {
    if let Some(entry) = next.attempts.iter_mut().find(|entry| entry.number == attempt) {
        entry.class = class;
        entry.reason = Some(reason.chars().take(MAX_REASON_LENGTH).collect());
    }
}
