//! Clicks: what was sent, what was counted, what was archived, and that all three agree.
//!
//! The truth is what the queue took. A click whose instance died before that is lost by design; from
//! there on each batch counts once, and no address is anywhere.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read;

use domain::links::ClickBatch;
use domain::links::counts::{ClickCounts, LinkDay, aggregate, day_of};
use domain::links::hyper_log_log::HyperLogLog;
use queues::NewMessage;
use serde_json::Value;
use tests::{Lab, Result};

use crate::items::{Item, number, text};

/// Keeps every message that a queue takes from now on.
pub(crate) fn record_sends(lab: &Lab) {
    lab.cloud.faults.record(|call| call.operation == "SendMessage");
}

/// The bodies of the recorded messages that the queue of clicks took.
pub(crate) fn messages(lab: &Lab) -> Vec<String> {
    let name = lab.queue("ClicksQueue");
    let calls = lab.cloud.faults.recorded().into_iter();
    calls
        .filter(|call| call.operation == "SendMessage" && call.done)
        .filter_map(|call| {
            let message: Value = serde_json::from_slice(&call.body).ok()?;
            let ours = message["QueueUrl"].as_str()?.ends_with(&name);
            ours.then(|| message["MessageBody"].as_str().map(str::to_owned))?
        })
        .collect()
}

/// The batches among `messages`, each once.
pub(crate) fn batches(messages: &[String]) -> BTreeMap<String, ClickBatch> {
    let batches = messages.iter().map(|body| ClickBatch::parse(body).unwrap());
    batches.map(|batch| (batch.id.clone(), batch)).collect()
}

/// Every row of the links table.
pub(crate) async fn rows(lab: &Lab) -> Vec<Item> {
    let (dynamodb, mut rows, mut start) = (lab.aws().dynamodb(), Vec::new(), None);
    loop {
        let scan = dynamodb.scan().table_name(lab.table("LinksTable")).consistent_read(true);
        let found = scan.set_exclusive_start_key(start).send().await.unwrap();
        rows.extend(found.items.unwrap_or_default());
        start = found.last_evaluated_key;
        if start.is_none() {
            return rows;
        }
    }
}

/// Puts dead letters back, as an operator does once what broke is mended.
pub(crate) fn redrive(lab: &Lab) -> usize {
    let (dead, alive) = (lab.queue("CountClicksDeadLetters"), lab.queue("ClicksQueue"));
    let queues = lab.cloud.services.queues();
    let dead_letters = queues.receive(&dead, 10_000, None).unwrap();
    for message in &dead_letters {
        queues.send(&alive, &NewMessage::text(&message.body)).unwrap();
        queues.delete(&dead, &message.receipt_handle).unwrap();
    }
    dead_letters.len()
}

/// Everything that must be true of `batches` once they were all delivered.
pub(crate) fn check_counts(
    lab: &Lab,
    rows: &[Item],
    batches: &BTreeMap<String, ClickBatch>,
) -> Result {
    let mut expected: BTreeMap<LinkDay, ClickCounts> = BTreeMap::new();
    for batch in batches.values() {
        for (link_day, counts) in aggregate(batch) {
            expected.entry(link_day).or_default().merge(&counts);
        }
    }
    check_days(rows, &expected)?;
    check_totals(rows, &expected)?;
    check_visitors(rows, &expected)?;
    check_archive(lab, batches)
}

/// The rows of a kind, each with its link and what its sort key says after the kind.
fn rows_of<'a>(
    rows: &'a [Item],
    kind: &'a str,
) -> impl Iterator<Item = ((String, String), &'a str, &'a Item)> {
    rows.iter().filter_map(move |item| {
        let link = text(item, "pk").strip_prefix("clicks#")?;
        let (domain, code) = link.split_once('#')?;
        let rest = text(item, "sk").strip_prefix(kind)?;
        Some(((domain.to_owned(), code.to_owned()), rest, item))
    })
}

fn absorb(counts: &mut ClickCounts, item: &Item) {
    for name in item.keys() {
        if let Some(count) = number(item, name) {
            counts.add_counter(name, count);
        }
    }
}

fn check_days(rows: &[Item], expected: &BTreeMap<LinkDay, ClickCounts>) -> Result {
    let mut stored: BTreeMap<LinkDay, ClickCounts> = BTreeMap::new();
    for ((domain, code), rest, item) in rows_of(rows, "day#") {
        let link_day = LinkDay { domain, code, day: rest[..10].to_owned() };
        absorb(stored.entry(link_day).or_default(), item);
    }
    for (link_day, counts) in &stored {
        let ClickCounts { countries, referrers, devices, browsers, hours, .. } = counts;
        for dimension in [countries, referrers, devices, browsers, hours] {
            if dimension.values().sum::<u64>() != counts.clicks {
                return Err(format!("{link_day:?} does not add up: {counts:?}"));
            }
        }
    }
    let mut wanted = expected.clone();
    for counts in wanted.values_mut() {
        counts.visitors.clear();
    }
    let odd = wanted.iter().find(|(link_day, counts)| stored.get(link_day) != Some(counts));
    if let Some((link_day, counts)) = odd {
        let stored = stored.get(link_day);
        return Err(format!("{link_day:?} was sent {counts:?} and counted {stored:?}"));
    }
    match stored.keys().find(|link_day| !wanted.contains_key(link_day)) {
        Some(link_day) => Err(format!("{link_day:?} was counted and never sent")),
        None => Ok(()),
    }
}

