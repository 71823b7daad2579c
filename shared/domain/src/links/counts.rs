//! From a batch of clicks to what is added to each link's day.
//!
//! Guarantee: [`aggregate`] follows from the batch alone and not from the order of its clicks, so that a
//! second delivery gives the same sums. Of what is not a `HEAD`, each click is counted once: as a
//! person, a robot or a preview. Absent: how many keys a dimension has is not bounded here.

mod attributes;
mod bots;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{civil::DateTime, tz::TimeZone};

use super::clicks::{Click, ClickBatch};
use super::user_agent::{self, AgentKind, UserAgent};

pub use attributes::attributes;
pub use bots::{BOT_BURST_CLICKS, BOT_BURST_MS, BOT_HEADS};

/// The most characters in the key of a dimension.
pub const MAX_KEY_LENGTH: usize = 100;

/// The key of a click from an unknown country.
pub const UNKNOWN: &str = "unknown";

/// The key of a click that no page led to.
pub const DIRECT: &str = "direct";

/// The key of clicks whose referrers are too many to be named.
pub const OTHER: &str = "other";

/// A link on a day.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkDay {
    /// The link's namespace; empty for the default one.
    pub domain: String,
    /// The link's code there.
    pub code: String,
    /// The day in UTC, as `2026-11-16`.
    pub day: String,
}

impl LinkDay {
    /// When the day begins, in seconds since 1970; 0 if it is no date.
    pub fn start_second(&self) -> i64 {
        let date = self.day.parse::<jiff::civil::Date>();
        let start = date.and_then(|date| date.to_zoned(TimeZone::UTC));
        start.map_or(0, |start| start.timestamp().as_second())
    }
}

/// The day of a moment in UTC, as `2026-11-16`.
pub fn day_of(at: jiff::Timestamp) -> String {
    TimeZone::UTC.to_datetime(at).date().to_string()
}

/// Clicks by key.
pub type Dimension = BTreeMap<String, u64>;

/// A link's visits. The dimensions count people only, and each but the variants sums up to `clicks`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClickCounts {
    /// By people.
    pub clicks: u64,
    /// By robots.
    pub bots: u64,
    /// By preview crawlers.
    pub previews: u64,
    /// By country, or [`UNKNOWN`].
    pub countries: Dimension,
    /// By the host that led there, or [`DIRECT`].
    pub referrers: Dimension,
    /// By [`user_agent::Device::name`].
    pub devices: Dimension,
    /// By the browser's name.
    pub browsers: Dimension,
    /// By the chosen destination; links that have but one are not counted here.
    pub variants: Dimension,
    /// By the hour in UTC, `00` to `23`.
    pub hours: Dimension,
    /// The people's hashes, sorted, each once. They are for an estimate of how many there are and not
    /// among the [`attributes`].
    pub visitors: Vec<u64>,
}

/// What a batch adds to each link's days.
pub fn aggregate(batch: &ClickBatch) -> BTreeMap<LinkDay, ClickCounts> {
    let robots = bots::detect(&batch.clicks);
    let mut days: BTreeMap<LinkDay, ClickCounts> = BTreeMap::new();
    for click in batch.clicks.iter().filter(|click| !click.head) {
        let mut agent = user_agent::parse(click.user_agent.as_deref());
        if agent.kind == AgentKind::Person && robots.contains(&click.visitor) {
            agent.kind = AgentKind::Bot;
        }
        let at = TimeZone::UTC.to_datetime(click.at);
        let (domain, code) = (click.domain.clone(), click.code.clone());
        let day = LinkDay { domain, code, day: at.date().to_string() };
        days.entry(day).or_default().count(click, agent, at);
    }
    for counts in days.values_mut() {
        counts.dedup_visitors();
    }
    days
}

impl ClickCounts {
    /// Adds what another batch, or another day, counted.
    pub fn merge(&mut self, other: &Self) {
        for (name, value) in attributes(other) {
            self.add_counter(&name, value);
        }
        self.visitors.extend(&other.visitors);
        self.dedup_visitors();
    }

    /// The three sums alone, by their flat names.
    pub fn totals(&self) -> Vec<(String, u64)> {
        let sums = Self {
            clicks: self.clicks,
            bots: self.bots,
            previews: self.previews,
            ..Self::default()
        };
        attributes(&sums)
    }

    /// Adds up as [`OTHER`] the referrers beyond `most`, those that the row has already (`known`) included.
    pub fn cap_referrers(&mut self, known: &BTreeSet<String>, most: usize) {
        let mut room = most.saturating_sub(known.len());
        let mut other = 0;
        self.referrers.retain(|name, count| {
            if known.contains(name) || name == DIRECT || name == OTHER {
                return true;
            }
            if room > 0 {
                room -= 1;
                return true;
            }
            other += *count;
            false
        });
        if other > 0 {
            *self.referrers.entry(OTHER.to_owned()).or_default() += other;
        }
    }

    fn count(&mut self, click: &Click, agent: UserAgent, at: DateTime) {
        match agent.kind {
            AgentKind::Bot => self.bots += 1,
            AgentKind::Preview => self.previews += 1,
            AgentKind::Person => {
                self.clicks += 1;
                self.visitors.push(click.visitor);
                add(&mut self.countries, click.country.as_deref().unwrap_or(UNKNOWN));
                add(&mut self.referrers, click.referrer.as_deref().unwrap_or(DIRECT));
                add(&mut self.devices, agent.device.name());
                add(&mut self.browsers, agent.browser);
                add(&mut self.hours, &format!("{:02}", at.hour()));
                if let Some(variant) = click.variant {
                    add(&mut self.variants, &variant.to_string());
                }
            }
        }
    }

    fn dedup_visitors(&mut self) {
        self.visitors.sort_unstable();
        self.visitors.dedup();
    }
}

fn add(dimension: &mut Dimension, text: &str) {
    *dimension.entry(dimension_key(text)).or_default() += 1;
}

/// A key that can be part of an attribute's name: printable ASCII, and not longer than
/// [`MAX_KEY_LENGTH`]. What is longer keeps its end, which of a host name says more than its start.
fn dimension_key(text: &str) -> String {
    let printable = |c: char| if c.is_ascii_graphic() || c == ' ' { c } else { '_' };
    let excess = text.chars().count().saturating_sub(MAX_KEY_LENGTH);
    let key: String = text.chars().skip(excess).map(printable).collect();
    if key.is_empty() { UNKNOWN.to_owned() } else { key }
}

#[cfg(test)]
mod tests;
