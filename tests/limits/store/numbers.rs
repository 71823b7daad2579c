//! Large numbers: none is rounded, and none is longer than every emulator of the store can hold.

use domain::Timestamp;
use domain::limits::counter::{Change, Field, Guard, Is, Row, Unspent, Write};
use domain::limits::ledger::Outcome;
use domain::limits::quota::LARGEST;
use domain::limits::{Algorithm, Quota};
use serde_json::Value;
use store::limits::CounterKey;
use tests::Lab;

use super::{NOW, at, committed, debit, limits};

/// The store itself holds 38 digits; an emulator that deployments are tried on rounds after 28.
const DIGITS: usize = 28;

const DAY: i64 = 86_400_000;

#[tokio::test(start_paused = true)]
async fn a_number_of_38_digits_is_kept_compared_and_added_to_digit_by_digit() {
    let lab = Lab::new();
    let rows = limits(&lab);
    let quota = Quota { algorithm: Algorithm::TokenBucket, limit: 1, window_ms: DAY, burst: None };
    let key = CounterKey::new("rule", &quota, "", 0);
    let longest = 12_345_678_901_234_567_890_123_456_789_012_345_678_i128;
    let write = |guard: Guard, change: Change| Write {
        guard,
        changes: vec![(Field::FullAt, change)],
        log: None,
    };
    let first = write(Guard::Absent, Change::Be(longest));
    let stands = |full_at: i128| Row { full_at, ..Row::default() };
    assert_eq!(committed(rows.try_write(&key, &first, at(NOW)).await.unwrap()), stands(longest));
    for (is, bound, holds) in [
        (Is::AtMost, longest - 1, false),
        (Is::AtLeast, longest + 1, false),
        (Is::Exactly, longest - 1, false),
        (Is::Exactly, longest, true),
    ] {
        let next = write(Guard::Row(vec![(Field::FullAt, is, bound)]), Change::Plus(-1));
        let expected = if holds {
            Outcome::Committed(stands(longest - 1))
        } else {
            Outcome::Refused(Some(stands(longest)))
        };
        let outcome = rows.try_write(&key, &next, at(NOW)).await.unwrap();
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
            let lab = Lab::new();
            let rows = limits(&lab);
            lab.cloud.faults.record(|call| call.operation == "UpdateItem");
            let burst = (algorithm != Algorithm::SlidingWindow).then_some(2 * LARGEST);
            let quota = Quota { algorithm, limit: LARGEST, window_ms: DAY, burst };
            let key = CounterKey::new("rule", &quota, "", 0);
            let units = quota.free(None, now_ms);
            let mut row = Row::default();
            for write in [
                debit(&quota, None, units, now_ms),
                // What the first one took is known, and so is when it is back.
                credit(&quota, units, now_ms),
            ] {
                row = committed(rows.try_write(&key, &write, at(now_ms)).await.unwrap());
            }
            let turn = debit(&quota, Some(&row), units, now_ms + 2 * DAY);
            row = committed(rows.try_write(&key, &turn, at(now_ms)).await.unwrap());
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

fn credit(quota: &Quota, units: i64, now_ms: i64) -> Write {
    let row = Row::apply(None, &debit(quota, None, units, now_ms)).unwrap();
    let unspent = Unspent { units, window: row.window, taken_at_ms: now_ms };
    quota.credit(&row, unspent, now_ms).unwrap()
}
