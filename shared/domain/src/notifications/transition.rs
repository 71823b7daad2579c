//! What an event makes of a delivery: one pure function.

mod attempt_end;
mod callback;
mod event;

use attempt_end::AttemptEnd;
pub use event::{Event, IllegalTransition, Transition};

use super::retry::{MAX_ATTEMPTS, backoff_ms, repeat_is_harmless};
use super::{Attempt, AttemptOutcome, Delivery, ProviderName, Reason, Rendering, Status, after_ms};
use crate::Timestamp;

/// A claim without an outcome expires after so long: longer than an invocation lives after it claimed, so
/// that no running attempt is taken for lost.
pub const CLAIM_SECONDS: i64 = 60;

/// Decides what `event`, at `now`, makes of `delivery`.
pub fn transition(delivery: &Delivery, event: &Event, now: Timestamp) -> Transition {
    match event {
        Event::Claimed { by, attempt, provider, rendering, to } => {
            let step = claimed(delivery, by, *attempt, provider, now);
            with_rendering(step, rendering.as_ref(), to.as_ref())
        }
        Event::Released { attempt, until, reason } => {
            attempt_end::resolve(delivery, *attempt, &AttemptEnd::Released(*until, reason), now)
        }
        Event::Sent { attempt, outcome, jitter } => {
            attempt_end::resolve(delivery, *attempt, &AttemptEnd::Sent(outcome, *jitter), now)
        }
        Event::ClaimChecked { jitter } => validated(delivery, *jitter, now),
        Event::Deferred { until, reason } => while_pending(delivery, None, |next| {
            if (next.ready_at, next.reason.as_ref()) != (*until, Some(reason)) {
                wait(next, *until, reason.clone());
            }
        }),
        Event::Suppressed { reason } => while_pending(delivery, Some(Status::Suppressed), |next| {
            end(next, Status::Suppressed, Some(reason.clone()), now);
        }),
        Event::DeadLettered { class, reason } => {
            while_pending(delivery, Some(Status::Failed), |next| {
                next.class = Some(*class);
                end(next, Status::Failed, Some(reason.clone()), now);
            })
        }
        Event::Withdrawn { reason } => withdrawn(delivery, reason, now),
        Event::CalledBack { kind, at } => callback::called_back(delivery, *kind, *at, now),
        Event::Replayed { replay } => replayed(delivery, replay, now),
    }
}

fn claimed(
    delivery: &Delivery,
    by: &str,
    attempt: u32,
    provider: &ProviderName,
    now: Timestamp,
) -> Transition {
    let held = delivery.status == Status::Sending && delivery.attempt == attempt;
    if held && delivery.claimed_by.as_deref() == Some(by) {
        return Transition::Unchanged;
    }
    if delivery.status != Status::Pending {
        return Transition::Illegal(IllegalTransition::WrongStatus(delivery.status));
    }
    if attempt != delivery.attempt + 1 {
        return Transition::Illegal(IllegalTransition::StaleAttempt {
            sent: attempt,
            current: delivery.attempt,
        });
    }
    if delivery.ready_at > now {
        return Transition::Illegal(IllegalTransition::TooEarly);
    }
    if delivery.withdrawn.is_some() {
        return Transition::Illegal(IllegalTransition::Withdrawn);
    }
    if delivery.tries >= MAX_ATTEMPTS {
        return Transition::Illegal(IllegalTransition::AttemptsExhausted);
    }
    become_with(delivery, |next| {
        next.status = Status::Sending;
        next.attempt = attempt;
        next.tries += 1;
        next.claimed_by = Some(by.to_owned());
        next.claimed_at = Some(now);
        next.reason = None;
        if next.attempts.len() >= Delivery::MAX_HISTORY_LENGTH {
            next.attempts.remove(0);
        }
        next.attempts.push(Attempt {
            number: attempt,
            provider: provider.clone(),
            at: now,
            ended_at: None,
            outcome: AttemptOutcome::Open,
            class: None,
            reason: None,
        });
    })
}

