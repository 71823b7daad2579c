//! One simulated environment: its clock, its troubles, and its generator.

use super::audit::LeasedInterval;
use super::{SIMULATED_LEASE_MS, SplitMix64, World};
use domain::ids::Id;
use domain::ids::{Fill, Generator, Pause};

/// How far a clock may be from the truth, in either direction.
const MAX_SKEW_MS: u64 = 5_000;

const HOUR_MS: u64 = 3_600_000;

pub(super) struct Node {
    /// The clock's error plus [`MAX_SKEW_MS`], so that it is never negative.
    skew_ms: u64,
    frozen_until_ms: u64,
    /// A reading taken just before freezing, which the node acts upon when it thaws.
    stale_reading_ms: Option<u64>,
    held: Option<(Generator, LeasedInterval)>,
    last: Option<Id>,
    ids: Vec<Id>,
}

impl Node {
    pub(super) fn new(random: &mut SplitMix64) -> Self {
        Self {
            skew_ms: random.below(2 * MAX_SKEW_MS + 1),
            frozen_until_ms: 0,
            stale_reading_ms: None,
            held: None,
            last: None,
            ids: Vec::new(),
        }
    }

    /// Serves one request, unless something gets in the way. Says whether ids were issued.
    pub(super) fn take_turn(&mut self, world: &mut World) -> bool {
        if world.now_ms < self.frozen_until_ms {
            return false;
        }
        if world.random.one_in(4_096) {
            world.report.replaced += 1;
            *self = Self::new(&mut world.random);
        }
        self.disturb_clock(world);
        let clock_ms = world.now_ms + self.skew_ms - MAX_SKEW_MS;
        let reading_ms = self.stale_reading_ms.take().unwrap_or(clock_ms);
        if world.random.one_in(256) {
            self.freeze(world, reading_ms);
            return false;
        }
        self.renew_in_time(world, reading_ms);
        self.serve(world, reading_ms)
    }

    fn disturb_clock(&mut self, world: &mut World) {
        match world.random.below(256) {
            0 => self.skew_ms = world.random.below(2 * MAX_SKEW_MS + 1),
            1..=4 => self.skew_ms = self.skew_ms.saturating_sub(1 + world.random.below(8)),
            _ => return,
        }
        world.report.clock_steps += 1;
    }

    /// Half of the time the node has read its clock already and does not notice the freeze.
    fn freeze(&mut self, world: &mut World, reading_ms: u64) {
        world.report.freezes += 1;
        let longest_ms = if world.random.one_in(16) { HOUR_MS } else { 2 * SIMULATED_LEASE_MS };
        self.frozen_until_ms = world.now_ms + world.random.below(longest_ms);
        self.stale_reading_ms = Some(reading_ms).filter(|_| world.random.one_in(2));
    }

    /// Some nodes renew near the end of their lease; the others let it run out.
    fn renew_in_time(&mut self, world: &mut World, reading_ms: u64) {
        let Some((generator, interval)) = &mut self.held else {
            return;
        };
        let ends_soon = generator.until_ms() < reading_ms + SIMULATED_LEASE_MS / 8;
        if !ends_soon || !world.random.one_in(2) {
            return;
        }
        let request = world.request();
        let renewal = generator.renewal(reading_ms, SIMULATED_LEASE_MS, request);
        if let Some(lease) = renewal.and_then(|claim| world.write(claim)) {
            world.report.renewals += 1;
            interval.follow(&lease);
            generator.set_lease(lease);
        }
    }

    fn serve(&mut self, world: &mut World, reading_ms: u64) -> bool {
        let count = usize::try_from(1 + world.random.below(world.largest_request)).unwrap_or(1);
        self.ids.clear();
        if self.held.is_none() || self.fill(reading_ms, count) == Fill::Paused(Pause::Exhausted) {
            self.lease(world, reading_ms);
        }
        if self.ids.is_empty()
            && let Fill::Paused(Pause::ClockBack { .. }) = self.fill(reading_ms, count)
        {
            world.report.refused += 1;
        }
        if let Some((_, interval)) = &self.held {
            world.audit.issued(interval, &mut self.last, &self.ids);
        }
        world.report.ids += self.ids.len() as u64;
        !self.ids.is_empty()
    }

    fn fill(&mut self, reading_ms: u64, count: usize) -> Fill {
        match &mut self.held {
            Some((generator, _)) => generator.fill(reading_ms, count, &mut self.ids),
            None => Fill::Paused(Pause::Exhausted),
        }
    }

    fn lease(&mut self, world: &mut World, reading_ms: u64) {
        let Some(lease) = world.lease(reading_ms) else {
            return;
        };
        match &mut self.held {
            Some((generator, interval)) => {
                interval.follow(&lease);
                generator.set_lease(lease);
            }
            held => {
                let interval = LeasedInterval::of(&lease);
                *held = Some((Generator::new(lease), interval));
            }
        }
    }
}
