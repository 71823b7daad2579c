//! Which row to ask, and when.
//!
//! While there is enough nobody waits. When a quota is nearly used up nodes ask in turn, so that all of
//! them together make at most [`TURNS`] writes a second to a row. Whoever finds a row low tries the next
//! one; where there are many nodes they do so one after the other.

use super::{Ask, Budget, Next};
use crate::limits::counter::Row;

/// Writes per second that nodes in turn may add up to.
const TURNS: i64 = 300;

/// A quota is nearly used up when one part of so many is left.
const SCARCE: i64 = 20;

/// From how many nodes on they take turns.
const MANY_NODES: i64 = 3;

/// From how many nodes on they look for other rows one after the other.
pub(super) const CROWD: i64 = 16;

/// Whoever is shown a newer row tries again at once, but not more often than that.
const PERSISTENCE: u8 = 4;

/// How long a node stays away that found nothing, at first and at last.
const MIN_BACKOFF_MS: i64 = 8;
const MAX_BACKOFF_MS: i64 = 2_000;

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

    /// Notes that the store is being asked.
    pub(super) fn asking(&mut self, ask: Ask) -> Ask {
        self.latest = ask.shard;
        let (now_ms, turn) = (self.clock_ms, self.turn(ask.shard));
        if ask.shard != self.home && self.known(ask.shard).is_none() {
            self.roam_ms = now_ms + self.quota.window_ms / 20;
        }
        if now_ms >= self.turn_ms.saturating_add(MAX_BACKOFF_MS) {
            // A node that stayed away for so long is not insisting.
            self.refusals = 0;
        }
        // Whoever was shown a newer row asks twice in a turn, and waits for two.
        self.turn_ms = (self.turn_ms.max(now_ms) + turn).min(now_ms + 2 * turn);
        // From here on the write has it: nobody else credits it too.
        self.unspent = self.unspent.filter(|(shard, _)| *shard != ask.shard);
        ask
    }

    /// The guard failed: this is the row as it stands.
    pub fn refused(&mut self, ask: &Ask, row: Option<Row>) {
        self.shown(ask.shard, row);
        self.refusals = self.refusals.saturating_add(1);
        let in_vain = self.refusals >= PERSISTENCE || self.free(ask.shard) == 0;
        if in_vain && self.quota.is_central() {
            self.backoff_ms = (self.backoff_ms * 2).clamp(MIN_BACKOFF_MS, MAX_BACKOFF_MS);
        }
        self.withdraw(ask);
    }

    /// Remembers that a row has too few left. Nodes come back at different times, and less often the
    /// longer there is nothing for them.
    pub(super) fn shut(&mut self, number: u8, lacking: i64, retry_at_ms: Option<i64>) {
        let now_ms = self.clock_ms;
        let lot = now_ms.wrapping_mul(31).wrapping_add(self.taken_ms);
        let within = |ms: i64| lot.rem_euclid(ms.max(1));
        let spread_ms = within(self.spacing(number));
        let there_is_some = retry_at_ms.unwrap_or(i64::MAX).saturating_add(spread_ms);
        let patience = now_ms + self.backoff_ms / 2 + within(self.backoff_ms / 2);
        let shard = self.shard_mut(number);
        shard.shut_until_ms = there_is_some.max(patience).max(now_ms + 1);
        shard.shut_units = lacking;
    }

    /// Remembers that no row has as many.
    pub(super) fn shut_all(&mut self, lacking: i64, until_ms: i64) -> Next {
        (self.shut_until_ms, self.shut_units) = (until_ms, lacking);
        self.asked += lacking;
        Next::Denied { retry_at_ms: Some(until_ms) }
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
}
