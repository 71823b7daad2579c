//! Which row to debit, and when.
//!
//! While there is enough no node waits. When a quota is nearly used up nodes debit in turns, so
//! that all of them together make at most [`MAX_WRITES_PER_SECOND`] writes a second to a row. A
//! node that finds a row low tries the next one; where there are many nodes they do so one after
//! the other.

use super::{Budget, Debit, DebitPlan};
use crate::limits::counter::CounterRow;

/// Writes per second that nodes in turns may add up to.
const MAX_WRITES_PER_SECOND: i64 = 300;

/// A quota is nearly used up when one part of so many is left.
const SCARCE_FRACTION: i64 = 20;

/// From how many nodes on they take turns.
const CONTENDED_NODES: i64 = 3;

/// From how many nodes on they look for other rows one after the other.
pub(super) const CROWDED_NODES: i64 = 16;

/// A node that is shown a newer row tries again at once, but not more often than that.
const MAX_IMMEDIATE_RETRIES: u8 = 4;

/// How long a node stays away that found nothing, at first and at last.
const MIN_BACKOFF_MS: i64 = 8;
const MAX_BACKOFF_MS: i64 = 2_000;

impl Budget {
    /// The row to debit: this node's own or, if that has little left, the next that has more.
    pub(super) fn choose_shard(&self, lacking: i64) -> Option<u8> {
        let count = self.quota.shards();
        let is_open = |number: &u8| {
            self.shard(*number).is_none_or(|shard| {
                shard.denied_until_ms <= self.clock_ms || lacking < shard.denied_units
            })
        };
        let open = || (0..count).map(|step| (self.home_shard + step) % count).filter(is_open);
        let settled = self.active_nodes(self.home_shard) >= CROWDED_NODES
            && self.clock_ms < self.explore_after_ms;
        let unseen =
            |number: u8| settled && number != self.home_shard && self.known_row(number).is_none();
        let plenty = open().find(|number| !unseen(*number) && !self.is_low(*number));
        plenty.or_else(|| open().next())
    }

    /// Records that a debit is sent to the store.
    pub(super) fn begin_debit(&mut self, debit: Debit) -> Debit {
        self.last_shard = debit.shard;
        let (now_ms, turn_ms) = (self.clock_ms, self.turn_ms(debit.shard));
        if debit.shard != self.home_shard && self.known_row(debit.shard).is_none() {
            self.explore_after_ms = now_ms + self.quota.window_ms / 20;
        }
        if now_ms >= self.next_turn_ms.saturating_add(MAX_BACKOFF_MS) {
            // A node that stayed away for so long is not insisting.
            self.condition_failures = 0;
        }
        // A node that was shown a newer row asks twice in a turn, and waits for two.
        self.next_turn_ms = (self.next_turn_ms.max(now_ms) + turn_ms).min(now_ms + 2 * turn_ms);
        // From here on the write credits it: no other write does.
        self.unspent = self.unspent.filter(|(shard, _)| *shard != debit.shard);
        debit
    }

    /// The condition failed: this is the row as it stands.
    pub fn condition_failed(&mut self, debit: &Debit, row: Option<CounterRow>) {
        self.record_row(debit.shard, row);
        self.condition_failures = self.condition_failures.saturating_add(1);
        let in_vain =
            self.condition_failures >= MAX_IMMEDIATE_RETRIES || self.free(debit.shard) == 0;
        if in_vain && self.quota.is_central() {
            self.backoff_ms = (self.backoff_ms * 2).clamp(MIN_BACKOFF_MS, MAX_BACKOFF_MS);
        }
        self.cancel(debit);
    }

    /// Remembers that a row has too few left. Nodes come back at different times, and less often the
    /// longer there is nothing for them.
    pub(super) fn deny_shard(&mut self, number: u8, lacking: i64, retry_at_ms: Option<i64>) {
        let now_ms = self.clock_ms;
        let jitter = now_ms.wrapping_mul(31).wrapping_add(self.leased_at_ms);
        let within = |ms: i64| jitter.rem_euclid(ms.max(1));
        let spread_ms = within(self.turn_spacing_ms(number));
        let there_is_some = retry_at_ms.unwrap_or(i64::MAX).saturating_add(spread_ms);
        let patience = now_ms + self.backoff_ms / 2 + within(self.backoff_ms / 2);
        let shard = self.shard_mut(number);
        shard.denied_until_ms = there_is_some.max(patience).max(now_ms + 1);
        shard.denied_units = lacking;
    }

    /// Remembers that no row has as many.
    pub(super) fn deny_all(&mut self, lacking: i64, until_ms: i64) -> DebitPlan {
        (self.denied_until_ms, self.denied_units) = (until_ms, lacking);
        self.requested += lacking;
        DebitPlan::Denied { retry_at_ms: Some(until_ms) }
    }

    /// Whether it is not this node's turn yet to debit for what little is left.
    pub(super) fn must_wait(&self, number: u8) -> bool {
        let may = self.clock_ms >= self.next_turn_ms
            || (1..MAX_IMMEDIATE_RETRIES).contains(&self.condition_failures);
        let contended = self.condition_failures > 0 || self.is_scarce(self.last_shard);
        !may && (contended || self.is_scarce(number))
    }

    /// Whether many nodes want what little a row has left.
    pub(super) fn is_scarce(&self, number: u8) -> bool {
        self.active_nodes(number) >= CONTENDED_NODES && self.is_low(number)
    }

    fn is_low(&self, number: u8) -> bool {
        self.free(number) < self.quota.shard(number).capacity() / SCARCE_FRACTION
    }

    /// How far apart this node's turns are.
    pub(super) fn turn_ms(&self, number: u8) -> i64 {
        self.turn_spacing_ms(number).max(self.backoff_ms)
    }

    /// How far apart turns have to be for all nodes to have theirs; a node alone does not wait.
    pub(super) fn turn_spacing_ms(&self, number: u8) -> i64 {
        let active_nodes = self.active_nodes(number).max(self.active_nodes(self.last_shard));
        ((active_nodes - 1) * 1_000 / MAX_WRITES_PER_SECOND).min(self.quota.window_ms / 10)
    }

    /// How many nodes draw on a row, as far as is known.
    pub(super) fn active_nodes(&self, number: u8) -> i64 {
        let window_ms = self.quota.window_ms.max(1);
        self.shard(number).map_or(1, |shard| shard.active_nodes(window_ms, self.clock_ms))
    }
}
