//! Going away, coming back, following and fanning out, in every order: nothing is lost.
//!
//! One reader, two authors with a post each. They follow the first from the start and may follow the second.
//! Every read and every write is a step of its own.

use crate::model_check::{Outcome, visit_all};

const AUTHORS: usize = 2;
type Posts = [bool; AUTHORS];

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    row: Row,
    naps: u8,
    follows: [bool; AUTHORS],
    written: Posts,
    fan_outs: [FanOutPlan; AUTHORS],
    backfill: Backfill,
    rebuilds: Vec<Rebuild>,
    timeline: Posts,
}

/// The reader's row, and whether their last visit is recent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Row {
    active: bool,
    complete: bool,
    epoch: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum FanOutPlan {
    Waits,
    Listed(bool),
    RelationshipChange(bool),
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Backfill {
    None,
    Due,
    Read(Row, Posts),
    Puts(Posts),
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Rebuild {
    Due(u8),
    Listed(u8, [bool; AUTHORS]),
    Puts(u8, Posts),
    Floors(u8),
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Nap,
    Visit,
    Write(usize),
    FanOutPlan(usize),
    Follow,
    Backfill,
    Rebuild(usize),
}

/// What can be left out of the protocol, to see that it is missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Without {
    Nothing,
    /// Reading recent posts only after the row says that they are here.
    RowFirst,
    /// A new epoch for a follow during a rebuild.
    NewEpoch,
    /// The epoch as a condition of the floor.
    EpochChecked,
}

fn steps(world: &World) -> Vec<Step> {
    let mut steps = vec![Step::Nap, Step::Visit, Step::Follow, Step::Backfill];
    steps.extend((0..AUTHORS).flat_map(|author| [Step::Write(author), Step::FanOutPlan(author)]));
    steps.extend((0..world.rebuilds.len()).map(Step::Rebuild));
    steps
}

fn both(a: [bool; AUTHORS], b: [bool; AUTHORS]) -> Posts {
    std::array::from_fn(|at| a[at] && b[at])
}

impl World {
    fn take(&mut self, step: Step, without: Without) -> bool {
        match step {
            Step::Nap => {
                self.naps += 1;
                std::mem::replace(&mut self.row.active, false) && self.naps <= 2
            }
            Step::Visit => {
                let back = !self.row.active;
                if back && without == Without::RowFirst {
                    // Reads first, and then says that they are here.
                    let posts = both(self.follows, self.written);
                    self.rebuilds.push(Rebuild::Puts(self.row.epoch + 1, posts));
                } else if back {
                    self.row = Row { active: true, complete: false, epoch: self.row.epoch + 1 };
                    self.rebuilds.push(Rebuild::Due(self.row.epoch));
                }
                back && self.rebuilds.len() <= 3
            }
            Step::Write(author) => !std::mem::replace(&mut self.written[author], true),
            Step::FanOutPlan(author) => self.fan_out(author),
            Step::Follow => {
                self.backfill = Backfill::Due;
                !std::mem::replace(&mut self.follows[1], true)
            }
            Step::Backfill => self.backfill(without),
            Step::Rebuild(index) => self.rebuild(index, without),
        }
    }

    fn fan_out(&mut self, author: usize) -> bool {
        self.fan_outs[author] = match self.fan_outs[author] {
            FanOutPlan::Waits if self.written[author] => FanOutPlan::Listed(self.follows[author]),
            FanOutPlan::Listed(follows) => {
                FanOutPlan::RelationshipChange(follows && self.row.active)
            }
            FanOutPlan::RelationshipChange(writes) => {
                self.timeline[author] |= writes;
                FanOutPlan::Done
            }
            FanOutPlan::Waits | FanOutPlan::Done => return false,
        };
        true
    }

    /// As [`crate::feed::Reader::backfill`] says.
    fn backfill(&mut self, without: Without) -> bool {
        self.backfill = match self.backfill {
            Backfill::Due => Backfill::Read(self.row, both([false, true], self.written)),
            Backfill::Read(row, _) if row != self.row => Backfill::Due,
            Backfill::Read(row, _) if !row.complete => {
                if without != Without::NewEpoch {
                    self.row.epoch += 1;
                    self.rebuilds.push(Rebuild::Due(self.row.epoch));
                }
                Backfill::Done
            }
            Backfill::Read(_, posts) => Backfill::Puts(posts),
            Backfill::Puts(posts) => {
                self.put(posts);
                Backfill::Done
            }
            Backfill::None | Backfill::Done => return false,
        };
        true
    }

    fn rebuild(&mut self, index: usize, without: Without) -> bool {
        self.rebuilds[index] = match self.rebuilds[index] {
            Rebuild::Due(epoch) => Rebuild::Listed(epoch, self.follows),
            Rebuild::Listed(epoch, follows) => Rebuild::Puts(epoch, both(follows, self.written)),
            Rebuild::Puts(epoch, posts) => {
                self.put(posts);
                Rebuild::Floors(epoch)
            }
            Rebuild::Floors(epoch) => {
                if without == Without::RowFirst && epoch == self.row.epoch + 1 {
                    self.row = Row { active: true, complete: true, epoch };
                }
                self.row.complete |= self.row.epoch == epoch || without == Without::EpochChecked;
                self.rebuilds.remove(index);
                return true;
            }
        };
        true
    }

    fn put(&mut self, posts: Posts) {
        self.timeline = std::array::from_fn(|at| self.timeline[at] || posts[at]);
    }

    /// An active reader with a complete timeline has every post whose fan-out is through.
    fn is_sound(&self) -> bool {
        let brought = [true, self.backfill == Backfill::Done];
        !(self.row.active && self.row.complete)
            || (0..AUTHORS).all(|author| {
                let expected = self.follows[author]
                    && brought[author]
                    && self.fan_outs[author] == FanOutPlan::Done;
                !expected || self.timeline[author]
            })
    }
}

fn explore(without: Without) -> Outcome<Step, &'static str> {
    let start = World {
        row: Row { active: true, complete: true, epoch: 0 },
        naps: 0,
        follows: [true, false],
        written: [false; AUTHORS],
        fan_outs: [FanOutPlan::Waits; AUTHORS],
        backfill: Backfill::None,
        rebuilds: Vec::new(),
        timeline: [false; AUTHORS],
    };
    visit_all(start, steps, |world, step| {
        let mut next = world.clone();
        if !next.take(step, without) {
            return Ok(None);
        }
        if next.is_sound() { Ok(Some(next)) } else { Err("a post is lost") }
    })
}

#[test]
fn coming_back_loses_nothing_in_any_order_of_events() {
    match explore(Without::Nothing) {
        Outcome::Sound { states } => assert!(states > 10_000, "{states}"),
        Outcome::Broken(violation, path) => panic!("{violation}: {path:?}"),
    }
}

/// What the search is for: each of these is needed.
#[test]
fn every_part_of_the_protocol_is_missed_when_it_is_left_out() {
    for without in [Without::RowFirst, Without::NewEpoch, Without::EpochChecked] {
        assert!(matches!(explore(without), Outcome::Broken(..)), "{without:?}");
    }
}
