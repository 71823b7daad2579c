//! How much to debit at once.
//!
//! As much as the node will need in a twentieth of the window, judged by how fast it spent the last
//! lease; at most eight times that lease; and never more than its share of what is left: remaining ÷
//! (2 × active nodes). The share shrinks as the window fills, but not under a fiftieth of the quota for
//! all nodes together: the last few percent would cost more writes than all the rest.

use super::{Budget, Shard};
use crate::limits::quota::Quota;

/// "A few": leases by which a node could take its whole share.
const PARTS: i64 = 2;

/// All nodes together hold at most one part of so many of a quota that is nearly used up.
const TAIL: i64 = 50;

/// From how many nodes on the last units are asked for in turn.
const MANY_NODES: i64 = 8;

/// Writes per second that nodes in turn may add up to.
const TURNS: i64 = 200;

impl Budget {
    /// Units to debit from a row for a request that lacks some, or when to ask again.
    pub(super) fn chunk(
        &self,
        quota: &Quota,
        index: usize,
        lacking: i64,
        now_ms: i64,
    ) -> Result<i64, i64> {
        let shard = &self.shards[index];
        if quota.is_central() || shard.known.is_none() && self.chunk == 0 {
            return Ok(lacking);
        }
        let free = quota.free(shard.known.as_deref(), now_ms);
        let nodes = shard.nodes();
        let nearly_used_up = free < quota.capacity() / 20;
        if nearly_used_up && nodes >= MANY_NODES && self.taken_ms > i64::MIN {
            let turn_ms = self.taken_ms + nodes * 1_000 / TURNS;
            if now_ms < turn_ms {
                return Err(turn_ms);
            }
        }
        let portion = (free / (PARTS * nodes)).max(quota.capacity() / (TAIL * nodes));
        let wanted = self.demand(now_ms).min(self.chunk.saturating_mul(8)).min(portion);
        let units = wanted.max(lacking);
        // A part of what a request lacks is better than nothing: another row may have the rest.
        Ok(if self.shards.len() > 1 && free > 0 {
            units.min(free)
        } else {
            units.min(free.max(lacking))
        })
    }

    /// What a twentieth of the window will take, if it goes on as since the last lease.
    fn demand(&self, now_ms: i64) -> i64 {
        if self.taken_ms == i64::MIN {
            return self.chunk.saturating_mul(8);
        }
        let (passed, ahead) = ((now_ms - self.taken_ms).max(1), (self.quota.window_ms / 20).max(1));
        self.spent.saturating_mul(ahead) / passed
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

    /// How many nodes draw on this row: its leases by ours, in two windows. A node that has taken
    /// none assumes that the others take four each.
    pub(super) fn nodes(&self) -> i64 {
        let Some(row) = &self.known else { return 1 };
        let all = row.leases + row.leases_before;
        let own = match row.window - self.window {
            0 => self.leases + self.leases_before,
            1 => self.leases,
            _ => 0,
        };
        if own == 0 { (all / 4).max(1) } else { (all / own).max(1) }
    }
}
