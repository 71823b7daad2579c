//! A deterministic simulation of hundreds of nodes that share counters, on a virtual clock.
//!
//! Nodes run the real [`Ledger`](domain::limits::ledger::Ledger) against rows in memory. A call
//! takes milliseconds, in which the node's other requests wait, as they do in Lambda. Nodes come
//! and go, with and without notice; the store can be out of reach for some of them, and then half
//! of what they write is committed without their hearing of it. The same [`LimitsPlan`] always
//! gives the same [`LimitsReport`].
//!
//! Two exact counters judge the outcome. One is shown what the nodes admitted and says by how much that
//! is too much. The other decides about the same requests as a single counter without any delay would,
//! and says how much could have been admitted.

mod node;
mod reference_counter;
mod simulated_store;
mod traffic;

use node::Node;
use reference_counter::ReferenceCounter;
use simulated_store::SimulatedStore;
use traffic::Traffic;

use domain::SplitMix64;
use domain::limits::quota::Quota;
use domain::limits::rule::{Dimension, OnFailure, Rule};

/// The simulated present at the start: the beginning of a day.
const START_MS: i64 = 1_772_323_200_000;

/// How requests are spread over nodes or keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    Uniform,
    /// The n-th gets a share of 1/n.
    Zipf,
}

/// A time in which some nodes can't reach the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partition {
    /// When it begins, after the start.
    pub from_ms: i64,
    pub to_ms: i64,
    /// How many nodes of a hundred it cuts off.
    pub percent: u64,
    /// What the rule does then.
    pub on_failure: OnFailure,
}

#[derive(Debug, Clone, Copy)]
pub struct LimitsPlan {
    pub quota: Quota,
    /// How many nodes there are at any time.
    pub nodes: usize,
    pub keys: usize,
    /// Requests a second, for all keys together.
    pub rate: i64,
    pub run_ms: i64,
    /// How requests are spread over nodes.
    pub over_nodes: Spread,
    /// How requests are spread over keys.
    pub over_keys: Spread,
    /// Whether the rate changes every second, from nothing to three times as much.
    pub bursts: bool,
    /// How long a node lives on average; half of them end without notice. 0 for ever.
    pub life_ms: i64,
    /// A time without the store.
    pub partition: Option<Partition>,
    /// Decides everything that is random.
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LimitsReport {
    pub asked: i64,
    /// What one counter for all, without delay, would have admitted.
    pub ideal: i64,
    pub admitted: i64,
    /// By how much that was too much at the worst moment, summed over keys.
    pub over: i64,
    /// Calls to the store: debits and credits, committed or not.
    pub writes: i64,
    /// Of those, writes that found the row moved on.
    pub refused: i64,
    /// The most calls that one row took within a second, after the first.
    pub busiest: i64,
    /// The same in the first second, when no node knows anything yet.
    pub start: i64,
    pub ended: i64,
    /// Units that ended with nodes or were in writes of unknown outcome.
    pub lost: i64,
    /// Units spent without the store from leases that had ended.
    pub frozen: i64,
    /// Units that rules let pass without the store.
    pub open: i64,
    /// Requests refused because the store could not be asked.
    pub closed: i64,
    /// Reports that many nodes together use a key up.
    pub spread: i64,
    /// The most units that nodes held while the store was out of reach.
    pub unspent: i64,
}

impl LimitsReport {
    /// How much less was admitted than could have been, in thousandths.
    pub fn under_thousandths(&self) -> i64 {
        (self.ideal - self.admitted).max(0) * 1_000 / self.ideal.max(1)
    }
}

pub fn simulate(plan: &LimitsPlan) -> LimitsReport {
    let mut world = World::new(plan);
    for passed_ms in 0..plan.run_ms {
        world.pass(START_MS + passed_ms);
    }
    world.conclude()
}

struct World<'p> {
    plan: &'p LimitsPlan,
    rule: std::sync::Arc<Rule>,
    names: Vec<String>,
    random: SplitMix64,
    traffic: Traffic,
    store: SimulatedStore,
    nodes: Vec<Node>,
    /// What nodes admitted, and what a single counter would have, key by key.
    audit: Vec<ReferenceCounter>,
    ideal: Vec<ReferenceCounter>,
    report: LimitsReport,
}

