//! Robots whose user agent is a browser's, detected by their clicks within a batch.
//!
//! Guarantee: a visitor is judged by this batch alone, so that a second delivery judges alike.
//! Absent: robots that are slow, or that spread over many batches.

use std::collections::{BTreeMap, BTreeSet};

use crate::links::clicks::Click;

/// A visitor with so many `HEAD`s in a batch is a link checker.
pub const BOT_HEADS: usize = 5;

/// A visitor with so many clicks on one link within [`BOT_BURST_MS`] is a robot.
pub const BOT_BURST_CLICKS: usize = 20;

/// From the first to the last of [`BOT_BURST_CLICKS`] at most, in milliseconds.
pub const BOT_BURST_MS: i64 = 1_000;

/// The visitors that are robots; all their clicks in the batch count as such.
pub(super) fn detect(clicks: &[Click]) -> BTreeSet<u64> {
    let mut heads: BTreeMap<u64, usize> = BTreeMap::new();
    let mut times: BTreeMap<(u64, &str, &str), Vec<i64>> = BTreeMap::new();
    for click in clicks {
        if click.head {
            *heads.entry(click.visitor).or_default() += 1;
        } else {
            let link = (click.visitor, click.domain.as_str(), click.code.as_str());
            times.entry(link).or_default().push(click.at.as_millisecond());
        }
    }
    let storms = heads.into_iter().filter(|(_, heads)| *heads >= BOT_HEADS);
    let bursts =
        times.into_iter().filter_map(|((visitor, ..), at)| is_burst(at).then_some(visitor));
    storms.map(|(visitor, _)| visitor).chain(bursts).collect()
}

fn is_burst(mut at: Vec<i64>) -> bool {
    at.sort_unstable();
    at.windows(BOT_BURST_CLICKS).any(|window| match window {
        [first, .., last] => last - first <= BOT_BURST_MS,
        _ => false,
    })
}
