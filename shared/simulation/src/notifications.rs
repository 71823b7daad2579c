//! A deterministic simulation of workers that share one provider, on a virtual clock.
//!
//! Workers of each class take messages from their queue, lease slots from the one row (reading it,
//! moving it on, and starting over if another worker was faster), and send in their slots.
//! A call to the store takes milliseconds, and what a worker does after that takes some more, so that
//! slots are lost too. The same [`Plan`] always gives the same [`Report`].

mod audit;
mod plan;
mod worker;

pub use plan::{Plan, Report};

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use worker::{Stage, Worker};

use domain::SplitMix64;
use domain::Timestamp;
use domain::notifications::Priority;
use domain::notifications::rate::{Grant, SlotCounters, Slots, backoff_us, grant};

/// The simulated present at the start.
const START_US: i64 = 1_772_323_200_000_000;

/// Runs the plan to its end.
pub fn simulate(plan: &Plan) -> Report {
    let mut world = World::new(plan);
    while let Some(Reverse((now_us, index))) = world.events.pop() {
        if now_us >= plan.run_ms * 1_000 {
            break;
        }
        world.step(index, now_us);
    }
    world.conclude()
}

struct World<'p> {
    plan: &'p Plan,
    random: SplitMix64,
    counters: SlotCounters,
    /// When each waiting message came, by class; what waits from the start came before it.
    queues: [VecDeque<i64>; 3],
    workers: Vec<Worker>,
    events: BinaryHeap<Reverse<(i64, usize)>>,
    /// When each message was sent, and how long those of each class had waited.
    sends: Vec<i64>,
    waits: [Vec<i64>; 3],
    report: Report,
}

impl<'p> World<'p> {
    fn new(plan: &'p Plan) -> Self {
        let mut random = crate::generator(plan.seed);
        let queues = [0, 1, 2].map(|level| {
            let mut queue = VecDeque::from(vec![-1; plan.waiting[level]]);
            let gap_us = 2_000_000 / u64::from(plan.coming[level].max(1));
            let mut at_us = 0_i64;
            while plan.coming[level] > 0 && at_us < plan.run_ms * 1_000 {
                at_us += i64::try_from(random.below(gap_us + 1)).unwrap_or(0);
                queue.push_back(at_us);
            }
            queue
        });
        let classes = Priority::ALL.into_iter().zip(plan.workers);
        let workers: Vec<Worker> = classes
            .flat_map(|(priority, count)| std::iter::repeat_n(priority, count))
            .map(Worker::new)
            .collect();
        let events = (0..workers.len())
            .map(|index| Reverse((i64::try_from(random.below(50_000)).unwrap_or(0), index)))
            .collect();
        Self {
            plan,
            random,
            counters: SlotCounters::default(),
            queues,
            workers,
            events,
            sends: Vec::new(),
            waits: [const { Vec::new() }; 3],
            report: Report::default(),
        }
    }

    fn step(&mut self, index: usize, now_us: i64) {
        let call_us = chance(&mut self.random, self.plan.call_ms * 1_000 / 2) + 500;
        match self.workers[index].stage {
            Stage::Idle => self.take(index, now_us),
            Stage::Reads => {
                self.workers[index].stage = Stage::Decides(self.counters);
                self.again(index, now_us + call_us);
            }
            Stage::Decides(known) => self.ask(index, &known, now_us, call_us),
            Stage::Writes(lease) => {
                let after = lease.apply(&self.counters);
                let backoff_us = if after.is_some() { 0 } else { self.miss(index) };
                self.workers[index].stage = if let Some(after) = after {
                    self.counters = after;
                    self.report.writes += 1;
                    self.workers[index].misses = 0;
                    Stage::Sends(lease.slots(&after))
                } else {
                    self.report.refused += 1;
                    Stage::Reads
                };
                self.again(index, now_us + call_us + backoff_us);
            }
            Stage::Sends(slots) => self.send(index, &slots, now_us),
        }
    }

    /// Takes what has come by now, up to a batch.
    fn take(&mut self, index: usize, now_us: i64) {
        let worker = &mut self.workers[index];
        let queue = &mut self.queues[worker.priority.level()];
        while worker.messages.len() < self.plan.batch as usize
            && let Some(came_us) = queue.pop_front_if(|came_us| *came_us <= now_us)
        {
            worker.messages.push_back(came_us);
        }
        if worker.messages.is_empty() {
            let later = now_us + 5_000 + chance(&mut self.random, 20_000);
            return self.again(index, later);
        }
        worker.stage = Stage::Reads;
        let call_us = chance(&mut self.random, self.plan.call_ms * 1_000 / 2) + 500;
        self.again(index, now_us + call_us);
    }

    fn ask(&mut self, index: usize, known: &SlotCounters, now_us: i64, call_us: i64) {
        let worker = &mut self.workers[index];
        let wanted = u32::try_from(worker.messages.len()).unwrap_or(u32::MAX);
        match grant(known, self.plan.per_second, worker.priority, wanted, instant(now_us)) {
            Grant::Lease(lease) => {
                worker.stage = Stage::Writes(lease);
                self.again(index, now_us + call_us);
            }
            Grant::Later { at } => {
                worker.stage = Stage::Reads;
                let later = at.as_microsecond() - START_US;
                let backoff_us = self.miss(index);
                self.again(index, later + backoff_us);
            }
        }
    }

    fn send(&mut self, index: usize, slots: &Slots, now_us: i64) {
        let level = self.workers[index].priority.level();
        let mut last_us = now_us;
        for slot in 0..slots.count() {
            // Timers fire late, also because of other processes on the machine.
            let late_us =
                if self.random.one_in(200) { 80_000 } else { chance(&mut self.random, 10_000) };
            let at_us = (slots.at_us(slot) - START_US).max(now_us) + late_us;
            if slots.wait_us(slot, instant(at_us)).is_none() {
                self.report.lost += 1;
                continue;
            }
            if let Some(came_us) = self.workers[index].messages.pop_front() {
                self.sends.push(at_us);
                self.report.sent[level] += 1;
                if came_us >= 0 {
                    self.waits[level].push(at_us - came_us);
                }
                last_us = last_us.max(at_us);
            }
        }
        self.workers[index].stage = Stage::Idle;
        self.again(index, last_us);
    }

    fn miss(&mut self, index: usize) -> i64 {
        let jitter = self.random.next();
        let worker = &mut self.workers[index];
        worker.misses += 1;
        backoff_us(worker.priority, worker.misses, jitter)
    }

    fn again(&mut self, index: usize, at_us: i64) {
        self.events.push(Reverse((at_us, index)));
    }

    fn conclude(mut self) -> Report {
        let end_us = self.plan.run_ms * 1_000;
        let held = self.workers.iter().flat_map(|worker| {
            worker.messages.iter().map(|came_us| (worker.priority.level(), *came_us))
        });
        let queued = (0..3).flat_map(|level| self.queues[level].iter().map(move |at| (level, *at)));
        for (level, came_us) in held.chain(queued) {
            if (0..end_us).contains(&came_us) {
                self.waits[level].push(end_us - came_us);
            }
        }
        self.report.p99_ms = self.waits.map(audit::p99_ms);
        self.report.busiest = audit::busiest(self.sends);
        self.report
    }
}

fn chance(random: &mut SplitMix64, most_us: i64) -> i64 {
    let most = u64::try_from(most_us).unwrap_or(0);
    i64::try_from(random.below(most + 1)).unwrap_or(0)
}

fn instant(us: i64) -> Timestamp {
    Timestamp::from_microsecond(START_US + us).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests;
