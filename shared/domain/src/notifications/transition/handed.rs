//! How an attempt ended, in the words of whoever made it; also when those words come late.

use super::{Refusal, Step, become_with, end, perhaps_sent, wait};
use crate::Timestamp;
use crate::notifications::retry::retry_ms;
use crate::notifications::{Class, Delivery, Outcome, SendOutcome, Status, Why, after_ms};

/// What whoever made an attempt says of it.
pub(super) enum Word<'a> {
    /// Nobody was spoken to.
    Released(Timestamp, &'a Why),
    /// The provider said that; and chance that.
    Handed(&'a SendOutcome, u64),
}

pub(super) fn resolve(delivery: &Delivery, attempt: u32, word: &Word<'_>, now: Timestamp) -> Step {
    let known = delivery.trail.iter().find(|entry| entry.number == attempt);
    match known.map(|entry| entry.outcome) {
        Some(Outcome::Open)
            if delivery.status == Status::Sending && delivery.attempt == attempt =>
        {
            become_with(delivery, |next| settle(next, attempt, word, now))
        }
        // Something else has decided: an older attempt that was taken for lost has succeeded after all.
        Some(Outcome::Open) => {
            become_with(delivery, |next| close(next, attempt, outcome(word), now))
        }
        Some(Outcome::Lost) => late(delivery, attempt, word, now),
        // A callback was faster than the provider's answer, which alone knows what they call it.
        Some(Outcome::Accepted) => become_with(delivery, |next| {
            if let Word::Handed(SendOutcome::Accepted { reference }, _) = word
                && next.reference.is_none()
            {
                next.reference.clone_from(reference);
            }
        }),
        Some(Outcome::Refused | Outcome::Unknown | Outcome::Released) => Step::Stay,
        None => Step::Refuse(Refusal::StaleAttempt { sent: attempt, current: delivery.attempt }),
    }
}

fn settle(next: &mut Delivery, attempt: u32, word: &Word<'_>, now: Timestamp) {
    match word {
        Word::Released(until, why) => {
            close(next, attempt, Outcome::Released, now);
            released(next, *until, why, now);
        }
        Word::Handed(SendOutcome::Accepted { reference }, _) => {
            close(next, attempt, Outcome::Accepted, now);
            next.reference.clone_from(reference);
            end(next, Status::Delivered, None, now);
        }
        Word::Handed(SendOutcome::Refused { class, retry_after_seconds, said }, jitter) => {
            close(next, attempt, Outcome::Refused, now);
            note(next, attempt, Some(*class), said);
            refused(next, *class, *retry_after_seconds, *jitter, now);
        }
        Word::Handed(SendOutcome::Unknown { said }, jitter) => {
            close(next, attempt, Outcome::Unknown, now);
            note(next, attempt, None, said);
            perhaps_sent(next, *jitter, now);
        }
    }
}

/// The words of someone who was taken for dead. They settle what was uncertain; if nothing else
/// happened meanwhile, it goes on from there.
fn late(delivery: &Delivery, attempt: u32, word: &Word<'_>, now: Timestamp) -> Step {
    if matches!(word, Word::Handed(SendOutcome::Unknown { .. }, _)) {
        return Step::Stay;
    }
    become_with(delivery, |next| {
        let was = (next.status, next.bounced_at);
        next.uncertain = next.uncertain.saturating_sub(1);
        let accepted = matches!(word, Word::Handed(SendOutcome::Accepted { .. }, _));
        if accepted && was.0 != Status::Delivered && was.1.is_none() {
            // A newer attempt may be going on; its end changes nothing any more.
            next.uncertain = 0;
            settle(next, attempt, word, now);
        } else if was.0 == Status::Unknown && next.uncertain == 0 {
            settle(next, attempt, word, now);
        } else {
            close(next, attempt, outcome(word), now);
            if matches!(word, Word::Released(..)) {
                next.tries = next.tries.saturating_sub(1);
            }
        }
    })
}

fn outcome(word: &Word<'_>) -> Outcome {
    match word {
        Word::Released(..) => Outcome::Released,
        Word::Handed(SendOutcome::Accepted { .. }, _) => Outcome::Accepted,
        Word::Handed(SendOutcome::Refused { .. }, _) => Outcome::Refused,
        Word::Handed(SendOutcome::Unknown { .. }, _) => Outcome::Unknown,
    }
}

fn released(next: &mut Delivery, until: Timestamp, why: &Why, now: Timestamp) {
    next.tries = next.tries.saturating_sub(1);
    match next.withdrawn.clone() {
        Some(why) => end(next, Status::Cancelled, Some(why), now),
        None => wait(next, until, why.clone()),
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
    if let Some(why) = next.withdrawn.clone() {
        end(next, Status::Cancelled, Some(why), now);
    } else if let Some(ms) = retry_ms(class, next.tries, asked_seconds, jitter) {
        wait(next, after_ms(now, ms), Why::Backoff { attempt, class });
    } else {
        end(next, Status::Failed, Some(Why::GivenUp { attempt, class }), now);
    }
}

/// Writes down how an attempt ended.
pub(super) fn close(next: &mut Delivery, attempt: u32, outcome: Outcome, now: Timestamp) {
    if let Some(entry) = next.trail.iter_mut().find(|entry| entry.number == attempt) {
        entry.outcome = outcome;
        entry.ended_at = Some(now);
    }
}

/// The longest of a provider's words that are kept.
const MAX_REASON_LENGTH: usize = 200;

fn note(next: &mut Delivery, attempt: u32, class: Option<Class>, said: &str) {
    if let Some(entry) = next.trail.iter_mut().find(|entry| entry.number == attempt) {
        entry.class = class;
        entry.said = Some(said.chars().take(MAX_REASON_LENGTH).collect());
    }
}
