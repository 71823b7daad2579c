//! The feed under faults.
//!
//! People write, edit, delete, follow, block, mute, like and read, several at a time, while messages are
//! doubled, delayed and lost, functions die, writes time out and clocks differ; some are away for a week.
//! Settings are so small that authors cross both thresholds, timelines are trimmed and rows of recent posts
//! overflow. Each page is held against everything that may have been when it was read. Then nothing goes
//! wrong any more, and every feed is what the model says, page by page.

mod draws;
mod known;
mod noting;
mod possible;
pub(super) mod rows;
mod scrolls;
pub(super) mod truths;
pub(super) mod watch;
mod wishes;

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::SplitMix64;
use domain::feed::Act;
use futures::future::join_all;
use local::faults::{CallFilter, Fault, Faults, ServiceCall};
use tests::{Lab, Setup};

use crate::faults::{run, sweep};
use known::Known;
use scrolls::Scroll;
use watch::Watch;
use wishes::Wish;

/// Steps of one life.
const STEPS: u64 = 10;
pub(super) const PEOPLE: [&str; 5] = ["ada", "bob", "cid", "dan", "eli"];

/// Small enough that everything happens.
pub(super) const SETTINGS: &str = r#"{"pullFrom":3,"pushBelow":2,"kept":4,"recents":3,"page":2,
    "gathered":8,"dormantSeconds":604800}"#;

const DAY: i64 = 86_400;

/// Calls that may arrive late: what somebody who follows writes,
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
fn a_thousand_seeds_hold() {
    sweep("feed", |seed| run(scenario(seed, Faults::seeded(seed, 60))));
}

struct Life {
    watch: Watch,
    dice: SplitMix64,
    known: Known,
    /// Scrolls that go on, one a reader.
    scrolls: Vec<Scroll>,
    wish: u64,
}

pub(super) async fn scenario(
    seed: u64,
    faults: Arc<Faults>,
) -> Result<BTreeMap<Fault, u64>, String> {
    let mut life = Life::new(seed, faults).await?;
    for _ in 0..STEPS {
        life.step().await?;
    }
    let faults = &life.watch.lab.cloud.faults;
    let counts = faults.counts();
    faults.stop();
    faults.delay(None);
    life.hold().await?;
    Ok(counts)
}

impl Life {
    async fn new(seed: u64, faults: Arc<Faults>) -> Result<Self, String> {
        faults.pause();
        let setup = Setup { seed, faults, skew_ms: 5_000, ..Setup::default() };
        let lab = Lab::with_parameters(setup, &[("FeedSettings", SETTINGS)]);
        let watch = Watch::over(lab).await;
        let dice = SplitMix64::new(seed ^ 0x00fe_ed00);
        let mut life = Self { watch, dice, known: Known::default(), scrolls: Vec::new(), wish: 0 };
        // One more follower makes the first of them popular, and she has as much to read as is kept.
        let [ada, bob, cid, ..] = PEOPLE;
        for (who, whom) in [(bob, ada), (cid, ada), (ada, bob), (ada, cid)] {
            life.wishes(vec![Life::follow(who, whom)]).await?;
        }
        for who in [bob, cid, bob, cid] {
            let said = life.say(who);
            life.wishes(vec![said]).await?;
        }
        life.watch.settle().await;
        life.watch.lab.cloud.faults.resume();
        Ok(life)
    }

    /// Time passes, or several things happen at once.
    async fn step(&mut self) -> Result<(), String> {
        self.watch.lab.advance_seconds(2);
        self.slow_down(&[WRITES, READS].concat());
        let wishes = match self.dice.below(16) {
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
            // Somebody is back after hours: their timeline is tended while they read on.
            5 => {
                self.watch.lab.advance_seconds(7 * 3_600);
                let reader = self.author();
                let visit = self.read_anew(reader, 1);
                self.wishes(vec![visit]).await?;
                self.read_while_tended(reader)
            }
            // Somebody takes back all of their newest posts, and others look what is left.
            8 => self.regret(),
            // Two who disagree about each other.
            6 => self.quarrel(),
            // A post goes while it is on its way.
            7 => {
                let [first, second] = self.change_mind();
                vec![Wish::Deliver, first, self.read(), second, Wish::Deliver]
            }
            // Somebody becomes popular, and is left by most.
            9 => return self.rise_and_fall().await,
            _ => (0..=self.dice.below(4)).map(|_| self.wish()).collect(),
        };
        self.wishes(wishes).await
    }

