//! The exact log of a sliding window: when each unit was taken.

use super::Comparison::Equals;
use super::FieldUpdate::{Add, Set};
use super::{CounterRow, CounterWrite, Field, WriteCondition, WritePlan};
use crate::limits::quota::Quota;

pub(super) fn debit(
    quota: &Quota,
    known: Option<&CounterRow>,
    units: i64,
    now_ms: i64,
) -> WritePlan {
    let count = usize::try_from(units).unwrap_or(usize::MAX);
    let limit = usize::try_from(quota.limit).unwrap_or(0);
    let Some(row) = known else {
        let updates = vec![(Field::Leases, Set(1))];
        let log = Some(vec![now_ms; count]);
        return WritePlan::Write(CounterWrite { condition: WriteCondition::Absent, updates, log });
    };
    let mut log = kept(quota, row, now_ms);
    let after = log.len() + count;
    if after > limit {
        let last_to_go = log.get(after - limit - 1);
        let retry_at_ms = last_to_go.map(|at| at.saturating_add(quota.window_ms));
        return WritePlan::Denied { retry_at_ms };
    }
    log.resize(after, clock(row, now_ms));
    let condition = WriteCondition::Present(vec![(Field::Leases, Equals, row.leases.into())]);
    WritePlan::Write(CounterWrite {
        condition,
        updates: vec![(Field::Leases, Add(1))],
        log: Some(log),
    })
}

pub(super) fn free(quota: &Quota, row: &CounterRow, now_ms: i64) -> i64 {
    let taken = i64::try_from(kept(quota, row, now_ms).len()).unwrap_or(i64::MAX);
    (quota.limit - taken).max(0)
}

pub(super) fn reset_at(quota: &Quota, row: &CounterRow) -> i64 {
    row.log.last().map_or(0, |at| at.saturating_add(quota.window_ms))
}

fn kept(quota: &Quota, row: &CounterRow, now_ms: i64) -> Vec<i64> {
    let since = clock(row, now_ms).saturating_sub(quota.window_ms);
    row.log.iter().copied().filter(|at| *at > since).collect()
}

/// A clock that is behind the log follows it.
fn clock(row: &CounterRow, now_ms: i64) -> i64 {
    row.log.last().map_or(now_ms, |last| now_ms.max(*last))
}
