//! A provider's rate, shared by everyone who sends through it: slots, leased in batches.
//!
//! There is one sequence of slots for each provider, evenly spaced, and each may be used within 50 ms of
//! its time or not at all. So no sliding second has more than 1.05 × the rate. (Where
//! that is no whole number, slots are a little further apart.) The row says which slot is next; the
//! instance that advances it has the slots in between. A [`Lease`] says within which bounds it may be moved, in terms
//! of a condition expression, and by how much: nodes that lease at the same time do not refuse each
//! other, unless there is really too little left.
//!
//! Who gets them: critical, normal and low are entitled to 70, 20 and 10 of a hundred. A class within
//! its entitlement gets slots however far ahead they lie; entitlements together are the whole rate, so
//! that is never far. A class beyond it gets what is left: slots that lie so near that no other priority took
//! them, and critical may look further ahead for those than low. So an idle class lends its share from
//! one moment to the next, and has it back as fast; and no class is ever starved, low included.
//!
//! Absent: a ticking clock, a queue of the waiting, and any class's knowledge of another. Nodes' clocks
//! must agree to some milliseconds, as they do within a region; what they are apart adds to the 50 ms.

mod lease;

pub use lease::{CounterChange, Lease, SlotCounters, Slots};

use super::Priority;
use crate::Timestamp;

/// A slot may be used so long after its time.
pub const GRACE_MS: i64 = 50;

/// Of a hundred slots, by [`Priority::level`].
const SHARES: [i64; 3] = [70, 20, 10];

/// A class that has not asked for a while is entitled to so much at once.
const BURST_US: i64 = 500_000;

/// How far ahead what others left may lie, by [`Priority::level`].
const REACH_US: [i64; 3] = [400_000, 250_000, 120_000];

/// A class that is entitled to fewer than come in so long waits for more of them.
const CHUNK_US: i64 = 50_000;

/// No slot is leased further ahead, however entitled a class is.
const HORIZON_US: i64 = 3_000_000;

/// Writing the row takes some of a slot's time: none begins sooner.
const LEAD_US: i64 = 20_000;

/// What asking for slots comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// Some, if this write succeeds.
    Lease(Lease),
    /// None, as far as the row is known.
    Later { at: Timestamp },
}

/// What a node that has `wanted` messages of a class to send may lease at `now`, of a provider that
/// takes `per_second`, as far as its row is known.
pub fn grant(
    counters: &SlotCounters,
    per_second: u32,
    priority: Priority,
    wanted: u32,
    now: Timestamp,
) -> Grant {
    let ask = LeaseRequest::new(counters, per_second, priority, wanted, now);
    let (entitled, left) = (ask.entitled(), ask.left());
    if left == 0 && entitled == 0 {
        return Grant::Later { at: ask.later() };
    }
    // What others left is not charged: a class that borrows keeps its own.
    if left >= entitled {
        let to_us = ask.now_us + ask.reach_us - (left - 1) * ask.interval_us - 1;
        return Grant::Lease(ask.lease(left, to_us, None));
    }
    let to_us = ask.now_us + HORIZON_US - entitled * ask.interval_us;
    let used = CounterChange::plan(
        ask.used_us,
        entitled * ask.own_us,
        ask.now_us - BURST_US,
        ask.now_us - (entitled - 1) * ask.own_us,
    );
    Grant::Lease(ask.lease(entitled, to_us, Some((ask.level, used))))
}

struct LeaseRequest {
    level: usize,
    wanted: i64,
    now_us: i64,
    reach_us: i64,
    /// How far apart slots are, and would be if the class had its share alone.
    interval_us: i64,
    own_us: i64,
    next_us: i64,
    first_us: i64,
    used_us: i64,
}

impl LeaseRequest {
    fn new(
        counters: &SlotCounters,
        per_second: u32,
        priority: Priority,
        wanted: u32,
        now: Timestamp,
    ) -> Self {
        let (level, now_us) = (priority.level(), now.as_microsecond());
        let interval_us = interval_us(per_second);
        Self {
            level,
            wanted: wanted.into(),
            now_us,
            reach_us: REACH_US[level],
            interval_us,
            own_us: interval_us * 100 / SHARES[level],
            next_us: counters.next_us,
            first_us: counters.next_us.max(now_us + LEAD_US),
            used_us: counters.used_us[level],
        }
    }

    /// How many the class is entitled to; none rather than few, which would be a write for each.
    fn entitled(&self) -> i64 {
        let used_us = self.used_us.max(self.now_us - BURST_US);
        let room =
            if used_us > self.now_us { 0 } else { (self.now_us - used_us) / self.own_us + 1 };
        let room = room.min(within(self.first_us, self.now_us + HORIZON_US, self.interval_us) - 1);
        if room < self.few() { 0 } else { room.min(self.wanted) }
    }

    /// How many are left that lie near; none rather than few.
    fn left(&self) -> i64 {
        let room = within(self.first_us, self.now_us + self.reach_us, self.interval_us);
        if room < self.few_left() { 0 } else { room.min(self.wanted) }
    }

    fn few(&self) -> i64 {
        self.wanted.min(CHUNK_US / self.own_us).max(1)
    }

    fn few_left(&self) -> i64 {
        self.wanted.min(self.reach_us / 2 / self.interval_us).max(1)
    }

    fn later(&self) -> Timestamp {
        let own_us = self.used_us + (self.few() - 1) * self.own_us;
        let left_us = self.first_us + (self.few_left() - 1) * self.interval_us - self.reach_us + 1;
        let at_us = own_us.min(left_us).max(self.now_us + 1_000);
        Timestamp::from_microsecond(at_us).unwrap_or(Timestamp::MAX)
    }

    fn lease(&self, count: i64, to_us: i64, used: Option<(usize, CounterChange)>) -> Lease {
        let lead_us = self.now_us + LEAD_US;
        Lease {
            next: CounterChange::plan(self.next_us, count * self.interval_us, lead_us, to_us),
            used,
            interval_us: self.interval_us,
            count: u32::try_from(count).unwrap_or(0),
        }
    }
}

/// How long a node leaves the row alone, after having missed so many times in a row: because there was
/// no slot, or another instance was faster. The less urgent give way, so that the urgent get through.
pub fn backoff_us(priority: Priority, misses: u32, jitter: u64) -> i64 {
    let most: u64 = match priority {
        Priority::Critical => 20_000,
        Priority::Normal => 80_000,
        Priority::Low => 500_000,
    };
    let up_to = (5_000_u64 << misses.min(10)).min(most);
    i64::try_from(jitter % (up_to + 1)).unwrap_or(0)
}

/// How many slots from `first_us` on lie before `end_us`.
fn within(first_us: i64, end_us: i64, interval_us: i64) -> i64 {
    if end_us <= first_us { 0 } else { (end_us - first_us + interval_us - 1) / interval_us }
}

/// How far apart slots are, so that 1.05 seconds never hold more than 1.05 × the rate, rounded down.
fn interval_us(per_second: u32) -> i64 {
    let rate = i64::from(per_second.max(1));
    let most = rate * 105 / 100;
    let stretch_us = 1_000_000 + GRACE_MS * 1_000;
    ((stretch_us + most - 1) / most).max(1)
}

#[cfg(test)]
mod tests;
