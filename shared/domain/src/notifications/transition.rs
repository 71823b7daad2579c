//! What an event makes of a delivery: one pure function.

mod called_back;
mod event;
mod handed;

pub use event::{Event, Refusal, Step};

use super::retry::{MAX_ATTEMPTS, backoff_ms, repeat_is_harmless};
use super::{Attempt, Delivery, Outcome, ProviderName, Rendering, Status, Why, after_ms};
use crate::Timestamp;

/// Whoever claimed an attempt and was not heard of for so long is taken for dead. It is longer than a
/// function lives after it claimed, so that the living are never taken for dead.
pub const CLAIM_SECONDS: i64 = 60;

/// Decides what `event`, at `now`, makes of `delivery`.
pub fn transition(delivery: &Delivery, event: &Event, now: Timestamp) -> Step {
    match event {
        Event::Claimed { by, attempt, provider, rendering, to } => {
            let step = claimed(delivery, by, *attempt, provider, now);
            with_parcel(step, rendering.as_ref(), to.as_ref())
        }
        Event::Released { attempt, until, why } => {
            handed::resolve(delivery, *attempt, &handed::Word::Released(*until, why), now)
        }
        Event::Handed { attempt, handed, jitter } => {
            handed::resolve(delivery, *attempt, &handed::Word::Handed(handed, *jitter), now)
        }
        Event::Checked { jitter } => checked(delivery, *jitter, now),
        Event::Deferred { until, why } => while_pending(delivery, None, |next| {
            if (next.ready_at, next.why.as_ref()) != (*until, Some(why)) {
                wait(next, *until, why.clone());
            }
        }),
        Event::Suppressed { why } => while_pending(delivery, Some(Status::Suppressed), |next| {
            end(next, Status::Suppressed, Some(why.clone()), now);
        }),
        Event::DeadLettered { class, why } => {
            while_pending(delivery, Some(Status::Failed), |next| {
                next.class = Some(*class);
                end(next, Status::Failed, Some(why.clone()), now);
            })
        }
        Event::Withdrawn { why } => withdrawn(delivery, why, now),
        Event::CalledBack { fate, at } => called_back::called_back(delivery, *fate, *at, now),
        Event::Replayed { replay } => replayed(delivery, replay, now),
    }
}

fn claimed(
    delivery: &Delivery,
    by: &str,
    attempt: u32,
    provider: &ProviderName,
    now: Timestamp,
) -> Step {
    let held = delivery.status == Status::Sending && delivery.attempt == attempt;
    if held && delivery.claimed_by.as_deref() == Some(by) {
        return Step::Stay;
    }
    if delivery.status != Status::Pending {
        return Step::Refuse(Refusal::Is(delivery.status));
    }
    if attempt != delivery.attempt + 1 {
        return Step::Refuse(Refusal::StaleAttempt { sent: attempt, current: delivery.attempt });
    }
    if delivery.ready_at > now {
        return Step::Refuse(Refusal::NotYet);
    }
    if delivery.withdrawn.is_some() {
        return Step::Refuse(Refusal::Withdrawn);
    }
    if delivery.tries >= MAX_ATTEMPTS {
        return Step::Refuse(Refusal::Spent);
    }
    become_with(delivery, |next| {
        next.status = Status::Sending;
        next.attempt = attempt;
        next.tries += 1;
        next.claimed_by = Some(by.to_owned());
        next.claimed_at = Some(now);
        next.why = None;
        if next.trail.len() >= Delivery::MAX_HISTORY_LENGTH {
            next.trail.remove(0);
        }
        next.trail.push(Attempt {
            number: attempt,
            provider: provider.clone(),
            at: now,
            ended_at: None,
            outcome: Outcome::Open,
            class: None,
            said: None,
        });
    })
}

