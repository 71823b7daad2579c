//! Limits under faults: several nodes count together while the store fails and admins decide.
//!
//! Callers ask for units of resources with rules of every kind; some ask through `limits`, some are
//! counted by another function on their way. In half of the runs all clocks agree, and what was
//! admitted is held to the definition of each rule; in the other half clocks are wrong and step back,
//! which the definitions then allow for. Afterwards nothing goes wrong any more, every node ends, and
//! what was admitted is compared with what the rows say was debited.

mod decisions;
mod definitions;
mod invariants;
mod log_lines;
mod probes;
mod requests;
mod rows;
pub(super) mod setup;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use domain::SplitMix64;
use local::faults::{Fault, Faults};
use tests::{Lab, Result, Setup};

use crate::faults::{run, sweep};
use requests::{Exchange, RESOURCES, VISITED};

const ACTIONS: u64 = 4;
const MINUTE: i64 = 60_000;
const SKEW_MS: i64 = 5_000;

#[test]
fn seeds_hold() {
    sweep("limits", |seed| run(scenario(seed, Faults::seeded(seed, 60))));
}

#[test]
fn nothing_is_lost_and_nothing_given_twice_when_nothing_goes_wrong() {
    for seed in 0..40 {
        let held = run(scenario(seed, Faults::seeded(seed, 0)));
        assert_eq!(held, Ok(BTreeMap::new()), "seed {seed}");
    }
}

/// Everything that happens in a run, and what was promised.
struct World {
    lab: Lab,
    dice: SplitMix64,
    /// How wrong a node's clock may be, compared with the test's.
    slack_ms: i64,
    /// What most callers want.
    theme: &'static str,
    exchanges: Vec<Exchange>,
    /// The limit of the rule that admins change, while there is one.
    moving: Option<i64>,
    /// The versions of it that were acknowledged since it was last made.
    versions: BTreeSet<u64>,
    offenders: u8,
    /// How often nodes were forgotten with all they held.
    cold_starts: u64,
    traces: u64,
}

pub(super) async fn scenario(seed: u64, faults: Arc<Faults>) -> Result<BTreeMap<Fault, u64>> {
    let mut world = World::new(seed, faults).await;
    for _ in 0..ACTIONS {
        world.act().await?;
        world.pass_time().await;
    }
    let counts = world.lab.cloud.faults.counts();
    world.lab.cloud.faults.stop();
    world.check_invariants().await?;
    Ok(counts)
}

impl World {
    async fn new(seed: u64, faults: Arc<Faults>) -> Self {
        faults.pause();
        let slack_ms = if seed.is_multiple_of(2) { 0 } else { SKEW_MS };
        let skew_ms = slack_ms.unsigned_abs();
        let lab = setup::lab(Setup { seed, faults, skew_ms, ..Setup::default() });
        lab.cloud.faults.record(|call| {
            // Every write of a counter.
            let writes = ["UpdateItem", "TransactWriteItems"].contains(&call.operation.as_str());
            writes && String::from_utf8_lossy(&call.body).contains(r#""count#"#)
        });
        let mut dice = SplitMix64::new(seed ^ 0x11_317);
        let theme = RESOURCES[dice.index(6)];
        let world = Self {
            lab,
            dice,
            slack_ms,
            theme,
            exchanges: Vec::new(),
            moving: None,
            versions: BTreeSet::new(),
            offenders: 0,
            cold_starts: 0,
            traces: 0,
        };
        setup::decide(&world.lab, &[VISITED, "/t/leased", theme]).await;
        world.lab.cloud.faults.resume();
        world
    }

    async fn act(&mut self) -> Result {
        match self.dice.below(16) {
            0 => self.change_rule().await,
            1 => self.delete_rule().await,
            2 => self.change_override().await,
            3 => self.change_firewall().await,
            4 | 5 => self.race_for_a_version().await,
            6 => self.offend().await,
            _ => {
                self.traffic().await;
                Ok(())
            }
        }
    }

    async fn pass_time(&mut self) {
        let to_the_minute = MINUTE - self.lab.clock.now_ms().rem_euclid(MINUTE);
        match self.dice.below(12) {
            0 => self.lab.clock.advance_ms(to_the_minute - 1),
            1 => self.lab.clock.advance_ms(to_the_minute),
            2 => self.lab.clock.advance_ms(MINUTE),
            3 if self.slack_ms > 0 => {
                let back = i64::try_from(self.dice.below(3_000)).unwrap_or(0);
                self.slack_ms += back;
                self.lab.clock.advance_ms(-back);
            }
            4 => {
                self.cold_starts += 1;
                self.lab.cloud.functions.go_cold();
            }
            5 | 6 => {
                self.lab.cloud.functions.quiesce().await;
                self.lab.cloud.functions.retire(Duration::ZERO).await;
            }
            7..9 => {
                let ms = i64::try_from(self.dice.below(15_000)).unwrap_or(0);
                self.lab.clock.advance_ms(ms);
            }
            _ => {}
        }
    }
}
