//! The row of a provider, and the only writes that may change it.

use serde::{Deserialize, Serialize};

use super::GRACE_MS;
use crate::Timestamp;

/// What the row of a provider says. A new provider's row is all zeros.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SlotCounters {
    /// When the next free slot is: microseconds since 1970. It only grows.
    pub next_us: i64,
    /// Until when each class has used what it is entitled to, the most urgent first: microseconds
    /// since 1970. They only grow.
    pub used_us: [i64; 3],
}

/// How a number of the row is changed, and when it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CounterChange {
    /// It grows, if it lies within bounds, both included.
    Advance { by_us: i64, from_us: i64, to_us: i64 },
    /// It is set, if there is none yet or it lies below a bound: nothing before that counts any more.
    Reset { below_us: i64, set_us: i64 },
}

impl CounterChange {
    /// The move of a number that is `known` by `by_us` from `from_us` at least, up to `to_us`.
    pub(super) const fn plan(known: i64, by_us: i64, from_us: i64, to_us: i64) -> Self {
        if known < from_us {
            return Self::Reset { below_us: from_us, set_us: from_us + by_us };
        }
        Self::Advance { by_us, from_us, to_us }
    }

    const fn apply(self, number: i64) -> Option<i64> {
        match self {
            Self::Advance { by_us, from_us, to_us } if from_us <= number && number <= to_us => {
                Some(number + by_us)
            }
            Self::Reset { below_us, set_us } if number < below_us => Some(set_us),
            Self::Advance { .. } | Self::Reset { .. } => None,
        }
    }
}

/// A conditional write of the row: the instance that succeeds has the slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// What happens to [`SlotCounters::next_us`].
    pub next: CounterChange,
    /// What happens to one of [`SlotCounters::used_us`], if something does.
    pub used: Option<(usize, CounterChange)>,
    pub(super) interval_us: i64,
    pub(super) count: u32,
}

impl Lease {
    /// What the store does: the row after the write, or `None` if it may not happen.
    pub fn apply(&self, row: &SlotCounters) -> Option<SlotCounters> {
        let mut after = SlotCounters { next_us: self.next.apply(row.next_us)?, ..*row };
        if let Some((level, used)) = self.used {
            let number = after.used_us.get_mut(level)?;
            *number = used.apply(*number)?;
        }
        Some(after)
    }

    /// The slots that the write leased, given the row right after it.
    pub fn slots(&self, after: &SlotCounters) -> Slots {
        let first_us = after.next_us - self.interval_us * i64::from(self.count);
        Slots { first_us, interval_us: self.interval_us, count: self.count }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slots {
    first_us: i64,
    interval_us: i64,
    count: u32,
}

impl Slots {
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// When the `index`-th may be used: microseconds since 1970.
    pub fn at_us(&self, index: u32) -> i64 {
        self.first_us.saturating_add(self.interval_us.saturating_mul(i64::from(index)))
    }

    /// How long to wait for the `index`-th; `None` if its time is over.
    pub fn wait_us(&self, index: u32, now: Timestamp) -> Option<i64> {
        let wait = self.at_us(index).saturating_sub(now.as_microsecond());
        (index < self.count && wait >= -GRACE_MS * 1_000).then_some(wait.max(0))
    }
}
