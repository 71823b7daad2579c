//! What one node holds of one quota for one key: the lease protocol, seen from the node.
//!
//! ```text
//!            next()            committed()
//!   empty ───────────▶ asking ─────────────▶ held ── spend() ──▶ held … empty
//!     ▲                  │ refused(row)        │ its time ends
//!     │   shut until ◀───┘                     ▼
//!     └──────────────────────── unspent ◀── expired
//! ```
//!
//! - *Lease*: units are debited from the shared row before they are held.
//! - *Spend*: held units are spent in memory, in the time they were debited for.
//! - *Return*: what was not spent is credited with the next debit, or when the node ends; once, and
//!   never again after a write whose outcome is unknown: what such a write did is forgotten.
//! - *Expire*: units end with their window, or with a bucket's [`Quota::lease_ms`].
//! - *Partition*: while the store can't be asked, what is held is spent even if its time has ended.
//!
//! Guarantee: spent ≤ debited − credited. Absent: a clock of its own; a step back of the clock that
//! makes anything available again.

mod chunk;

use super::counter::{Plan, Row, Unspent, Write};
use super::quota::Quota;

/// What a node holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Budget {
    quota: Quota,
    held: i64,
    /// When what is held ends.
    until_ms: i64,
    /// The row's window when it was debited.
    window: i64,
    unspent: Option<(u8, Unspent)>,
    shards: Vec<Shard>,
    home: u8,
    /// The latest time seen.
    clock_ms: i64,
    taken_ms: i64,
    /// Spent since the last lease, and how large that was.
    spent: i64,
    chunk: i64,
    /// Not to be asked for so many units again before that.
    shut_until_ms: i64,
    shut_units: i64,
}

/// What is known of one row.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Shard {
    /// In a box: most of a large quota's shards are never seen.
    known: Option<Box<Row>>,
    shut_until_ms: i64,
    backoff_ms: i64,
    /// Our own writes in the row's window and in the one before.
    window: i64,
    leases: i64,
    leases_before: i64,
}

/// Names the lease that something was spent of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease(i64);

/// A debit to be tried at the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// The row.
    pub shard: u8,
    /// What to write.
    pub write: Write,
    units: i64,
    unspent: Option<Unspent>,
    planned_ms: i64,
}

/// What to do about units that are not held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Try this.
    Ask(Ask),
    /// There are none; `None` if there never will be so many.
    Denied {
        /// When it is worth asking again.
        retry_at_ms: Option<i64>,
    },
}

impl Budget {
    /// Nothing yet. `lot` spreads nodes over shards; `expected` is what is known of the demand.
    pub fn new(quota: Quota, lot: u64, expected: i64) -> Self {
        let count = quota.shards();
        let home = u8::try_from(lot % u64::from(count)).unwrap_or(0);
        Self {
            quota,
            held: 0,
            until_ms: i64::MIN,
            window: 0,
            unspent: None,
            shards: vec![Shard::default(); usize::from(count)],
            home,
            clock_ms: i64::MIN,
            taken_ms: i64::MIN,
            spent: 0,
            chunk: expected / 8,
            shut_until_ms: i64::MIN,
            shut_units: 0,
        }
    }

    /// The quota it counts.
    pub fn quota(&self) -> &Quota {
        &self.quota
    }

    /// Lets what has ended end. A clock that went back is taken for one that stands still.
    pub fn at(&mut self, now_ms: i64) -> i64 {
        self.clock_ms = self.clock_ms.max(now_ms);
        if self.clock_ms >= self.until_ms && self.held > 0 {
            self.set_aside();
        }
        self.clock_ms
    }

    /// How large its last lease was.
    pub fn size(&self) -> i64 {
        self.chunk
    }

    /// How many units can be spent without asking anyone.
    pub fn held(&self) -> i64 {
        self.held
    }

    /// How many are left of leases that have ended.
    pub fn frozen(&self) -> i64 {
        self.held + self.unspent.map_or(0, |(_, unspent)| unspent.units)
    }

    /// Spends `units` that are held, and says of which lease.
    pub fn spend(&mut self, units: i64) -> Lease {
        self.held -= units;
        self.spent += units;
        Lease(self.until_ms)
    }

