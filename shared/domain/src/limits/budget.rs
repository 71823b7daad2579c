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
mod pace;
mod shard;

use super::counter::{Plan, Row, Unspent, Write};
use super::quota::Quota;
use shard::Shard;

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
    /// The rows that this node has had to do with; of most quotas there is one.
    shards: Vec<Shard>,
    /// The row it asks first.
    home: u8,
    /// The latest time seen.
    clock_ms: i64,
    taken_ms: i64,
    /// Asked for since the last lease, spent or not, and how large that was.
    asked: i64,
    chunk: i64,
    /// Not to be asked for so many units again before that.
    shut_until_ms: i64,
    shut_units: i64,
    /// When the store may be asked again if many nodes want the same, and how often in a row it showed
    /// a newer row instead.
    turn_ms: i64,
    refusals: u8,
    /// When it may look at another row that it has not seen.
    roam_ms: i64,
    /// The row that it asked last.
    latest: u8,
    /// Grows while a row that the store alone counts has nothing for this node, and shrinks when it has.
    backoff_ms: i64,
}

/// Names the lease that something was spent of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease(i64);

/// A debit to be tried at the store.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ask {
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
        let home = u8::try_from(lot % u64::from(quota.shards())).unwrap_or(0);
        Self {
            quota,
            held: 0,
            until_ms: i64::MIN,
            window: 0,
            unspent: None,
            shards: Vec::new(),
            home,
            clock_ms: i64::MIN,
            taken_ms: i64::MIN,
            asked: 0,
            chunk: expected / 8,
            shut_until_ms: i64::MIN,
            shut_units: 0,
            turn_ms: i64::MIN,
            roam_ms: i64::MIN,
            refusals: 0,
            latest: home,
            backoff_ms: 0,
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
        self.asked += units;
        Lease(self.until_ms)
    }

    /// Takes back a spend that came to nothing, if its lease still lasts.
    pub fn unspend(&mut self, units: i64, lease: Lease) {
        if lease.0 == self.until_ms {
            self.held += units;
            self.asked -= units;
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
    pub fn denial(&mut self, units: i64) -> Option<Next> {
        if units > self.quota.capacity() {
            return Some(Next::Denied { retry_at_ms: None });
        }
        if self.clock_ms >= self.shut_until_ms || units - self.held < self.shut_units {
            return None;
        }
        self.asked += units;
        Some(Next::Denied { retry_at_ms: Some(self.shut_until_ms) })
    }

    /// How to get `units` when fewer are held; call [`Budget::at`] first.
    pub fn next(&mut self, units: i64) -> Next {
        if let Some(denied) = self.denial(units) {
            return denied;
        }
        let lacking = units - self.held.min(units);
        while let Some(number) = self.choose(lacking) {
            if self.must_wait(number) {
                return self.shut_all(lacking, self.turn_ms);
            }
            match self.plan(number, lacking) {
                Next::Ask(ask) => return Next::Ask(self.asking(ask)),
                Next::Denied { retry_at_ms } => self.shut(number, lacking, retry_at_ms),
            }
        }
        match self.shards.iter().map(|shard| shard.shut_until_ms).min() {
            Some(open_ms) if open_ms < i64::MAX => self.shut_all(lacking, open_ms),
            _ => Next::Denied { retry_at_ms: None },
        }
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
        // What the store alone counts is spent by being debited.
        if !self.quota.is_central() {
            self.held += ask.units;
        }
        (self.asked, self.chunk, self.taken_ms) = (0, ask.units, self.clock_ms);
        (self.shut_until_ms, self.backoff_ms, self.refusals) = (i64::MIN, self.backoff_ms / 2, 0);
        let shard = self.shard_mut(ask.shard);
        shard.note_own(row.window);
        self.shown(ask.shard, Some(row));
    }

    /// The debit was committed, but the row was not shown: it is what the write makes of the row as
    /// known. If that is wrong, the next guard fails and the store shows it.
    pub fn committed_unseen(&mut self, ask: &Ask) {
        let known = self.known(ask.shard);
        let row = Row::apply(known, &ask.write).or_else(|| known.cloned()).unwrap_or_default();
        self.committed(ask, row);
    }

    /// The debit was not tried, or came to nothing: what it would have credited is still owed.
    pub fn withdraw(&mut self, ask: &Ask) {
        if let (None, Some(unspent)) = (self.unspent, ask.unspent) {
            self.unspent = Some((ask.shard, unspent));
        }
    }

    /// What is to be credited when the node gives this budget up: to which row, and how that was last
    /// seen. What it is worth is decided when it is credited, because a bucket fills up meanwhile.
    pub fn give_up(&mut self, now_ms: i64) -> Option<(u8, Row, Unspent)> {
        self.at(now_ms);
        self.set_aside();
        let (shard, unspent) = self.unspent.take()?;
        Some((shard, self.known(shard)?.clone(), unspent))
    }

    /// Units that this node could still get, as far as it knows.
    pub fn remaining(&self) -> i64 {
        let free: i64 = (0..self.quota.shards()).map(|number| self.free(number)).sum();
        (self.held + free).min(self.quota.capacity())
    }

    /// When everything is there again if nobody takes any more, as far as is known.
    pub fn reset_at_ms(&self) -> i64 {
        let quota = self.quota.shard(self.latest);
        quota.reset_at_ms(self.known(self.latest), self.clock_ms)
    }

    /// How long the queue of a leaky bucket is ahead of the `units` taken last: milliseconds.
    pub fn queue_ms(&self, units: i64) -> i64 {
        let quota = self.quota.shard(self.latest);
        let behind = quota.reset_at_ms(self.known(self.latest), self.clock_ms) - self.clock_ms;
        (behind - units.saturating_mul(quota.window_ms) / quota.limit.max(1)).max(0)
    }

    /// Whether the row is nearly used up by many nodes of which we are a small part.
    pub fn is_spread(&self) -> bool {
        let is_ours = self.shard(self.latest).is_some_and(Shard::is_ours);
        is_ours && self.is_scarce(self.latest) && self.nodes(self.latest) >= pace::CROWD
    }

    fn shard(&self, number: u8) -> Option<&Shard> {
        self.shards.iter().find(|shard| shard.number == number)
    }

    fn shard_mut(&mut self, number: u8) -> &mut Shard {
        let found = self.shards.iter().position(|shard| shard.number == number);
        let index = found.unwrap_or_else(|| {
            // Most have one: room for four would double a node's memory.
            self.shards.reserve_exact(1);
            self.shards.push(Shard { number, since_ms: self.clock_ms, ..Shard::default() });
            self.shards.len() - 1
        });
        &mut self.shards[index]
    }

    fn known(&self, number: u8) -> Option<&Row> {
        self.shard(number)?.known.as_ref()
    }

    /// Units that a row has left, as far as is known.
    fn free(&self, number: u8) -> i64 {
        self.quota.shard(number).free(self.known(number), self.clock_ms)
    }

    /// Notes a row as the store showed it.
    fn shown(&mut self, number: u8, row: Option<Row>) {
        self.shard_mut(number).known = row;
    }

    /// Moves what is held to what is to be credited. Of two remainders the newer one is kept: the
    /// older is worth less by now.
    fn set_aside(&mut self) {
        if self.held > 0 {
            // Of several debits the first: what is held ends when that one does.
            let taken_at_ms = self.until_ms - self.quota.shard(self.latest).lease_ms();
            let unspent = Unspent { units: self.held, window: self.window, taken_at_ms };
            self.unspent = Some((self.latest, unspent));
            self.held = 0;
        }
    }

    fn plan(&self, shard: u8, lacking: i64) -> Next {
        let (quota, now_ms) = (self.quota.shard(shard), self.clock_ms);
        let unspent = self.unspent.filter(|(of, _)| *of == shard).map(|(_, unspent)| unspent);
        let units = self.chunk(shard, lacking);
        let known = self.known(shard);
        let plan = if self.nodes(shard) > 1 {
            quota.debit_in_crowd(known, units, unspent, now_ms)
        } else {
            quota.debit(known, units, unspent, now_ms)
        };
        match plan {
            Plan::Write(write) => {
                Next::Ask(Ask { shard, write, units, unspent, planned_ms: now_ms })
            }
            Plan::Denied { retry_at_ms } => Next::Denied { retry_at_ms },
        }
    }
}