impl<'p> World<'p> {
    fn new(plan: &'p LimitsPlan) -> Self {
        let mut random = crate::generator(plan.seed);
        let traffic = Traffic::new(plan, &mut random);
        let nodes = (0..plan.nodes).map(|_| Node::new(plan, &mut random)).collect();
        Self {
            plan,
            rule: std::sync::Arc::new(rule(plan)),
            names: (0..plan.keys).map(|key| format!("key-{key}")).collect(),
            random,
            traffic,
            store: SimulatedStore::new(plan),
            nodes,
            audit: vec![ReferenceCounter::new(plan.quota); plan.keys],
            ideal: vec![ReferenceCounter::new(plan.quota); plan.keys],
            report: LimitsReport::default(),
        }
    }

    fn pass(&mut self, now_ms: i64) {
        self.store.pass(now_ms);
        for _ in 0..self.traffic.count(now_ms, &mut self.random) {
            let (node, key) = self.traffic.next(&mut self.random);
            self.report.asked += 1;
            self.report.ideal += i64::from(self.ideal[key].take(now_ms));
            self.nodes[node].queue.push_back(key);
        }
        for index in 0..self.nodes.len() {
            self.work(index, now_ms);
            if self.nodes[index].ends_ms <= now_ms {
                self.replace(index, now_ms);
            }
        }
        if self.store.is_partitioned() {
            let held = self.nodes.iter().map(|node| node.ledger.outstanding()).sum();
            self.report.unspent = self.report.unspent.max(held);
        }
    }

    /// Lets a node do what it can in this millisecond.
    fn work(&mut self, index: usize, now_ms: i64) {
        let node = &mut self.nodes[index];
        let mut admitted = Vec::new();
        node.work(
            &self.rule,
            &self.names,
            &mut self.store,
            &mut self.random,
            now_ms,
            &mut admitted,
        );
        for (key, since_ms) in admitted {
            self.report.admitted += 1;
            self.audit[key].admit(since_ms);
        }
    }

    /// A node ends, and another begins. What waited there is asked elsewhere.
    fn replace(&mut self, index: usize, now_ms: i64) {
        let fresh = Node::new(self.plan, &mut self.random);
        let mut old = std::mem::replace(&mut self.nodes[index], fresh);
        self.report.ended += 1;
        self.nodes[index].begin(now_ms, self.plan, &mut self.random);
        self.nodes[index].queue = std::mem::take(&mut old.queue);
        self.retire(&mut old, now_ms);
    }

    fn retire(&mut self, node: &mut Node, now_ms: i64) {
        let held = node.ledger.outstanding();
        let returned =
            if self.random.one_in(2) { node.return_units(&mut self.store, now_ms) } else { 0 };
        self.report.lost += (held - returned).max(0);
        let metrics = node.ledger.take_metrics();
        self.report.frozen += metrics.expired_spent;
        self.report.open += metrics.failed_open;
        self.report.closed += metrics.failed_closed;
        self.report.spread += metrics.hot_keys;
    }

    fn conclude(mut self) -> LimitsReport {
        for mut node in std::mem::take(&mut self.nodes) {
            self.retire(&mut node, START_MS + self.plan.run_ms);
        }
        self.report.over = self.audit.iter().map(ReferenceCounter::excess).sum();
        self.report.writes = self.store.writes;
        self.report.refused = self.store.refused;
        self.report.busiest = self.store.busiest;
        self.report.start = self.store.start;
        self.report
    }
}

fn rule(plan: &LimitsPlan) -> Rule {
    Rule {
        on_failure: plan.partition.map_or(OnFailure::Open, |partition| partition.on_failure),
        ..Rule::new("simulated", Dimension::User, plan.quota)
    }
}

#[cfg(test)]
mod tests;
