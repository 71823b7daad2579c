//! The feed under faults.
//!
//! People write, edit, delete, follow, block, mute, like and read, several at a time, while messages are
//! doubled, delayed and lost, functions die, writes time out and clocks differ; some are away for a week.
//! Settings are so small that authors cross both thresholds, timelines are trimmed and rows of recent posts
//! overflow. Each page is held against everything that may have been when it was read. Then nothing goes
//! wrong any more, and every feed is what the model says, page by page.

mod actions;
mod generators;
pub(super) mod harness;
mod interleavings;
pub(super) mod invariants;
mod model;
mod responses;
pub(super) mod rows;
mod scrolls;

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::SplitMix64;
use domain::feed::SocialAction;
use futures::future::join_all;
use local::faults::{CallFilter, Fault, Faults, ServiceCall};
use tests::{Lab, Result, Setup};

use crate::faults::{run, sweep};
use actions::Action;
use harness::Harness;
use model::Model;
use scrolls::Scroll;

const STEPS: u64 = 10;
pub(super) const PEOPLE: [&str; 5] = ["ada", "bob", "cid", "dan", "eli"];

/// Small enough that everything happens.
pub(super) const SETTINGS: &str = r#"{"pullFrom":3,"pushBelow":2,"kept":4,"recents":3,"page":2,
    "gathered":8,"dormantSeconds":604800}"#;

const DAY: i64 = 86_400;

/// Calls that may arrive late: the writes of a follow,
const FOLLOWS: &[CallFilter] = &[|call| is(call, "TransactWriteItems", b"ADD followers :one")];
/// what changes an author's row, a timeline or its floor,
const WRITES: &[CallFilter] = &[
    |call| is(call, "TransactWriteItems", b"\"author#"),
    |call| is(call, "BatchWriteItem", b"timeline#"),
    |call| is(call, "UpdateItem", b"SET complete_from = :floor, epoch = :after, moved_at"),
];
/// and what a page and a rebuild are made of.
const READS: &[CallFilter] = &[
    |call| is(call, "Query", b"timeline#"),
    |call| is(call, "BatchGetItem", b"\"author#"),
    |call| is(call, "BatchGetItem", b"\"reader#"),
];

#[test]
fn seeds_hold() {
    sweep("feed", |seed| run(scenario(seed, Faults::seeded(seed, 60))));
}

struct Scenario {
    harness: Harness,
    dice: SplitMix64,
    known: Model,
    /// Scrolls that go on, one a reader.
    scrolls: Vec<Scroll>,
    action: u64,
}

pub(super) async fn scenario(seed: u64, faults: Arc<Faults>) -> Result<BTreeMap<Fault, u64>> {
    let mut life = Scenario::new(seed, faults).await?;
    for _ in 0..STEPS {
        life.step().await?;
    }
    let faults = &life.harness.lab.cloud.faults;
    let counts = faults.counts();
    faults.stop();
    faults.delay(None);
    life.check().await?;
    Ok(counts)
}

impl Scenario {
    async fn new(seed: u64, faults: Arc<Faults>) -> Result<Self> {
        faults.pause();
        let setup = Setup { seed, faults, skew_ms: 5_000, ..Setup::default() };
        let lab = Lab::with_parameters(setup, &[("FeedSettings", SETTINGS)]);
        let harness = Harness::over(lab).await;
        let dice = SplitMix64::new(seed ^ 0x00fe_ed00);
        let mut life =
            Self { harness, dice, known: Model::default(), scrolls: Vec::new(), action: 0 };
        // One more follower makes the first of them popular, and she has as much to read as is kept.
        let [ada, bob, cid, ..] = PEOPLE;
        for (who, whom) in [(bob, ada), (cid, ada), (ada, bob), (ada, cid)] {
            life.actions(vec![Scenario::follow(who, whom)]).await?;
        }
        for who in [bob, cid, bob, cid] {
            let said = life.say(who);
            life.actions(vec![said]).await?;
        }
        life.harness.settle().await;
        life.harness.lab.cloud.faults.resume();
        Ok(life)
    }

