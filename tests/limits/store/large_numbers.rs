//! Large numbers: none is rounded, and none is longer than every emulator of the store can hold.

use domain::Timestamp;
use domain::limits::counter::Comparison::{AtLeast, AtMost, Equals};
use domain::limits::counter::FieldUpdate::{Add, Set};
use domain::limits::counter::{
    CounterRow, CounterWrite, Field, FieldUpdate, Unspent, WriteCondition,
};
use domain::limits::ledger::DebitOutcome;
use domain::limits::quota::MAX_LIMIT;
use domain::limits::{Algorithm, Quota};
use serde_json::Value;
use store::limits::CounterKey;

use super::{NOW, at, committed, debit, limits_in_lab};

/// The store itself holds 38 digits; an emulator that deployments are tried on rounds after 28.
const DIGITS: usize = 28;

const DAY: i64 = 86_400_000;

#[tokio::test(start_paused = true)]
async fn a_number_of_38_digits_is_kept_compared_and_added_to_digit_by_digit() {
    let (_lab, rows) = limits_in_lab();
    let quota = Quota::new(Algorithm::TokenBucket, 1, DAY);
    let key = CounterKey::new("rule", &quota, "", 0);
    let longest = 12_345_678_901_234_567_890_123_456_789_012_345_678_i128;
    let write = |condition: WriteCondition, change: FieldUpdate| CounterWrite {
        condition,
        updates: vec![(Field::FullAt, change)],
        log: None,
    };
    let first = write(WriteCondition::Absent, Set(longest));
    let stands = |full_at: i128| CounterRow { full_at, ..CounterRow::default() };
    assert_eq!(committed(rows.write(&key, &first, at(NOW)).await.unwrap()), stands(longest));
    for (is, bound, holds) in [
        (AtMost, longest - 1, false),
        (AtLeast, longest + 1, false),
        (Equals, longest - 1, false),
        (Equals, longest, true),
    ] {
        let next = write(WriteCondition::Present(vec![(Field::FullAt, is, bound)]), Add(-1));
        let expected = if holds {
            DebitOutcome::Committed(stands(longest - 1))
        } else {
            DebitOutcome::ConditionFailed(Some(stands(longest)))
        };
        let outcome = rows.write(&key, &next, at(NOW)).await.unwrap();
        assert_eq!(outcome, expected, "{is:?} {bound}");
    }
}

/// Every number in a request.
fn numbers(request: &Value, found: &mut Vec<String>) {
    match request {
        Value::Object(members) => {
            found.extend(members.get("N").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|value| numbers(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| numbers(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test(start_paused = true)]
async fn the_largest_quota_needs_no_number_that_would_be_rounded() {
    let last = Timestamp::MAX.as_millisecond() - 4 * DAY;
    for algorithm in [Algorithm::SlidingWindow, Algorithm::TokenBucket, Algorithm::LeakyBucket] {
        for now_ms in [NOW, last] {
            let (lab, rows) = limits_in_lab();
            lab.cloud.faults.record(|call| call.operation == "UpdateItem");
            let burst = (algorithm != Algorithm::SlidingWindow).then_some(2 * MAX_LIMIT);
            let quota = Quota { algorithm, limit: MAX_LIMIT, window_ms: DAY, burst };
            let key = CounterKey::new("rule", &quota, "", 0);
            let units = quota.free(None, now_ms);
            let mut row = CounterRow::default();
            for write in [
                debit(&quota, None, units, now_ms),
                // What the first one took is known, and so is when it is back.
                credit(&quota, units, now_ms),
            ] {
                row = committed(rows.write(&key, &write, at(now_ms)).await.unwrap());
            }
            let turn = debit(&quota, Some(&row), units, now_ms + 2 * DAY);
            row = committed(rows.write(&key, &turn, at(now_ms)).await.unwrap());
            assert_eq!(rows.counter(&key).await.unwrap(), Some(row), "{algorithm:?} at {now_ms}");
            let mut sent = Vec::new();
            for call in lab.cloud.faults.recorded() {
                numbers(&serde_json::from_slice(&call.body).unwrap(), &mut sent);
            }
            let digits = |number: &String| number.trim_start_matches('-').len();
            let longest = sent.iter().max_by_key(|number| digits(number)).unwrap();
            assert!(digits(longest) < DIGITS, "{algorithm:?} at {now_ms}: {longest}");
        }
    }
}

fn credit(quota: &Quota, units: i64, now_ms: i64) -> CounterWrite {
    let row = CounterRow::apply(None, &debit(quota, None, units, now_ms)).unwrap();
    let unspent = Unspent { units, window: row.window, taken_at_ms: now_ms };
    quota.credit(&row, unspent, now_ms).unwrap()
}
