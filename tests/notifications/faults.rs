//! Notifications under faults.
//!
//! People are told things, cancelled, moved, opted out and called back about, several at a time, while
//! providers refuse, throttle, hang and lose their answers, and clocks jump. Then nothing goes wrong
//! any more, time passes until nothing is on its way, and every write and every parcel is gone through
//! in order: each delivery ended, none went out unwanted, and none twice but through a doubt.

mod ends;
mod handed;
mod history;
mod promises;
mod rules;
mod submissions;
mod watch;
mod wishes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::SplitMix64;
use futures::future::join_all;
use http::Method;
use local::faults::{Fault, Faults};
use serde_json::{Value, json};
use tests::scripted_providers::{ScriptedOutcome, ScriptedProviders};
use tests::{Lab, Setup};

use crate::faults::{run, sweep};
use crate::items::{Item, text};
use history::History;
use promises::{Asked, Promise};
use watch::Watch;
use wishes::{Done, Wish};

/// Steps of one life.
const STEPS: u64 = 10;
const PEOPLE: [&str; 3] = ["ada", "bob", "eve"];
const PROVIDERS: [&str; 4] = ["mail", "mail-2", "text", "push"];

#[test]
fn a_thousand_seeds_hold() {
    sweep("notifications", |seed| run(scenario(seed, Faults::seeded(seed, 60))));
}

struct World {
    watch: Watch,
    dice: SplitMix64,
    /// By note: a word that is in everything that was asked for with it.
    asked: BTreeMap<String, Asked>,
    /// Idempotency keys and the notes and bodies that they stand for.
    once: BTreeMap<String, (String, Value)>,
    told: Vec<String>,
    promises: Vec<Promise>,
    /// Whether people want so few messages that most of them expire.
    sparing: bool,
    wish: u64,
}

pub(super) async fn scenario(
    seed: u64,
    faults: Arc<Faults>,
) -> Result<BTreeMap<Fault, u64>, String> {
    let mut world = World::new(seed, faults).await;
    for _ in 0..STEPS {
        world.step().await?;
    }
    let faults = &world.watch.lab.cloud.faults;
    let counts = faults.counts();
    faults.stop();
    world.hold().await?;
    Ok(counts)
}

impl World {
    async fn new(seed: u64, faults: Arc<Faults>) -> Self {
        faults.pause();
        let mut dice = SplitMix64::new(seed ^ 0x00b0_57ed);
        let providers = ScriptedProviders::seeded(seed, [100, 300, 600][below(&mut dice, 3)]);
        if dice.below(4) == 0 {
            providers.rate("text", 1);
            providers.rate("push", 2);
        }
        let setup = Setup {
            seed,
            faults,
            skew_ms: 5_000,
            providers: Some(providers.clone()),
            ..Setup::default()
        };
        let secrets = PROVIDERS.map(|name| format!("{name}:{}", STANDARD.encode(wishes::SECRET)));
        let lab = Lab::with_parameters(setup, &[("CallbackSecrets", &secrets.join(","))]);
        let mut world = Self {
            watch: Watch::over(lab, providers),
            sparing: dice.below(5) == 0,
            dice,
            asked: BTreeMap::new(),
            once: BTreeMap::new(),
            told: Vec::new(),
            promises: Vec::new(),
            wish: 0,
        };
        let template = submissions::template();
        let saved = world.watch.call(Method::PUT, "/api/v1/templates/order").json(&template);
        assert_eq!(saved.send().await.status, 201);
        for user in PEOPLE {
            let contacts = submissions::contacts(user, 0);
            let done = Wish::Reach { user, body: contacts }.fulfil(&world.watch).await;
            world.note(done.unwrap());
            if world.sparing {
                let body = json!({ "dailyCaps": { "sms": 1, "email": 2 } });
                let done = Wish::Prefer { user, body }.fulfil(&world.watch).await;
                world.note(done.unwrap());
            }
        }
        world.watch.swept().await;
        world.watch.lab.cloud.faults.resume();
        world
    }

