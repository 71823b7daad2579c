//! The small world the search explores: its state, and what each event does to it.

use super::event::{Mutation, Step, Violation};
use crate::ids::{
    ClaimOutcome, EPOCH_MS, ERA_END_MS, Generator, Id, IdLease, LeaseClaim, LeaseCondition,
    LeaseRow, MachineId, MachineShard, NextId, Proposal, RequestId, SequenceRange, WHOLE_MACHINES,
    propose,
};

const READINGS: std::ops::Range<u64> = EPOCH_MS..EPOCH_MS + 4;
const LENGTH_MS: u64 = 2;

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Node {
    claims_left: u8,
    waiting: Option<LeaseClaim>,
    wire: Option<(LeaseRow, LeaseCondition)>,
    generator: Option<Generator>,
    leased_from: u64,
    last: Option<Id>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct World {
    mutation: Option<Mutation>,
    rows: Vec<Option<LeaseRow>>,
    nodes: Vec<Node>,
    issued: Vec<Id>,
}

impl World {
    pub(super) fn new(nodes: usize, shards: usize, claims: u8, mutation: Option<Mutation>) -> Self {
        let node = Node { claims_left: claims, ..Node::default() };
        Self { mutation, rows: vec![None; shards], nodes: vec![node; nodes], issued: Vec::new() }
    }

    /// Everything that can happen in this state.
    pub(super) fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (node, state) in self.nodes.iter().enumerate() {
            if state.waiting.is_some() {
                steps.extend([Step::Answered { node }, Step::GiveUp { node }]);
            } else if state.claims_left > 0 {
                steps.extend(READINGS.flat_map(|now_ms| {
                    (0..self.rows.len()).map(move |shard| Step::Propose { node, shard, now_ms })
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
                if self.has(Mutation::MemoryCopiedAfterLeasing) {
                    steps.push(Step::Copy { node });
                }
            }
        }
        if self.has(Mutation::RowsExpire) {
            steps.extend((0..self.rows.len()).map(|shard| Step::Expire { shard }));
        }
        steps
    }

    /// The state after a step, unless the step does what must not happen.
    pub(super) fn after(&self, step: Step) -> Result<Self, Violation> {
        let mut next = self.clone();
        match step {
            Step::Propose { node, shard, now_ms } => next.propose(node, shard, now_ms),
            Step::Renew { node, now_ms } => next.renew(node, now_ms),
            Step::Answered { node } => next.answer(node),
            Step::Delivered { node } => drop(next.deliver(node)),
            Step::GiveUp { node } => {
                let claim = next.nodes[node].waiting.take();
                if let (true, Some(claim)) = (self.has(Mutation::LostAnswerAssumedGood), claim) {
                    next.hold(node, &claim.granted());
                }
            }
            Step::Issue { node, now_ms } => next.issue(node, now_ms)?,
            Step::Expire { shard } => next.rows[shard] = None,
            Step::Copy { node } => {
                let other = (node + 1) % next.nodes.len();
                next.nodes[other] = next.nodes[node].clone();
            }
        }
        Ok(next)
    }

    fn has(&self, rule: Mutation) -> bool {
        self.mutation == Some(rule)
    }

    fn request(&mut self, node: usize) -> RequestId {
        let left = self.nodes[node].claims_left;
        self.nodes[node].claims_left -= 1;
        RequestId(node as u128 * 16 + u128::from(left))
    }

    fn propose(&mut self, node: usize, shard: usize, now_ms: u64) {
        let request = self.request(node);
        if let Proposal::Take(claim) = propose(tier_shard(shard), None, now_ms, LENGTH_MS, request)
        {
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

    fn send(&mut self, node: usize, claim: LeaseClaim) {
        self.nodes[node].wire = Some((*claim.row(), claim.condition()));
        self.nodes[node].waiting = Some(claim);
    }

    /// The store's side of a write: whether it committed, and what it found.
    fn deliver(&mut self, node: usize) -> (bool, Option<LeaseRow>) {
        let Some((row, condition)) = self.nodes[node].wire else {
            return (false, None);
        };
        let stored = &mut self.rows[usize::from(row.shard.number() != 0)];
        let found = *stored;
        let unguarded = match condition {
            LeaseCondition::EndedBy(_) => self.mutation == Some(Mutation::EndedCheckDropped),
            LeaseCondition::EndsAt(_) => self.mutation == Some(Mutation::RenewalCheckDropped),
        };
        let committed = unguarded || condition.allows(found.as_ref());
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
        if committed || self.has(Mutation::AnyHolderTrusted) {
            self.hold(node, &claim.granted());
        } else if let ClaimOutcome::Held(lease) = claim.resolve(found.as_ref()) {
            self.hold(node, &lease);
        }
    }

    fn hold(&mut self, node: usize, granted: &IdLease) {
        let (machine_id, range) = self.numbers(granted.shard());
        let forgets = self.has(Mutation::LastIdForgottenOnRelet);
        let (mut from_ms, mut until_ms) = (granted.from_ms(), granted.until_ms());
        if self.has(Mutation::StartOfIntervalIgnored) {
            from_ms = EPOCH_MS;
        }
        if self.has(Mutation::EndOfIntervalIgnored) {
            until_ms = ERA_END_MS;
        }
        let lease = lease(granted.shard(), from_ms, until_ms);
        let holder = &mut self.nodes[node];
        holder.leased_from = from_ms;
        match &mut holder.generator {
            Some(generator) if !forgets => generator.set_lease_over(lease, machine_id, range),
            generator => *generator = Some(Generator::over(lease, machine_id, range)),
        }
    }

    /// Two numbers of a shard are enough; the shards of the two tiers are on different machines.
    fn numbers(&self, shard: MachineShard) -> (MachineId, SequenceRange) {
        let overlapping = self.has(Mutation::TiersOverlap).then(|| tier_shard(0).machine_id());
        (overlapping.unwrap_or(shard.machine_id()), SequenceRange { first: 0, last: 1 })
    }

    fn issue(&mut self, node: usize, now_ms: u64) -> Result<(), Violation> {
        if self.has(Mutation::SequenceRestartsOnStepBack) {
            self.restart_on_step_back(node, now_ms);
        }
        // A restarted sequence goes back first; the question is whether it then repeats itself.
        let ordered = !self.has(Mutation::SequenceRestartsOnStepBack);
        let node = &mut self.nodes[node];
        let Some(NextId::Id(id)) = node.generator.as_mut().map(|held| held.next(now_ms)) else {
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
            let shard = generator.shard();
            let again = lease(shard, now_ms, generator.until_ms());
            let range = SequenceRange { first: 0, last: 1 };
            *generator = Generator::over(again, shard.machine_id(), range);
        }
    }
}

/// The world's first shard is a whole one and its second a split one.
fn tier_shard(index: usize) -> MachineShard {
    MachineShard::new([0, WHOLE_MACHINES][index]).unwrap()
}

fn lease(shard: MachineShard, from_ms: u64, until_ms: u64) -> IdLease {
    match propose(shard, None, from_ms, until_ms - from_ms, RequestId(0)) {
        Proposal::Take(claim) => claim.granted(),
        refused @ (Proposal::Busy { .. } | Proposal::ClockOutOfEra) => panic!("{refused:?}"),
    }
}
