use proptest::prelude::*;

use super::*;
use crate::limits::counter::{CounterRow, WritePlan};
use crate::limits::quota::Algorithm;

const NOW: i64 = 29_000_000 * MINUTE_MS + 30_000;

fn quota(algorithm: Algorithm, limit: i64, window_ms: i64) -> Quota {
    Quota::new(algorithm, limit, window_ms)
}

fn series(entity: &str, asked: &[u64; MINUTES]) -> UsageSeries {
    let first_minute = UsageSeries::first_minute(NOW);
    UsageSeries { entity: entity.to_owned(), first_minute, asked: *asked, denied: [0; MINUTES] }
}

/// Every unit a debit of its own, one after the other, at the second it falls into.
fn one_by_one(quota: &Quota, series: &UsageSeries) -> u64 {
    let (mut row, mut denied) = (None, 0);
    let mut at = series.first_minute * MINUTE_MS;
    for count in series.asked {
        for step in 0..STEPS {
            for _ in 0..in_step(count, step) {
                match quota.debit(row.as_ref(), 1, None, at) {
                    WritePlan::Write(write) => {
                        row = Some(CounterRow::apply(row.as_ref(), &write).unwrap());
                    }
                    WritePlan::Denied { .. } => denied += 1,
                }
            }
            at += 1_000;
        }
    }
    denied
}

fn minutes() -> impl Strategy<Value = [u64; MINUTES]> {
    let count = prop_oneof![4 => 0_u64..40, 1 => Just(0), 1 => 0_u64..400];
    proptest::collection::vec(count, MINUTES).prop_map(|counts| {
        let mut minutes = [0; MINUTES];
        minutes.copy_from_slice(&counts);
        minutes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn it_denies_what_unit_by_unit_would_be_denied(
        asked in minutes(),
        algorithm in proptest::sample::select(&Algorithm::ALL[..]),
        limit in 1_i64..300,
        window_ms in prop_oneof![
            Just(1_000), Just(7_000), Just(60_000), Just(3_600_000), 1_000_i64..400_000,
        ],
        burst in proptest::option::of(1_i64..600),
    ) {
        let burst = burst.map(|burst| burst.min(2 * limit));
        let quota = Quota { burst, ..quota(algorithm, limit, window_ms) };
        let series = series("a", &asked);
        let run = quota.dry_run(std::slice::from_ref(&series), NOW);
        prop_assert_eq!(run.denied, one_by_one(&quota, &series));
        prop_assert_eq!(run.asked, asked.iter().sum::<u64>());
    }

    #[test]
    fn a_minutes_units_are_spread_evenly_and_none_is_lost(count in 0..u64::MAX / 2) {
        let parts: Vec<u64> = (0..STEPS).map(|step| in_step(count, step)).collect();
        prop_assert_eq!(parts.iter().sum::<u64>(), count);
        prop_assert!(parts.iter().all(|part| part.abs_diff(count / STEPS) <= 1));
    }
}

#[test]
fn a_quota_above_the_demand_denies_nothing() {
    for algorithm in Algorithm::ALL {
        let run = quota(algorithm, 6_000, 60_000).dry_run(&[series("a", &[3_000; MINUTES])], NOW);
        assert_eq!((run.keys, run.keys_denied, run.denied), (1, 0, 0), "{algorithm:?}");
        assert_eq!((run.asked, run.share, run.worst), (180_000, 0.0, vec![]), "{algorithm:?}");
    }
}

#[test]
fn a_limit_of_zero_denies_everything() {
    for algorithm in Algorithm::ALL {
        let run = quota(algorithm, 0, 60_000).dry_run(&[series("a", &[5; MINUTES])], NOW);
        assert_eq!((run.asked, run.denied, run.share), (300, 300, 1.0), "{algorithm:?}");
        assert_eq!((run.keys_denied, run.worst), (1, vec![("a".to_owned(), 300)]));
    }
}

#[test]
fn twice_what_is_allowed_is_half_denied() {
    let run = quota(Algorithm::FixedWindow, 100, 60_000)
        .dry_run(&[series("a", &[200; MINUTES]), series("b", &[100; MINUTES])], NOW);
    assert_eq!((run.asked, run.denied), (18_000, 6_000));
    assert_eq!(run.worst, [("a".to_owned(), 6_000)]);
    assert!((run.share - 0.333_333).abs() < 1e-9);
}

#[test]
fn more_than_fits_at_once_takes_what_fits() {
    let mut asked = [0; MINUTES];
    asked[7] = 60_000_000_000;
    let run = quota(Algorithm::FixedWindow, 1_500_000_000, 3_600_000)
        .dry_run(&[series("a", &asked)], NOW);
    assert_eq!(run.denied, 58_500_000_000);
}

#[test]
fn the_ten_worst_are_named_and_the_hour_is_said() {
    let mut all_series: Vec<UsageSeries> =
        (1..=12_u64).map(|key| series(&format!("key-{key:02}"), &[10 + key; MINUTES])).collect();
    all_series.push(series("idle", &[0; MINUTES]));
    let run = quota(Algorithm::FixedWindow, 10, 60_000).dry_run(&all_series, NOW);
    assert_eq!((run.keys, run.keys_denied, run.worst.len()), (12, 12, 10));
    assert_eq!(run.worst[0], ("key-12".to_owned(), 12 * 60));
    assert_eq!(run.worst[9], ("key-03".to_owned(), 3 * 60));
    assert_eq!((run.from_ms, run.to_ms), (NOW - 30_000 - 3_600_000, NOW - 30_000));
}
