//! A deterministic simulation of many nodes with bad clocks on shared shards.
//!
//! It runs the real decisions against rows in memory and lets clocks be skewed, step, freeze and
//! thaw, writes lose their answers, and nodes be replaced. The same [`IdsPlan`] always gives the
//! same [`IdsReport`]. Tests run it with a million ids and the bench with 10⁹: the audit proves
//! uniqueness in bounded memory, so that the number can be any.

mod audit;
mod node;

use audit::Audit;
use domain::SplitMix64;
use domain::ids::{ClaimOutcome, IdLease, LeaseClaim, LeaseRow, Proposal, RequestId, propose};
use domain::ids::{MACHINE_SHARDS, shard_to_try};
use node::Node;

/// The simulated present at the start; any moment of the era would do.
const START_MS: u64 = 1_750_000_000_000;

/// Short, so that many leases end during a run.
const SIMULATED_LEASE_MS: u64 = 30_000;

/// After this many busy shards a node gives up until its next turn.
const ATTEMPTS_PER_TURN: u32 = 64;

#[derive(Debug, Clone, Copy)]
pub struct IdsPlan {
    /// How many nodes run at the same time; at least one, and no more than there are shards hold a
    /// lease.
    pub nodes: usize,
    /// After how many ids to stop.
    pub ids: u64,
    /// The most ids a node is asked for in a round. Small requests make for a longer story.
    pub largest_request: u64,
    /// Decides everything that is random.
    pub seed: u64,
    /// Ids of one in so many milliseconds are collected and compared one by one. Two equal ids have
    /// equal timestamps, so both or neither are among them.
    pub compare_one_in: u64,
}

/// What happened. The last four numbers have to be 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IdsReport {
    pub ids: u64,
    /// How much time passed in the simulated world.
    pub simulated_ms: u64,
    /// The most nodes that issued ids in the same round.
    pub most_nodes_at_once: usize,
    pub leases: u64,
    /// Leases renewed on their shard.
    pub renewals: u64,
    /// Claims that the shard's row did not allow, because another node was using or had taken it.
    pub busy: u64,
    /// Claims that committed without the node being told.
    pub lost_answers: u64,
    /// Clocks that were moved, forwards or back, by up to ten seconds.
    pub clock_steps: u64,
    /// Environments frozen, from milliseconds to an hour.
    pub freezes: u64,
    /// Environments that were thrown away, their lease abandoned.
    pub replaced: u64,
    /// Requests refused because the clock had stepped back too far.
    pub refused: u64,
    /// Ids that were compared one by one.
    pub compared: u64,
    /// Among those, ids that occurred again.
    pub repeated: u64,
    /// Leases that shared a millisecond with an earlier one of their shard.
    pub overlapping_leases: u64,
    /// Ids outside the interval, machine id or sequence numbers of their lease.
    pub outside_lease: u64,
    /// Ids that did not exceed the one before on their node.
    pub out_of_order: u64,
}

impl IdsReport {
    /// Everything that is a duplicate or could have become one.
    pub const fn duplicates(&self) -> u64 {
        self.repeated + self.overlapping_leases + self.outside_lease
    }
}

pub fn simulate(plan: IdsPlan) -> IdsReport {
    let mut world = World::new(plan);
    let mut nodes: Vec<Node> =
        (0..plan.nodes.max(1)).map(|_| Node::new(&mut world.random)).collect();
    while world.report.ids < plan.ids {
        world.pass_time();
        let mut busy_nodes = 0;
        for node in &mut nodes {
            busy_nodes += usize::from(node.take_turn(&mut world));
        }
        world.report.most_nodes_at_once = world.report.most_nodes_at_once.max(busy_nodes);
    }
    world.audit.conclude(&mut world.report);
    world.report.simulated_ms = world.now_ms - START_MS;
    world.report
}

/// What the nodes share: the rows, true time, chance, and the audit.
struct World {
    random: SplitMix64,
    rows: Vec<Option<LeaseRow>>,
    now_ms: u64,
    largest_request: u64,
    requests: u128,
    audit: Audit,
    report: IdsReport,
}

impl World {
    fn new(plan: IdsPlan) -> Self {
        Self {
            random: crate::generator(plan.seed),
            rows: vec![None; usize::from(MACHINE_SHARDS)],
            now_ms: START_MS,
            largest_request: plan.largest_request.max(1),
            requests: 0,
            audit: Audit::new(plan.compare_one_in),
            report: IdsReport::default(),
        }
    }

    /// Rounds in the same millisecond, a few apart and far apart are all worth having.
    fn pass_time(&mut self) {
        self.now_ms += match self.random.below(4) {
            0 => 0,
            1 => self.random.below(6),
            _ => self.random.below(2_000),
        };
    }

    /// A new lease for a node whose clock shows `reading_ms`, if it finds a shard.
    fn lease(&mut self, reading_ms: u64) -> Option<IdLease> {
        let random = self.random.next();
        for attempt in 0..ATTEMPTS_PER_TURN {
            let (shard, request) = (shard_to_try(random, attempt), self.request());
            let proposal = propose(shard, None, reading_ms, SIMULATED_LEASE_MS, request);
            let Proposal::Take(claim) = proposal else {
                return None;
            };
            if let Some(lease) = self.write(claim) {
                self.report.leases += 1;
                return Some(lease);
            }
        }
        None
    }

    /// One conditional write, whose answer may be lost; the node then asks again or gives up.
    fn write(&mut self, claim: LeaseClaim) -> Option<IdLease> {
        let stored = &mut self.rows[usize::from(claim.row().shard.number())];
        if !claim.condition().allows(stored.as_ref()) {
            self.report.busy += 1;
            return None;
        }
        let before = stored.replace(*claim.row());
        self.audit.committed(claim.row(), claim.from_ms(), before.as_ref());
        if !self.random.one_in(32) {
            return Some(claim.granted());
        }
        self.report.lost_answers += 1;
        let asks_again = self.random.one_in(2);
        match claim.resolve(stored.as_ref().filter(|_| asks_again)) {
            ClaimOutcome::Held(lease) => Some(lease),
            ClaimOutcome::Lost => None,
        }
    }

    fn request(&mut self) -> RequestId {
        self.requests += 1;
        RequestId(self.requests)
    }
}

#[cfg(test)]
mod tests;
