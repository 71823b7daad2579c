//! Notifications under faults.
//!
//! People are told things, cancelled, moved, opted out and called back about, several at a time, while
//! providers refuse, throttle, hang and lose their answers, and clocks jump. Then nothing goes wrong
//! any more, time passes until nothing is on its way, and every write and every message is gone through
//! in order: each delivery ended, none went out unwanted, and none twice but through a doubt.

mod acknowledged;
mod actions;
mod ends;
mod generators;
mod harness;
mod history;
mod invariants;
mod sends;

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
use tests::{Lab, Result, Setup};

use crate::faults::{run, sweep};
use crate::items::{Item, text};
use acknowledged::{Acknowledged, Submitted};
use actions::{Action, ActionResult};
use harness::Harness;
use history::History;

const STEPS: u64 = 10;
const PEOPLE: [&str; 3] = ["ada", "bob", "eve"];
const PROVIDERS: [&str; 4] = ["mail", "mail-2", "text", "push"];

#[test]
fn seeds_hold() {
    sweep("notifications", |seed| run(scenario(seed, Faults::seeded(seed, 60))));
}

struct World {
    harness: Harness,
    random: SplitMix64,
    /// By note: a word that is in everything that was asked for with it.
    submitted: BTreeMap<String, Submitted>,
    /// Idempotency keys and the notes and bodies that they stand for.
    once: BTreeMap<String, (String, Value)>,
    accepted_ids: Vec<String>,
    acknowledged: Vec<Acknowledged>,
    /// Whether people want so few messages that most of them expire.
    low_caps: bool,
    action: u64,
}

pub(super) async fn scenario(seed: u64, faults: Arc<Faults>) -> Result<BTreeMap<Fault, u64>> {
    let mut world = World::new(seed, faults).await;
    for _ in 0..STEPS {
        world.step().await?;
    }
    let faults = &world.harness.lab.cloud.faults;
    let counts = faults.counts();
    faults.stop();
    world.check().await?;
    Ok(counts)
}

