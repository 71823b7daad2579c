//! What a run has to show, and that it repeats itself.

use super::*;

const PLAN: IdsPlan =
    IdsPlan { nodes: 1_500, ids: 1_000_000, largest_request: 200, seed: 1, compare_one_in: 1 };

#[test]
fn a_million_ids_over_bad_clocks_are_unique_and_ordered() {
    let report = simulate(PLAN);
    assert_eq!((report.duplicates(), report.out_of_order), (0, 0), "{report:#?}");
    assert_eq!(report.compared, report.ids);
    assert!(report.ids >= PLAN.ids && report.most_nodes_at_once > 1_024, "{report:#?}");
}

#[test]
fn few_nodes_live_through_everything_that_can_happen() {
    let report = simulate(IdsPlan { nodes: 40, largest_request: 40, compare_one_in: 4, ..PLAN });
    assert_eq!((report.duplicates(), report.out_of_order), (0, 0), "{report:#?}");
    let happened = [
        report.leases,
        report.renewals,
        report.lost_answers,
        report.clock_steps,
        report.freezes,
        report.replaced,
        report.refused,
        report.compared,
    ];
    assert!(happened.iter().all(|&count| count > 0), "{report:#?}");
}

#[test]
fn the_same_seed_gives_the_same_report() {
    let plan = IdsPlan { ids: 100_000, ..PLAN };
    assert_eq!(simulate(plan), simulate(plan));
    assert_ne!(simulate(plan), simulate(IdsPlan { seed: 9, ..plan }));
}

#[test]
fn nearly_every_lane_can_be_held_at_once() {
    let report = simulate(IdsPlan { nodes: 4_500, ..PLAN });
    assert_eq!((report.duplicates(), report.out_of_order), (0, 0), "{report:#?}");
    assert!(report.most_nodes_at_once > 4_000, "{report:#?}");
}
