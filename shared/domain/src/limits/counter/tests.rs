//! The counter against oracles that know every admitted unit: same answers where one caller asks,
//! and never more than theirs with clocks that step back, stale rows, credits and held units.

mod agreement;
mod clocks;
mod credits;
mod leases;
mod oracle;
mod outlook;
mod schedule;
mod shards;
mod stale;

use super::{CounterRow, CounterWrite, Unspent, WritePlan};
use crate::limits::quota::{Algorithm, Quota};

/// A row as the store has it.
#[derive(Debug, Clone)]
struct Shared {
    quota: Quota,
    row: Option<CounterRow>,
}

impl Shared {
    fn new(quota: Quota) -> Self {
        Self { quota, row: None }
    }

    /// Debits from the row as it is; whether that was admitted.
    fn take(&mut self, units: i64, now_ms: i64) -> bool {
        match self.quota.debit(self.row.as_ref(), units, None, now_ms) {
            WritePlan::Write(write) => {
                assert!(self.commit(&write), "planned from this very row: {write:?}");
                true
            }
            WritePlan::Denied { .. } => false,
        }
    }

    /// Writes if the condition holds; whether it did.
    fn commit(&mut self, write: &CounterWrite) -> bool {
        let after = CounterRow::apply(self.row.as_ref(), write);
        let held = after.is_some();
        if let Some(after) = after {
            assert!(
                [after.used, after.before, after.leases, after.leases_before]
                    .iter()
                    .all(|n| *n >= 0)
                    && after.full_at >= 0,
                "{after:?} after {write:?}"
            );
            self.row = Some(after);
        }
        held
    }

    fn free(&self, now_ms: i64) -> i64 {
        self.quota.free(self.row.as_ref(), now_ms)
    }
}

fn quota(algorithm: Algorithm, limit: i64, window_ms: i64) -> Quota {
    Quota::new(algorithm, limit, window_ms)
}

fn is_write(plan: &WritePlan) -> bool {
    matches!(plan, WritePlan::Write(_))
}
