//! What one node holds of one quota for one key: the lease protocol, seen from the node.
//!
//! ```text
//!            next()                committed()
//!   empty ───────────▶ debit sent ─────────────▶ held ── spend() ──▶ held … empty
//!     ▲                  │ condition_failed(row)  │ its time ends
//!     │  denied until ◀──┘                        ▼
//!     └─────────────────────────── unspent ◀── expired
//! ```
//!
//! - *Lease*: units are debited from the shared row before they are held.
//! - *Spend*: held units are spent in memory, in the time they were debited for.
//! - *Return*: what was not spent is credited with the next debit, or when the node ends; once, and
//!   never again after a write whose outcome is unknown: what such a write did is forgotten.
//! - *Expire*: units end with their window, or with a bucket's [`Quota::lease_ms`].
//! - *Partition*: while the store can't be reached, what is held is spent even if its time has ended.
//!
//! Guarantee: spent ≤ debited − credited. Absent: a clock of its own; a step back of the clock that
//! makes anything available again.

mod contention;
mod lease_size;
mod shard;

use super::counter::{CounterRow, CounterWrite, Unspent, WritePlan};
use super::quota::Quota;
use shard::Shard;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Budget {
    quota: Quota,
    held: i64,
    until_ms: i64,
    /// The row's window when it was debited.
    window: i64,
    unspent: Option<(u8, Unspent)>,
    /// The rows that this node has had to do with; of most quotas there is one.
    shards: Vec<Shard>,
    /// The row it asks first.
    home_shard: u8,
    clock_ms: i64,
    leased_at_ms: i64,
    /// Asked for since the last lease, spent or not, and how large that was.
    requested: i64,
    last_lease_units: i64,
    /// Not to ask for so many units again before that.
    denied_until_ms: i64,
    denied_units: i64,
    /// When the store may be written again if many nodes want the same, and how often in a row it
    /// showed a newer row instead.
    next_turn_ms: i64,
    condition_failures: u8,
    /// When it may look at another row that it has not seen.
    explore_after_ms: i64,
    last_shard: u8,
    /// Grows while a row that the store alone counts has nothing for this node, and shrinks when it
    /// has.
    backoff_ms: i64,
}

/// Names the lease that something was spent of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseId(i64);

/// A debit to be tried at the store.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Debit {
    pub shard: u8,
    pub write: CounterWrite,
    units: i64,
    unspent: Option<Unspent>,
    planned_ms: i64,
}

/// What to do about units that are not held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DebitPlan {
    Debit(Debit),
    /// There are none; `None` if there never will be so many.
    Denied {
        retry_at_ms: Option<i64>,
    },
}

impl Budget {
    /// Nothing yet. `node_hash` spreads nodes over shards; `expected` is what is expected to be
    /// requested.
    pub fn new(quota: Quota, node_hash: u64, expected: i64) -> Self {
        let home_shard = u8::try_from(node_hash % u64::from(quota.shards())).unwrap_or(0);
        Self {
            quota,
            held: 0,
            until_ms: i64::MIN,
            window: 0,
            unspent: None,
            shards: Vec::new(),
            home_shard,
            clock_ms: i64::MIN,
            leased_at_ms: i64::MIN,
            requested: 0,
            last_lease_units: expected / 8,
            denied_until_ms: i64::MIN,
            denied_units: 0,
            next_turn_ms: i64::MIN,
            explore_after_ms: i64::MIN,
            condition_failures: 0,
            last_shard: home_shard,
            backoff_ms: 0,
        }
    }

    pub fn quota(&self) -> &Quota {
        &self.quota
    }

    /// Lets what has ended end. A clock that went back is taken for one that stands still.
    pub fn advance_to(&mut self, now_ms: i64) -> i64 {
        self.clock_ms = self.clock_ms.max(now_ms);
        if self.clock_ms >= self.until_ms && self.held > 0 {
            self.expire_held();
        }
        self.clock_ms
    }

    pub fn last_lease_units(&self) -> i64 {
        self.last_lease_units
    }

    /// How many units can be spent without a call.
    pub fn held(&self) -> i64 {
        self.held
    }

