//! Token and leaky buckets: one number, the time at which the bucket is full again.
//!
//! Taking `n` units moves that time on by what `n` units take to come back; it must not lie further
//! ahead than a whole bucket takes. Times are milliseconds multiplied by the limit, so a unit costs
//! exactly the window's length and nothing is ever rounded.
//!
//! A node holds units for [`Quota::lease_ms`] at most, and what comes back in that time is kept out of
//! the bucket: in any interval, admitted ≤ burst + rate × interval, held units included.

use super::Comparison::{AtLeast, AtMost, Equals};
use super::FieldUpdate::{Add, Set};
use super::{
    CounterRow, CounterWrite, Field, FieldUpdate, Unspent, WriteCondition, WritePlan, leases_before,
};
use crate::limits::quota::Quota;

pub(super) fn debit(
    quota: &Quota,
    known: Option<&CounterRow>,
    units: i64,
    unspent: Option<Unspent>,
    contended: bool,
    now_ms: i64,
) -> WritePlan {
    let now = scaled(quota, now_ms);
    let cost = cost(quota, units);
    if cost > depth(quota) {
        return WritePlan::Denied { retry_at_ms: None };
    }
    let window = quota.window_at(known, now_ms);
    let Some(row) = known else {
        let updates = vec![
            (Field::Window, Set(window.into())),
            (Field::FullAt, Set(now + cost)),
            (Field::Leases, Set(1)),
            (Field::LeasesBefore, Set(0)),
        ];
        return WritePlan::Write(CounterWrite {
            condition: WriteCondition::Absent,
            updates,
            log: None,
        });
    };
    let back = unspent.map_or(0, |unspent| owed(quota, unspent, now_ms));
    let latest = now + depth(quota) - cost;
    if (row.full_at - back).max(now) > latest {
        let at = row.full_at - back + cost - depth(quota);
        return WritePlan::Denied { retry_at_ms: Some(unscaled(quota, at).max(now_ms + 1)) };
    }
    let mut tests = vec![(Field::Window, Equals, row.window.into())];
    let mut updates = counted(row, window);
    let slack = if contended { slack(quota).min(latest - now) } else { 0 };
    if row.full_at - back >= now + slack / 2 {
        tests.push((Field::FullAt, AtLeast, now + back));
        tests.push((Field::FullAt, AtMost, latest + back));
        updates.push((Field::FullAt, Add(cost - back)));
    } else {
        // It was full, or would be with what comes back: nothing before now counts any more.
        tests.push((Field::FullAt, AtMost, now + slack + back));
        updates.push((Field::FullAt, Set(now + slack + cost)));
    }
    WritePlan::Write(CounterWrite { condition: WriteCondition::Present(tests), updates, log: None })
}

fn counted(row: &CounterRow, window: i64) -> Vec<(Field, FieldUpdate)> {
    if row.window == window {
        return vec![(Field::Leases, Add(1))];
    }
    vec![
        (Field::Window, Set(window.into())),
        (Field::LeasesBefore, leases_before(row, window)),
        (Field::Leases, Set(1)),
    ]
}

pub(super) fn credit(
    quota: &Quota,
    row: &CounterRow,
    unspent: Unspent,
    now_ms: i64,
) -> Option<CounterWrite> {
    let back = owed(quota, unspent, now_ms).min(row.full_at - scaled(quota, now_ms));
    if back <= 0 {
        return None;
    }
    let condition =
        WriteCondition::Present(vec![(Field::FullAt, AtLeast, scaled(quota, now_ms) + back)]);
    Some(CounterWrite { condition, updates: vec![(Field::FullAt, Add(-back))], log: None })
}

pub(super) fn free(quota: &Quota, row: &CounterRow, now_ms: i64) -> i64 {
    let now = scaled(quota, now_ms);
    let room = now + depth(quota) - row.full_at.max(now);
    i64::try_from(room / cost(quota, 1)).unwrap_or(0).max(0)
}

/// What an untouched bucket gives away.
pub(super) fn leasable(quota: &Quota) -> i64 {
    i64::try_from(depth(quota) / cost(quota, 1)).unwrap_or(0)
}

pub(super) fn reset_at(quota: &Quota, row: &CounterRow) -> i64 {
    unscaled(quota, row.full_at)
}

/// Many nodes that draw on a bucket that is nearly full would refuse each other's writes all the time:
/// each write holds for a full bucket or for one that isn't, and at the border both turn false at once.
/// So for them a bucket this close to being full counts as that far from it, which makes both kinds of
/// write hold around the border.
fn slack(quota: &Quota) -> i128 {
    scaled(quota, quota.lease_ms())
}

/// How far ahead the time may lie: the burst, without what comes back while units are held.
fn depth(quota: &Quota) -> i128 {
    cost(quota, quota.capacity()) - scaled(quota, quota.lease_ms())
}

/// What a credit is worth: units come back by themselves too, and the bucket may have been full.
fn owed(quota: &Quota, unspent: Unspent, now_ms: i64) -> i128 {
    let since = scaled(quota, now_ms.saturating_sub(unspent.taken_at_ms).max(0));
    (cost(quota, unspent.units) - since).max(0)
}

fn cost(quota: &Quota, units: i64) -> i128 {
    i128::from(units) * i128::from(quota.window_ms.max(1))
}

fn scaled(quota: &Quota, ms: i64) -> i128 {
    i128::from(ms) * i128::from(quota.limit.max(1))
}

/// Rounded up: never before it is true.
fn unscaled(quota: &Quota, time: i128) -> i64 {
    let limit = i128::from(quota.limit.max(1));
    i64::try_from((time + limit - 1).div_euclid(limit)).unwrap_or(i64::MAX)
}
