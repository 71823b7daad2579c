//! Credits for what was debited and never spent: they make room for others, and what is *spent* stays
//! within the quota all the same.

use proptest::collection::vec;
use proptest::prelude::*;

use super::oracle::Oracle;
use super::schedule::{Gap, Units, any_quota, gap, start, units};
use super::{Algorithm, CounterRow, Quota, Shared, Unspent, WritePlan, is_write, quota};

#[derive(Debug, Clone, Copy)]
enum Act {
    /// A debit, of which so many hundredths are spent; it may carry a credit.
    Debit {
        gap: Gap,
        age: usize,
        units: Units,
        spent: i64,
        credit: Option<usize>,
    },
    Credit {
        gap: Gap,
        age: usize,
        which: usize,
    },
}

fn act() -> impl Strategy<Value = Act> {
    let (spent, credit) = (prop_oneof![Just(0_i64), 0_i64..=100], proptest::option::of(0_usize..9));
    let debit = (gap(), 0_usize..3, units(), spent, credit)
        .prop_map(|(gap, age, units, spent, credit)| Act::Debit { gap, age, units, spent, credit });
    let credit = (gap(), 0_usize..3, 0_usize..9);
    prop_oneof![2 => debit, 1 => credit.prop_map(|(gap, age, which)| Act::Credit { gap, age, which })]
}

/// The row, its past, and what its holders have not spent.
struct Holders {
    shared: Shared,
    versions: Vec<Option<CounterRow>>,
    unspent: Vec<Unspent>,
    spent: Oracle,
}

impl Holders {
    fn known(&self, age: usize) -> Option<CounterRow> {
        self.versions[self.versions.len().saturating_sub(age + 1)].clone()
    }

    fn pick(&mut self, which: usize) -> Option<Unspent> {
        let count = self.unspent.len();
        (count > 0).then(|| self.unspent.swap_remove(which % count))
    }

