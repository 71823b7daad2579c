//! A model checker: visits every state that a small world can reach, breadth first.

use std::collections::HashSet;
use std::hash::Hash;
use std::rc::Rc;

/// The result of a check.
#[derive(Debug)]
pub(crate) enum Outcome<Step, Violation> {
    /// Every reachable state was visited and is fine.
    Sound {
        /// How many there are.
        states: usize,
    },
    /// This shortest sequence of steps ends in a violation.
    Broken(Violation, Vec<Step>),
}

/// Visits every state that can be reached from `start`: `steps` lists what may happen in one, and
/// `after` returns the state that it leads to, if any.
pub(crate) fn visit_all<World: Eq + Hash, Step: Copy, Violation>(
    start: World,
    steps: impl Fn(&World) -> Vec<Step>,
    after: impl Fn(&World, Step) -> Result<Option<World>, Violation>,
) -> Outcome<Step, Violation> {
    let start = Rc::new(start);
    let mut seen = HashSet::from([Rc::clone(&start)]);
    let mut reached: Vec<(Rc<World>, usize, Option<Step>)> = vec![(start, 0, None)];
    let mut visited = 0;
    while let Some((world, ..)) = reached.get(visited) {
        let world = Rc::clone(world);
        for step in steps(&world) {
            match after(&world, step) {
                Ok(None) => {}
                Ok(Some(next)) => {
                    let next = Rc::new(next);
                    if seen.insert(Rc::clone(&next)) {
                        reached.push((next, visited, Some(step)));
                    }
                }
                Err(violation) => {
                    let mut path = steps_to(&reached, visited);
                    path.push(step);
                    return Outcome::Broken(violation, path);
                }
            }
        }
        visited += 1;
    }
    Outcome::Sound { states: visited }
}

fn steps_to<World, Step: Copy>(
    reached: &[(Rc<World>, usize, Option<Step>)],
    mut state: usize,
) -> Vec<Step> {
    let mut steps = Vec::new();
    while let Some(step) = reached[state].2 {
        steps.push(step);
        state = reached[state].1;
    }
    steps.reverse();
    steps
}
