//! Shared counters, one condition at a time; the rest of limits in the files beside.

mod agreement;
mod documents;
mod large_numbers;
mod transactions;
mod usage_reports;

use domain::Timestamp;
use domain::limits::counter::{CounterRow, CounterWrite, Unspent, WritePlan};
use domain::limits::ledger::DebitOutcome;
use domain::limits::{Algorithm, Quota};
use local::faults::Fault;
use store::Limits;
use store::limits::CounterKey;
use tests::Lab;

/// Noon, at the beginning of a minute.
const NOW: i64 = 1_772_366_400_000;
const MINUTE: i64 = 60_000;

fn limits(lab: &Lab) -> Limits {
    Limits::new(lab.aws().dynamodb(), lab.table("LimitsTable"))
}

fn limits_in_lab() -> (Lab, Limits) {
    let lab = Lab::new();
    let store = limits(&lab);
    (lab, store)
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap()
}

fn quota(algorithm: Algorithm, limit: i64) -> Quota {
    Quota::new(algorithm, limit, MINUTE)
}

fn debit(quota: &Quota, known: Option<&CounterRow>, units: i64, now_ms: i64) -> CounterWrite {
    match quota.debit(known, units, None, now_ms) {
        WritePlan::Write(write) => write,
        WritePlan::Denied { .. } => panic!("{units} of {quota:?} are denied"),
    }
}

/// One row and those who write it.
struct Shared {
    rows: Limits,
    quota: Quota,
    key: CounterKey,
}

impl Shared {
    fn new(lab: &Lab, quota: Quota) -> Self {
        // Both kinds of bucket have rows of one shape, and each test wants its own.
        let rule = format!("{:?}", quota.algorithm);
        Self { rows: limits(lab), quota, key: CounterKey::new(&rule, &quota, "ada", 0) }
    }

    async fn write(&self, write: &CounterWrite) -> DebitOutcome {
        self.rows.write(&self.key, write, at(NOW)).await.unwrap()
    }

    async fn take(&self, known: Option<&CounterRow>, units: i64, now_ms: i64) -> DebitOutcome {
        self.write(&debit(&self.quota, known, units, now_ms)).await
    }

    async fn row(&self) -> Option<CounterRow> {
        self.rows.counter(&self.key).await.unwrap()
    }
}