    /// Whether what was spent, if this committed, is within the quota.
    fn debit(
        &mut self,
        plan: &WritePlan,
        back: Option<Unspent>,
        units: (i64, i64),
        now_ms: i64,
    ) -> bool {
        let (units, spent) = units;
        let committed = matches!(plan, WritePlan::Write(write) if self.shared.commit(write));
        if !committed {
            self.unspent.extend(back);
            return true;
        }
        let window = self.shared.row.as_ref().unwrap().window;
        self.versions.push(self.shared.row.clone());
        self.unspent.push(Unspent { units: units - spent, window, taken_at_ms: now_ms });
        spent == 0 || self.spent.take(&self.shared.quota, spent, now_ms)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_spent_stays_within_the_quota_with_any_credits(
        quota in any_quota(),
        start_ms in start(),
        acts in vec(act(), 1..60),
    ) {
        let mut holders = Holders {
            shared: Shared::new(quota),
            versions: vec![None],
            unspent: Vec::new(),
            spent: Oracle::default(),
        };
        let mut now_ms = start_ms;
        for act in acts {
            match act {
                Act::Debit { gap, age, units, spent, credit } => {
                    now_ms = gap.from(now_ms, &quota);
                    let (known, units) = (holders.known(age), units.of(&quota));
                    let back = credit.and_then(|which| holders.pick(which));
                    let plan = quota.debit(known.as_ref(), units, back, now_ms);
                    let amounts = (units, units.saturating_mul(spent) / 100);
                    prop_assert!(holders.debit(&plan, back, amounts, now_ms), "{units} at {now_ms}");
                }
                Act::Credit { gap, age, which } => {
                    now_ms = gap.from(now_ms, &quota);
                    let Some(known) = holders.known(age) else { continue };
                    let Some(back) = holders.pick(which) else { continue };
                    let write = quota.credit(&known, back, now_ms);
                    if write.is_some_and(|write| holders.shared.commit(&write)) {
                        holders.versions.push(holders.shared.row.clone());
                    } else {
                        holders.unspent.push(back);
                    }
                }
            }
        }
    }

    #[test]
    fn no_claim_makes_a_plan_that_its_own_row_refuses(
        quota in any_quota(),
        (window, used, before, full_at) in (0_i64..4, 0_i64..200, 0_i64..200, 0_i128..4_000_000),
        (units, back, taken_in) in (1_i64..20, 0_i64..300, 0_i64..5),
        now_ms in 0_i64..5_000,
    ) {
        let row = CounterRow { window, used, before, full_at, leases: 3, ..CounterRow::default() };
        let taken_at_ms = (taken_in * quota.window_ms).min(now_ms);
        let unspent = Unspent { units: back, window: taken_in, taken_at_ms };
        let plan = quota.debit(Some(&row), units, Some(unspent), now_ms);
        if let WritePlan::Write(write) = plan {
            let mut shared = Shared { quota, row: Some(row.clone()) };
            prop_assert!(shared.commit(&write), "{write:?}");
        }
        if let Some(write) = quota.credit(&row, unspent, now_ms) {
            let mut shared = Shared { quota, row: Some(row.clone()) };
            prop_assert!(shared.commit(&write), "{write:?}");
            prop_assert_ne!(shared.row, Some(row), "a credit changes something");
        }
    }
}

fn taken(quota: Quota, units: i64, now_ms: i64) -> (Shared, Unspent) {
    let mut shared = Shared::new(quota);
    assert!(shared.take(units, now_ms));
    let window = shared.row.as_ref().unwrap().window;
    (shared, Unspent { units, window, taken_at_ms: now_ms })
}

#[test]
fn a_credit_makes_room_at_once() {
    use Algorithm::{FixedWindow, LeakyBucket, SlidingWindow, TokenBucket};
    for algorithm in [FixedWindow, SlidingWindow, TokenBucket, LeakyBucket] {
        let (mut shared, unspent) = taken(quota(algorithm, 10, 1_000), 10, 1_300);
        let part = Unspent { units: 4, ..unspent };
        let plan = shared.quota.debit(shared.row.as_ref(), 4, Some(part), 1_300);
        assert!(is_write(&plan), "{algorithm:?}: with the debit");
        let write = shared.quota.credit(shared.row.as_ref().unwrap(), part, 1_300).unwrap();
        assert!(shared.commit(&write));
        assert_eq!(shared.free(1_300), 4, "{algorithm:?}: by itself");
    }
}

#[test]
fn a_sliding_window_takes_credits_for_the_window_before() {
    let (mut shared, unspent) = taken(quota(Algorithm::SlidingWindow, 10, 1_000), 10, 1_300);
    assert_eq!(shared.free(2_000), 0);
    let plan =
        shared.quota.debit(shared.row.as_ref(), 4, Some(Unspent { units: 4, ..unspent }), 2_000);
    let WritePlan::Write(write) = plan else { panic!("{plan:?}") };
    assert!(shared.commit(&write));
    let row = shared.row.clone().unwrap();
    assert_eq!((row.window, row.before, row.used), (2, 6, 4));
    let write = shared.quota.credit(&row, Unspent { units: 6, ..unspent }, 2_000).unwrap();
    assert!(shared.commit(&write));
    assert_eq!(shared.free(2_000), 6);
}

#[test]
fn a_credit_for_a_window_long_gone_changes_nothing() {
    for algorithm in super::Algorithm::ALL {
        let (mut shared, unspent) = taken(quota(algorithm, 10, 1_000), 10, 1_300);
        assert!(shared.take(10, 3_300));
        let row = shared.row.as_ref().unwrap();
        assert_eq!(shared.quota.credit(row, unspent, 3_300), None, "{algorithm:?}");
        let plan = shared.quota.debit(Some(row), 1, Some(unspent), 3_300);
        assert_eq!(plan, shared.quota.debit(Some(row), 1, None, 3_300), "{algorithm:?}");
        assert!(!is_write(&plan), "{algorithm:?}");
    }
}

#[test]
fn a_bucket_credits_only_what_has_not_come_back_by_itself() {
    let (mut shared, unspent) = taken(quota(Algorithm::TokenBucket, 10, 1_000), 4, 1_000);
    // At 1,300 three of the four have come back, and then all that is there is taken.
    assert!(shared.take(9, 1_300));
    let write = shared.quota.credit(shared.row.as_ref().unwrap(), unspent, 1_300).unwrap();
    assert!(shared.commit(&write));
    assert_eq!(shared.free(1_300), 1);
}