    /// Some calls arrive late, while others go on.
    fn slow_down(&mut self, calls: &[CallFilter]) {
        let slow = calls.get(self.below(calls.len() + 1)).copied();
        self.watch.lab.cloud.faults.delay(slow);
    }

    /// Fulfils wishes at the same time.
    async fn wishes(&mut self, wishes: Vec<Wish>) -> Result<(), String> {
        let wishes = Self::apart(wishes);
        let done = join_all(wishes.iter().map(|wish| wish.fulfil(&self.watch))).await;
        let done = done.into_iter().collect::<Result<_, _>>()?;
        self.note(done).await
    }

    /// Messages arrive; often the sweep comes by, and sometimes every function starts anew.
    async fn pass_time(&mut self) {
        let seconds = [5, 30, 66, 400][self.below(4)];
        self.watch.lab.advance_seconds(seconds);
        if self.dice.below(3) == 0 {
            self.watch.lab.cloud.functions.go_cold();
        }
        if seconds > 30 {
            self.watch.sweep().await;
        }
        self.watch.settle().await;
    }

    /// More than a week passes. Some come by in the middle of it, others are away.
    async fn pass_days(&mut self) -> Result<(), String> {
        self.watch.lab.advance_seconds(4 * DAY);
        let readers: Vec<_> = PEOPLE.into_iter().filter(|_| self.dice.below(2) == 0).collect();
        let mut wishes: Vec<_> = readers.into_iter().map(|who| self.read_anew(who, 1)).collect();
        wishes.push(self.write());
        self.wishes(wishes).await?;
        self.watch.lab.advance_seconds(4 * DAY);
        self.pass_time().await;
        // Whoever was away is back, and somebody writes while their timeline is rebuilt.
        let (one, other) = (self.person(), self.person());
        let wishes = vec![
            self.read_anew(one, 1),
            self.write(),
            Wish::Deliver,
            self.read_anew(other, 3),
            Wish::Later(Box::new(Wish::Deliver)),
            self.write(),
        ];
        self.wishes(wishes).await?;
        // Somebody else is back, and begins to follow at the same time.
        let (back, whom) = self.pair();
        let mut wishes = self.read_while_tended(back);
        wishes.extend([Self::follow(back, whom), Wish::Deliver]);
        self.wishes(wishes).await
    }

    async fn rise_and_fall(&mut self) -> Result<(), String> {
        self.slow_down(FOLLOWS);
        let whom = self.person();
        for act in [Act::Follow, Act::Unfollow] {
            let mut wishes = vec![Wish::Deliver];
            // One stays, and pulls what was written meanwhile.
            let stays = if act == Act::Unfollow { self.person() } else { whom };
            let others = PEOPLE.into_iter().filter(|who| *who != whom && *who != stays);
            wishes.extend(others.map(|who| Wish::Act { who, act, whom }));
            wishes.push(Wish::Later(Box::new(Wish::Deliver)));
            self.wishes(wishes).await?;
            let said = vec![self.say(whom), self.say(whom), Wish::Deliver];
            self.wishes(said).await?;
        }
        Ok(())
    }

    /// What a visit has led to is done while they read on, twice.
    fn read_while_tended(&mut self, reader: &'static str) -> Vec<Wish> {
        self.slow_down(READS);
        vec![self.read_anew(reader, 9), Wish::Deliver, self.read_anew(reader, 9)]
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.dice.below(bound as u64)).unwrap_or(0)
    }
}

/// Whether a call is of that operation and has that in it.
fn is(call: &ServiceCall, operation: &str, part: &[u8]) -> bool {
    call.operation == operation && call.body.windows(part.len()).any(|window| window == part)
}
