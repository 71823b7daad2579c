//! What must be true once nothing is on its way any more.

use std::collections::{BTreeMap, BTreeSet};
use tests::Result;

use domain::notifications::{AttemptOutcome, Channel, Delivery, Reason, Status};
use tests::scripted_providers::{RecordedSend, ScriptedOutcome};

use super::history::{History, Write};
use super::invariants::ensure;
use super::sends::AttemptSends;

/// What was written of each delivery agrees with what its providers did.
pub(super) fn check_deliveries(
    history: &History,
    all: &BTreeMap<String, AttemptSends<'_>>,
) -> Result {
    for (key, sends) in all {
        let writes = history.deliveries.get(key).map(Vec::as_slice).unwrap_or_default();
        let Some((_, last)) = writes.last() else { continue };
        check_delivery(writes, last, sends)
            .map_err(|broken| format!("{broken}: {last:?}, of which {sends:?}"))?;
    }
    Ok(())
}

fn check_delivery(writes: &[Write<Delivery>], last: &Delivery, sends: &AttemptSends<'_>) -> Result {
    ensure(last.status.is_final(), "it never ends")?;
    let called_back = writes.iter().any(|(_, row)| is_called_back(row));
    for entry in &last.attempts {
        // What was tried anew when an older attempt turned out to have succeeded need not end.
        if entry.outcome == AttemptOutcome::Open && last.status == Status::Delivered {
            continue;
        }
        let act = sends.get(&entry.number).copied().flatten().map(|recorded| &recorded.outcome);
        let accepted_ids = matches_act(entry.outcome, act) || called_back;
        ensure(accepted_ids, "what is written of an attempt is not what happened")?;
    }
    let in_doubt = |entry: &&domain::notifications::Attempt| {
        matches!(entry.outcome, AttemptOutcome::Lost | AttemptOutcome::Unknown)
    };
    let doubts = last.attempts.iter().filter(in_doubt).count();
    ensure(called_back || last.uncertain as usize == doubts, "doubts were not counted")?;
    check_arrivals(writes, last, sends, &ever_in_doubt(writes))
}

fn is_called_back(row: &Delivery) -> bool {
    // What a callback ends has had its doubts settled, or came back, or was complained about.
    row.bounced_at.is_some()
        || row.complained_at.is_some()
        || (row.status == Status::Delivered && row.reference.is_none())
        || (row.status == Status::Delivered && row.uncertain == 0 && doubted(row))
}

fn doubted(row: &Delivery) -> bool {
    row.attempts
        .iter()
        .any(|entry| matches!(entry.outcome, AttemptOutcome::Lost | AttemptOutcome::Unknown))
}

/// Attempts of which it was not known at some moment whether they had succeeded.
fn ever_in_doubt(writes: &[Write<Delivery>]) -> BTreeSet<u32> {
    let entries = writes.iter().flat_map(|(_, row)| &row.attempts);
    let in_doubt =
        entries.filter(|it| matches!(it.outcome, AttemptOutcome::Lost | AttemptOutcome::Unknown));
    in_doubt.map(|entry| entry.number).collect()
}

/// Whether an outcome is the one of such an act.
fn matches_act(outcome: AttemptOutcome, act: Option<&ScriptedOutcome>) -> bool {
    match (outcome, act) {
        (AttemptOutcome::Open, _) => false,
        // The instance that knew has crashed.
        (AttemptOutcome::Lost, _) => true,
        (AttemptOutcome::Released, act) => act.is_none(),
        (AttemptOutcome::Accepted, act) => {
            matches!(act, Some(ScriptedOutcome::Accept | ScriptedOutcome::Slow))
        }
        (AttemptOutcome::Refused, act) => matches!(act, Some(ScriptedOutcome::Refuse { .. })),
        (AttemptOutcome::Unknown, act) => {
            matches!(act, Some(ScriptedOutcome::Hang | ScriptedOutcome::AcceptThenDisconnect))
        }
    }
}

/// Nothing arrives twice but through a doubt or a replay, and nothing that ended as not sent has.
fn check_arrivals(
    writes: &[Write<Delivery>],
    last: &Delivery,
    sends: &AttemptSends<'_>,
    doubts: &BTreeSet<u32>,
) -> Result {
    let replays: Vec<usize> = replays(writes).collect();
    let came: Vec<&RecordedSend> =
        sends.values().flatten().copied().filter(|recorded| recorded.delivered()).collect();
    ensure(came.len() <= 1 + doubts.len() + replays.len(), "it arrived too often")?;
    let repeats = last.channel() != Channel::Sms;
    ensure(repeats || came.len() <= 1 + replays.len(), "a text message arrived twice")?;
    let began = replays.last().copied().unwrap_or(0);
    let arrived = came.iter().any(|recorded| recorded.calls_before > began);
    match last.status {
        Status::Delivered => ensure(!came.is_empty(), "it is delivered and never arrived"),
        Status::Failed | Status::Suppressed | Status::Cancelled => {
            ensure(!arrived || last.bounced_at.is_some(), "it ended as not sent and has arrived")
        }
        Status::Unknown => ensure(last.uncertain > 0, "nothing about it is unknown"),
        Status::Pending | Status::Sending => ensure(false, "it never ends"),
    }
}

/// The writes that replayed it.
fn replays(writes: &[Write<Delivery>]) -> impl Iterator<Item = usize> {
    let replayed = |pair: &&[Write<Delivery>]| {
        pair[0].1.status == Status::Failed && pair[1].1.reason == Some(Reason::Replayed)
    };
    writes.windows(2).filter(replayed).map(|pair| pair[1].0)
}

/// What failed is listed as a dead letter, and nothing else is.
pub(super) fn check_letters(history: &History, listed: &BTreeSet<String>) -> Result {
    let ends = history.deliveries.iter().filter_map(|(key, writes)| Some((key, writes.last()?)));
    let failed = ends.filter(|(_, (_, last))| last.status == Status::Failed);
    let failed: BTreeSet<String> = failed.map(|(key, _)| key.clone()).collect();
    if failed == *listed {
        return Ok(());
    }
    Err(format!("{failed:?} have failed, and {listed:?} are dead letters"))
}

/// What its sender gave up has a dead letter that raises the alarm; what came back later need not.
pub(super) fn check_alarms(history: &History, alarms: &BTreeSet<String>) -> Result {
    let gave_up = |row: &Delivery| row.status == Status::Failed && row.bounced_at.is_none();
    for (key, writes) in &history.deliveries {
        if writes.iter().any(|(_, row)| gave_up(row)) && !alarms.contains(key) {
            return Err(format!("{key} failed and raised no alarm: {:?}", writes.last()));
        }
    }
    Ok(())
}

/// accepted = delivered + failed + unknown + suppressed + cancelled, of every way that was taken.
pub(super) fn check_accounts(history: &History, endpoints: &BTreeSet<String>) -> Result {
    let kept: BTreeSet<String> = history.deliveries.keys().cloned().collect();
    if kept != *endpoints {
        return Err(format!("{endpoints:?} were accepted, and there are {kept:?}"));
    }
    let mut ends: BTreeMap<Status, usize> = BTreeMap::new();
    for (_, last) in history.deliveries.values().filter_map(|writes| writes.last()) {
        *ends.entry(last.status).or_default() += 1;
    }
    let ended: usize = ends.iter().filter(|(status, _)| status.is_final()).map(|(_, n)| n).sum();
    ensure(ended == endpoints.len(), &format!("of {} there ended {ends:?}", endpoints.len()))
}
