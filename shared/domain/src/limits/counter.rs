//! The shared counter: one row for a quota and a key, and the only writes that may change it.
//!
//! A [`CounterWrite`] is a condition and a change, in terms that a condition expression can say.
//! [`CounterRow::apply`] is what it means; the store's adapter says the same to DynamoDB, and a
//! test compares the two. A write is planned from the row as it was last seen; if the row has moved
//! on, the condition fails, the store returns the row as it is, and the write is planned again.
//!
//! Guarantee: the node that commits a debit of `n` units may admit `n` units until their lease
//! ends, and all together never pass the quota. Absent: a condition that a slow clock could satisfy
//! twice (the row's window only grows, a bucket's time never falls by itself, a log never forgets
//! early).

mod bucket;
mod log;
mod window;

use std::cmp::Ordering::{Equal, Greater, Less};

use super::quota::{Algorithm, Quota};

/// What the store keeps for a quota and a key. A new key's row is all zeros.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct CounterRow {
    /// Which window `used` counts: time ÷ length.
    pub window: i64,
    pub used: i64,
    /// Units debited in the one before.
    pub before: i64,
    /// Writes in this window; a log counts all of them, as its version.
    pub leases: i64,
    /// Writes in the one before.
    pub leases_before: i64,
    /// When a bucket is full again: milliseconds times the quota's limit.
    pub full_at: i128,
    /// When each unit of a log was taken, oldest first: milliseconds.
    pub log: Vec<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    Window,
    Used,
    Before,
    Leases,
    LeasesBefore,
    FullAt,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparison {
    Equals,
    AtMost,
    AtLeast,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum WriteCondition {
    Absent,
    /// There is one, and every number is as said.
    Present(Vec<(Field, Comparison, i128)>),
    /// There is none, or every number is as said.
    AbsentOr(Vec<(Field, Comparison, i128)>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldUpdate {
    Set(i128),
    Add(i128),
    /// What that field was, and so much more.
    SetFrom(Field, i128),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CounterWrite {
    pub condition: WriteCondition,
    /// What it changes; each value is taken from the row as it was, and from zero where there was
    /// none.
    pub updates: Vec<(Field, FieldUpdate)>,
    /// The log that replaces the row's, where there is one.
    pub log: Option<Vec<i64>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WritePlan {
    Write(CounterWrite),
    /// The row, as known, has too few left.
    Denied {
        /// When it will have enough if no more is taken; `None` if it never has so many.
        retry_at_ms: Option<i64>,
    },
}

/// Units that were debited, never spent, and should be credited again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Unspent {
    pub units: i64,
    /// The row's window when they were debited.
    pub window: i64,
    /// When they were debited: what came back to a bucket since then is not credited again.
    pub taken_at_ms: i64,
}

impl CounterRow {
    fn get(&self, field: Field) -> i128 {
        match field {
            Field::Window => self.window.into(),
            Field::Used => self.used.into(),
            Field::Before => self.before.into(),
            Field::Leases => self.leases.into(),
            Field::LeasesBefore => self.leases_before.into(),
            Field::FullAt => self.full_at,
        }
    }

    pub fn set(&mut self, field: Field, value: i128) {
        let small = || i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX });
        match field {
            Field::Window => self.window = small(),
            Field::Used => self.used = small(),
            Field::Before => self.before = small(),
            Field::Leases => self.leases = small(),
            Field::LeasesBefore => self.leases_before = small(),
            Field::FullAt => self.full_at = value,
        }
    }

    /// What the store does: the row after the write, or `None` if its condition does not hold.
    pub fn apply(row: Option<&Self>, write: &CounterWrite) -> Option<Self> {
        let held = match (&write.condition, row) {
            (WriteCondition::Absent | WriteCondition::AbsentOr(_), None) => true,
            (WriteCondition::Absent, Some(_)) | (WriteCondition::Present(_), None) => false,
            (WriteCondition::Present(tests) | WriteCondition::AbsentOr(tests), Some(row)) => {
                tests.iter().all(|(field, is, value)| {
                    matches!(
                        (is, row.get(*field).cmp(value)),
                        (_, Equal) | (Comparison::AtMost, Less) | (Comparison::AtLeast, Greater)
                    )
                })
            }
        };
        if !held {
            return None;
        }
        let was = row.cloned().unwrap_or_default();
        let mut is = was.clone();
        for (field, change) in &write.updates {
            let value = match change {
                FieldUpdate::Set(value) => *value,
                FieldUpdate::Add(more) => was.get(*field) + more,
                FieldUpdate::SetFrom(other, more) => was.get(*other) + more,
            };
            is.set(*field, value);
        }
        if let Some(log) = &write.log {
            is.log.clone_from(log);
        }
        Some(is)
    }
}

/// What the writes of the window before `window` are, as `row` has them.
fn leases_before(row: &CounterRow, window: i64) -> FieldUpdate {
    if row.window + 1 == window {
        FieldUpdate::SetFrom(Field::Leases, 0)
    } else {
        FieldUpdate::Set(0)
    }
}

impl Quota {
    /// The write that debits `units` (and credits what was never spent), as far as the row is known.
    pub fn debit(
        &self,
        known: Option<&CounterRow>,
        units: i64,
        unspent: Option<Unspent>,
        now_ms: i64,
    ) -> WritePlan {
        self.debit_as(false, known, units, unspent, now_ms)
    }

    /// The same; with `contended`, for one of many nodes: a little less exact, and more likely to hold.
    pub fn debit_as(
        &self,
        contended: bool,
        known: Option<&CounterRow>,
        units: i64,
        unspent: Option<Unspent>,
        now_ms: i64,
    ) -> WritePlan {
        if units > self.capacity() {
            return WritePlan::Denied { retry_at_ms: None };
        }
        match self.algorithm {
            Algorithm::FixedWindow | Algorithm::SlidingWindow => {
                window::debit(self, known, units, unspent, now_ms)
            }
            Algorithm::SlidingLog => log::debit(self, known, units, now_ms),
            Algorithm::TokenBucket | Algorithm::LeakyBucket => {
                bucket::debit(self, known, units, unspent, contended, now_ms)
            }
        }
    }

    /// The write that only credits what was never spent; `None` if that would change nothing.
    pub fn credit(
        &self,
        known: &CounterRow,
        unspent: Unspent,
        now_ms: i64,
    ) -> Option<CounterWrite> {
        match self.algorithm {
            Algorithm::FixedWindow | Algorithm::SlidingWindow => {
                window::credit(self, known, unspent)
            }
            Algorithm::SlidingLog => None,
            Algorithm::TokenBucket | Algorithm::LeakyBucket => {
                bucket::credit(self, known, unspent, now_ms)
            }
        }
    }

    /// How many units a debit could take.
    pub fn free(&self, known: Option<&CounterRow>, now_ms: i64) -> i64 {
        let Some(row) = known else { return self.leasable() };
        match self.algorithm {
            Algorithm::FixedWindow | Algorithm::SlidingWindow => window::free(self, row, now_ms),
            Algorithm::SlidingLog => log::free(self, row, now_ms),
            Algorithm::TokenBucket | Algorithm::LeakyBucket => bucket::free(self, row, now_ms),
        }
    }

    /// When everything is available again if no more is taken.
    pub fn reset_at_ms(&self, known: Option<&CounterRow>, now_ms: i64) -> i64 {
        let at = match (self.algorithm, known) {
            (Algorithm::FixedWindow | Algorithm::SlidingWindow, _) => {
                window::ends_at(self, known, now_ms)
            }
            (_, None) => now_ms,
            (Algorithm::SlidingLog, Some(row)) => log::reset_at(self, row),
            (_, Some(row)) => bucket::reset_at(self, row),
        };
        at.max(now_ms)
    }

    /// The row's window now; a clock that is behind the row follows it.
    pub fn window_at(&self, known: Option<&CounterRow>, now_ms: i64) -> i64 {
        let window = now_ms.div_euclid(self.window_ms.max(1));
        known.map_or(window, |row| window.max(row.window))
    }

    /// What can be debited from an untouched row.
    fn leasable(&self) -> i64 {
        if self.is_bucket() { bucket::leasable(self) } else { self.limit }
    }
}

#[cfg(test)]
mod tests;