impl World {
    async fn new(seed: u64, faults: Arc<Faults>) -> Self {
        faults.pause();
        let mut random = SplitMix64::new(seed ^ 0x00b0_57ed);
        let providers = ScriptedProviders::seeded(seed, [100, 300, 600][random.index(3)]);
        if random.below(4) == 0 {
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
        let secrets = PROVIDERS.map(|name| format!("{name}:{}", STANDARD.encode(actions::SECRET)));
        let lab = Lab::with_parameters(setup, &[("CallbackSecrets", &secrets.join(","))]);
        let mut world = Self {
            harness: Harness::over(lab, providers),
            low_caps: random.below(5) == 0,
            random,
            submitted: BTreeMap::new(),
            once: BTreeMap::new(),
            accepted_ids: Vec::new(),
            acknowledged: Vec::new(),
            action: 0,
        };
        let template = generators::template();
        let saved = world.harness.call(Method::PUT, "/api/v1/templates/order").json(&template);
        assert_eq!(saved.send().await.status, 201);
        for user in PEOPLE {
            let contacts = generators::contacts(user, 0);
            let done = Action::SaveContacts { user, body: contacts }.run(&world.harness).await;
            world.record(done.unwrap());
            if world.low_caps {
                let body = json!({ "dailyCaps": { "sms": 1, "email": 2 } });
                let done = Action::SavePreferences { user, body }.run(&world.harness).await;
                world.record(done.unwrap());
            }
        }
        world.harness.mark_swept().await;
        world.harness.lab.cloud.faults.resume();
        world
    }

    /// Time passes, a provider has trouble, or several things happen at once.
    async fn step(&mut self) -> Result {
        self.harness.mark();
        let actions: Vec<Action> = match self.random.below(13) {
            0 | 1 => {
                self.pass_time().await;
                return Ok(());
            }
            2 => {
                self.fail_provider();
                let again = later(Action::Deliver);
                vec![self.send(), self.send(), Action::Deliver, again.clone(), later(later(again))]
            }
            // The same call from several places at once.
            3 => vec![self.send(); 2],
            4 => vec![self.send(), Action::Deliver, self.opt_out(), Action::Deliver],
            // A caller cancels and a user opts out while a provider hangs.
            5 => {
                self.harness.double();
                for provider in PROVIDERS {
                    self.harness.providers.script_next(provider, [ScriptedOutcome::Hang]);
                }
                let (taken_back, less) = (self.cancel(), self.opt_out());
                vec![Action::Deliver, later(taken_back), later(less), Action::Deliver]
            }
            6 => vec![self.replay(), Action::Deliver],
            // Claims expire while their instances still wait for a provider.
            7 => {
                for provider in PROVIDERS {
                    self.harness.providers.script_next(
                        provider,
                        [ScriptedOutcome::Slow, ScriptedOutcome::Hang, ScriptedOutcome::Slow],
                    );
                }
                let after = later(later(Action::Deliver));
                vec![
                    self.send(),
                    Action::Deliver,
                    later(Action::AdvanceClock),
                    later(Action::Sweep),
                    after,
                ]
            }
            _ => (0..=self.random.below(3)).map(|_| self.action()).collect(),
        };
        let done = join_all(actions.iter().map(|action| action.run(&self.harness))).await;
        for done in done {
            self.record(done?);
        }
        Ok(())
    }

    fn action(&mut self) -> Action {
        match self.random.below(20) {
            0..6 => self.send(),
            6 => self.send_again(),
            7 => self.send_invalid(),
            8 => self.cancel(),
            9 | 10 => self.opt_out(),
            11 => self.save_preferences(),
            12 => self.save_contacts(),
            13 | 14 => self.provider_event(),
            15 => self.replay(),
            16 => Action::Sweep,
            _ => Action::Deliver,
        }
    }

    /// Messages arrive; often the sweep comes by, and sometimes every function starts anew.
    async fn pass_time(&mut self) {
        let seconds = [1, 12, 40, 66, 150, 400][self.random.index(6)];
        self.harness.lab.advance_seconds(seconds);
        if self.random.below(4) == 0 {
            self.harness.lab.cloud.functions.go_cold();
        }
        if seconds > 30 {
            self.harness.lab.run_schedule("SweepNotifications").await;
        }
        if self.random.below(2) == 0 {
            self.harness.double();
        }
        self.harness.settle().await;
    }

    fn record(&mut self, done: ActionResult) {
        match done {
            ActionResult::Nothing => {}
            ActionResult::Acknowledged(acknowledgement) => self.acknowledged.push(acknowledgement),
            ActionResult::NotificationRecord { key, note, body, ids } => {
                self.accepted_ids.extend(ids.iter().cloned());
                let keyed = key.is_some() || !body["idempotencyKey"].is_null();
                let submitted = Submitted { body: body.clone(), keyed, ids: BTreeSet::new() };
                self.submitted.entry(note.clone()).or_insert(submitted).ids.extend(ids);
                if let Some(key) = key {
                    self.once.insert(key, (note, body));
                }
            }
        }
    }

    async fn check(&self) -> Result {
        self.harness.providers.accept_all();
        let rows = self.harness.rest().await?;
        let history = History::from_recorded(&self.harness.lab.cloud.faults.recorded())?;
        let recorded = self.harness.providers.sends();
        invariants::check_rows(&history)?;
        let attempts = sends::attempts(&history, &recorded)?;
        sends::check_pauses(&history, &attempts)?;
        sends::check_breakers(&history, &recorded, &self.harness.marks())?;
        ends::check_deliveries(&history, &attempts)?;
        ends::check_accounts(&history, &endpoints(&rows))?;
        ends::check_letters(&history, &self.harness.dead_letters().await?)?;
        // A copy of a message can't tell that the instance with the first one crashed before its dead letter.
        let copied = self.harness.lab.cloud.faults.counts().contains_key(&Fault::DoubledMessage);
        if !copied {
            ends::check_alarms(&history, &self.harness.alarms())?;
        }
        acknowledged::check_asked(&history, &self.submitted)?;
        self.acknowledged.iter().try_for_each(|acknowledgement| acknowledgement.check(&history))
    }
}

/// Every way that a notification takes, as its own row says.
fn endpoints(rows: &[Item]) -> BTreeSet<String> {
    let mut endpoints = BTreeSet::new();
    for row in rows.iter().filter(|row| text(row, "sk") == "notification") {
        let taken = row.get("ways").and_then(|endpoints| endpoints.as_ss().ok());
        endpoints.extend(
            taken.into_iter().flatten().map(|endpoint| format!("{}.{endpoint}", text(row, "id"))),
        );
    }
    endpoints
}

fn later(action: Action) -> Action {
    Action::Later(Box::new(action))
}