    /// Takes back a spend that came to nothing, if its lease still lasts.
    pub fn unspend(&mut self, units: i64, lease: Lease) {
        if lease.0 == self.until_ms {
            self.held += units;
            self.spent -= units;
        }
    }

    /// Spends `units` of leases that may have ended: only while the store can't be asked.
    pub fn spend_frozen(&mut self, units: i64) {
        let of_held = units.min(self.held);
        self.spend(of_held);
        if let Some((_, unspent)) = &mut self.unspent {
            unspent.units -= units - of_held;
        }
        self.unspent = self.unspent.filter(|(_, unspent)| unspent.units > 0);
    }

    /// Whether it is known without asking that `units` can't be had; call [`Budget::at`] first.
    pub fn denial(&self, units: i64) -> Option<Next> {
        if units > self.quota.capacity() {
            return Some(Next::Denied { retry_at_ms: None });
        }
        let shut = self.clock_ms < self.shut_until_ms && units - self.held >= self.shut_units;
        shut.then_some(Next::Denied { retry_at_ms: Some(self.shut_until_ms) })
    }

    /// How to get `units` when fewer are held; call [`Budget::at`] first.
    pub fn next(&mut self, units: i64) -> Next {
        if let Some(denied) = self.denial(units) {
            return denied;
        }
        let (now_ms, lacking) = (self.clock_ms, units - self.held.min(units));
        let count = self.shards.len();
        for step in 0..count {
            let index = (usize::from(self.home) + step) % count;
            if self.shards[index].shut_until_ms > now_ms {
                continue;
            }
            match self.plan(index, lacking, now_ms) {
                Next::Ask(ask) => {
                    self.home = ask.shard;
                    // From here on the write has it: nobody else credits it too.
                    self.unspent = self.unspent.filter(|(shard, _)| *shard != ask.shard);
                    return Next::Ask(ask);
                }
                Next::Denied { retry_at_ms } => self.shut(index, retry_at_ms),
            }
        }
        let open = self.shards.iter().map(|shard| shard.shut_until_ms).min().unwrap_or(i64::MAX);
        self.shut_until_ms = open;
        self.shut_units = lacking;
        Next::Denied { retry_at_ms: Some(open) }
    }

    /// The debit was committed and left this row.
    pub fn committed(&mut self, ask: &Ask, row: Row) {
        let until_ms = if self.quota.is_bucket() {
            ask.planned_ms + self.quota.shard(ask.shard).lease_ms()
        } else {
            if row.window != self.window {
                self.set_aside();
            }
            (row.window + 1).saturating_mul(self.quota.window_ms)
        };
        // What was held before ends when it would have.
        self.until_ms = if self.held > 0 { self.until_ms.min(until_ms) } else { until_ms };
        self.window = row.window;
        self.held += ask.units;
        (self.spent, self.chunk, self.taken_ms) = (0, ask.units, self.clock_ms);
        self.shut_until_ms = i64::MIN;
        let shard = &mut self.shards[usize::from(ask.shard)];
        shard.note_own(row.window);
        shard.backoff_ms = 0;
        shard.known = Some(Box::new(row));
    }

    /// The debit was committed, but the row was not shown: it is what the write makes of the row as
    /// known. If that is wrong, the next guard fails and the store shows it.
    pub fn committed_unseen(&mut self, ask: &Ask) {
        let known = self.shards[usize::from(ask.shard)].known.as_deref();
        let row = Row::apply(known, &ask.write).or_else(|| known.cloned()).unwrap_or_default();
        self.committed(ask, row);
    }

    /// The guard failed: this is the row as it stands.
    pub fn refused(&mut self, ask: &Ask, row: Option<Row>) {
        self.shards[usize::from(ask.shard)].known = row.map(Box::new);
        self.withdraw(ask);
    }

    /// The debit was not tried, or came to nothing: what it would have credited is still owed.
    pub fn withdraw(&mut self, ask: &Ask) {
        if let (None, Some(unspent)) = (self.unspent, ask.unspent) {
            self.unspent = Some((ask.shard, unspent));
        }
    }

