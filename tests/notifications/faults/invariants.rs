//! What may become of a delivery from one write to the next.

use domain::notifications::{
    AttemptOutcome, Channel, Class, Delivery, MAX_ATTEMPTS, Priority, Reason, Status, Suppression,
    do_not_disturb_until,
};
use tests::Result;

use super::history::{History, before};

/// Every write of every delivery keeps to the rules.
pub(super) fn check_rows(history: &History) -> Result {
    for writes in history.deliveries.values() {
        let mut earlier: Option<&Delivery> = None;
        for (write, delivery) in writes {
            let kept = match earlier {
                None => check_first(history, delivery),
                Some(earlier) => check_step(history, *write, earlier, delivery),
            };
            kept.map_err(|broken| format!("{broken}: {earlier:?} became {delivery:?}"))?;
            earlier = Some(delivery);
        }
    }
    Ok(())
}

fn check_first(history: &History, first: &Delivery) -> Result {
    let notification = history.notification(first)?;
    // What the user has opted out of is suppressed at once.
    let version = if first.status == Status::Suppressed { 2 } else { 1 };
    let begins = first.status == Status::Pending || first.status == Status::Suppressed;
    let fresh = (first.attempt, first.tries, first.uncertain, first.version) == (0, 0, 0, version);
    ensure(begins && fresh && first.attempts.is_empty(), "it does not begin at the beginning")?;
    let early = notification.send_at.is_some_and(|at| first.ready_at < at);
    ensure(!early, "it is ready before its time")
}

fn check_step(history: &History, write: usize, from: &Delivery, to: &Delivery) -> Result {
    ensure(to.version == from.version + 1, "a change was written over")?;
    ensure(may_become(from, to), "nothing leads from the one to the other")?;
    check_trail(from, to)?;
    let spent = to.tries.saturating_sub(from.tries);
    if from.status == Status::Pending && to.status == Status::Sending {
        return check_claim(history, write, from, to);
    }
    ensure(to.attempt == from.attempt && spent == 0, "an attempt was used up without a claim")?;
    if from.status.is_final() && to.reason == Some(Reason::Replayed) {
        return check_replay(from, to);
    }
    ensure(to.replay == from.replay, "a replay was forgotten")?;
    ensure(from.withdrawn.is_none() || to.withdrawn.is_some(), "it was taken back, for good")?;
    check_answer(from, to)
}

fn may_become(from: &Delivery, to: &Delivery) -> bool {
    let called_back = to.bounced_at.is_some() || to.complained_at.is_some();
    match (from.status, to.status) {
        (Status::Pending, _) => to.status != Status::Delivered || from.uncertain > 0,
        (Status::Sending, _) => to.status != Status::Suppressed,
        (Status::Unknown, Status::Pending | Status::Cancelled) => settles(from, to),
        (Status::Unknown, Status::Delivered | Status::Failed | Status::Unknown)
        | (Status::Delivered, Status::Delivered) => true,
        (Status::Delivered, Status::Failed) => called_back,
        (Status::Failed, Status::Pending) => to.reason == Some(Reason::Replayed),
        _ => false,
    }
}

/// Whether the outcome of an expired claim was reported late.
fn settles(from: &Delivery, to: &Delivery) -> bool {
    let lost = |row: &Delivery| {
        row.attempts.iter().filter(|entry| entry.outcome == AttemptOutcome::Lost).count()
    };
    lost(to) < lost(from)
}

/// Attempts are numbered without a gap, the last is the one at hand, and what was said of one stays.
fn check_trail(from: &Delivery, to: &Delivery) -> Result {
    let numbers: Vec<u32> = to.attempts.iter().map(|entry| entry.number).collect();
    let first = to.attempt + 1 - u32::try_from(to.attempts.len()).unwrap_or(0);
    ensure(numbers.iter().copied().eq(first..=to.attempt), "the trail has a gap")?;
    let kept = from.attempts.len() <= to.attempts.len()
        || to.attempts.len() >= Delivery::MAX_HISTORY_LENGTH;
    ensure(kept, "an attempt was forgotten")?;
    for was in &from.attempts {
        let is = to.attempts.iter().find(|entry| entry.number == was.number);
        let open = matches!(was.outcome, AttemptOutcome::Open | AttemptOutcome::Lost);
        let same = is.is_none_or(|is| is.outcome == was.outcome || open);
        ensure(same, "an attempt ended twice")?;
    }
    Ok(())
}

