//! The small world: one row, a few nodes, and everything that can happen next.

use crate::limits::budget::{Budget, Debit, DebitPlan};
use crate::limits::counter::{CounterRow, CounterWrite, Field, WriteCondition};
use crate::limits::quota::{Algorithm, Quota};

/// A rule of the protocol that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Break {
    DebitUnguarded,
    WindowUnguarded,
    BucketUnguarded,
    LeaseNeverEnds,
    UnknownAssumedGood,
    RefundRepeated,
    CreditKeepsHolding,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    Tick,
    /// A node asks for units that it lacks; its clock may have stepped back.
    Ask {
        node: usize,
        back: bool,
    },
    /// The write under way reaches the store.
    Arrive {
        node: usize,
    },
    /// The node hears what became of it.
    Hear {
        node: usize,
    },
    /// The node stops waiting, and the write may still be on its way.
    GiveUp {
        node: usize,
    },
    /// Such a write reaches the store after all.
    ArriveLate {
        node: usize,
    },
    /// A node spends units that it holds.
    Spend {
        node: usize,
    },
    /// A node ends with notice and gives back; another begins.
    End {
        node: usize,
    },
    /// A node ends without.
    Die {
        node: usize,
    },
}

/// Half of the limit fits into a lease, and half of a lease into a request.
const LIMIT: i64 = 120;
const LEASED: i64 = 60;
const SPENT: i64 = 30;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct World {
    quota: Quota,
    moments: &'static [i64],
    moment: usize,
    row: Option<CounterRow>,
    nodes: Vec<Node>,
    ends: u8,
    audit: Audit,
    broken: Option<Break>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Node {
    budget: Budget,
    call: Option<Call>,
    stray: Option<CounterWrite>,
    asks: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Call {
    debit: Debit,
    /// Once it has arrived: whether it was committed, and the row as it stands.
    came_to: Option<(bool, Option<CounterRow>)>,
}

/// What was spent, and whether that was ever too much.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Audit {
    window: i64,
    used: i64,
    before: i64,
    level: i64,
    at_ms: i64,
    over: bool,
}

impl World {
    pub(super) fn fixed(nodes: usize, broken: Option<Break>) -> Self {
        Self::new(Algorithm::FixedWindow, &[0, 1_000], nodes, broken)
    }

    pub(super) fn sliding(nodes: usize, broken: Option<Break>) -> Self {
        Self::new(Algorithm::SlidingWindow, &[0, 1_500], nodes, broken)
    }

    pub(super) fn bucket(nodes: usize, broken: Option<Break>) -> Self {
        Self::new(Algorithm::TokenBucket, &[0, 60], nodes, broken)
    }

    fn new(
        algorithm: Algorithm,
        moments: &'static [i64],
        nodes: usize,
        broken: Option<Break>,
    ) -> Self {
        let quota = Quota::new(algorithm, LIMIT, 1_000);
        let asks = if nodes > 2 { 1 } else { 2 };
        let node = || Node { budget: Budget::new(quota, 0, 0), call: None, stray: None, asks };
        Self {
            quota,
            moments,
            moment: 0,
            row: None,
            nodes: (0..nodes).map(|_| node()).collect(),
            ends: 1,
            audit: Audit::default(),
            broken,
        }
    }

    /// Nodes ask so often, and none of them ends.
    pub(super) fn asking(mut self, asks: u8) -> Self {
        self.ends = 0;
        for node in &mut self.nodes {
            node.asks = asks;
        }
        self
    }

    pub(super) fn is_sound(&self) -> bool {
        !self.audit.over
    }

    /// Everything that could happen; what can't is passed over by [`World::after`].
    pub(super) fn steps(&self) -> Vec<Step> {
        let mut steps = vec![Step::Tick];
        for node in 0..self.nodes.len() {
            steps.extend([
                Step::Ask { node, back: false },
                Step::Ask { node, back: true },
                Step::Arrive { node },
                Step::Hear { node },
                Step::GiveUp { node },
                Step::ArriveLate { node },
                Step::Spend { node },
                Step::End { node },
                Step::Die { node },
            ]);
        }
        steps
    }

    /// The world after a step; none if it can't happen or changes nothing.
    pub(super) fn after(&self, step: Step) -> Option<Self> {
        let mut world = self.clone();
        let now_ms = self.moments[self.moment];
        match step {
            Step::Tick => {
                world.moment += 1;
                self.moments.get(world.moment)?;
            }
            Step::Ask { node, back } => {
                let earlier = self.moment.checked_sub(1).filter(|_| back);
                let reading_ms = if back { self.moments[earlier?] } else { now_ms };
                let it = &mut world.nodes[node];
                it.asks = it.asks.checked_sub(1)?;
                it.budget.advance_to(reading_ms);
                let free = it.call.is_none() && it.stray.is_none();
                (free && it.budget.held() < LEASED).then_some(())?;
                let DebitPlan::Debit(debit) = it.budget.next(LEASED) else { return Some(world) };
                it.call = Some(Call { debit, came_to: None });
            }
            Step::Arrive { node } => {
                let call = self.nodes[node].call.as_ref().filter(|call| call.came_to.is_none())?;
                let committed = world.write(&call.debit.write);
                let came_to = Some((committed, world.row.clone()));
                world.nodes[node].call = Some(Call { debit: call.debit.clone(), came_to });
            }
            Step::Hear { node } => {
                let it = &mut world.nodes[node];
                let Call { debit, came_to } = it.call.take()?;
                it.budget.advance_to(now_ms);
                match came_to? {
                    (true, Some(row)) => it.budget.committed(&debit, row),
                    (_, row) => it.budget.condition_failed(&debit, row),
                }
            }
            Step::GiveUp { node } => world.give_up_waiting(node)?,
            Step::ArriveLate { node } => {
                let write = world.nodes[node].stray.take()?;
                world.write(&write);
            }
            Step::Spend { node } => world.spend(node, now_ms)?,
            Step::End { node } => world.end(node, now_ms)?,
            Step::Die { node } => world.replace(node)?,
        }
        Some(world)
    }

    fn give_up_waiting(&mut self, node: usize) -> Option<()> {
        let it = &mut self.nodes[node];
        let Call { debit, came_to } = it.call.take()?;
        if self.broken == Some(Break::UnknownAssumedGood) {
            it.budget.committed_unseen(&debit);
        }
        it.stray = came_to.is_none().then_some(debit.write);
        Some(())
    }

    fn spend(&mut self, node: usize, now_ms: i64) -> Option<()> {
        let budget = &mut self.nodes[node].budget;
        budget.advance_to(now_ms);
        if self.broken == Some(Break::LeaseNeverEnds) && budget.held_or_expired() >= SPENT {
            budget.spend_expired(SPENT);
        } else {
            (budget.held() >= SPENT).then_some(())?;
            budget.spend(SPENT);
        }
        self.audit.spend(&self.quota, now_ms);
        Some(())
    }

    fn end(&mut self, node: usize, now_ms: i64) -> Option<()> {
        let it = &mut self.nodes[node];
        it.call.is_none().then_some(())?;
        let mut ending = it.budget.clone();
        let (_, known, unspent) = ending.release(now_ms)?;
        let write = self.quota.credit(&known, unspent, now_ms)?;
        if self.broken == Some(Break::CreditKeepsHolding) {
            self.ends = self.ends.checked_sub(1)?;
        } else {
            self.replace(node)?;
        }
        self.write(&write);
        if self.broken == Some(Break::RefundRepeated) {
            self.write(&write);
        }
        Some(())
    }

    fn replace(&mut self, node: usize) -> Option<()> {
        self.ends = self.ends.checked_sub(1)?;
        let it = &mut self.nodes[node];
        it.budget = Budget::new(self.quota, 0, 0);
        it.stray =
            it.call.take().filter(|call| call.came_to.is_none()).map(|call| call.debit.write);
        Some(())
    }

    /// Does what the store does; whether the write was committed.
    fn write(&mut self, write: &CounterWrite) -> bool {
        let mut write = write.clone();
        let dropped = match self.broken {
            Some(Break::DebitUnguarded) => Some(Field::Used),
            Some(Break::WindowUnguarded) => Some(Field::Window),
            Some(Break::BucketUnguarded) => Some(Field::FullAt),
            Some(
                Break::LeaseNeverEnds
                | Break::UnknownAssumedGood
                | Break::RefundRepeated
                | Break::CreditKeepsHolding,
            )
            | None => None,
        };
        if let WriteCondition::Present(tests) | WriteCondition::AbsentOr(tests) =
            &mut write.condition
        {
            tests.retain(|(field, ..)| Some(*field) != dropped);
        }
        let after = CounterRow::apply(self.row.as_ref(), &write);
        let committed = after.is_some();
        self.row = after.or(self.row.take());
        committed
    }
}

impl Audit {
    /// Units pass now: by the definition, is there room for them?
    fn spend(&mut self, quota: &Quota, now_ms: i64) {
        let window = now_ms / quota.window_ms;
        if window != self.window {
            self.before = if window == self.window + 1 { self.used } else { 0 };
            (self.window, self.used) = (window, 0);
        }
        self.level = (self.level - (now_ms - self.at_ms) * quota.limit).max(0);
        self.at_ms = now_ms;
        self.used += SPENT;
        self.level += SPENT * quota.window_ms;
        let overlap = quota.window_ms - now_ms % quota.window_ms;
        let most = quota.limit * quota.window_ms;
        self.over |= match quota.algorithm {
            Algorithm::FixedWindow | Algorithm::SlidingLog => self.used > quota.limit,
            Algorithm::SlidingWindow => self.used * quota.window_ms + self.before * overlap > most,
            Algorithm::TokenBucket | Algorithm::LeakyBucket => self.level > most,
        };
    }
}
