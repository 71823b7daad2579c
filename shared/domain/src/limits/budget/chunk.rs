//! How much to debit at once, and how often.
//!
//! As much as the node will need in a twentieth of the window (ten seconds at most), judged by how much
//! it was asked for since the last lease; or until its next turn, if that is later. Never more than a
//! fourth of what is left, and less the more nodes there are: remaining ÷ (active nodes ÷ 8). So chunks shrink
//! as the window fills.
//!
//! While there is enough nobody waits. When a quota is nearly used up nodes ask in turn, so that all of
//! them together make at most [`TURNS`] writes a second to a row.

use super::{Budget, Row, Shard};

/// Writes per second that nodes in turn may add up to.
const TURNS: i64 = 300;

/// A quota is nearly used up when one part of so many is left.
const SCARCE: i64 = 20;

/// From how many nodes on they take turns.
const MANY_NODES: i64 = 3;

/// From how many nodes on they look for other rows one after the other.
pub(super) const CROWD: i64 = 16;

/// Whoever is shown a newer row tries again at once, but not more often than that.
pub(super) const PERSISTENCE: u8 = 4;

/// A lease is for so long at most.
const LONGEST_MS: i64 = 10_000;

/// So many units a lease are enough to count on their being asked for.
const MANY_UNITS: i64 = 4;

/// Two requests in a row are not a flood: demand counts as seen in a part of a lease's time at least.
const CALM: i64 = 4;

impl Budget {
    /// The row to ask: this node's own or, if that has little left, the next that has more.
    pub(super) fn choose(&self, lacking: i64) -> Option<u8> {
        let count = self.quota.shards();
        let is_open = |number: &u8| {
            self.shard(*number).is_none_or(|shard| {
                shard.shut_until_ms <= self.clock_ms || lacking < shard.shut_units
            })
        };
        let open = || (0..count).map(|step| (self.home + step) % count).filter(is_open);
        let settled = self.nodes(self.home) >= CROWD && self.clock_ms < self.roam_ms;
        let unseen = |number: u8| settled && number != self.home && self.known(number).is_none();
        let plenty = open().find(|number| !unseen(*number) && !self.is_low(*number));
        plenty.or_else(|| open().next())
    }

    /// Units to debit from a row for a request that lacks some.
    pub(super) fn chunk(&self, number: u8, lacking: i64) -> i64 {
        if self.quota.is_central() {
            return lacking;
        }
        let free = self.free(number);
        let is_new = self.known(number).is_none() && self.chunk == 0;
        let portion = free / (self.nodes(number) / 8).max(4);
        let wanted = if is_new { 0 } else { self.demand(number).min(portion) };
        let units = wanted.max(lacking);
        if self.quota.shards() == 1 {
            return units.min(free.max(lacking));
        }
        // A part of what a request lacks is better than nothing: another row may have the rest.
        let whole = self.quota.shard(number).free(None, self.clock_ms);
        units.min(if free > 0 { free } else { whole })
    }

    /// Whether it is not this node's turn yet to ask for what little is left.
    pub(super) fn must_wait(&self, number: u8) -> bool {
        let may = self.clock_ms >= self.turn_ms || (1..PERSISTENCE).contains(&self.refusals);
        let contended = self.refusals > 0 || self.is_scarce(self.latest);
        !may && (contended || self.is_scarce(number))
    }

    /// Whether many nodes want what little a row has left.
    pub(super) fn is_scarce(&self, number: u8) -> bool {
        self.nodes(number) >= MANY_NODES && self.is_low(number)
    }

    fn is_low(&self, number: u8) -> bool {
        self.free(number) < self.quota.shard(number).capacity() / SCARCE
    }

    /// How far apart this node's turns are.
    pub(super) fn turn(&self, number: u8) -> i64 {
        self.spacing(number).max(self.backoff_ms)
    }

    /// How far apart turns have to be for all nodes to have theirs; a node alone waits for nobody.
    pub(super) fn spacing(&self, number: u8) -> i64 {
        let nodes = self.nodes(number).max(self.nodes(self.latest));
        ((nodes - 1) * 1_000 / TURNS).min(self.quota.window_ms / 10)
    }

    /// How many nodes draw on a row, as far as is known.
    pub(super) fn nodes(&self, number: u8) -> i64 {
        let window_ms = self.quota.window_ms.max(1);
        self.shard(number).map_or(1, |shard| shard.nodes(window_ms, self.clock_ms))
    }

    /// What this node will be asked for while a lease lasts, if it goes on as since the last one.
    fn demand(&self, number: u8) -> i64 {
        if self.taken_ms == i64::MIN {
            return self.chunk.saturating_mul(8);
        }
        if self.quota.is_bucket() {
            // A few units may well not be asked for before they end; of many, most are.
            let ahead = self.quota.lease_ms() * 2 / 3;
            let units = self.demand_in(ahead);
            return if units < MANY_UNITS { units / 2 } else { units };
        }
        let window_ms = self.quota.window_ms.max(1);
        let left = window_ms - self.clock_ms.rem_euclid(window_ms);
        let ahead = (window_ms / 20).clamp(1, LONGEST_MS).max(self.turn(number));
        self.demand_in(ahead.min(left))
    }

    fn demand_in(&self, ahead_ms: i64) -> i64 {
        let passed = self.clock_ms - self.taken_ms + ahead_ms / CALM;
        self.asked.saturating_mul(ahead_ms) / passed.max(1)
    }
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
    fn nodes(&self, window_ms: i64, now_ms: i64) -> i64 {
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