fn with_parcel(step: Step, rendering: Option<&Rendering>, to: Option<&String>) -> Step {
    match step {
        Step::Become(mut next) => {
            next.rendering = rendering.cloned();
            next.sent_to = to.cloned();
            Step::Become(next)
        }
        Step::Stay | Step::Refuse(_) => step,
    }
}

fn checked(delivery: &Delivery, jitter: u64, now: Timestamp) -> Step {
    if delivery.overdue_at().is_none_or(|at| at > now) {
        return Step::Stay;
    }
    become_with(delivery, |next| {
        handed::close(next, delivery.attempt, Outcome::Lost, now);
        perhaps_sent(next, jitter, now);
    })
}

fn withdrawn(delivery: &Delivery, why: &Why, now: Timestamp) -> Step {
    match delivery.status {
        _ if delivery.withdrawn.is_some() => Step::Stay,
        Status::Pending => become_with(delivery, |next| {
            next.withdrawn = Some(why.clone());
            end(next, Status::Cancelled, Some(why.clone()), now);
        }),
        // What was claimed can't be called back; but nothing follows it.
        Status::Sending => become_with(delivery, |next| next.withdrawn = Some(why.clone())),
        Status::Delivered
        | Status::Suppressed
        | Status::Cancelled
        | Status::Failed
        | Status::Unknown => Step::Refuse(Refusal::Is(delivery.status)),
    }
}

fn replayed(delivery: &Delivery, replay: &str, now: Timestamp) -> Step {
    if delivery.replay.as_deref() == Some(replay) {
        return Step::Stay;
    }
    if delivery.status != Status::Failed {
        return Step::Refuse(Refusal::Is(delivery.status));
    }
    if delivery.withdrawn.is_some() {
        return Step::Refuse(Refusal::Withdrawn);
    }
    become_with(delivery, |next| {
        next.replay = Some(replay.to_owned());
        next.tries = 0;
        next.class = None;
        next.bounced_at = None;
        wait(next, now, Why::Replayed);
    })
}

/// An attempt may have reached the person: again where that does no harm, or it is not known for good.
fn perhaps_sent(next: &mut Delivery, jitter: u64, now: Timestamp) {
    next.uncertain += 1;
    let attempt = next.attempt;
    let again = repeat_is_harmless(next.channel()) && next.tries < MAX_ATTEMPTS;
    if again && next.withdrawn.is_none() {
        let at = after_ms(now, backoff_ms(next.tries, jitter));
        wait(next, at, Why::Repeated { attempt });
    } else {
        end(next, Status::Unknown, Some(Why::Uncertain { attempt }), now);
    }
}

fn wait(next: &mut Delivery, until: Timestamp, why: Why) {
    next.status = Status::Pending;
    next.ready_at = until;
    next.why = Some(why);
    next.ended_at = None;
    next.claimed_by = None;
    next.claimed_at = None;
}

/// The only way to an end. What may have gone out can't end as if it had not.
fn end(next: &mut Delivery, status: Status, why: Option<Why>, now: Timestamp) {
    let perhaps = next.uncertain > 0 && status != Status::Delivered;
    next.status = if perhaps { Status::Unknown } else { status };
    next.why = why;
    next.ended_at = Some(now);
    next.claimed_by = None;
    next.claimed_at = None;
}

/// A change of what is pending; what is `already` so stays so, and so does what does not change.
fn while_pending(
    delivery: &Delivery,
    already: Option<Status>,
    change: impl FnOnce(&mut Delivery),
) -> Step {
    if delivery.status == Status::Pending {
        return become_with(delivery, change);
    }
    if already == Some(delivery.status) {
        return Step::Stay;
    }
    Step::Refuse(Refusal::Is(delivery.status))
}

fn become_with(delivery: &Delivery, change: impl FnOnce(&mut Delivery)) -> Step {
    let mut next = Box::new(delivery.clone());
    change(&mut next);
    if *next == *delivery {
        return Step::Stay;
    }
    next.version = delivery.version + 1;
    Step::Become(next)
}

#[cfg(test)]
mod tests;
