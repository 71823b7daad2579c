//! Turns a lease and the readings of a clock into ids, each greater than the one before.

use super::id::Id;
use super::lease::{IdLease, LeaseClaim, RequestId};
use super::machine::{MachineId, MachineShard, SequenceRange};

/// How far a clock may be behind for the caller to be told to wait; more is refused.
pub const MAX_CLOCK_WAIT_MS: u64 = 5;

/// One node's source of ids. It holds one lease at a time and remembers where it stopped.
///
/// It cannot be copied: a copy would issue the same ids.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone, PartialEq, Eq, Hash))]
pub struct Generator {
    shard: MachineShard,
    machine_id: MachineId,
    range: SequenceRange,
    until_ms: u64,
    /// Every id of an earlier millisecond is in the past, as are those of this one below `next`.
    at_ms: u64,
    next: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// Ask again after this time: the millisecond is spent, or the clock stepped back a little.
    Wait {
        /// How many milliseconds until asking is worthwhile.
        ms: u64,
    },
    /// The clock has left the lease's interval: renew it or take another.
    Exhausted,
    /// The clock is so far behind the last id, or the start of the lease, that waiting is no answer.
    ClockBack { by_ms: u64 },
}

/// The answer to a request for one id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextId {
    /// An id no one else has or will have.
    Id(Id),
    Paused(Pause),
}

/// The answer to a request for many ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    Full,
    /// Those that were to be had, perhaps none, and why there are no more.
    Paused(Pause),
}

impl Generator {
    /// A generator for a node that has issued nothing yet.
    pub fn new(lease: IdLease) -> Self {
        let shard = lease.shard();
        Self::over(lease, shard.machine_id(), shard.range())
    }

    /// A generator whose machine id and range are given, so that a model can shrink or break them.
    #[expect(clippy::needless_pass_by_value, reason = "making a generator uses the lease up")]
    pub(super) fn over(lease: IdLease, machine_id: MachineId, range: SequenceRange) -> Self {
        Self {
            shard: lease.shard(),
            machine_id,
            range,
            until_ms: lease.until_ms(),
            at_ms: lease.from_ms(),
            next: range.first,
        }
    }

    /// Goes on with another lease, or with the same one renewed.
    ///
    /// A different shard may have a smaller number, so the millisecond of the last id is closed:
    /// the next id carries a later one and is greater on any shard.
    pub fn set_lease(&mut self, lease: IdLease) {
        let shard = lease.shard();
        self.set_lease_over(lease, shard.machine_id(), shard.range());
    }

    /// The same, with machine id and range given.
    pub(super) fn set_lease_over(
        &mut self,
        lease: IdLease,
        machine_id: MachineId,
        range: SequenceRange,
    ) {
        if lease.shard() == self.shard && lease.from_ms() == self.until_ms {
            self.until_ms = lease.until_ms();
            return;
        }
        let closed_until = if self.next > self.range.first { self.at_ms + 1 } else { self.at_ms };
        *self = Self::over(lease, machine_id, range);
        self.at_ms = self.at_ms.max(closed_until);
    }

    /// The claim to write for keeping the shard for `length_ms` more, at any time before or after the
    /// lease's end. There is none if that would leave the era.
    pub fn renewal(&self, now_ms: u64, length_ms: u64, request: RequestId) -> Option<LeaseClaim> {
        LeaseClaim::following(self.shard, self.until_ms, now_ms, length_ms, request)
    }

    pub const fn shard(&self) -> MachineShard {
        self.shard
    }

    /// The first millisecond the lease does not cover.
    pub const fn until_ms(&self) -> u64 {
        self.until_ms
    }

    /// The next id, given what the clock shows.
    #[inline]
    pub fn next(&mut self, now_ms: u64) -> NextId {
        if let Some(pause) = self.arrive_at(now_ms) {
            return NextId::Paused(pause);
        }
        let id = Id::from_base(Id::base(self.at_ms, self.machine_id), self.next);
        self.next += 1;
        NextId::Id(id)
    }

    /// Appends up to `count` ids of the millisecond the clock shows, in order.
    #[inline]
    pub fn fill(&mut self, now_ms: u64, count: usize, ids: &mut Vec<Id>) -> Fill {
        if count == 0 {
            return Fill::Full;
        }
        if let Some(pause) = self.arrive_at(now_ms) {
            return Fill::Paused(pause);
        }
        let room = self.range.last - self.next + 1;
        let taken = u16::try_from(count).map_or(room, |count| count.min(room));
        let base = Id::base(self.at_ms, self.machine_id);
        let end = self.next + taken;
        ids.extend((self.next..end).map(|sequence| Id::from_base(base, sequence)));
        self.next = end;
        if usize::from(taken) == count { Fill::Full } else { Fill::Paused(Pause::Wait { ms: 1 }) }
    }

    /// Moves to the millisecond the clock shows, or says why no id can be issued there.
    #[inline]
    fn arrive_at(&mut self, now_ms: u64) -> Option<Pause> {
        if now_ms >= self.until_ms {
            return Some(Pause::Exhausted);
        }
        if now_ms < self.at_ms {
            return Some(behind(self.at_ms - now_ms));
        }
        if now_ms > self.at_ms {
            self.at_ms = now_ms;
            self.next = self.range.first;
        }
        (self.next > self.range.last).then_some(Pause::Wait { ms: 1 })
    }
}

/// A small step back is usually a correction of the clock and soon made up for.
const fn behind(by_ms: u64) -> Pause {
    if by_ms <= MAX_CLOCK_WAIT_MS { Pause::Wait { ms: by_ms } } else { Pause::ClockBack { by_ms } }
}

#[cfg(test)]
mod tests;
