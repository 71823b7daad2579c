//! An exhaustive search of the lease protocol in a small world.
//!
//! Two or three nodes share one row. Each asks, is answered late or never, spends, gives back, ends, and
//! is replaced; the clock moves on or a node's clock jumps back; and all of that in every order. The
//! decisions are the real ones: [`Budget`](super::budget::Budget) and the counter's guarded writes.
//!
//! In no reachable state have more units been spent in a row's window than the quota has, or more than
//! were debited and not given back. Then the protocol is broken on purpose, one rule at a time, and the
//! search has to notice.

mod world;

use std::collections::HashSet;
use std::rc::Rc;

use world::{Break, Step, World};

/// How the search ended.
#[derive(Debug)]
enum Outcome {
    /// Every reachable state was visited and is fine.
    Sound { states: usize },
    /// This shortest sequence of steps ends with too many units spent.
    Broken(Vec<Step>),
}

/// Visits every state that can be reached, nearest first.
fn search(start: World) -> Outcome {
    let start = Rc::new(start);
    let mut seen = HashSet::from([Rc::clone(&start)]);
    let mut reached: Vec<(Rc<World>, usize, Option<Step>)> = vec![(start, 0, None)];
    let mut visited = 0;
    while let Some((world, ..)) = reached.get(visited) {
        let world = Rc::clone(world);
        for step in world.steps() {
            let Some(next) = world.after(step) else { continue };
            let sound = next.is_sound();
            let next = Rc::new(next);
            if seen.insert(Rc::clone(&next)) {
                reached.push((next, visited, Some(step)));
                if !sound {
                    return Outcome::Broken(steps_to(&reached, reached.len() - 1));
                }
            }
        }
        visited += 1;
    }
    Outcome::Sound { states: visited }
}

fn steps_to(reached: &[(Rc<World>, usize, Option<Step>)], mut state: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    while let Some(step) = reached[state].2 {
        steps.push(step);
        state = reached[state].1;
    }
    steps.reverse();
    steps
}

fn assert_sound(world: World, at_least: usize) {
    match search(world) {
        Outcome::Sound { states } => {
            println!("{states} states");
            assert!(states > at_least, "only {states} states: the model has become trivial");
        }
        Outcome::Broken(steps) => panic!("too many units after {steps:#?}"),
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
        match search(world) {
            Outcome::Broken(steps) => println!("{broken:?}: noticed after {} steps", steps.len()),
            Outcome::Sound { states } => panic!("{broken:?} went unnoticed in {states} states"),
        }
    }
}
