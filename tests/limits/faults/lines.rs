//! What log lines say of each request: what passed without the store must be there.

use std::collections::BTreeMap;

use domain::Timestamp;
use serde_json::Value;
use tests::Lab;

/// What one line says.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Said {
    at_ms: i64,
    /// Units that passed without the store.
    pub(super) freely: i64,
    /// Whether the rules could not be read.
    unread: bool,
}

/// Every request's line, by its trace.
#[derive(Debug, Default)]
pub(super) struct Lines(BTreeMap<String, Said>);

/// How long a node goes on with the rules at hand when they can't be read, and some for its calls.
const UNREAD_MS: i64 = 1_000;

impl Lines {
    pub(super) fn of(lab: &Lab) -> Self {
        let lines = lab.lines().into_iter().filter_map(|line| {
            let line: Value = serde_json::from_str(&line).ok()?;
            let at: Timestamp = line["timestamp"].as_str()?.parse().ok()?;
            let count = |name: &str| line[name].as_f64().map_or(0, whole);
            let said = Said {
                at_ms: at.as_millisecond(),
                freely: count("LimitsOpen") + count("LimitsFrozen"),
                unread: count("LimitsUnread") > 0,
            };
            Some((line["trace_id"].as_str()?.to_owned(), said))
        });
        Self(lines.collect())
    }

    pub(super) fn of_trace(&self, trace: &str) -> Option<Said> {
        self.0.get(trace).copied()
    }

    /// Whether a node said, no longer before this line than it may, that it can't read the rules.
    pub(super) fn excuses(&self, said: Said) -> bool {
        let mut unread = self.0.values().filter(|other| other.unread);
        unread.any(|other| (0..=UNREAD_MS).contains(&(said.at_ms - other.at_ms)))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "counts of units are small")]
fn whole(number: f64) -> i64 {
    number.round() as i64
}