    /// Time passes, a provider has trouble, or several things happen at once.
    async fn step(&mut self) -> Result<(), String> {
        self.watch.mark();
        let wishes: Vec<Wish> = match self.dice.below(13) {
            0 | 1 => {
                self.pass_time().await;
                return Ok(());
            }
            2 => {
                self.trouble();
                let again = later(Wish::Deliver);
                vec![self.tell(), self.tell(), Wish::Deliver, again.clone(), later(later(again))]
            }
            // The same call from several places at once.
            3 => vec![self.tell(); 2],
            4 => vec![self.tell(), Wish::Deliver, self.opt_out(), Wish::Deliver],
            // Somebody changes their mind while a provider takes its time.
            5 => {
                self.watch.double();
                for provider in PROVIDERS {
                    self.watch.providers.script_next(provider, [ScriptedOutcome::Hang]);
                }
                let (taken_back, less) = (self.cancel(), self.opt_out());
                vec![Wish::Deliver, later(taken_back), later(less), Wish::Deliver]
            }
            6 => vec![self.replay(), Wish::Deliver],
            // Whoever waits for a provider is taken for dead, and is not.
            7 => {
                for provider in PROVIDERS {
                    self.watch.providers.script_next(
                        provider,
                        [ScriptedOutcome::Slow, ScriptedOutcome::Hang, ScriptedOutcome::Slow],
                    );
                }
                let after = later(later(Wish::Deliver));
                vec![self.tell(), Wish::Deliver, later(Wish::Leap), later(Wish::Sweep), after]
            }
            _ => (0..=self.dice.below(3)).map(|_| self.wish()).collect(),
        };
        let done = join_all(wishes.iter().map(|wish| wish.fulfil(&self.watch))).await;
        for done in done {
            self.note(done?);
        }
        Ok(())
    }

    fn below(&mut self, bound: usize) -> usize {
        below(&mut self.dice, bound)
    }

    /// Something that somebody wants.
    fn wish(&mut self) -> Wish {
        match self.dice.below(20) {
            0..6 => self.tell(),
            6 => self.tell_again(),
            7 => self.tell_wrongly(),
            8 => self.cancel(),
            9 | 10 => self.opt_out(),
            11 => self.prefer(),
            12 => self.reach(),
            13 | 14 => self.call_back(),
            15 => self.replay(),
            16 => Wish::Sweep,
            _ => Wish::Deliver,
        }
    }

    /// Messages arrive; often the sweep comes by, and sometimes every function starts anew.
    async fn pass_time(&mut self) {
        let seconds = [1, 12, 40, 66, 150, 400][self.below(6)];
        self.watch.lab.advance_seconds(seconds);
        if self.dice.below(4) == 0 {
            self.watch.lab.cloud.functions.go_cold();
        }
        if seconds > 30 {
            self.watch.sweep().await;
        }
        if self.dice.below(2) == 0 {
            self.watch.double();
        }
        self.watch.settle().await;
    }

    fn note(&mut self, done: Done) {
        match done {
            Done::Nothing => {}
            Done::Promised(promise) => self.promises.push(promise),
            Done::Told { key, note, body, ids } => {
                self.told.extend(ids.iter().cloned());
                let keyed = key.is_some() || !body["idempotencyKey"].is_null();
                let asked = Asked { body: body.clone(), keyed, ids: BTreeSet::new() };
                self.asked.entry(note.clone()).or_insert(asked).ids.extend(ids);
                if let Some(key) = key {
                    self.once.insert(key, (note, body));
                }
            }
        }
    }

    async fn hold(&self) -> Result<(), String> {
        self.watch.providers.accept_all();
        let rows = self.watch.rest().await?;
        let history = History::of(&self.watch.lab.cloud.faults.recorded())?;
        let handed = self.watch.providers.sends();
        rules::hold_rows(&history)?;
        let attempts = handed::attempts(&history, &handed)?;
        handed::hold_pauses(&history, &attempts)?;
        handed::hold_breakers(&history, &handed, &self.watch.marks())?;
        ends::hold_deliveries(&history, &attempts)?;
        ends::hold_accounts(&history, &ways(&rows))?;
        ends::hold_letters(&history, &self.watch.letters().await?)?;
        // A copy of a message can't tell that whoever had the first one died before its letter.
        let copied = self.watch.lab.cloud.faults.counts().contains_key(&Fault::DoubledMessage);
        if !copied {
            ends::hold_alarms(&history, &self.watch.alarms())?;
        }
        promises::hold_asked(&history, &self.asked)?;
        self.promises.iter().try_for_each(|promise| promise.hold(&history))
    }
}

/// Every way that a notification takes, as its own row says.
fn ways(rows: &[Item]) -> BTreeSet<String> {
    let mut ways = BTreeSet::new();
    for row in rows.iter().filter(|row| text(row, "sk") == "notification") {
        let taken = row.get("ways").and_then(|ways| ways.as_ss().ok());
        ways.extend(taken.into_iter().flatten().map(|way| format!("{}.{way}", text(row, "id"))));
    }
    ways
}

fn later(wish: Wish) -> Wish {
    Wish::Later(Box::new(wish))
}

fn below(dice: &mut SplitMix64, bound: usize) -> usize {
    usize::try_from(dice.below(bound as u64)).unwrap_or(0)
}
