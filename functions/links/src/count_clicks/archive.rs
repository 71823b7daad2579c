//! The archive of raw clicks, for later queries: one line of JSON each, by day.
//!
//! Absent, as everywhere: addresses. A line has its batch's id and its place in the batch, so that a
//! click that was archived twice can be told from two clicks.

use std::collections::BTreeMap;
use std::io::Write;

use boundary::batch::ReceivedMessage;
use domain::links::clicks::{Click, ClickBatch};
use domain::links::counts::day_of;
use domain::{Failure, Result, hex};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::count_clicks::State;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArchivedClick<'a> {
    batch: &'a str,
    place: usize,
    at: domain::Timestamp,
    domain: &'a str,
    code: &'a str,
    visitor: String,
    method: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_agent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    referrer: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    country: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<u8>,
}

/// Puts all clicks of an invocation into one object a day. The object's name follows from what is in
/// it, so the same messages again write the same object.
pub(crate) async fn archive_clicks(state: &State, messages: &[ReceivedMessage]) -> Result {
    // Unreadable messages go to the dead letters, not to the archive.
    let batches: Vec<ClickBatch> =
        messages.iter().filter_map(|message| ClickBatch::parse(&message.body).ok()).collect();
    let mut days: BTreeMap<String, String> = BTreeMap::new();
    for batch in &batches {
        for (place, click) in batch.clicks.iter().enumerate() {
            let day = days.entry(day_of(click.at)).or_default();
            day.push_str(&line(batch, place, click)?);
            day.push('\n');
        }
    }
    for (day, lines) in &days {
        let name = hex(&Sha256::digest(lines.as_bytes())[..12]);
        let key = format!("clicks/day={day}/{name}.ndjson.gz");
        state.archive.put(&key, gzipped(lines)?).await?;
    }
    Ok(())
}

fn line(batch: &ClickBatch, place: usize, click: &Click) -> Result<String> {
    let line = ArchivedClick {
        batch: &batch.id,
        place,
        at: click.at,
        domain: &click.domain,
        code: &click.code,
        visitor: format!("{:016x}", click.visitor),
        method: if click.head { "HEAD" } else { "GET" },
        user_agent: click.user_agent.as_deref(),
        referrer: click.referrer.as_deref(),
        country: click.country.as_deref(),
        variant: click.variant,
    };
    serde_json::to_string(&line).map_err(|cause| Failure::new("write a click down", cause))
}

fn gzipped(lines: &str) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(lines.as_bytes()).and_then(|()| encoder.finish());
    written.map_err(|cause| Failure::new("pack the clicks", cause))
}
