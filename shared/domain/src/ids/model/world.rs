//! The small world the search explores: its state, and what each event does to it.

use super::event::{Break, Step, Violation};
use crate::ids::{
    Claim, EPOCH_MS, ERA_END_MS, Generator, Guard, Id, Lane, LaneRow, Lease, Next, Proposal,
    RequestId, SequenceRange, Settlement, Slot, WHOLE_SLOTS, propose,
};

const READINGS: std::ops::Range<u64> = EPOCH_MS..EPOCH_MS + 4;
const LENGTH_MS: u64 = 2;

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Node {
    claims_left: u8,
    waiting: Option<Claim>,
    wire: Option<(LaneRow, Guard)>,
    generator: Option<Generator>,
    leased_from: u64,
    last: Option<Id>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct World {
    broken: Option<Break>,
    rows: Vec<Option<LaneRow>>,
    nodes: Vec<Node>,
    issued: Vec<Id>,
}

impl World {
    pub(super) fn new(nodes: usize, lanes: usize, claims: u8, broken: Option<Break>) -> Self {
        let node = Node { claims_left: claims, ..Node::default() };
        Self { broken, rows: vec![None; lanes], nodes: vec![node; nodes], issued: Vec::new() }
    }

    /// Everything that can happen in this state.
    pub(super) fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (node, state) in self.nodes.iter().enumerate() {
            if state.waiting.is_some() {
                steps.extend([Step::Answered { node }, Step::GiveUp { node }]);
            } else if state.claims_left > 0 {
                steps.extend(READINGS.flat_map(|now_ms| {
                    (0..self.rows.len()).map(move |lane| Step::Propose { node, lane, now_ms })
                }));
                if state.generator.is_some() {
                    steps.extend(READINGS.map(|now_ms| Step::Renew { node, now_ms }));
                }
            }
            if state.wire.is_some() {
                steps.push(Step::Delivered { node });
            }
            if state.generator.is_some() {
                steps.extend(READINGS.map(|now_ms| Step::Issue { node, now_ms }));
                if self.is(Break::MemoryCopiedAfterLeasing) {
                    steps.push(Step::Copy { node });
                }
            }
        }
        if self.is(Break::RowsExpire) {
            steps.extend((0..self.rows.len()).map(|lane| Step::Expire { lane }));
        }
        steps
    }

    /// The state after a step, unless the step does what must not happen.
    pub(super) fn after(&self, step: Step) -> Result<Self, Violation> {
        let mut next = self.clone();
        match step {
            Step::Propose { node, lane, now_ms } => next.propose(node, lane, now_ms),
            Step::Renew { node, now_ms } => next.renew(node, now_ms),
            Step::Answered { node } => next.answer(node),
            Step::Delivered { node } => drop(next.deliver(node)),
            Step::GiveUp { node } => {
                let claim = next.nodes[node].waiting.take();
                if let (true, Some(claim)) = (self.is(Break::LostAnswerAssumedGood), claim) {
                    next.hold(node, &claim.granted());
                }
            }
            Step::Issue { node, now_ms } => next.issue(node, now_ms)?,
            Step::Expire { lane } => next.rows[lane] = None,
            Step::Copy { node } => {
                let other = (node + 1) % next.nodes.len();
                next.nodes[other] = next.nodes[node].clone();
            }
        }
        Ok(next)
    }

    fn is(&self, rule: Break) -> bool {
        self.broken == Some(rule)
    }

    fn request(&mut self, node: usize) -> RequestId {
        let left = self.nodes[node].claims_left;
        self.nodes[node].claims_left -= 1;
        RequestId(node as u128 * 16 + u128::from(left))
    }

    fn propose(&mut self, node: usize, lane: usize, now_ms: u64) {
        let request = self.request(node);
        if let Proposal::Take(claim) = propose(tier_lane(lane), None, now_ms, LENGTH_MS, request) {
            self.send(node, claim);
        }
    }

    fn renew(&mut self, node: usize, now_ms: u64) {
        let request = self.request(node);
        let generator = self.nodes[node].generator.as_ref();
        let claim = generator.and_then(|held| held.renewal(now_ms, LENGTH_MS, request));
        if let Some(claim) = claim {
            self.send(node, claim);
        }
    }

    fn send(&mut self, node: usize, claim: Claim) {
        self.nodes[node].wire = Some((*claim.row(), claim.guard()));
        self.nodes[node].waiting = Some(claim);
    }

    /// The store's side of a write: whether it committed, and what it found.
    fn deliver(&mut self, node: usize) -> (bool, Option<LaneRow>) {
        let Some((row, guard)) = self.nodes[node].wire else {
            return (false, None);
        };
        let stored = &mut self.rows[usize::from(row.lane.number() != 0)];
        let found = *stored;
        let unguarded = match guard {
            Guard::EndedBy(_) => self.broken == Some(Break::EndedCheckDropped),
            Guard::EndsAt(_) => self.broken == Some(Break::RenewalCheckDropped),
        };
        let committed = unguarded || guard.allows(found.as_ref());
        if committed {
            *stored = Some(row);
        }
        (committed, found)
    }

    fn answer(&mut self, node: usize) {
        let (committed, found) = self.deliver(node);
        let Some(claim) = self.nodes[node].waiting.take() else {
            return;
        };
        if committed || self.is(Break::AnyHolderTrusted) {
            self.hold(node, &claim.granted());
        } else if let Settlement::Held(lease) = claim.settle(found.as_ref()) {
            self.hold(node, &lease);
        }
    }

    fn hold(&mut self, node: usize, granted: &Lease) {
        let (slot, range) = self.numbers(granted.lane());
        let forgets = self.is(Break::LastIdForgottenOnRelet);
        let (mut from_ms, mut until_ms) = (granted.from_ms(), granted.until_ms());
        if self.is(Break::StartOfIntervalIgnored) {
            from_ms = EPOCH_MS;
        }
        if self.is(Break::EndOfIntervalIgnored) {
            until_ms = ERA_END_MS;
        }
        let lease = lease(granted.lane(), from_ms, until_ms);
        let holder = &mut self.nodes[node];
        holder.leased_from = from_ms;
        match &mut holder.generator {
            Some(generator) if !forgets => generator.relet_over(lease, slot, range),
            generator => *generator = Some(Generator::over(lease, slot, range)),
        }
    }

    /// Two numbers of a lane are enough; the lanes of the two tiers are on different slots.
    fn numbers(&self, lane: Lane) -> (Slot, SequenceRange) {
        let shared = self.is(Break::TiersOverlap).then(|| tier_lane(0).slot());
        (shared.unwrap_or(lane.slot()), SequenceRange { first: 0, last: 1 })
    }

    fn issue(&mut self, node: usize, now_ms: u64) -> Result<(), Violation> {
        if self.is(Break::SequenceRestartsOnStepBack) {
            self.restart_on_step_back(node, now_ms);
        }
        // A restarted sequence goes back first; the question is whether it then repeats itself.
        let ordered = !self.is(Break::SequenceRestartsOnStepBack);
        let node = &mut self.nodes[node];
        let Some(Next::Id(id)) = node.generator.as_mut().map(|held| held.next(now_ms)) else {
            return Ok(());
        };
        let Err(place) = self.issued.binary_search(&id) else {
            return Err(Violation::Duplicate);
        };
        self.issued.insert(place, id);
        if node.last.replace(id) >= Some(id) && ordered { Err(Violation::Disorder) } else { Ok(()) }
    }

    fn restart_on_step_back(&mut self, node: usize, now_ms: u64) {
        let node = &mut self.nodes[node];
        let stepped_back = node.last.is_some_and(|last| now_ms < last.unix_ms());
        if let Some(generator) = &mut node.generator
            && stepped_back
            && (node.leased_from..generator.until_ms()).contains(&now_ms)
        {
            let lane = generator.lane();
            let again = lease(lane, now_ms, generator.until_ms());
            let range = SequenceRange { first: 0, last: 1 };
            *generator = Generator::over(again, lane.slot(), range);
        }
    }
}

/// The world's first lane is a whole one and its second a split one.
fn tier_lane(index: usize) -> Lane {
    Lane::new([0, WHOLE_SLOTS][index]).unwrap()
}

fn lease(lane: Lane, from_ms: u64, until_ms: u64) -> Lease {
    match propose(lane, None, from_ms, until_ms - from_ms, RequestId(0)) {
        Proposal::Take(claim) => claim.granted(),
        refused @ (Proposal::Busy { .. } | Proposal::ClockOutOfEra) => panic!("{refused:?}"),
    }
}