/// Nothing is claimed too early, too late, after an opt-out, or without an address.
fn check_claim(history: &History, write: usize, from: &Delivery, to: &Delivery) -> Result {
    let notification = history.notification(to)?;
    let entry = to.attempts.last().ok_or("a claim left no trail")?;
    let (at, user) = (entry.at, to.user.as_str());
    ensure(to.attempt == from.attempt + 1 && to.tries == from.tries + 1, "a claim is one attempt")?;
    ensure(entry.number == to.attempt && entry.outcome == AttemptOutcome::Open, "a claim is open")?;
    ensure(to.tries <= MAX_ATTEMPTS, "it was tried too often")?;
    ensure(at >= from.ready_at, "it was claimed before it was ready")?;
    ensure(from.withdrawn.is_none(), "it was claimed after it was taken back")?;
    ensure(!notification.is_expired(at), "it was claimed after it expired")?;
    let preferences = before(history.preferences.get(user), write);
    if let Some(preferences) = preferences {
        let opt_out_for = preferences.opt_out_for(&notification.category, to.channel());
        ensure(opt_out_for.is_none(), "it was claimed after an opt-out")?;
        let quiet = do_not_disturb_until(preferences, at).is_some();
        let passes = notification.priority == Priority::Critical;
        ensure(!quiet || passes, "it was claimed while the person is not to be disturbed")?;
    }
    let contacts = before(history.contacts.get(user), write);
    let address = contacts.and_then(|contacts| contacts.address(&to.id.endpoint));
    let address = address.ok_or("it was claimed for an address that is gone")?;
    let name = Suppression::key(&address);
    let mut suppressed = history.suppressed.iter();
    let suppressed = suppressed.any(|(at, one)| *at < write && *one == name);
    ensure(!suppressed, "it was claimed for an address that gets nothing any more")
}

fn check_replay(from: &Delivery, to: &Delivery) -> Result {
    ensure(to.tries == 0, "a replay begins anew")?;
    ensure(to.replay.is_some() && to.replay != from.replay, "a replay moves a dead letter once")?;
    ensure(from.withdrawn.is_none(), "what was taken back was replayed")
}

/// What a provider's word makes of it: as often and as late as that word allows.
fn check_answer(from: &Delivery, to: &Delivery) -> Result {
    // Once an older attempt has succeeded after all, the end of a newer one changes nothing.
    let Some(entry) = to.attempts.last().filter(|_| from.status == Status::Sending) else {
        return Ok(());
    };
    let over = from.withdrawn.is_some();
    let goes_on = to.status == Status::Pending;
    match entry.outcome {
        AttemptOutcome::Refused => {
            let class = entry.class.ok_or("a refusal has no class")?;
            let more = !over && to.tries < max_attempts(class);
            ensure(goes_on == more, "a refusal allows more attempts, or fewer")
        }
        AttemptOutcome::Lost | AttemptOutcome::Unknown => {
            ensure(to.uncertain == from.uncertain + 1, "a doubt was not counted")?;
            let harmless = to.channel() != Channel::Sms;
            let more = !over && harmless && to.tries < MAX_ATTEMPTS;
            ensure(goes_on == more, "a doubt allows another attempt, or not")
        }
        AttemptOutcome::Released => {
            ensure(to.tries + 1 == from.tries, "an attempt without a call was used up")
        }
        AttemptOutcome::Accepted => ensure(!goes_on, "it was accepted and goes on"),
        AttemptOutcome::Open => Ok(()),
    }
}

/// How many attempts a kind of no allows, as it is promised.
const fn max_attempts(class: Class) -> u32 {
    match class {
        Class::InvalidRecipient | Class::OptedOut | Class::Content => 1,
        Class::Unrecognised => 2,
        Class::RateLimited | Class::Outage => 5,
    }
}

pub(super) fn ensure(holds: bool, otherwise: &str) -> Result {
    if holds { Ok(()) } else { Err(otherwise.to_owned()) }
}
