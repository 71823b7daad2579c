//! What log lines say of each request: what passed without the store must be there.

use std::collections::BTreeMap;

use domain::Timestamp;
use serde_json::Value;
use tests::Lab;

/// What one line says.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LogLine {
    at_ms: i64,
    /// Units that passed without the store.
    pub(super) without_store: i64,
    /// Whether the rules could not be read.
    rules_unread: bool,
}

/// Every request's line, by its trace.
#[derive(Debug, Default)]
pub(super) struct LogLines(BTreeMap<String, LogLine>);

/// How long a node goes on with the rules at hand when they can't be read, and some for its calls.
const UNREAD_MS: i64 = 1_000;

impl LogLines {
    pub(super) fn of(lab: &Lab) -> Self {
        let lines = lab.lines().into_iter().filter_map(|line| {
            let entry: Value = serde_json::from_str(&line).ok()?;
            let at: Timestamp = entry["timestamp"].as_str()?.parse().ok()?;
            let count = |name: &str| entry[name].as_f64().map_or(0, whole);
            let line = LogLine {
                at_ms: at.as_millisecond(),
                without_store: count("LimitsOpen") + count("LimitsFrozen"),
                rules_unread: count("LimitsUnread") > 0,
            };
            Some((entry["trace_id"].as_str()?.to_owned(), line))
        });
        Self(lines.collect())
    }

    pub(super) fn of_trace(&self, trace: &str) -> Option<LogLine> {
        self.0.get(trace).copied()
    }

    /// Whether a node said, no longer before this line than it may, that it can't read the rules.
    pub(super) fn excuses(&self, line: LogLine) -> bool {
        let mut rules_unread = self.0.values().filter(|other| other.rules_unread);
        rules_unread.any(|other| (0..=UNREAD_MS).contains(&(line.at_ms - other.at_ms)))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "counts of units are small")]
fn whole(number: f64) -> i64 {
    number.round() as i64
}
