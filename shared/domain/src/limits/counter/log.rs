//! The exact log of a sliding window: when each unit was taken.

use super::{Change, Field, Guard, Is, Plan, Row, Write};
use crate::limits::quota::Quota;

pub(super) fn debit(quota: &Quota, known: Option<&Row>, units: i64, now_ms: i64) -> Plan {
    let count = usize::try_from(units).unwrap_or(usize::MAX);
    let limit = usize::try_from(quota.limit).unwrap_or(0);
    let Some(row) = known else {
        let changes = vec![(Field::Leases, Change::Be(1))];
        let log = Some(vec![now_ms; count]);
        return Plan::Write(Write { guard: Guard::Absent, changes, log });
    };
    let mut log = kept(quota, row, now_ms);
    let after = log.len() + count;
    if after > limit {
        let last_to_go = log.get(after - limit - 1);
        let retry_at_ms = last_to_go.map(|at| at.saturating_add(quota.window_ms));
        return Plan::Denied { retry_at_ms };
    }
    log.resize(after, clock(row, now_ms));
    let guard = Guard::Row(vec![(Field::Leases, Is::Exactly, row.leases.into())]);
    Plan::Write(Write { guard, changes: vec![(Field::Leases, Change::Plus(1))], log: Some(log) })
}

pub(super) fn free(quota: &Quota, row: &Row, now_ms: i64) -> i64 {
    let taken = i64::try_from(kept(quota, row, now_ms).len()).unwrap_or(i64::MAX);
    (quota.limit - taken).max(0)
}

pub(super) fn reset_at(quota: &Quota, row: &Row) -> i64 {
    row.log.last().map_or(0, |at| at.saturating_add(quota.window_ms))
}

/// What still counts.
fn kept(quota: &Quota, row: &Row, now_ms: i64) -> Vec<i64> {
    let since = clock(row, now_ms).saturating_sub(quota.window_ms);
    row.log.iter().copied().filter(|at| *at > since).collect()
}

/// A clock that is behind the log follows it.
fn clock(row: &Row, now_ms: i64) -> i64 {
    row.log.last().map_or(now_ms, |last| now_ms.max(*last))
}