fn committed(outcome: DebitOutcome) -> CounterRow {
    match outcome {
        DebitOutcome::Committed(row) => row,
        DebitOutcome::CommittedUnseen
        | DebitOutcome::ConditionFailed(_)
        | DebitOutcome::Skipped
        | DebitOutcome::Failed => {
            panic!("{outcome:?}")
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_debit_makes_the_row_and_the_same_again_is_shown_what_stands_there() {
    let lab = Lab::new();
    for algorithm in Algorithm::ALL {
        let shared = Shared::new(&lab, quota(algorithm, 10));
        let first = committed(shared.take(None, 6, NOW).await);
        assert_eq!(shared.row().await.as_ref(), Some(&first), "{algorithm:?}");
        let again = shared.take(None, 6, NOW).await;
        assert_eq!(again, DebitOutcome::ConditionFailed(Some(first)), "{algorithm:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_units_go_to_one_of_two_who_both_saw_them() {
    let lab = Lab::new();
    for algorithm in [Algorithm::FixedWindow, Algorithm::SlidingLog, Algorithm::TokenBucket] {
        let shared = Shared::new(&lab, quota(algorithm, 10));
        let known = committed(shared.take(None, 4, NOW).await);
        let (one, two) = futures::join!(
            shared.take(Some(&known), 6, NOW),
            shared.take(Some(&known), 6, NOW + 1)
        );
        let won = committed(one);
        assert_eq!(two, DebitOutcome::ConditionFailed(Some(won.clone())), "{algorithm:?}");
        assert_eq!(shared.row().await, Some(won), "{algorithm:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_credit_gives_back_what_is_counted_and_not_a_second_time() {
    let lab = Lab::new();
    for algorithm in [Algorithm::FixedWindow, Algorithm::TokenBucket] {
        let shared = Shared::new(&lab, quota(algorithm, 200));
        let known = committed(shared.take(None, 150, NOW).await);
        let unspent = Unspent { units: 150, window: known.window, taken_at_ms: NOW };
        let credit = shared.quota.credit(&known, unspent, NOW).unwrap();
        let after = committed(shared.write(&credit).await);
        assert_eq!(shared.quota.free(Some(&after), NOW), shared.quota.free(None, NOW));
        assert_eq!(
            shared.write(&credit).await,
            DebitOutcome::ConditionFailed(Some(after)),
            "{algorithm:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_window_turns_once_and_carries_over_what_was_used() {
    let lab = Lab::new();
    let shared = Shared::new(&lab, quota(Algorithm::SlidingWindow, 10));
    let known = committed(shared.take(None, 4, NOW).await);
    let turn = debit(&shared.quota, Some(&known), 1, NOW + MINUTE);
    let after = committed(shared.write(&turn).await);
    assert_eq!((after.window, after.used, after.before), (known.window + 1, 1, 4));
    assert_eq!(shared.write(&turn).await, DebitOutcome::ConditionFailed(Some(after)));
}

#[tokio::test(start_paused = true)]
async fn a_window_does_not_turn_for_a_node_that_saw_less_in_it() {
    let lab = Lab::new();
    let shared = Shared::new(&lab, quota(Algorithm::SlidingWindow, 10));
    let known = committed(shared.take(None, 2, NOW).await);
    let turn = debit(&shared.quota, Some(&known), 8, NOW + MINUTE);
    let more = committed(shared.take(Some(&known), 1, NOW).await);
    assert_eq!(shared.write(&turn).await, DebitOutcome::ConditionFailed(Some(more)));
}

/// A credit that was carried out and is sent again would give units twice.
#[tokio::test(start_paused = true)]
async fn a_write_whose_outcome_is_unknown_is_a_failure_and_never_repeated() {
    for fault in [Fault::CommitThenTimeout, Fault::CutBefore, Fault::Throttle, Fault::ServerError] {
        let lab = Lab::new();
        let shared = Shared::new(&lab, quota(Algorithm::FixedWindow, 10));
        let write = debit(&shared.quota, None, 3, NOW);
        lab.cloud.faults.record(|call| call.operation.contains("Item"));
        lab.cloud.faults.inject(0, fault);
        shared.rows.write(&shared.key, &write, at(NOW)).await.unwrap_err();
        let done = fault == Fault::CommitThenTimeout;
        assert_eq!(lab.cloud.faults.recorded().len(), usize::from(done), "{fault:?}");
        lab.cloud.faults.inject(0, fault);
        let writes =
            [(shared.key.clone(), &write), (CounterKey::new("b", &shared.quota, "", 0), &write)];
        shared.rows.write_together(&writes, at(NOW)).await.unwrap_err();
        assert_eq!(lab.cloud.faults.recorded().len(), 2 * usize::from(done), "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn rows_are_apart_by_rule_way_of_counting_entity_and_shard() {
    let (_lab, rows) = limits_in_lab();
    let (one, other) = (quota(Algorithm::FixedWindow, 10), quota(Algorithm::SlidingWindow, 10));
    let longer = Quota { window_ms: 2 * MINUTE, ..one };
    let write = debit(&one, None, 10, NOW);
    for (rule, quota, entity, shard) in [
        ("rule", one, "ada", 0),
        ("rules", one, "ada", 0),
        ("rule", other, "ada", 0),
        ("rule", longer, "ada", 0),
        ("rule", one, "bob", 0),
        ("rule", one, "ada", 1),
    ] {
        let key = CounterKey::new(rule, &quota, entity, shard);
        committed(rows.write(&key, &write, at(NOW)).await.unwrap());
    }
    // Another limit of the same window counts on in the same row.
    let key = CounterKey::new("rule", &quota(Algorithm::FixedWindow, 20), "ada", 0);
    assert_eq!(rows.counter(&key).await.unwrap().map(|row| row.used), Some(10));
}
