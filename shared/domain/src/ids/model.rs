//! An exhaustive search of the lease protocol in a small world.
//!
//! Two or three nodes, one or two lanes, two ids per lane and millisecond, and every order of events.
//! The decisions are the real ones. No clock is modelled, because none is trusted: whenever a node
//! looks at its clock, the search tries every reading, which covers skew, steps in both directions,
//! freezes and thaws. A write may commit with or without its answer, late, twice, or never.
//!
//! In no reachable state has an id been issued twice or a node gone back. Then the protocol is broken
//! on purpose, one rule at a time, and the search has to notice.

mod event;
mod world;

use event::{Break, Step, Violation};
use world::World;

use crate::model_check::Outcome;

fn visit_all(world: World) -> Outcome<Step, Violation> {
    crate::model_check::visit_all(world, World::steps, |world, step| world.after(step).map(Some))
}

fn assert_sound(nodes: usize, lanes: usize, claims: u8, at_least: usize) {
    match visit_all(World::new(nodes, lanes, claims, None)) {
        Outcome::Sound { states } => {
            println!("{nodes} nodes, {lanes} lanes, {claims} claims each: {states} states");
            assert!(states > at_least, "only {states} states: the model has become trivial");
        }
        Outcome::Broken(violation, steps) => panic!("{violation:?} after {steps:#?}"),
    }
}

/// Breaks one rule in a world that is otherwise known to be sound.
fn assert_noticed(broken: Break, expected: Violation, (nodes, lanes, claims): (usize, usize, u8)) {
    match visit_all(World::new(nodes, lanes, claims, Some(broken))) {
        Outcome::Broken(violation, steps) => {
            println!("{broken:?}: {violation:?} after {} steps", steps.len());
            assert_eq!(violation, expected, "{broken:?} after {steps:#?}");
        }
        Outcome::Sound { states } => panic!("{broken:?} went unnoticed in {states} states"),
    }
}

#[test]
fn two_nodes_that_lease_a_lane_again_and_again_never_issue_an_id_twice() {
    assert_sound(2, 1, 2, 80_000);
}

#[test]
fn two_nodes_on_a_whole_and_a_split_lane_never_issue_an_id_twice() {
    assert_sound(2, 2, 1, 6_000);
}

#[test]
fn three_nodes_on_one_lane_never_issue_an_id_twice() {
    assert_sound(3, 1, 1, 20_000);
}

#[test]
fn a_node_that_changes_lanes_never_goes_back() {
    assert_sound(1, 2, 2, 500);
}

#[test]
fn dropping_any_one_rule_is_noticed() {
    let (one_claim, two_claims, two_lanes, lone_node) =
        ((2, 1, 1), (2, 1, 2), (2, 2, 1), (1, 2, 2));
    let duplicates = [
        (Break::EndedCheckDropped, one_claim),
        (Break::RenewalCheckDropped, two_claims),
        (Break::EndOfIntervalIgnored, one_claim),
        (Break::StartOfIntervalIgnored, one_claim),
        (Break::SequenceRestartsOnStepBack, one_claim),
        (Break::TiersOverlap, two_lanes),
        (Break::LostAnswerAssumedGood, one_claim),
        (Break::AnyHolderTrusted, one_claim),
        (Break::RowsExpire, one_claim),
        (Break::MemoryCopiedAfterLeasing, one_claim),
    ];
    for (broken, size) in duplicates {
        assert_noticed(broken, Violation::Duplicate, size);
    }
    assert_noticed(Break::LastIdForgottenOnRelet, Violation::Disorder, lone_node);
}