    /// Time passes, or several things happen at once.
    async fn step(&mut self) -> Result {
        self.harness.lab.advance_seconds(2);
        self.slow_down(&[WRITES, READS].concat());
        let actions = match self.dice.below(16) {
            0 | 1 => {
                self.pass_time().await;
                return Ok(());
            }
            2 => return self.pass_days().await,
            // Several follow the same at once, while she writes.
            3 | 4 => {
                self.slow_down(FOLLOWS);
                self.crowd()
            }
            // A reader is back after hours: the timeline is trimmed while they read on.
            5 => {
                self.harness.lab.advance_seconds(7 * 3_600);
                let reader = self.author();
                let visit = self.read_anew(reader, 1);
                self.actions(vec![visit]).await?;
                self.read_while_tended(reader)
            }
            // An author deletes their newest posts, and others read what is left.
            8 => self.regret(),
            // Two who disagree about each other.
            6 => self.quarrel(),
            // A post goes while it is on its way.
            7 => {
                let [first, second] = self.change_mind();
                vec![Action::Deliver, first, self.read(), second, Action::Deliver]
            }
            // An author becomes popular, and is unfollowed by most.
            9 => return self.rise_and_fall().await,
            _ => (0..=self.dice.below(4)).map(|_| self.action()).collect(),
        };
        self.actions(actions).await
    }

    /// Some calls arrive late, while others go on.
    fn slow_down(&mut self, calls: &[CallFilter]) {
        let slow = calls.get(self.dice.index(calls.len() + 1)).copied();
        self.harness.lab.cloud.faults.delay(slow);
    }

    async fn actions(&mut self, actions: Vec<Action>) -> Result {
        let actions = Self::apart(actions);
        let done = join_all(actions.iter().map(|action| action.run(&self.harness))).await;
        let done = done.into_iter().collect::<Result<_, _>>()?;
        self.record(done).await
    }

    /// Messages arrive; often the sweep comes by, and sometimes every function starts anew.
    async fn pass_time(&mut self) {
        let seconds = [5, 30, 66, 400][self.dice.index(4)];
        self.harness.lab.advance_seconds(seconds);
        if self.dice.below(3) == 0 {
            self.harness.lab.cloud.functions.go_cold();
        }
        if seconds > 30 {
            self.harness.lab.run_schedule("SweepFeed").await;
        }
        self.harness.settle().await;
    }

    /// More than a week passes. Some come by in the middle of it, others are away.
    async fn pass_days(&mut self) -> Result {
        self.harness.lab.advance_seconds(4 * DAY);
        let readers: Vec<_> = PEOPLE.into_iter().filter(|_| self.dice.below(2) == 0).collect();
        let mut actions: Vec<_> = readers.into_iter().map(|who| self.read_anew(who, 1)).collect();
        actions.push(self.write());
        self.actions(actions).await?;
        self.harness.lab.advance_seconds(4 * DAY);
        self.pass_time().await;
        // A reader is back, and an author writes while the timeline is rebuilt.
        let (one, other) = (self.person(), self.person());
        let actions = vec![
            self.read_anew(one, 1),
            self.write(),
            Action::Deliver,
            self.read_anew(other, 3),
            Action::Later(Box::new(Action::Deliver)),
            self.write(),
        ];
        self.actions(actions).await?;
        // Another reader is back, and begins to follow at the same time.
        let (back, whom) = self.pair();
        let mut actions = self.read_while_tended(back);
        actions.extend([Self::follow(back, whom), Action::Deliver]);
        self.actions(actions).await
    }

    async fn rise_and_fall(&mut self) -> Result {
        self.slow_down(FOLLOWS);
        let whom = self.person();
        for act in [SocialAction::Follow, SocialAction::Unfollow] {
            let mut actions = vec![Action::Deliver];
            // One stays, and pulls what was written meanwhile.
            let stays = if act == SocialAction::Unfollow { self.person() } else { whom };
            let others = PEOPLE.into_iter().filter(|who| *who != whom && *who != stays);
            actions.extend(others.map(|who| Action::Act { who, act, whom }));
            actions.push(Action::Later(Box::new(Action::Deliver)));
            self.actions(actions).await?;
            let said = vec![self.say(whom), self.say(whom), Action::Deliver];
            self.actions(said).await?;
        }
        Ok(())
    }

    /// What a visit has led to is done while they read on, twice.
    fn read_while_tended(&mut self, reader: &'static str) -> Vec<Action> {
        self.slow_down(READS);
        vec![self.read_anew(reader, 9), Action::Deliver, self.read_anew(reader, 9)]
    }
}

/// Whether a call is of that operation and has that in it.
fn is(call: &ServiceCall, operation: &str, part: &[u8]) -> bool {
    call.operation == operation && call.body.windows(part.len()).any(|window| window == part)
}