fn check_totals(rows: &[Item], expected: &BTreeMap<LinkDay, ClickCounts>) -> Result {
    let mut totals: BTreeMap<(String, String), [u64; 3]> = BTreeMap::new();
    for (link_day, counts) in expected {
        let sums = totals.entry((link_day.domain.clone(), link_day.code.clone())).or_default();
        for (sum, count) in sums.iter_mut().zip([counts.clicks, counts.bots, counts.previews]) {
            *sum += count;
        }
    }
    let mut stored: BTreeMap<(String, String), [u64; 3]> = BTreeMap::new();
    for (link, _, item) in rows_of(rows, "total#") {
        let sums = stored.entry(link).or_default();
        for (sum, name) in sums.iter_mut().zip(["n", "bots", "previews"]) {
            *sum += number(item, name).unwrap_or(0);
        }
    }
    if stored == totals {
        return Ok(());
    }
    Err(format!("the totals are {stored:?} instead of {totals:?}"))
}

/// A sketch is a function of its visitors, so there is no need to be lenient.
fn check_visitors(rows: &[Item], expected: &BTreeMap<LinkDay, ClickCounts>) -> Result {
    let mut stored = BTreeMap::new();
    for ((domain, code), day, item) in rows_of(rows, "visitors#") {
        let bytes = item["sketch"].as_b().unwrap().as_ref();
        let sketch = HyperLogLog::from_bytes(bytes).ok_or("a sketch can't be read")?;
        stored.insert(LinkDay { domain, code, day: day.to_owned() }, sketch);
    }
    for (link_day, counts) in expected.iter().filter(|(_, counts)| !counts.visitors.is_empty()) {
        let mut sketch = HyperLogLog::new();
        for visitor in &counts.visitors {
            sketch.add(*visitor);
        }
        let found = stored.get(link_day).map_or(0, HyperLogLog::estimate);
        if stored.get(link_day) != Some(&sketch) {
            let wanted = sketch.estimate();
            return Err(format!("{link_day:?} has {found} visitors instead of {wanted}"));
        }
    }
    Ok(())
}

fn check_archive(lab: &Lab, batches: &BTreeMap<String, ClickBatch>) -> Result {
    let mut kept: BTreeSet<(String, usize, String)> = BTreeSet::new();
    for (key, lines) in archived(lab) {
        for line in lines.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let day = line["at"].as_str().unwrap()[..10].to_owned();
            if !key.contains(&format!("/day={day}/")) {
                return Err(format!("{key} has a click of {day}"));
            }
            let place = usize::try_from(line["place"].as_u64().unwrap()).unwrap();
            kept.insert((line["batch"].as_str().unwrap().to_owned(), place, day));
        }
    }
    for batch in batches.values() {
        for (place, click) in batch.clicks.iter().enumerate() {
            if !kept.contains(&(batch.id.clone(), place, day_of(click.at))) {
                return Err(format!("click {place} of {} is not in the archive", batch.id));
            }
        }
    }
    Ok(())
}

/// The archive's objects by key, unpacked.
fn archived(lab: &Lab) -> Vec<(String, String)> {
    let stack = &lab.cloud.stack;
    let bucket = stack.buckets.iter().find(|bucket| bucket.logical_id == "ClicksBucket").unwrap();
    let objects = lab.cloud.services.buckets().unwrap().objects(&bucket.name);
    let unpack = |bytes: &[u8]| {
        let mut text = String::new();
        flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
        text
    };
    objects.into_iter().map(|(key, bytes)| (key, unpack(&bytes))).collect()
}

/// That none of these texts (addresses, say) is in a row, a log line, a message or the archive.
pub(crate) fn check_absent(lab: &Lab, rows: &[Item], secrets: &[String]) -> Result {
    let mut texts: Vec<(&str, String)> = Vec::new();
    texts.extend(lab.lines().into_iter().map(|line| ("log", line)));
    texts.extend(archived(lab).into_iter().map(|(_, lines)| ("archive", lines)));
    let calls = lab.cloud.faults.recorded().into_iter();
    texts.extend(calls.map(|call| ("call", String::from_utf8_lossy(&call.body).into_owned())));
    for value in rows.iter().flat_map(HashMap::values) {
        let words = match value.as_b() {
            Ok(bytes) => String::from_utf8_lossy(bytes.as_ref()).into_owned(),
            Err(other) => format!("{other:?}"),
        };
        texts.push(("row", words));
    }
    for (place, text) in texts {
        if let Some(secret) = secrets.iter().find(|secret| text.contains(*secret)) {
            return Err(format!("{secret} is in a {place}: {text}"));
        }
    }
    Ok(())
}