fn with_rendering(
    step: Transition,
    rendering: Option<&Rendering>,
    to: Option<&String>,
) -> Transition {
    match step {
        Transition::Changed(mut next) => {
            next.rendering = rendering.cloned();
            next.sent_to = to.cloned();
            Transition::Changed(next)
        }
        Transition::Unchanged | Transition::Illegal(_) => step,
    }
}

fn validated(delivery: &Delivery, jitter: u64, now: Timestamp) -> Transition {
    if delivery.claim_expires_at().is_none_or(|at| at > now) {
        return Transition::Unchanged;
    }
    become_with(delivery, |next| {
        attempt_end::close(next, delivery.attempt, AttemptOutcome::Lost, now);
        perhaps_sent(next, jitter, now);
    })
}

fn withdrawn(delivery: &Delivery, reason: &Reason, now: Timestamp) -> Transition {
    match delivery.status {
        _ if delivery.withdrawn.is_some() => Transition::Unchanged,
        Status::Pending => become_with(delivery, |next| {
            next.withdrawn = Some(reason.clone());
            end(next, Status::Cancelled, Some(reason.clone()), now);
        }),
        // What was claimed can't be called back; but nothing follows it.
        Status::Sending => become_with(delivery, |next| next.withdrawn = Some(reason.clone())),
        Status::Delivered
        | Status::Suppressed
        | Status::Cancelled
        | Status::Failed
        | Status::Unknown => Transition::Illegal(IllegalTransition::WrongStatus(delivery.status)),
    }
}

fn replayed(delivery: &Delivery, replay: &str, now: Timestamp) -> Transition {
    if delivery.replay.as_deref() == Some(replay) {
        return Transition::Unchanged;
    }
    if delivery.status != Status::Failed {
        return Transition::Illegal(IllegalTransition::WrongStatus(delivery.status));
    }
    if delivery.withdrawn.is_some() {
        return Transition::Illegal(IllegalTransition::Withdrawn);
    }
    become_with(delivery, |next| {
        next.replay = Some(replay.to_owned());
        next.tries = 0;
        next.class = None;
        next.bounced_at = None;
        wait(next, now, Reason::Replayed);
    })
}

/// An attempt may have reached the person: again where that does no harm, or it is not known for good.
fn perhaps_sent(next: &mut Delivery, jitter: u64, now: Timestamp) {
    next.uncertain += 1;
    let attempt = next.attempt;
    let again = repeat_is_harmless(next.channel()) && next.tries < MAX_ATTEMPTS;
    if again && next.withdrawn.is_none() {
        let at = after_ms(now, backoff_ms(next.tries, jitter));
        wait(next, at, Reason::Repeated { attempt });
    } else {
        end(next, Status::Unknown, Some(Reason::Uncertain { attempt }), now);
    }
}

fn wait(next: &mut Delivery, until: Timestamp, reason: Reason) {
    next.status = Status::Pending;
    next.ready_at = until;
    next.reason = Some(reason);
    next.ended_at = None;
    next.claimed_by = None;
    next.claimed_at = None;
}

/// The only way to an end. What may have gone out can't end as if it had not.
fn end(next: &mut Delivery, status: Status, reason: Option<Reason>, now: Timestamp) {
    let perhaps = next.uncertain > 0 && status != Status::Delivered;
    next.status = if perhaps { Status::Unknown } else { status };
    next.reason = reason;
    next.ended_at = Some(now);
    next.claimed_by = None;
    next.claimed_at = None;
}

/// A change of what is pending; what is `already` so stays so, and so does what does not change.
fn while_pending(
    delivery: &Delivery,
    already: Option<Status>,
    change: impl FnOnce(&mut Delivery),
) -> Transition {
    if delivery.status == Status::Pending {
        return become_with(delivery, change);
    }
    if already == Some(delivery.status) {
        return Transition::Unchanged;
    }
    Transition::Illegal(IllegalTransition::WrongStatus(delivery.status))
}

fn become_with(delivery: &Delivery, change: impl FnOnce(&mut Delivery)) -> Transition {
    let mut next = Box::new(delivery.clone());
    change(&mut next);
    if *next == *delivery {
        return Transition::Unchanged;
    }
    next.version = delivery.version + 1;
    Transition::Changed(next)
}

#[cfg(test)]
mod tests;
