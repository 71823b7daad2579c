//! An exhaustive search of the lease protocol in a small world.
//!
//! Two or three nodes share one row. Each asks, is answered late or never, spends, gives back,
//! ends, and is replaced; the clock moves on or a node's clock jumps back; and all of that in every
//! order. The decisions are the real ones: [`Budget`](super::budget::Budget) and the counter's
//! guarded writes.
//!
//! In no reachable state have more units been spent in a row's window than the quota has, or more than
//! were debited and not given back. Then the protocol is broken on purpose, one rule at a time, and the
//! search has to notice.

mod world;

use world::{Break, Step, World};

use crate::model_check::Outcome;

/// More units were spent than there were.
#[derive(Debug)]
struct TooMany;

fn visit_all(world: World) -> Outcome<Step, TooMany> {
    crate::model_check::visit_all(world, World::steps, |world, step| match world.after(step) {
        Some(next) if !next.is_sound() => Err(TooMany),
        next => Ok(next),
    })
}

fn assert_sound(world: World, at_least: usize) {
    match visit_all(world) {
        Outcome::Sound { states } => {
            println!("{states} states");
            assert!(states > at_least, "only {states} states: the model has become trivial");
        }
        Outcome::Broken(TooMany, steps) => panic!("too many units after {steps:#?}"),
    }
}

#[test]
fn two_nodes_never_spend_more_than_a_fixed_window_has() {
    assert_sound(World::fixed(2, None), 10_000);
}

#[test]
fn two_nodes_never_spend_more_than_a_sliding_window_has() {
    assert_sound(World::sliding(2, None), 10_000);
}

#[test]
fn two_nodes_never_spend_more_than_a_bucket_has() {
    assert_sound(World::bucket(2, None), 10_000);
}

#[test]
fn three_nodes_never_spend_more_than_a_fixed_window_has() {
    assert_sound(World::fixed(3, None), 10_000);
}

#[test]
fn dropping_any_one_rule_is_noticed() {
    for (broken, world) in [
        (Break::DebitUnguarded, World::fixed(2, Some(Break::DebitUnguarded))),
        (Break::WindowUnguarded, World::fixed(2, Some(Break::WindowUnguarded)).asking(3)),
        (Break::BucketUnguarded, World::bucket(2, Some(Break::BucketUnguarded))),
        (Break::LeaseNeverEnds, World::fixed(2, Some(Break::LeaseNeverEnds))),
        (Break::UnknownAssumedGood, World::fixed(2, Some(Break::UnknownAssumedGood))),
        (Break::RefundRepeated, World::fixed(2, Some(Break::RefundRepeated))),
        (Break::CreditKeepsHolding, World::fixed(2, Some(Break::CreditKeepsHolding))),
    ] {
        match visit_all(world) {
            Outcome::Broken(TooMany, steps) => {
                println!("{broken:?}: noticed after {} steps", steps.len());
            }
            Outcome::Sound { states } => panic!("{broken:?} went unnoticed in {states} states"),
        }
    }
}