    /// How many are left of leases that have ended.
    pub fn held_or_expired(&self) -> i64 {
        self.held + self.unspent.map_or(0, |(_, unspent)| unspent.units)
    }

    /// Spends `units` that are held, and says of which lease.
    pub fn spend(&mut self, units: i64) -> LeaseId {
        self.held -= units;
        self.requested += units;
        LeaseId(self.until_ms)
    }

    /// Takes back a spend that came to nothing, if its lease still lasts.
    pub fn unspend(&mut self, units: i64, lease: LeaseId) {
        if lease.0 == self.until_ms {
            self.held += units;
            self.requested -= units;
        }
    }

    /// Spends `units` of leases that may have ended: only while the store can't be reached.
    pub fn spend_expired(&mut self, units: i64) {
        let of_held = units.min(self.held);
        self.spend(of_held);
        if let Some((_, unspent)) = &mut self.unspent {
            unspent.units -= units - of_held;
        }
        self.unspent = self.unspent.filter(|(_, unspent)| unspent.units > 0);
    }

    /// Whether it is known without a call that `units` can't be had; call [`Budget::advance_to`] first.
    pub fn denial(&mut self, units: i64) -> Option<DebitPlan> {
        if units > self.quota.capacity() {
            return Some(DebitPlan::Denied { retry_at_ms: None });
        }
        if self.clock_ms >= self.denied_until_ms || units - self.held < self.denied_units {
            return None;
        }
        self.requested += units;
        Some(DebitPlan::Denied { retry_at_ms: Some(self.denied_until_ms) })
    }

    /// How to get `units` when fewer are held; call [`Budget::advance_to`] first.
    pub fn next(&mut self, units: i64) -> DebitPlan {
        if let Some(denied) = self.denial(units) {
            return denied;
        }
        let lacking = units - self.held.min(units);
        while let Some(number) = self.choose_shard(lacking) {
            if self.must_wait(number) {
                return self.deny_all(lacking, self.next_turn_ms);
            }
            match self.plan(number, lacking) {
                DebitPlan::Debit(debit) => return DebitPlan::Debit(self.begin_debit(debit)),
                DebitPlan::Denied { retry_at_ms } => self.deny_shard(number, lacking, retry_at_ms),
            }
        }
        match self.shards.iter().map(|shard| shard.denied_until_ms).min() {
            Some(open_ms) if open_ms < i64::MAX => self.deny_all(lacking, open_ms),
            _ => DebitPlan::Denied { retry_at_ms: None },
        }
    }

    /// The debit was committed and left this row.
    pub fn committed(&mut self, debit: &Debit, row: CounterRow) {
        let until_ms = if self.quota.is_bucket() {
            debit.planned_ms + self.quota.shard(debit.shard).lease_ms()
        } else {
            if row.window != self.window {
                self.expire_held();
            }
            (row.window + 1).saturating_mul(self.quota.window_ms)
        };
        // What was held before ends when it would have.
        self.until_ms = if self.held > 0 { self.until_ms.min(until_ms) } else { until_ms };
        self.window = row.window;
        // What the store alone counts is spent by being debited.
        if !self.quota.is_central() {
            self.held += debit.units;
        }
        (self.requested, self.last_lease_units, self.leased_at_ms) =
            (0, debit.units, self.clock_ms);
        (self.denied_until_ms, self.backoff_ms, self.condition_failures) =
            (i64::MIN, self.backoff_ms / 2, 0);
        let shard = self.shard_mut(debit.shard);
        shard.record_own_write(row.window);
        self.record_row(debit.shard, Some(row));
    }

    /// The debit was committed, but the row was not shown: it is what the write makes of the row as
    /// known. If that is wrong, the next guard fails and the store shows it.
    pub fn committed_unseen(&mut self, debit: &Debit) {
        let known = self.known_row(debit.shard);
        let row =
            CounterRow::apply(known, &debit.write).or_else(|| known.cloned()).unwrap_or_default();
        self.committed(debit, row);
    }

    /// The debit was not tried, or came to nothing: what it would have credited is still owed.
    pub fn cancel(&mut self, debit: &Debit) {
        if let (None, Some(unspent)) = (self.unspent, debit.unspent) {
            self.unspent = Some((debit.shard, unspent));
        }
    }

