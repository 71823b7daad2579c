//! The lease protocol as decisions: what to write, under which condition, and whose the result is.
//!
//! The store keeps one row per shard and does one conditional write per lease. Everything it needs to
//! express that write is in the [`LeaseClaim`]; everything it learns goes back in as a [`LeaseRow`].

use super::id::{EPOCH_MS, ERA_END_MS};
use super::machine::MachineShard;
use std::fmt;

/// How long a lease should be: long enough that an active node writes once in minutes, short enough
/// that abandoned shards come back before 4,864 of them are missed.
pub const LEASE_MS: u64 = 5 * 60 * 1_000;

/// Names one claim, so that a node that never saw the answer can recognise its own write.
///
/// It has to be random and new for every claim; only the retries of one claim share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestId(pub u128);

impl fmt::Display for RequestId {
    /// 32 hexadecimal digits, as the store keeps it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl RequestId {
    /// Reads what `Display` wrote.
    pub fn parse(text: &str) -> Option<Self> {
        let hexadecimal = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if hexadecimal { u128::from_str_radix(text, 16).ok().map(Self) } else { None }
    }
}

/// What the store remembers of a shard. It is overwritten by later leases and never deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LeaseRow {
    /// The shard, which is the row's key.
    pub shard: MachineShard,
    /// The end of the last lease: the first millisecond, in Unix time, that was not leased.
    pub ended_at_ms: u64,
    pub holder: RequestId,
}

/// What must be true of the shard's row at the moment the claim is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LeaseCondition {
    /// There is no row, or its end is at most this: the shard is free from here on.
    EndedBy(u64),
    /// The row's end is exactly this. Ends only grow, so the shard was not leased since.
    EndsAt(u64),
}

/// The interval a node would like, before the store has agreed to it.
///
/// It cannot be copied, and becoming an [`IdLease`] uses it up, so that a claim yields one lease at
/// most.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone, PartialEq, Eq, Hash))]
pub struct LeaseClaim {
    row: LeaseRow,
    from_ms: u64,
    condition: LeaseCondition,
}

/// The right to every timestamp in `[from, until)` on one shard, for ever.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone, PartialEq, Eq, Hash))]
pub struct IdLease {
    shard: MachineShard,
    from_ms: u64,
    until_ms: u64,
}

#[derive(Debug)]
pub enum Proposal {
    Take(LeaseClaim),
    /// By this node's clock another node may still be using it: try another shard.
    Busy {
        /// When it becomes free, if it is not leased again.
        until_ms: u64,
    },
    /// The clock shows a time that ids cannot express, before 2010 or after 2080.
    ClockOutOfEra,
}

/// Whose shard it is after a claim met a row it may not overwrite, or its answer was lost.
#[derive(Debug)]
pub enum ClaimOutcome {
    /// The row is this very claim's: an earlier try had committed.
    Held(IdLease),
    /// It is another node's, or the claim never arrived. Try another shard with a new claim.
    Lost,
}

/// Decides whether a node whose clock shows `now_ms` may claim `shard`.
///
/// `row` is the shard's row if it is known; without it the claim is simply tried, which costs the
/// same one write. The interval starts now, not at the end of the last one, because the time between
/// has passed and no id may carry it. A clock far ahead costs a shard until that time has come, and
/// nothing else.
pub fn propose(
    shard: MachineShard,
    row: Option<&LeaseRow>,
    now_ms: u64,
    length_ms: u64,
    request: RequestId,
) -> Proposal {
    let condition = LeaseCondition::EndedBy(now_ms);
    match row {
        Some(row) if !condition.allows(Some(row)) => Proposal::Busy { until_ms: row.ended_at_ms },
        _ => LeaseClaim::new(shard, now_ms, now_ms.saturating_add(length_ms), condition, request)
            .map_or(Proposal::ClockOutOfEra, Proposal::Take),
    }
}

impl LeaseCondition {
    /// The condition the store evaluates together with the write, as a function of what it finds.
    pub const fn allows(self, found: Option<&LeaseRow>) -> bool {
        match (self, found) {
            (Self::EndedBy(_), None) => true,
            (Self::EndedBy(from_ms), Some(row)) => row.ended_at_ms <= from_ms,
            (Self::EndsAt(end_ms), Some(row)) => row.ended_at_ms == end_ms,
            (Self::EndsAt(_), None) => false,
        }
    }
}

impl LeaseClaim {
    fn new(
        shard: MachineShard,
        from_ms: u64,
        until_ms: u64,
        condition: LeaseCondition,
        holder: RequestId,
    ) -> Option<Self> {
        let in_era = EPOCH_MS <= from_ms && from_ms < until_ms && until_ms <= ERA_END_MS;
        in_era.then_some(Self {
            row: LeaseRow { shard, ended_at_ms: until_ms, holder },
            from_ms,
            condition,
        })
    }

    /// A claim to what follows directly on an interval that ends at `end_ms`.
    ///
    /// If the end has passed already, the new interval covers the gap too: it was not leased.
    pub(super) fn following(
        shard: MachineShard,
        end_ms: u64,
        now_ms: u64,
        length_ms: u64,
        request: RequestId,
    ) -> Option<Self> {
        let until_ms = end_ms.max(now_ms).saturating_add(length_ms);
        Self::new(shard, end_ms, until_ms, LeaseCondition::EndsAt(end_ms), request)
    }

    pub const fn row(&self) -> &LeaseRow {
        &self.row
    }

    pub const fn condition(&self) -> LeaseCondition {
        self.condition
    }

    pub const fn from_ms(&self) -> u64 {
        self.from_ms
    }

    /// The store answered that the write committed.
    pub fn granted(self) -> IdLease {
        IdLease { shard: self.row.shard, from_ms: self.from_ms, until_ms: self.row.ended_at_ms }
    }

    /// The condition failed, or the answer was lost and the row was read again.
    ///
    /// The row counts as this claim's only if it carries its request id. A write that merely may have
    /// committed is treated as lost, because the shard may have been leased by another node since.
    pub fn resolve(self, found: Option<&LeaseRow>) -> ClaimOutcome {
        if found == Some(&self.row) {
            ClaimOutcome::Held(self.granted())
        } else {
            ClaimOutcome::Lost
        }
    }
}

impl IdLease {
    pub const fn shard(&self) -> MachineShard {
        self.shard
    }

    /// The first millisecond it covers.
    pub const fn from_ms(&self) -> u64 {
        self.from_ms
    }

    /// The first millisecond it no longer covers.
    pub const fn until_ms(&self) -> u64 {
        self.until_ms
    }
}

#[cfg(test)]
mod tests;
