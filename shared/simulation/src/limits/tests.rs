//! The simulation, small: what the bench shows for hundreds of nodes holds for dozens.

use super::*;
use domain::limits::quota::Algorithm;

fn plan(algorithm: Algorithm, limit: i64) -> LimitsPlan {
    LimitsPlan {
        quota: Quota::new(algorithm, limit, 4_000),
        nodes: 40,
        keys: 1,
        rate: limit / 2,
        run_ms: 12_000,
        over_nodes: Spread::Uniform,
        over_keys: Spread::Uniform,
        bursts: false,
        life_ms: 0,
        partition: None,
        seed: 11,
    }
}

fn cut_off(percent: u64, on_failure: OnFailure) -> Partition {
    Partition { from_ms: 3_000, to_ms: 9_500, percent, on_failure }
}

#[test]
fn the_same_plan_gives_the_same_report() {
    let plan = LimitsPlan { life_ms: 3_000, ..plan(Algorithm::SlidingWindow, 2_000) };
    assert_eq!(simulate(&plan), simulate(&plan));
    assert_ne!(simulate(&plan), simulate(&LimitsPlan { seed: 12, ..plan }));
}

#[test]
fn nodes_together_admit_what_there_is_and_no_more() {
    for algorithm in Algorithm::ALL {
        for limit in [50, 400, 4_000] {
            // A log is one row that every request rewrites; it is for small limits.
            if algorithm == Algorithm::SlidingLog && limit > 50 {
                continue;
            }
            for over_nodes in [Spread::Uniform, Spread::Zipf] {
                let report = simulate(&LimitsPlan { over_nodes, ..plan(algorithm, limit) });
                assert_eq!(report.over, 0, "{algorithm:?} {limit} {report:?}");
                assert!(report.under_thousandths() <= 50, "{algorithm:?} {limit} {report:?}");
            }
        }
    }
}

#[test]
fn nodes_that_come_and_go_admit_no_more_either() {
    for algorithm in Algorithm::ALL {
        let harsh = LimitsPlan { life_ms: 2_000, bursts: true, ..plan(algorithm, 500) };
        let report =
            simulate(&LimitsPlan { keys: 5, over_keys: Spread::Zipf, rate: 2_000, ..harsh });
        assert!(report.ended > 100 && report.lost >= 0, "{report:?}");
        assert_eq!(report.over, 0, "{algorithm:?} {report:?}");
    }
}

#[test]
fn without_the_store_a_closed_rule_admits_what_was_leased_and_an_open_one_counts_the_rest() {
    for algorithm in Algorithm::ALL {
        for (percent, on_failure) in
            [(100, OnFailure::Closed), (40, OnFailure::Closed), (100, OnFailure::Open)]
        {
            let partition = Some(cut_off(percent, on_failure));
            let limit = if algorithm == Algorithm::SlidingLog { 100 } else { 2_000 };
            let report = simulate(&LimitsPlan { partition, ..plan(algorithm, limit) });
            let told = format!("{algorithm:?} {percent} % {on_failure:?} {report:?}");
            assert!(report.over <= report.frozen + report.open, "{told}");
            assert!(report.frozen <= report.unspent, "{told}");
            assert_eq!(report.open > 0, on_failure == OnFailure::Open, "{told}");
            assert_eq!(report.closed > 0, on_failure == OnFailure::Closed, "{told}");
        }
    }
}

#[test]
fn leases_that_outlast_their_window_in_a_partition_are_spent_and_counted() {
    // A call for one key that fails lets the node spend what it holds of the others.
    let quiet = LimitsPlan { keys: 4, rate: 1_200, ..plan(Algorithm::FixedWindow, 2_000) };
    let partition = Some(Partition { from_ms: 3_900, ..cut_off(100, OnFailure::Closed) });
    let report = simulate(&LimitsPlan { partition, ..quiet });
    assert!(report.frozen > 0 && report.frozen <= report.unspent, "{report:?}");
}

#[test]
fn a_key_that_many_nodes_use_up_together_is_reported() {
    let attack = LimitsPlan { nodes: 100, rate: 5_000, ..plan(Algorithm::SlidingWindow, 2_000) };
    let (crowd, pair) = (simulate(&attack), simulate(&LimitsPlan { nodes: 2, ..attack }));
    assert!(crowd.spread > 100 && pair.spread < 10, "{crowd:?} {pair:?}");
}

#[test]
fn a_hot_key_costs_a_row_few_writes() {
    for algorithm in [Algorithm::FixedWindow, Algorithm::SlidingWindow, Algorithm::TokenBucket] {
        let hot = LimitsPlan { nodes: 100, rate: 50_000, run_ms: 6_000, ..plan(algorithm, 50_000) };
        let report = simulate(&hot);
        assert!(report.busiest <= 500, "{algorithm:?} {report:?}");
        assert_eq!(report.over, 0, "{algorithm:?} {report:?}");
    }
}

/// What the auditor is for: it has to notice units that no node debited.
#[test]
fn the_auditor_notices_a_unit_too_many() {
    for algorithm in Algorithm::ALL {
        let quota = Quota::new(algorithm, 10, 1_000);
        let mut exact = ReferenceCounter::new(quota);
        let mut admitted = 0;
        while exact.take(START_MS) {
            admitted += 1;
        }
        assert_eq!((admitted, exact.excess()), (10, 0), "{algorithm:?}");
        exact.admit(START_MS + 1);
        assert_eq!(exact.excess(), 1, "{algorithm:?}");
    }
}
