//! Fixed and sliding windows, in one row: this window and the one before.
//!
//! Units debited in a window are spent in it. What the previous window weighs only falls while a
//! window lasts, so what fitted when it was debited fits whenever it is spent.

use super::Comparison::{AtLeast, AtMost, Equals};
use super::FieldUpdate::{Add, Set, SetFrom};
use super::{CounterRow, CounterWrite, Field, Unspent, WriteCondition, WritePlan, leases_before};
use crate::limits::quota::{Algorithm, Quota};

pub(super) fn debit(
    quota: &Quota,
    known: Option<&CounterRow>,
    units: i64,
    unspent: Option<Unspent>,
    now_ms: i64,
) -> WritePlan {
    let window = quota.window_at(known, now_ms);
    let Some(row) = known else { return WritePlan::Write(first(quota, window, units)) };
    let back = |counted: i64| {
        unspent.filter(|unspent| unspent.window == counted).map_or(0, |unspent| unspent.units)
    };
    let mut after = rolled(quota, row, window);
    // No more than the row counts: a debit that its condition refuses would be planned again forever.
    let (back_before, back) = (back(window - 1).min(after.before), back(window).min(after.used));
    after.before -= back_before;
    after.used -= back;
    let room = quota.limit - units - weight(quota, &after, now_ms);
    if after.used > room {
        return WritePlan::Denied { retry_at_ms: retry_at(quota, &after, units, now_ms) };
    }
    let write = if row.window == window {
        same_window(row, units, back, back_before, room)
    } else {
        next_window(row, window, units, back_before)
    };
    WritePlan::Write(write)
}

/// A write for a row that was never seen. It succeeds if there is none, or if one is there that is
/// hardly used; otherwise the store shows it.
fn first(quota: &Quota, window: i64, units: i64) -> CounterWrite {
    let light = quota.limit / 4;
    let condition = WriteCondition::AbsentOr(vec![
        (Field::Window, Equals, window.into()),
        (Field::Before, AtMost, light.into()),
        (Field::Used, AtMost, (quota.limit - units - light).into()),
    ]);
    let updates = vec![
        (Field::Window, Set(window.into())),
        (Field::Used, Add(units.into())),
        (Field::Before, Add(0)),
        (Field::Leases, Add(1)),
        (Field::LeasesBefore, Add(0)),
    ];
    CounterWrite { condition, updates, log: None }
}

fn same_window(
    row: &CounterRow,
    units: i64,
    back: i64,
    back_before: i64,
    room: i64,
) -> CounterWrite {
    let mut tests = vec![
        (Field::Window, Equals, row.window.into()),
        (Field::Before, AtMost, row.before.into()),
        (Field::Used, AtMost, (room + back).into()),
    ];
    let mut updates = vec![(Field::Used, Add((units - back).into())), (Field::Leases, Add(1))];
    if back > 0 {
        tests.push((Field::Used, AtLeast, back.into()));
    }
    if back_before > 0 {
        tests.push((Field::Before, AtLeast, back_before.into()));
        updates.push((Field::Before, Add((-back_before).into())));
    }
    CounterWrite { condition: WriteCondition::Present(tests), updates, log: None }
}

/// The first write of a window. It holds for the row as it was seen and no other: what is carried
/// over has been weighed.
fn next_window(row: &CounterRow, window: i64, units: i64, back_before: i64) -> CounterWrite {
    let adjacent = row.window + 1 == window;
    let before = if adjacent { SetFrom(Field::Used, (-back_before).into()) } else { Set(0) };
    let mut tests =
        vec![(Field::Window, Equals, row.window.into()), (Field::Used, AtMost, row.used.into())];
    if back_before > 0 {
        tests.push((Field::Used, AtLeast, back_before.into()));
    }
    let updates = vec![
        (Field::Window, Set(window.into())),
        (Field::Before, before),
        (Field::Used, Set(units.into())),
        (Field::LeasesBefore, leases_before(row, window)),
        (Field::Leases, Set(1)),
    ];
    CounterWrite { condition: WriteCondition::Present(tests), updates, log: None }
}

pub(super) fn credit(quota: &Quota, row: &CounterRow, unspent: Unspent) -> Option<CounterWrite> {
    let (field, counted) = match row.window - unspent.window {
        0 => (Field::Used, row.used),
        1 if quota.algorithm == Algorithm::SlidingWindow => (Field::Before, row.before),
        _ => return None,
    };
    let back = unspent.units.min(counted);
    if back <= 0 {
        return None;
    }
    let condition = WriteCondition::Present(vec![
        (Field::Window, Equals, row.window.into()),
        (field, AtLeast, back.into()),
    ]);
    Some(CounterWrite { condition, updates: vec![(field, Add((-back).into()))], log: None })
}

pub(super) fn free(quota: &Quota, row: &CounterRow, now_ms: i64) -> i64 {
    let row = rolled(quota, row, quota.window_at(Some(row), now_ms));
    (quota.limit - row.used - weight(quota, &row, now_ms)).max(0)
}

pub(super) fn ends_at(quota: &Quota, known: Option<&CounterRow>, now_ms: i64) -> i64 {
    (quota.window_at(known, now_ms) + 1).saturating_mul(quota.window_ms)
}

/// The row as it is in `window`, whether or not anyone has written that down yet.
fn rolled(quota: &Quota, row: &CounterRow, window: i64) -> CounterRow {
    let before = match window - row.window {
        ..=0 => return row.clone(),
        1 if quota.algorithm == Algorithm::SlidingWindow => row.used,
        _ => 0,
    };
    CounterRow { window, before, ..CounterRow::default() }
}

/// What the window before still weighs: rounded up, which is exact where whole units are compared.
fn weight(quota: &Quota, row: &CounterRow, now_ms: i64) -> i64 {
    if quota.algorithm == Algorithm::FixedWindow || row.before == 0 {
        return 0;
    }
    let length = i128::from(quota.window_ms.max(1));
    let passed = i128::from(now_ms) - i128::from(row.window) * length;
    let overlap = (length - passed).clamp(0, length);
    let weight = (i128::from(row.before) * overlap + length - 1) / length;
    i64::try_from(weight).unwrap_or(i64::MAX)
}

/// When `units` fit, if no more is taken.
fn retry_at(quota: &Quota, row: &CounterRow, units: i64, now_ms: i64) -> Option<i64> {
    let length = quota.window_ms.max(1);
    let start = row.window.saturating_mul(length);
    if quota.algorithm == Algorithm::FixedWindow {
        return (units <= quota.limit).then(|| start.saturating_add(length));
    }
    // Within a window the time when `before` weighs at most `room`.
    let fits = |begins: i64, before: i64, room: i64| {
        let light = i128::from(room) * i128::from(length) / i128::from(before.max(1));
        let passed = i64::try_from(i128::from(length) - light).unwrap_or(0).clamp(0, length);
        begins.saturating_add(passed)
    };
    let room = quota.limit - units - row.used;
    let at = if room >= 0 {
        fits(start, row.before, room)
    } else {
        fits(start.saturating_add(length), row.used, quota.limit - units)
    };
    Some(at.max(now_ms + 1))
}
