//! What the store is sent is what [`CounterRow::apply`] means: random writes, the two side by side.
//!
//! Plans are made from rows as they are and as they were, by clocks that run apart; some of their
//! numbers are then moved by one, so that every comparison is met at its edge.

use domain::SplitMix64;
use domain::limits::counter::Comparison::{AtLeast, AtMost, Equals};
use domain::limits::counter::FieldUpdate::{Add, Set, SetFrom};
use domain::limits::counter::{
    CounterRow, CounterWrite, Field, FieldUpdate, Unspent, WriteCondition, WritePlan,
};
use domain::limits::ledger::DebitOutcome;
use domain::limits::{Algorithm, Quota};
use store::Limits;
use store::limits::CounterKey;

use super::{NOW, at, limits_in_lab};

const STEPS: u64 = 60;
const SEEDS: u64 = 4;

/// A row at the store, what the domain says it is, and everything it has been.
pub(super) struct Twin {
    pub(super) quota: Quota,
    pub(super) key: CounterKey,
    versions: Vec<Option<CounterRow>>,
    now_ms: i64,
}

impl Twin {
    pub(super) fn new(quota: Quota, name: &str) -> Self {
        let key = CounterKey::new(name, &quota, "entity", 0);
        Self { quota, key, versions: vec![None], now_ms: NOW }
    }

    pub(super) fn row(&self) -> Option<&CounterRow> {
        self.versions.last().and_then(Option::as_ref)
    }

    pub(super) fn become_row(&mut self, row: CounterRow) {
        self.versions.push(Some(row));
    }

    /// A write that a node may plan: from a row of any age, at a time near now.
    pub(super) fn some_write(&mut self, dice: &mut SplitMix64) -> Option<CounterWrite> {
        let window = self.quota.window_ms;
        self.now_ms += match dice.below(8) {
            0 => window,
            1 => 2 * window + 1,
            2 => window - self.now_ms.rem_euclid(window),
            3 => window / 3,
            _ => below(dice, 50),
        };
        let skew = if dice.below(4) == 0 { below(dice, window) - window / 2 } else { 0 };
        let now_ms = self.now_ms + skew;
        let age = usize::try_from(dice.below(3) * dice.below(3)).unwrap_or(0);
        let known = self.versions[self.versions.len().saturating_sub(age + 1)].as_ref();
        let unspent = (dice.below(3) == 0).then(|| Unspent {
            units: 1 + below(dice, self.quota.limit.max(1)),
            window: now_ms.div_euclid(window) - below(dice, 3),
            taken_at_ms: now_ms - below(dice, window / 4 + 1),
        });
        if let (Some(known), Some(unspent), 0) = (known, unspent, dice.below(2)) {
            return self.quota.credit(known, unspent, now_ms);
        }
        let units = 1 + below(dice, self.quota.capacity() / 2 + 1);
        match self.quota.debit(known, units, unspent, now_ms) {
            WritePlan::Write(write) => Some(nudged(write, dice)),
            WritePlan::Denied { .. } => None,
        }
    }
}

fn below(dice: &mut SplitMix64, bound: i64) -> i64 {
    i64::try_from(dice.below(bound.unsigned_abs())).unwrap_or(0)
}

/// Now and then moves a number of the condition by one, either way.
fn nudged(mut write: CounterWrite, dice: &mut SplitMix64) -> CounterWrite {
    if let WriteCondition::Present(tests) | WriteCondition::AbsentOr(tests) = &mut write.condition
        && dice.below(3) == 0
    {
        let index = dice.index(tests.len());
        tests[index].2 += if dice.below(2) == 0 { 1 } else { -1 };
    }
    write
}

/// Tries the write at the store and compares; whether it was committed.
async fn compare(rows: &Limits, twin: &mut Twin, write: &CounterWrite) -> bool {
    let said = rows.write(&twin.key, write, at(NOW)).await.unwrap();
    let meant = CounterRow::apply(twin.row(), write);
    let context = format!("{:?}: {write:?} on {:?}", twin.quota, twin.row());
    if let Some(after) = meant {
        assert_eq!(said, DebitOutcome::Committed(after.clone()), "{context}");
        twin.become_row(after);
        true
    } else {
        assert_eq!(said, DebitOutcome::ConditionFailed(twin.row().cloned()), "{context}");
        false
    }
}

