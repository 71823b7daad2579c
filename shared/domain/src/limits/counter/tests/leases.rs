//! Units that nodes hold for a while: in any interval a bucket's nodes together spend at most its burst
//! and what comes back in the interval.

use proptest::collection::vec;
use proptest::prelude::*;

use super::schedule::{bucket, start};
use super::{Algorithm, Quota, Shared, Unspent, WritePlan, quota};

/// A node's lease: hundredths of the time units may be held, and of what is free.
#[derive(Debug, Clone, Copy)]
struct Lease {
    /// How long after the one before.
    gap: i64,
    units: i64,
    /// Parts of it, and when they are spent.
    spends: [(i64, i64); 2],
    /// Whether it first credits what was left of an earlier one.
    credits: Option<usize>,
}

fn lease() -> impl Strategy<Value = Lease> {
    let gap = prop_oneof![2 => Just(0_i64), 3 => 0_i64..=100, 1 => 90_i64..=110, 1 => 0_i64..9_000];
    let units = prop_oneof![Just(100_i64), 0_i64..=100];
    let part = || (prop_oneof![Just(0_i64), 0_i64..=50], prop_oneof![Just(100_i64), 0_i64..=100]);
    (gap, units, part(), part(), proptest::option::of(0_usize..5)).prop_map(
        |(gap, units, one, two, credits)| Lease { gap, units, spends: [one, two], credits },
    )
}

/// Whether units spent at these times are within burst + rate × interval, in every interval.
fn within(quota: &Quota, spends: &mut [(i64, i64)]) -> bool {
    spends.sort_unstable();
    let (length, rate) = (i128::from(quota.window_ms), i128::from(quota.limit));
    let most =
        |from: i64, to: i64| i128::from(quota.capacity()) * length + i128::from(to - from) * rate;
    spends.iter().enumerate().all(|(first, &(from, _))| {
        let mut sum = 0;
        spends[first..].iter().all(|&(to, units)| {
            sum += i128::from(units) * length;
            sum <= most(from, to)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(350))]

    #[test]
    fn held_and_fresh_units_together_stay_within_burst_and_rate(
        quota in bucket(),
        start_ms in start(),
        leases in vec(lease(), 1..60),
        crowded in any::<bool>(),
    ) {
        let (mut shared, mut now_ms) = (Shared::new(quota), start_ms);
        let (mut spends, mut unspent) = (Vec::new(), Vec::<(i64, Unspent)>::new());
        for Lease { gap, units, spends: parts, credits } in leases {
            now_ms += gap * quota.lease_ms().max(1) / 100;
            let returnable = unspent.iter().position(|(from, _)| *from <= now_ms);
            let back = credits.and(returnable).map(|index| unspent.swap_remove(index).1);
            let by_itself = credits.is_some_and(|kind| kind % 2 == 0);
            if let (true, Some(back), Some(row)) = (by_itself, back, &shared.row)
                && let Some(write) = quota.credit(row, back, now_ms)
            {
                prop_assert!(shared.commit(&write));
            }
            let units = (shared.free(now_ms) * units / 100).max(1);
            let back = back.filter(|_| !by_itself);
            let plan = quota.debit_as(crowded, shared.row.as_ref(), units, back, now_ms);
            let WritePlan::Write(write) = plan else { continue };
            prop_assert!(shared.commit(&write));
            let (mut left, mut done_ms) = (units, now_ms);
            for (part, held) in parts {
                let (spent, at_ms) = (units * part / 100, now_ms + quota.lease_ms() * held / 100);
                spends.push((at_ms, spent));
                (left, done_ms) = (left - spent, done_ms.max(at_ms));
            }
            unspent.push((done_ms, Unspent { units: left, window: 0, taken_at_ms: now_ms }));
        }
        prop_assert!(within(&quota, &mut spends), "{spends:?}");
    }
}

#[test]
fn a_late_credit_gives_no_unit_that_has_come_back_by_itself() {
    // A thousand a second: a lease lasts 40 ms, in which the 40 that are never spent come back.
    let mut shared = Shared::new(quota(Algorithm::TokenBucket, 1_000, 1_000));
    assert!(shared.take(40, 0));
    let unspent = Unspent { units: 40, window: 0, taken_at_ms: 0 };
    assert!(shared.take(960, 40));
    assert_eq!(shared.quota.credit(shared.row.as_ref().unwrap(), unspent, 40), None);
    assert!(!shared.take(1, 40));
    // The 960 are spent at the end of their lease, with the 40 that came back meanwhile: the burst.
    assert!(shared.take(40, 80));
    assert!(!shared.take(1, 80));
}

#[test]
fn only_large_buckets_keep_anything_back() {
    let lease_ms =
        |limit, burst| Quota { burst, ..quota(Algorithm::TokenBucket, limit, 1_000) }.lease_ms();
    assert_eq!(lease_ms(100, None), 0);
    assert_eq!(lease_ms(101, None), 40);
    assert_eq!(lease_ms(1_000, Some(2_000)), 80);
    assert_eq!(lease_ms(1_000, Some(100)), 0);
    assert_eq!(quota(Algorithm::SlidingLog, 500, 1_000).lease_ms(), 0);
}
