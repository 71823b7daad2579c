//! How much to debit at once.
//!
//! As much as the node will need in a twentieth of the window (ten seconds at most), judged by how
//! much it was asked for since the last lease; or until its next turn, if that is later. Never more
//! than a fourth of what is left, and less the more nodes there are: remaining ÷ (active nodes ÷
//! 8). So leases shrink as the window fills.

use super::Budget;

/// A lease is for so long at most.
const MAX_LEASE_MS: i64 = 10_000;

/// So many units a lease are enough to count on their being asked for.
const MANY_UNITS: i64 = 4;

/// Two requests in a row are not a flood: demand counts as seen in a part of a lease's time at least.
const MIN_OBSERVED_FRACTION: i64 = 4;

impl Budget {
    /// Units to debit from a row for a request that lacks some.
    pub(super) fn lease_size(&self, number: u8, lacking: i64) -> i64 {
        if self.quota.is_central() {
            return lacking;
        }
        let free = self.free(number);
        let is_new = self.known_row(number).is_none() && self.last_lease_units == 0;
        let portion = free / (self.active_nodes(number) / 8).max(4);
        let wanted = if is_new { 0 } else { self.expected_units(number).min(portion) };
        let units = wanted.max(lacking);
        if self.quota.shards() == 1 {
            return units.min(free.max(lacking));
        }
        // A part of what a request lacks is better than nothing: another row may have the rest.
        let whole = self.quota.shard(number).free(None, self.clock_ms);
        units.min(if free > 0 { free } else { whole })
    }

    /// What this node will be asked for while a lease lasts, if it goes on as since the last one.
    fn expected_units(&self, number: u8) -> i64 {
        if self.leased_at_ms == i64::MIN {
            return self.last_lease_units.saturating_mul(8);
        }
        if self.quota.is_bucket() {
            // A few units may well not be asked for before they end; of many, most are.
            let ahead = self.quota.lease_ms() * 2 / 3;
            let units = self.expected_in(ahead);
            return if units < MANY_UNITS { units / 2 } else { units };
        }
        let window_ms = self.quota.window_ms.max(1);
        let left = window_ms - self.clock_ms.rem_euclid(window_ms);
        let ahead = (window_ms / 20).clamp(1, MAX_LEASE_MS).max(self.turn_ms(number));
        self.expected_in(ahead.min(left))
    }

    fn expected_in(&self, ahead_ms: i64) -> i64 {
        let passed = self.clock_ms - self.leased_at_ms + ahead_ms / MIN_OBSERVED_FRACTION;
        self.requested.saturating_mul(ahead_ms) / passed.max(1)
    }
}
