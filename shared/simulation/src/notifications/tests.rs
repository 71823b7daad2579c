//! The simulation, small: what the bench shows at full size holds for less.

use super::*;

fn plan() -> Plan {
    Plan {
        per_second: 500,
        workers: [20, 20, 60],
        waiting: [0, 0, 50_000],
        coming: [100, 50, 0],
        batch: 10,
        call_ms: 10,
        run_ms: 20_000,
        seed: 11,
    }
}

fn most(plan: &Plan) -> usize {
    plan.per_second as usize * 105 / 100
}

#[test]
fn the_same_plan_gives_the_same_report() {
    assert_eq!(simulate(&plan()), simulate(&plan()));
    assert_ne!(simulate(&plan()), simulate(&Plan { seed: 12, ..plan() }));
}

#[test]
fn critical_hardly_waits_behind_a_mountain_of_low_which_gets_the_rest() {
    let report = simulate(&plan());
    assert!(report.p99_ms[0] < 1_000 && report.p99_ms[1] < 5_000, "{report:?}");
    assert!(report.busiest <= most(&plan()), "{report:?}");
    let total: usize = report.sent.iter().sum();
    assert!(report.sent[2] * 10 >= total * 5, "{report:?}");
    assert!(total >= 500 * 20 * 9 / 10, "nothing is wasted: {report:?}");
}

#[test]
fn a_flood_of_critical_leaves_normal_and_low_their_shares() {
    let flood = Plan { waiting: [50_000, 50_000, 50_000], coming: [0, 0, 0], ..plan() };
    let report = simulate(&flood);
    let total: usize = report.sent.iter().sum();
    for (level, share) in [70_usize, 20, 10].into_iter().enumerate() {
        assert!((report.sent[level] * 100 / total).abs_diff(share) <= 4, "{report:?}");
    }
    assert!(report.busiest <= most(&flood), "{report:?}");
}

#[test]
fn a_hundred_workers_never_exceed_the_rate() {
    for (per_second, seed) in [(5, 1), (20, 2), (137, 3), (1_000, 4), (2_000, 5)] {
        let batch = if per_second > 1_000 { 50 } else { 10 };
        let coming = [per_second / 2, per_second / 4, 0];
        let plan = Plan { per_second, coming, batch, seed, ..plan() };
        let report = simulate(&plan);
        assert!(report.busiest <= most(&plan), "{per_second}: {report:?}");
        assert!(report.p99_ms[0] < 5_000, "{per_second}: {report:?}");
        assert!(report.sent[2] > 0, "{per_second}: {report:?}");
    }
}

#[test]
fn the_row_is_not_hot() {
    let report = simulate(&Plan { per_second: 1_000, ..plan() });
    let calls = report.writes + report.refused;
    assert!(calls < 20 * 700, "an item takes 1,000 a second: {report:?}");
}