    /// What is to be credited when the node gives this budget up: to which row, and how that was last
    /// seen. What it is worth is decided when it is credited, because a bucket fills up meanwhile.
    pub fn release(&mut self, now_ms: i64) -> Option<(u8, CounterRow, Unspent)> {
        self.advance_to(now_ms);
        self.expire_held();
        let (shard, unspent) = self.unspent.take()?;
        Some((shard, self.known_row(shard)?.clone(), unspent))
    }

    /// Units that this node could still get, as far as it knows.
    pub fn remaining(&self) -> i64 {
        let free: i64 = (0..self.quota.shards()).map(|number| self.free(number)).sum();
        (self.held + free).min(self.quota.capacity())
    }

    /// When everything is there again if no more is taken, as far as is known.
    pub fn reset_at_ms(&self) -> i64 {
        let quota = self.quota.shard(self.last_shard);
        quota.reset_at_ms(self.known_row(self.last_shard), self.clock_ms)
    }

    /// How long the queue of a leaky bucket is ahead of the `units` taken last: milliseconds.
    pub fn queue_ms(&self, units: i64) -> i64 {
        let quota = self.quota.shard(self.last_shard);
        let behind =
            quota.reset_at_ms(self.known_row(self.last_shard), self.clock_ms) - self.clock_ms;
        (behind - units.saturating_mul(quota.window_ms) / quota.limit.max(1)).max(0)
    }

    /// Whether the row is nearly used up by many nodes of which we are a small part.
    pub fn is_hot_key(&self) -> bool {
        let has_own_writes = self.shard(self.last_shard).is_some_and(Shard::has_own_writes);
        has_own_writes
            && self.is_scarce(self.last_shard)
            && self.active_nodes(self.last_shard) >= contention::CROWDED_NODES
    }

    fn shard(&self, number: u8) -> Option<&Shard> {
        self.shards.iter().find(|shard| shard.number == number)
    }

    fn shard_mut(&mut self, number: u8) -> &mut Shard {
        let found = self.shards.iter().position(|shard| shard.number == number);
        let index = found.unwrap_or_else(|| {
            // Most have one: room for four would double a node's memory.
            self.shards.reserve_exact(1);
            self.shards.push(Shard { number, first_seen_ms: self.clock_ms, ..Shard::default() });
            self.shards.len() - 1
        });
        &mut self.shards[index]
    }

    fn known_row(&self, number: u8) -> Option<&CounterRow> {
        self.shard(number)?.row.as_ref()
    }

    /// Units that a row has left, as far as is known.
    fn free(&self, number: u8) -> i64 {
        self.quota.shard(number).free(self.known_row(number), self.clock_ms)
    }

    /// Notes a row as the store showed it.
    fn record_row(&mut self, number: u8, row: Option<CounterRow>) {
        self.shard_mut(number).row = row;
    }

    /// Moves what is held to what is to be credited. Of two remainders the newer one is kept: the
    /// older is worth less by now.
    fn expire_held(&mut self) {
        if self.held > 0 {
            // Of several debits the first: what is held ends when that one does.
            let taken_at_ms = self.until_ms - self.quota.shard(self.last_shard).lease_ms();
            let unspent = Unspent { units: self.held, window: self.window, taken_at_ms };
            self.unspent = Some((self.last_shard, unspent));
            self.held = 0;
        }
    }

    fn plan(&self, shard: u8, lacking: i64) -> DebitPlan {
        let (quota, now_ms) = (self.quota.shard(shard), self.clock_ms);
        let unspent = self.unspent.filter(|(of, _)| *of == shard).map(|(_, unspent)| unspent);
        let units = self.lease_size(shard, lacking);
        let known = self.known_row(shard);
        let contended = self.active_nodes(shard) > 1;
        let plan = quota.debit_as(contended, known, units, unspent, now_ms);
        match plan {
            WritePlan::Write(write) => {
                DebitPlan::Debit(Debit { shard, write, units, unspent, planned_ms: now_ms })
            }
            WritePlan::Denied { retry_at_ms } => DebitPlan::Denied { retry_at_ms },
        }
    }
}