    /// What is to be credited when the node gives this budget up, and to which row.
    pub fn give_up(&mut self) -> Option<(u8, Write)> {
        self.set_aside();
        let (shard, unspent) = self.unspent.take()?;
        let known = self.shards[usize::from(shard)].known.as_deref()?;
        Some((shard, self.quota.credit(known, unspent, self.clock_ms)?))
    }

    /// Units that this node could still get, as far as it knows.
    pub fn remaining(&self) -> i64 {
        let free = |(index, shard): (usize, &Shard)| {
            let quota = self.quota.shard(u8::try_from(index).unwrap_or(0));
            quota.free(shard.known.as_deref(), self.clock_ms)
        };
        let free: i64 = self.shards.iter().enumerate().map(free).sum();
        (self.held + free).min(self.quota.capacity())
    }

    /// When everything is there again if nobody takes any more, as far as is known.
    pub fn reset_at_ms(&self) -> i64 {
        let quota = self.quota.shard(self.home);
        quota.reset_at_ms(self.home_row(), self.clock_ms)
    }

    /// How long the queue of a leaky bucket is ahead of the `units` taken last: milliseconds.
    pub fn queue_ms(&self, units: i64) -> i64 {
        let quota = self.quota.shard(self.home);
        let behind = quota.reset_at_ms(self.home_row(), self.clock_ms) - self.clock_ms;
        (behind - units.saturating_mul(quota.window_ms) / quota.limit.max(1)).max(0)
    }

    /// How many nodes seem to draw on the row: all its leases by our own.
    pub fn nodes(&self) -> i64 {
        self.shards[usize::from(self.home)].nodes()
    }

    /// Whether the row is nearly used up by many nodes of which we are a small part.
    pub fn is_spread(&self) -> bool {
        let quota = self.quota.shard(self.home);
        let few_left = quota.free(self.home_row(), self.clock_ms) * 5 < quota.capacity();
        few_left && self.nodes() >= 16
    }

    fn home_row(&self) -> Option<&Row> {
        self.shards[usize::from(self.home)].known.as_deref()
    }

    /// Moves what is held to what is to be credited. Of two remainders the newer one is kept: the
    /// older is worth less by now.
    fn set_aside(&mut self) {
        if self.held > 0 {
            // Of several debits the first: what is held ends when that one does.
            let taken_at_ms = self.until_ms - self.quota.shard(self.home).lease_ms();
            let unspent = Unspent { units: self.held, window: self.window, taken_at_ms };
            self.unspent = Some((self.home, unspent));
            self.held = 0;
        }
    }

    /// Remembers that a row has too few left. Nodes come back at different times, and less often the
    /// longer they are refused.
    fn shut(&mut self, index: usize, retry_at_ms: Option<i64>) {
        let (now_ms, longest) = (self.clock_ms, (self.quota.window_ms / 20).max(1));
        let shard = &mut self.shards[index];
        shard.backoff_ms = (shard.backoff_ms * 2).clamp(8.min(longest), longest);
        let spread =
            now_ms.wrapping_mul(31).wrapping_add(self.taken_ms).rem_euclid(shard.backoff_ms);
        let soonest = now_ms + i64::midpoint(shard.backoff_ms, spread);
        shard.shut_until_ms = retry_at_ms.unwrap_or(i64::MAX).max(soonest);
    }

    fn plan(&self, index: usize, lacking: i64, now_ms: i64) -> Next {
        let shard = u8::try_from(index).unwrap_or(0);
        let quota = self.quota.shard(shard);
        let known = self.shards[index].known.as_deref();
        let unspent = self.unspent.filter(|(of, _)| *of == shard).map(|(_, unspent)| unspent);
        let units = match self.chunk(&quota, index, lacking, now_ms) {
            Ok(units) => units,
            Err(retry_at_ms) => return Next::Denied { retry_at_ms: Some(retry_at_ms) },
        };
        match quota.debit(known, units, unspent, now_ms) {
            Plan::Write(write) => {
                Next::Ask(Ask { shard, write, units, unspent, planned_ms: now_ms })
            }
            Plan::Denied { retry_at_ms } => Next::Denied { retry_at_ms },
        }
    }
}

#[cfg(test)]
mod tests;
