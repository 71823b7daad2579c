//! What a node knows of one row, and of how many others draw on it.

use crate::limits::counter::Row;

/// What is known of one row.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Shard {
    pub(super) number: u8,
    pub(super) known: Option<Row>,
    /// Not to be asked for so many units again before that.
    pub(super) shut_until_ms: i64,
    pub(super) shut_units: i64,
    /// When we first saw it.
    pub(super) since_ms: i64,
    /// Our own writes in the row's window and in the one before.
    pub(super) window: i64,
    pub(super) leases: i64,
    pub(super) leases_before: i64,
}

impl Shard {
    /// Notes that one of the row's writes in `window` was ours.
    pub(super) fn note_own(&mut self, window: i64) {
        match window - self.window {
            0 => {}
            1 => (self.leases_before, self.leases) = (self.leases, 0),
            _ => (self.leases_before, self.leases) = (0, 0),
        }
        self.window = window;
        self.leases += 1;
    }

    /// Whether we have drawn on it in the last two windows.
    pub(super) fn is_ours(&self) -> bool {
        self.known.as_ref().is_some_and(|row| self.own(row) > 0)
    }

    fn own(&self, row: &Row) -> i64 {
        match row.window - self.window {
            0 => self.leases + self.leases_before,
            1 => self.leases,
            _ => 0,
        }
    }

    /// How many nodes draw on this row: how often anyone writes to it, by how often we do, in the last
    /// two windows or since we first saw it. A node that has taken none assumes that the others take
    /// four each.
    pub(super) fn nodes(&self, window_ms: i64, now_ms: i64) -> i64 {
        let Some(row) = &self.known else { return 1 };
        let (all, own) = (row.leases + row.leases_before, self.own(row));
        if own == 0 {
            return (all / 4).max(1);
        }
        let before = if row.leases_before > 0 { window_ms } else { 0 };
        let span = (now_ms - row.window.saturating_mul(window_ms)).clamp(1, window_ms) + before;
        // A few writes in a moment say little about how many there will be.
        let ours = (now_ms - self.since_ms).max(window_ms / 20).min(span);
        (all.saturating_mul(ours) / own.saturating_mul(span).max(1)).max(1)
    }
}
