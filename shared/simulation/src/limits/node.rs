//! One node: a ledger, requests that wait, and at most one call under way.

use std::collections::VecDeque;
use std::sync::Arc;

use super::LimitsPlan;
use super::simulated_store::SimulatedStore;
use domain::SplitMix64;
use domain::limits::ledger::{
    DebitOutcome, DebitTask, Ledger, LedgerDecision, QuotaCheck, Refund, Reserved,
};
use domain::limits::quota::Quota;
use domain::limits::rule::Rule;

/// How long a call takes: at least, and how many milliseconds more.
const CALL_MS: (i64, u64) = (2, 5);

/// After that a call counts as failed.
const DEADLINE_MS: i64 = 50;

/// Tries at the store for one request, as functions do.
const MAX_ROUNDS: u32 = 8;

pub(super) struct Node {
    pub(super) ledger: Ledger,
    pub(super) queue: VecDeque<usize>,
    pub(super) ends_ms: i64,
    partition_key: u64,
    quota: Quota,
    call: Option<Call>,
    rounds: u32,
}

/// A write that is on its way.
struct Call {
    key: usize,
    task: DebitTask,
    reserved: Option<Reserved>,
    sent_ms: i64,
    /// When it gets there, if it does, and what came of it.
    arrives_ms: i64,
    outcome: Option<DebitOutcome>,
    ends_ms: i64,
    /// Whether the answer never comes.
    answer_lost: bool,
}

impl Node {
    pub(super) fn new(plan: &LimitsPlan, random: &mut SplitMix64) -> Self {
        let seed = random.next();
        let mut node = Self {
            ledger: Ledger::new(seed, 8_192),
            queue: VecDeque::new(),
            ends_ms: i64::MAX,
            partition_key: random.next(),
            quota: plan.quota,
            call: None,
            rounds: 0,
        };
        node.begin(super::START_MS, plan, random);
        node
    }

    pub(super) fn begin(&mut self, now_ms: i64, plan: &LimitsPlan, random: &mut SplitMix64) {
        if plan.life_ms > 0 {
            let life = random.below(plan.life_ms.unsigned_abs() * 2);
            self.ends_ms = now_ms + 1 + i64::try_from(life).unwrap_or(0);
        }
    }

    /// Answers what can be answered in this millisecond; `admitted` gets the keys that may pass,
    /// and since when.
    pub(super) fn work(
        &mut self,
        rule: &Arc<Rule>,
        names: &[String],
        store: &mut SimulatedStore,
        random: &mut SplitMix64,
        now_ms: i64,
        admitted: &mut Vec<(usize, i64)>,
    ) {
        if !self.receive(rule, names, store, now_ms, admitted) {
            return;
        }
        while let Some(&key) = self.queue.front() {
            let check = check(rule, self.quota, names, key);
            let step = match self.rounds {
                MAX_ROUNDS => None,
                _ => Some(self.ledger.decide(&[check], 1, now_ms)),
            };
            let (task, reserved) = match step {
                Some(LedgerDecision::Debit(mut tasks)) => (tasks.pop(), None),
                Some(LedgerDecision::DebitTogether(mut tasks, reserved)) => {
                    (tasks.pop(), Some(reserved))
                }
                Some(LedgerDecision::Allowed) => {
                    admitted.push((key, now_ms));
                    (None, None)
                }
                Some(LedgerDecision::Denied(_)) | None => (None, None),
            };
            let Some(task) = task else {
                self.done();
                continue;
            };
            self.rounds += 1;
            self.call = Some(self.send(key, task, reserved, store, random, now_ms));
            break;
        }
        if store.is_cut_off(self.partition_key) {
            return;
        }
        for refund in self.ledger.take_refunds(4) {
            send_refund(store, &refund, now_ms);
        }
    }

    /// Gives everything back that it can, and says how many units that was.
    pub(super) fn return_units(&mut self, store: &mut SimulatedStore, now_ms: i64) -> i64 {
        if store.is_cut_off(self.partition_key) {
            return 0;
        }
        let held = self.ledger.outstanding();
        self.ledger.release_all(now_ms);
        for refund in self.ledger.take_refunds(64) {
            send_refund(store, &refund, now_ms);
        }
        held
    }

    /// Takes what came of the call under way; whether there is none any more.
    fn receive(
        &mut self,
        rule: &Arc<Rule>,
        names: &[String],
        store: &mut SimulatedStore,
        now_ms: i64,
        admitted: &mut Vec<(usize, i64)>,
    ) -> bool {
        let Some(call) = &mut self.call else { return true };
        if call.arrives_ms == now_ms {
            call.outcome = Some(store.write(call.key, call.task.shard(), call.task.write()));
        }
        if now_ms < call.ends_ms {
            return false;
        }
        let Some(call) = self.call.take() else { return true };
        let received = if call.answer_lost { None } else { call.outcome };
        let outcome = received.unwrap_or(DebitOutcome::Failed);
        let check = check(rule, self.quota, names, call.key);
        if let Some(reserved) = call.reserved {
            let tasks = std::slice::from_ref(&call.task);
            let passed =
                self.ledger.apply_transaction(&[check], 1, tasks, reserved, vec![outcome], now_ms);
            if passed {
                admitted.push((call.key, call.sent_ms));
                self.done();
            }
        } else {
            self.ledger.apply_outcome(&check, &call.task, outcome, now_ms);
        }
        true
    }

    fn send(
        &self,
        key: usize,
        task: DebitTask,
        reserved: Option<Reserved>,
        store: &SimulatedStore,
        random: &mut SplitMix64,
        now_ms: i64,
    ) -> Call {
        let takes_ms = CALL_MS.0 + i64::try_from(random.below(CALL_MS.1)).unwrap_or(0);
        let answer_lost = store.is_cut_off(self.partition_key);
        // Of two whose answer is lost, one is committed.
        let arrives = !answer_lost || random.one_in(2);
        Call {
            key,
            task,
            reserved,
            sent_ms: now_ms,
            arrives_ms: if arrives { now_ms + takes_ms / 2 } else { i64::MAX },
            outcome: None,
            ends_ms: now_ms + if answer_lost { DEADLINE_MS } else { takes_ms },
            answer_lost,
        }
    }

    /// The first in the queue has its answer.
    fn done(&mut self) {
        self.queue.pop_front();
        self.rounds = 0;
    }
}

fn check<'a>(rule: &'a Arc<Rule>, quota: Quota, names: &'a [String], key: usize) -> QuotaCheck<'a> {
    QuotaCheck { rule, quota, entity: &names[key] }
}

/// Keys are named by their number.
fn send_refund(store: &mut SimulatedStore, refund: &Refund, now_ms: i64) {
    let key = refund.entity.strip_prefix("key-").and_then(|number| number.parse().ok());
    if let (Some(key), Some(write)) = (key, refund.write(now_ms)) {
        store.write(key, refund.shard, &write);
    }
}