fn some_quota(algorithm: Algorithm, dice: &mut SplitMix64) -> Quota {
    let limit = [1, 7, 100, 150, 1_000_000_000][dice.index(5)];
    let limit = if algorithm == Algorithm::SlidingLog { limit.min(20) } else { limit };
    let window_ms = [1_000, 60_000, 86_400_000][dice.index(3)];
    let quota = Quota::new(algorithm, limit, window_ms);
    let burst = (quota.is_bucket() && dice.below(2) == 0).then_some(2 * limit);
    Quota { burst, ..quota }
}

#[tokio::test(start_paused = true)]
async fn a_write_does_at_the_store_what_it_means_in_every_way_of_counting() {
    let (_lab, rows) = limits_in_lab();
    let (mut won, mut lost) = (0, 0);
    for (index, algorithm) in (0_u64..).zip(Algorithm::ALL) {
        for seed in 0..SEEDS {
            let mut dice = SplitMix64::new(seed << 8 | index);
            let quota = some_quota(algorithm, &mut dice);
            let mut twin = Twin::new(quota, &format!("rule-{index}-{seed}"));
            for _ in 0..STEPS {
                let Some(write) = twin.some_write(&mut dice) else { continue };
                let committed = compare(&rows, &mut twin, &write).await;
                if committed { won += 1 } else { lost += 1 }
            }
            let stands = rows.counter(&twin.key).await.unwrap();
            assert_eq!(stands.as_ref(), twin.row(), "{quota:?} in the end");
        }
    }
    println!("limits: {won} writes were committed and {lost} refused, as meant");
    assert!(won > 200 && lost > 100, "{won} won and {lost} lost");
}

/// Every field, comparison and change, each at, under and over its edge.
#[tokio::test(start_paused = true)]
async fn every_comparison_and_change_is_said_as_it_is_meant() {
    let fields = [
        Field::Window,
        Field::Used,
        Field::Before,
        Field::Leases,
        Field::LeasesBefore,
        Field::FullAt,
    ];
    let (_lab, rows) = limits_in_lab();
    let mut twin = Twin::new(super::quota(Algorithm::FixedWindow, 10), "rule");
    let all = |change: fn(i128) -> FieldUpdate| -> Vec<(Field, FieldUpdate)> {
        fields.iter().zip(100..).map(|(field, value)| (*field, change(value))).collect()
    };
    let first = CounterWrite {
        condition: WriteCondition::Absent,
        updates: all(Add),
        log: Some(vec![1, 2]),
    };
    assert!(compare(&rows, &mut twin, &first).await);
    for (field, value) in fields.into_iter().zip(100..) {
        for (is, holds) in [
            (Equals, [false, true, false]),
            (AtMost, [false, true, true]),
            (AtLeast, [true, true, false]),
        ] {
            for (bound, holds) in (value - 1..).zip(holds) {
                for condition in [WriteCondition::Present, WriteCondition::AbsentOr] {
                    let condition = condition(vec![(field, is, bound)]);
                    let write =
                        CounterWrite { condition, updates: vec![(field, Add(0))], log: None };
                    assert_eq!(compare(&rows, &mut twin, &write).await, holds, "{write:?}");
                }
            }
        }
    }
    let condition = || WriteCondition::Present(vec![(Field::Window, AtLeast, 0)]);
    let swap = vec![
        (Field::Used, SetFrom(Field::Before, -3)),
        (Field::Before, SetFrom(Field::Used, 4)),
        (Field::FullAt, Add(-100)),
    ];
    assert!(
        compare(
            &rows,
            &mut twin,
            &CounterWrite { condition: condition(), updates: swap, log: None }
        )
        .await
    );
    let fresh = CounterWrite { condition: condition(), updates: all(Set), log: Some(Vec::new()) };
    assert!(compare(&rows, &mut twin, &fresh).await);
    let absent = CounterWrite { condition: WriteCondition::Absent, updates: Vec::new(), log: None };
    assert!(!compare(&rows, &mut twin, &absent).await);
    assert_eq!(rows.counter(&twin.key).await.unwrap().as_ref(), twin.row());
}
