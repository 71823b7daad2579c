//! What was handed over, compared with what was written before and after: each message has its claim,
//! each claim one message at most, and a provider that failed is left alone.

use std::collections::BTreeMap;
use tests::Result;

use domain::notifications::{AttemptOutcome, Breaker, Delivery, Status};
use tests::scripted_providers::{RecordedSend, ScriptedOutcome};

use super::history::{History, Write, before};
use super::invariants::ensure;

/// Attempts of one delivery, by number, with what the provider did if it was spoken to.
pub(super) type AttemptSends<'a> = BTreeMap<u32, Option<&'a RecordedSend>>;

/// What each delivery's attempts came to, by its key; every message belongs to one of them.
pub(super) fn attempts<'a>(
    history: &History,
    recorded: &'a [RecordedSend],
) -> Result<BTreeMap<String, AttemptSends<'a>>> {
    let mut all: BTreeMap<String, AttemptSends<'a>> = BTreeMap::new();
    for one in recorded {
        let key = &one.message.key;
        let writes = history.deliveries.get(key).map(Vec::as_slice).unwrap_or_default();
        let sends = all.entry(key.clone()).or_default();
        let claim = claims(writes)
            .rev()
            .filter(|(write, _)| *write < one.calls_before)
            .find(|(_, claimed)| is_of(claimed, one) && !sends.contains_key(&claimed.attempt));
        let Some((write, claimed)) = claim else {
            return Err(format!("{key} was handed over without a claim: {one:?} of {writes:?}"));
        };
        check_parcel(history, write, claimed, one)?;
        sends.insert(claimed.attempt, Some(one));
    }
    for (key, writes) in &history.deliveries {
        let sends = all.entry(key.clone()).or_default();
        for (_, claimed) in claims(writes) {
            sends.entry(claimed.attempt).or_insert(None);
        }
    }
    Ok(all)
}

/// The writes that claimed an attempt.
fn claims(
    writes: &[Write<Delivery>],
) -> impl DoubleEndedIterator<Item = (usize, &Delivery)> + Clone {
    let claimed = |(index, (_, delivery)): &(usize, &Write<Delivery>)| {
        let earlier = index.checked_sub(1).and_then(|index| writes.get(index));
        delivery.status == Status::Sending
            && earlier.is_none_or(|(_, earlier)| earlier.attempt != delivery.attempt)
    };
    let all = writes.iter().enumerate();
    all.filter(claimed).map(|(_, (write, delivery))| (*write, delivery))
}

fn is_of(claimed: &Delivery, recorded: &RecordedSend) -> bool {
    claimed.attempts.last().is_some_and(|entry| entry.provider.as_str() == recorded.provider)
}

/// It goes where the person was when it was claimed, in its time, and says what was asked for.
fn check_parcel(
    history: &History,
    write: usize,
    claimed: &Delivery,
    recorded: &RecordedSend,
) -> Result {
    let message = &recorded.message;
    let contacts = before(history.contacts.get(claimed.user.as_str()), write);
    let address = contacts.and_then(|contacts| contacts.address(&claimed.id.endpoint));
    ensure(address.as_ref() == Some(&message.to), "a message went to another address")?;
    let notification = history.notification(claimed)?;
    ensure(
        message.collapse_key == notification.collapse_key,
        "a message is of another notification",
    )
}

/// Nothing sooner than a provider asked for: a refusal that was heard keeps the delivery back.
pub(super) fn check_pauses(history: &History, all: &BTreeMap<String, AttemptSends<'_>>) -> Result {
    for (key, sends) in all {
        let writes = history.deliveries.get(key).map(Vec::as_slice).unwrap_or_default();
        for (_, delivery) in writes.iter().filter(|(_, it)| it.status == Status::Pending) {
            let Some(last) = delivery.attempts.last() else { continue };
            let act = sends.get(&last.number).copied().flatten().map(|recorded| &recorded.outcome);
            let Some(ScriptedOutcome::Refuse { retry_after_seconds: Some(seconds), .. }) = act
            else {
                continue;
            };
            let Some(ended_at) = last.ended_at.filter(|_| last.outcome == AttemptOutcome::Refused)
            else {
                continue;
            };
            // At its expiry it ends, and is looked at for that.
            let expires_at = history.notification(delivery)?.expires_at;
            let asked_ms = ended_at.as_millisecond() + i64::from(*seconds) * 1_000;
            let least_ms = expires_at.map_or(asked_ms, |at| at.as_millisecond().min(asked_ms));
            if delivery.ready_at.as_millisecond() < least_ms {
                return Err(format!("{key} does not wait {seconds} s: {delivery:?}"));
            }
        }
    }
    Ok(())
}

/// A moment at which no function was running: how many writes there were, and how many sends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) writes: usize,
    pub(super) sends: usize,
}

/// While a provider's breaker is not closed, only its trials call it. `marks` are the
/// moments at which no function was running: what was known then is all that a function can know since.
pub(super) fn check_breakers(
    history: &History,
    recorded: &[RecordedSend],
    marks: &[Mark],
) -> Result {
    for (provider, writes) in &history.breakers {
        for pair in writes.windows(2) {
            let [(_, from), (_, to)] = pair else { continue };
            ensure(to.version == from.version + 1, "a breaker was written over")?;
        }
        let last = Mark { writes: usize::MAX, sends: recorded.len() };
        for (start, end) in marks.iter().zip(marks.iter().skip(1).chain([&last])) {
            let known = before(Some(writes), start.writes);
            let Some(known) = known.filter(|it| it.open_until.is_some()) else { continue };
            let (trials, closed_at) = trials(known, writes, start.writes, end.writes);
            let sends = recorded[start.sends..end.sends].iter();
            let sends =
                sends.filter(|one| one.provider == *provider && one.calls_before <= closed_at);
            let sends = sends.count();
            if sends > trials {
                return Err(format!(
                    "{provider} was spoken to {sends} times in {trials} trials, from {known:?}"
                ));
            }
        }
    }
    Ok(())
}

/// How many trials of a breaker began, and when it closed, between two moments.
fn trials(known: &Breaker, writes: &[Write<Breaker>], start: usize, end: usize) -> (usize, usize) {
    let (mut row, mut trials) = (known, 0);
    for (write, next) in writes.iter().filter(|(write, _)| (start..end).contains(write)) {
        if next.open_until.is_none() {
            return (trials, *write);
        }
        let begun = (next.trials, next.trials_since) != (row.trials, row.trials_since);
        if next.open_until == row.open_until && begun {
            trials += 1;
        }
        row = next;
    }
    (trials, usize::MAX)
}
