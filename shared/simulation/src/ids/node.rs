//! One simulated environment: its clock, its troubles, and its generator.

use super::audit::Stretch;
use super::{Cloud, SIMULATED_LEASE_MS, SplitMix64};
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
    held: Option<(Generator, Stretch)>,
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
    pub(super) fn take_turn(&mut self, cloud: &mut Cloud) -> bool {
        if cloud.now_ms < self.frozen_until_ms {
            return false;
        }
        if cloud.random.one_in(4_096) {
            cloud.report.replaced += 1;
            *self = Self::new(&mut cloud.random);
        }
        self.disturb_clock(cloud);
        let clock_ms = cloud.now_ms + self.skew_ms - MAX_SKEW_MS;
        let reading_ms = self.stale_reading_ms.take().unwrap_or(clock_ms);
        if cloud.random.one_in(256) {
            self.freeze(cloud, reading_ms);
            return false;
        }
        self.renew_in_time(cloud, reading_ms);
        self.serve(cloud, reading_ms)
    }

    fn disturb_clock(&mut self, cloud: &mut Cloud) {
        match cloud.random.below(256) {
            0 => self.skew_ms = cloud.random.below(2 * MAX_SKEW_MS + 1),
            1..=4 => self.skew_ms = self.skew_ms.saturating_sub(1 + cloud.random.below(8)),
            _ => return,
        }
        cloud.report.clock_steps += 1;
    }

    /// Half of the time the node has read its clock already and does not notice the freeze.
    fn freeze(&mut self, cloud: &mut Cloud, reading_ms: u64) {
        cloud.report.freezes += 1;
        let longest_ms = if cloud.random.one_in(16) { HOUR_MS } else { 2 * SIMULATED_LEASE_MS };
        self.frozen_until_ms = cloud.now_ms + cloud.random.below(longest_ms);
        self.stale_reading_ms = Some(reading_ms).filter(|_| cloud.random.one_in(2));
    }

    /// Some nodes renew near the end of their lease; the others let it run out.
    fn renew_in_time(&mut self, cloud: &mut Cloud, reading_ms: u64) {
        let Some((generator, stretch)) = &mut self.held else {
            return;
        };
        let ends_soon = generator.until_ms() < reading_ms + SIMULATED_LEASE_MS / 8;
        if !ends_soon || !cloud.random.one_in(2) {
            return;
        }
        let request = cloud.request();
        let renewal = generator.renewal(reading_ms, SIMULATED_LEASE_MS, request);
        if let Some(lease) = renewal.and_then(|claim| cloud.write(claim)) {
            cloud.report.renewals += 1;
            stretch.follow(&lease);
            generator.relet(lease);
        }
    }

    fn serve(&mut self, cloud: &mut Cloud, reading_ms: u64) -> bool {
        let wanted = usize::try_from(1 + cloud.random.below(cloud.largest_request)).unwrap_or(1);
        self.ids.clear();
        if self.held.is_none() || self.fill(reading_ms, wanted) == Fill::Paused(Pause::Exhausted) {
            self.lease(cloud, reading_ms);
        }
        if self.ids.is_empty()
            && let Fill::Paused(Pause::ClockBack { .. }) = self.fill(reading_ms, wanted)
        {
            cloud.report.refused += 1;
        }
        if let Some((_, stretch)) = &self.held {
            cloud.audit.issued(stretch, &mut self.last, &self.ids);
        }
        cloud.report.ids += self.ids.len() as u64;
        !self.ids.is_empty()
    }

    fn fill(&mut self, reading_ms: u64, wanted: usize) -> Fill {
        match &mut self.held {
            Some((generator, _)) => generator.fill(reading_ms, wanted, &mut self.ids),
            None => Fill::Paused(Pause::Exhausted),
        }
    }

    fn lease(&mut self, cloud: &mut Cloud, reading_ms: u64) {
        let Some(lease) = cloud.lease(reading_ms) else {
            return;
        };
        match &mut self.held {
            Some((generator, stretch)) => {
                stretch.follow(&lease);
                generator.relet(lease);
            }
            held => {
                let stretch = Stretch::of(&lease);
                *held = Some((Generator::new(lease), stretch));
            }
        }
    }
}
