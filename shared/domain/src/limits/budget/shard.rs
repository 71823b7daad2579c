//! What a node knows of one row, and of how many others draw on it.

use crate::limits::counter::CounterRow;

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Shard {
    pub(super) number: u8,
    pub(super) row: Option<CounterRow>,
    /// Not to ask for so many units again before that.
    pub(super) denied_until_ms: i64,
    pub(super) denied_units: i64,
    pub(super) first_seen_ms: i64,
    /// This node's own writes in the row's window and in the one before.
    pub(super) window: i64,
    pub(super) leases: i64,
    pub(super) leases_before: i64,
}

impl Shard {
    /// Notes that one of the row's writes in `window` was ours.
    pub(super) fn record_own_write(&mut self, window: i64) {
        match window - self.window {
            0 => {}
            1 => (self.leases_before, self.leases) = (self.leases, 0),
            _ => (self.leases_before, self.leases) = (0, 0),
        }
        self.window = window;
        self.leases += 1;
    }

    /// Whether we have drawn on it in the last two windows.
    pub(super) fn has_own_writes(&self) -> bool {
        self.row.as_ref().is_some_and(|row| self.own_writes(row) > 0)
    }

    fn own_writes(&self, row: &CounterRow) -> i64 {
        match row.window - self.window {
            0 => self.leases + self.leases_before,
            1 => self.leases,
            _ => 0,
        }
    }

    /// How many nodes draw on this row: how often all nodes write to it, by how often we do, in the
    /// last two windows or since we first saw it. A node that has taken none assumes that the
    /// others take four each.
    pub(super) fn active_nodes(&self, window_ms: i64, now_ms: i64) -> i64 {
        let Some(row) = &self.row else { return 1 };
        let (all, own_writes) = (row.leases + row.leases_before, self.own_writes(row));
        if own_writes == 0 {
            return (all / 4).max(1);
        }
        let before = if row.leases_before > 0 { window_ms } else { 0 };
        let span = (now_ms - row.window.saturating_mul(window_ms)).clamp(1, window_ms) + before;
        // A few writes in a moment say little about how many there will be.
        let ours = (now_ms - self.first_seen_ms).max(window_ms / 20).min(span);
        (all.saturating_mul(ours) / own_writes.saturating_mul(span).max(1)).max(1)
    }
}
