//! An exhaustive search of the lease protocol in a small world.
//!
//! Two or three nodes, one or two shards, two ids per shard and millisecond, and every order of events.
//! The decisions are the real ones. No clock is modelled, because none is trusted: whenever a node
//! looks at its clock, the search tries every reading, which covers skew, steps in both directions,
//! freezes and thaws. A write may commit with or without its answer, late, twice, or never.
//!
//! In no reachable state has an id been issued twice or a node gone back. Then the protocol is broken
//! on purpose, one rule at a time, and the search has to notice.

mod event;
mod world;

use event::{Mutation, Step, Violation};
use world::World;

use crate::model_check::Outcome;

fn visit_all(world: World) -> Outcome<Step, Violation> {
    crate::model_check::visit_all(world, World::steps, |world, step| world.after(step).map(Some))
}

fn assert_sound(nodes: usize, shards: usize, claims: u8, at_least: usize) {
    match visit_all(World::new(nodes, shards, claims, None)) {
        Outcome::Sound { states } => {
            println!("{nodes} nodes, {shards} shards, {claims} claims each: {states} states");
            assert!(states > at_least, "only {states} states: the model has become trivial");
        }
        Outcome::Broken(violation, steps) => panic!("{violation:?} after {steps:#?}"),
    }
}

/// Breaks one rule in a world that is otherwise known to be sound.
fn assert_noticed(
    mutation: Mutation,
    expected: Violation,
    (nodes, shards, claims): (usize, usize, u8),
) {
    match visit_all(World::new(nodes, shards, claims, Some(mutation))) {
        Outcome::Broken(violation, steps) => {
            println!("{mutation:?}: {violation:?} after {} steps", steps.len());
            assert_eq!(violation, expected, "{mutation:?} after {steps:#?}");
        }
        Outcome::Sound { states } => panic!("{mutation:?} went unnoticed in {states} states"),
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
        (Mutation::EndedCheckDropped, one_claim),
        (Mutation::RenewalCheckDropped, two_claims),
        (Mutation::EndOfIntervalIgnored, one_claim),
        (Mutation::StartOfIntervalIgnored, one_claim),
        (Mutation::SequenceRestartsOnStepBack, one_claim),
        (Mutation::TiersOverlap, two_lanes),
        (Mutation::LostAnswerAssumedGood, one_claim),
        (Mutation::AnyHolderTrusted, one_claim),
        (Mutation::RowsExpire, one_claim),
        (Mutation::MemoryCopiedAfterLeasing, one_claim),
    ];
    for (mutation, size) in duplicates {
        assert_noticed(mutation, Violation::Duplicate, size);
    }
    assert_noticed(Mutation::LastIdForgottenOnRelet, Violation::Disorder, lone_node);
}
