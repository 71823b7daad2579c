//! Writes planned from rows that have moved on, committed in any order.

use proptest::collection::vec;
use proptest::prelude::*;

use super::oracle::Oracle;
use super::schedule::{Gap, Units, any_quota, gap, jump, start, units};
use super::{Algorithm, CounterRow, CounterWrite, Shared, Unspent, WritePlan, is_write, quota};

#[derive(Debug, Clone, Copy)]
enum Act {
    /// A planner who last saw the row so many versions ago, and whose clock is off by so much.
    Plan {
        who: usize,
        age: usize,
        skew: Gap,
        gap: Gap,
        units: Units,
    },
    Commit {
        who: usize,
    },
}

const PLANNERS: usize = 4;

fn act() -> impl Strategy<Value = Act> {
    let skew = prop_oneof![3 => Just(Gap::Ms(0)), 1 => jump()];
    let plan = (0..PLANNERS, 0_usize..4, skew, gap(), units())
        .prop_map(|(who, age, skew, gap, units)| Act::Plan { who, age, skew, gap, units });
    prop_oneof![plan, (0..PLANNERS).prop_map(|who| Act::Commit { who })]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(350))]

    #[test]
    fn planners_together_never_commit_what_the_definition_refuses(
        quota in any_quota(),
        start_ms in start(),
        acts in vec(act(), 1..80),
    ) {
        let (mut shared, mut oracle, mut now_ms) = (Shared::new(quota), Oracle::default(), start_ms);
        let mut versions: Vec<Option<CounterRow>> = vec![None];
        let mut planned: [Option<(CounterWrite, i64, i64)>; PLANNERS] = Default::default();
        for act in acts {
            match act {
                Act::Plan { who, age, skew, gap, units } => {
                    now_ms = gap.from(now_ms, &quota);
                    let known = versions[versions.len().saturating_sub(age + 1)].as_ref();
                    let (at_ms, units) = (skew.from(now_ms, &quota).max(0), units.of(&quota));
                    planned[who] = match quota.debit(known, units, None, at_ms) {
                        WritePlan::Write(write) => Some((write, at_ms, units)),
                        WritePlan::Denied { .. } => None,
                    };
                }
                Act::Commit { who } => {
                    let Some((write, at_ms, units)) = planned[who].take() else { continue };
                    if shared.commit(&write) {
                        let latest_ms = oracle.clock(at_ms);
                        prop_assert!(oracle.take(&quota, units, latest_ms), "{units} at {at_ms}");
                        versions.push(shared.row.clone());
                    }
                }
            }
        }
    }
}

#[test]
fn of_two_first_writes_one_commits() {
    for algorithm in Algorithm::ALL {
        let mut shared = Shared::new(quota(algorithm, 10, 1_000));
        let plan = shared.quota.debit(None, 6, None, 500);
        let WritePlan::Write(write) = plan else { panic!("{algorithm:?}: {plan:?}") };
        assert!(shared.commit(&write));
        assert!(!shared.commit(&write), "{algorithm:?}");
    }
}

#[test]
fn the_last_units_go_to_one_of_two_who_both_saw_them() {
    for algorithm in Algorithm::ALL {
        let mut shared = Shared::new(quota(algorithm, 10, 1_000));
        assert!(shared.take(4, 500));
        let known = shared.row.clone();
        for (committed, now_ms) in [(true, 500), (false, 501)] {
            let plan = shared.quota.debit(known.as_ref(), 6, None, now_ms);
            let WritePlan::Write(write) = plan else { panic!("{algorithm:?}: {plan:?}") };
            assert_eq!(shared.commit(&write), committed, "{algorithm:?}");
        }
        assert!(!is_write(&shared.quota.debit(shared.row.as_ref(), 6, None, 501)));
    }
}

#[test]
fn a_row_that_has_moved_on_but_has_room_takes_a_stale_debit() {
    use super::Algorithm::{FixedWindow, LeakyBucket, SlidingWindow, TokenBucket};
    for algorithm in [FixedWindow, SlidingWindow, TokenBucket, LeakyBucket] {
        let mut shared = Shared::new(quota(algorithm, 10, 1_000));
        assert!(shared.take(2, 500));
        let known = shared.row.clone();
        assert!(shared.take(3, 500));
        let plan = shared.quota.debit(known.as_ref(), 5, None, 500);
        let WritePlan::Write(write) = plan else { panic!("{algorithm:?}: {plan:?}") };
        assert!(shared.commit(&write), "{algorithm:?}");
        assert_eq!(shared.free(500), 0, "{algorithm:?}");
    }
}

#[test]
fn a_stale_debit_of_one_unit_too_many_does_not_commit() {
    for algorithm in Algorithm::ALL {
        let mut shared = Shared::new(quota(algorithm, 10, 1_000));
        assert!(shared.take(4, 500));
        let plan = shared.quota.debit(shared.row.as_ref(), 6, None, 500);
        let WritePlan::Write(write) = plan else { panic!("{algorithm:?}: {plan:?}") };
        assert!(shared.take(1, 500));
        assert!(!shared.commit(&write), "{algorithm:?}");
    }
}

#[test]
fn a_new_window_does_not_begin_with_less_than_the_one_before_came_to() {
    let mut shared = Shared::new(quota(Algorithm::SlidingWindow, 10, 1_000));
    assert!(shared.take(2, 999));
    let plan = shared.quota.debit(shared.row.as_ref(), 8, None, 1_000);
    let WritePlan::Write(write) = plan else { panic!("{plan:?}") };
    assert!(shared.take(1, 999));
    assert!(!shared.commit(&write), "3 + 8 are more than 10");
}

#[test]
fn a_bucket_that_credits_have_filled_meanwhile_saves_up_no_refill() {
    let mut shared = Shared::new(quota(Algorithm::TokenBucket, 10, 1_000));
    assert!(shared.take(10, 1_000));
    let known = shared.row.clone().unwrap();
    let unspent = Unspent { units: 10, window: 1, taken_at_ms: 1_000 };
    let credit = shared.quota.credit(&known, unspent, 1_000).unwrap();
    assert!(shared.commit(&credit));
    assert!(!shared.commit(&credit), "the same credit again");
    let plan = shared.quota.debit(Some(&known), 5, None, 1_500);
    let WritePlan::Write(write) = plan else { panic!("{plan:?}") };
    assert!(!shared.commit(&write), "the bucket has been full since 1,000");
    assert!(shared.take(5, 1_500));
    assert_eq!(shared.free(1_500), 5);
}
