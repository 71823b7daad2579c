//! Requests under several rules at once, against rows in memory: all of them or none.

use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::{DebitOutcome, DebitTask, Ledger, LedgerDecision, QuotaCheck};
use crate::limits::budget::{Budget, DebitPlan};
use crate::limits::counter::CounterRow;
use crate::limits::quota::{Algorithm, Quota};
use crate::limits::rule::{Dimension, OnFailure, Rule};

const START_MS: i64 = 1_772_323_200_000;
const WINDOW_MS: i64 = 60_000;

/// What the nodes share: a row for each rule and shard, and what was admitted under each rule.
#[derive(Default)]
struct Store {
    rows: HashMap<(usize, u8), CounterRow>,
    admitted: i64,
}

/// How a call goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mishap {
    None,
    /// It never arrives.
    Cut,
    /// It is done, and its answer is lost.
    Unheard,
}

fn rules(limits: [i64; 5]) -> Vec<Arc<Rule>> {
    let algorithms = [Algorithm::FixedWindow, Algorithm::SlidingWindow];
    let rule = |(index, limit): (usize, i64)| {
        let quota = Quota::new(algorithms[index % 2], limit, WINDOW_MS);
        Arc::new(Rule {
            on_failure: OnFailure::Closed,
            ..Rule::new(format!("rule-{index}"), Dimension::User, quota)
        })
    };
    limits.into_iter().enumerate().map(rule).collect()
}

fn checks(rules: &[Arc<Rule>]) -> Vec<QuotaCheck<'_>> {
    rules.iter().map(|rule| QuotaCheck { rule, quota: rule.quota, entity: "ada" }).collect()
}

impl Store {
    fn try_one(&mut self, task: &DebitTask, mishap: Mishap) -> DebitOutcome {
        if mishap == Mishap::Cut {
            return DebitOutcome::Failed;
        }
        let at = (task.check, task.shard());
        let outcome = match CounterRow::apply(self.rows.get(&at), task.write()) {
            Some(row) => {
                self.rows.insert(at, row.clone());
                DebitOutcome::Committed(row)
            }
            None => DebitOutcome::ConditionFailed(self.rows.get(&at).cloned()),
        };
        if mishap == Mishap::Unheard { DebitOutcome::Failed } else { outcome }
    }

    fn try_all(&mut self, tasks: &[DebitTask], mishap: Mishap) -> Vec<DebitOutcome> {
        let stands = |task: &DebitTask| self.rows.get(&(task.check, task.shard()));
        let refused: Vec<bool> = tasks
            .iter()
            .map(|task| CounterRow::apply(stands(task), task.write()).is_none())
            .collect();
        if mishap == Mishap::Cut {
            return vec![DebitOutcome::Failed; tasks.len()];
        }
        if refused.contains(&true) {
            let outcome = |(task, refused): (&DebitTask, &bool)| match refused {
                true => DebitOutcome::ConditionFailed(stands(task).cloned()),
                false => DebitOutcome::Skipped,
            };
            return tasks.iter().zip(&refused).map(outcome).collect();
        }
        for task in tasks {
            self.try_one(task, Mishap::None);
        }
        let heard = if mishap == Mishap::None {
            DebitOutcome::CommittedUnseen
        } else {
            DebitOutcome::Failed
        };
        vec![heard; tasks.len()]
    }

    /// One request from its question to its answer.
    fn ask(
        &mut self,
        ledger: &mut Ledger,
        checks: &[QuotaCheck<'_>],
        units: i64,
        mishap: Mishap,
        now_ms: i64,
    ) -> bool {
        for _ in 0..16 {
            let passed = match ledger.decide(checks, units, now_ms) {
                LedgerDecision::Allowed => true,
                LedgerDecision::Denied(_) => return false,
                LedgerDecision::Debit(tasks) => {
                    for task in tasks {
                        let outcome = self.try_one(&task, mishap);
                        ledger.apply_outcome(&checks[task.check], &task, outcome, now_ms);
                    }
                    continue;
                }
                LedgerDecision::DebitTogether(tasks, reserved) => {
                    let outcomes = self.try_all(&tasks, mishap);
                    ledger.apply_transaction(checks, units, &tasks, reserved, outcomes, now_ms)
                }
            };
            if passed {
                self.admitted += units;
                return true;
            }
        }
        false
    }

    /// Units that the rows count for a rule.
    fn debited(&self, rule: usize) -> i64 {
        let of_rule = self.rows.iter().filter(|((of, _), _)| *of == rule);
        of_rule.map(|(_, row)| row.used).sum()
    }
}

fn mishap() -> impl Strategy<Value = Mishap> {
    prop_oneof![6 => Just(Mishap::None), 1 => Just(Mishap::Cut), 1 => Just(Mishap::Unheard)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_denied_by_one_rule_is_taken_from_none(
        limits in [1_i64..40, 1_i64..400, 101_i64..400, 1_i64..100, 101_i64..5_000],
        requests in proptest::collection::vec((0_usize..4, 1_i64..12, 0_i64..40), 1..120),
    ) {
        let rules = rules(limits);
        let checks = checks(&rules);
        let mut nodes: Vec<Ledger> = (0..4).map(|seed| Ledger::new(seed, 64)).collect();
        let (mut store, mut now_ms) = (Store::default(), START_MS);
        for (node, units, gap) in requests {
            now_ms += gap;
            store.ask(&mut nodes[node], &checks, units, Mishap::None, now_ms);
        }
        for (index, check) in checks.iter().enumerate() {
            let held: i64 = nodes.iter_mut().map(|node| node.held(check, now_ms)).sum();
            prop_assert_eq!(store.debited(index), store.admitted + held, "rule {}", index);
            prop_assert!(store.admitted <= check.quota.limit);
        }
    }

    #[test]
    fn with_any_mishap_no_more_is_admitted_than_debited_or_let_pass(
        limits in [1_i64..40, 1_i64..400, 101_i64..400, 1_i64..100, 101_i64..5_000],
        requests in proptest::collection::vec((0_usize..4, 1_i64..12, 0_i64..900, mishap()), 1..120),
    ) {
        let rules = rules(limits);
        let checks = checks(&rules);
        let mut nodes: Vec<Ledger> = (0..4).map(|seed| Ledger::new(seed, 64)).collect();
        let (mut store, mut now_ms) = (Store::default(), START_MS);
        for (node, units, gap, mishap) in requests {
            now_ms = (now_ms + gap).min(START_MS + WINDOW_MS - 1);
            store.ask(&mut nodes[node], &checks, units, mishap, now_ms);
        }
        for (index, check) in checks.iter().enumerate() {
            let held: i64 = nodes.iter_mut().map(|node| node.held(check, now_ms)).sum();
            prop_assert!(store.debited(index) >= store.admitted + held, "rule {}", index);
            prop_assert!(store.debited(index) <= check.quota.limit);
        }
    }
}

#[test]
fn memory_is_bounded_and_what_leaves_it_is_owed_to_the_store() {
    let rules = rules([1_000; 5]);
    let mut ledger = Ledger::new(3, 16);
    for caller in 0..500_i64 {
        let name = format!("caller-{caller}");
        let mut store = Store::default();
        let checks = [QuotaCheck { rule: &rules[0], quota: rules[0].quota, entity: &name }];
        for _ in 0..3 {
            assert!(store.ask(&mut ledger, &checks, 1, Mishap::None, START_MS + caller));
        }
        assert!(ledger.len() <= 16);
    }
    let owed = ledger.take_refunds(1_000);
    assert!(owed.len() > 100 && owed.len() <= 256, "{}", owed.len());
}

fn alone(quota: Quota) -> (Arc<Rule>, Quota) {
    let rule = Rule { quota, ..(*rules([1; 5])[0]).clone() };
    (Arc::new(rule), quota)
}

#[test]
fn what_an_idle_node_held_of_a_bucket_is_worth_nothing_once_it_has_come_back() {
    let bucket = Quota::new(Algorithm::TokenBucket, 1_000, 10_000);
    let (rule, quota) = alone(bucket);
    let checks = [QuotaCheck { rule: &rule, quota, entity: "ada" }];
    let (mut store, mut idle, mut busy) =
        (Store::default(), Ledger::new(1, 64), Ledger::new(2, 64));
    for _ in 0..4 {
        assert!(store.ask(&mut idle, &checks, 5, Mishap::None, START_MS));
    }
    assert!(idle.outstanding() > 0);
    let later_ms = START_MS + 600_000;
    assert!(store.ask(&mut busy, &checks, 900, Mishap::None, later_ms));
    idle.release_all(later_ms);
    let refunds = idle.take_refunds(10);
    assert!(refunds.iter().all(|refund| refund.write(later_ms).is_none()), "{refunds:?}");
}

#[test]
fn what_a_node_held_of_a_sharded_bucket_is_given_back_in_the_shards_own_measure() {
    let bucket = Quota::new(Algorithm::TokenBucket, 100_000, 10_000);
    assert!(bucket.shards() > 1);
    let (rule, quota) = alone(bucket);
    let checks = [QuotaCheck { rule: &rule, quota, entity: "ada" }];
    let (mut store, mut ledger) = (Store::default(), Ledger::new(1, 64));
    for _ in 0..4 {
        assert!(store.ask(&mut ledger, &checks, 50, Mishap::None, START_MS));
    }
    assert!(ledger.outstanding() > 0);
    ledger.release_all(START_MS);
    assert!(ledger.take_refunds(10).iter().any(|refund| refund.write(START_MS).is_some()));
}

#[test]
fn a_request_larger_than_a_shard_passes_in_every_window_that_has_as_many() {
    let sharded = Quota::new(Algorithm::FixedWindow, 1_000, 1_000);
    assert_eq!(sharded.shards(), 4);
    let (rule, quota) = alone(sharded);
    let checks = [QuotaCheck { rule: &rule, quota, entity: "ada" }];
    let (mut store, mut ledger) = (Store::default(), Ledger::new(1, 64));
    for window in 0..3 {
        let now_ms = START_MS + window * 1_000;
        assert!(store.ask(&mut ledger, &checks, 600, Mishap::None, now_ms), "{window}");
        assert!(!store.ask(&mut ledger, &checks, 600, Mishap::None, now_ms + 1), "{window}");
        let LedgerDecision::Denied(denial) = ledger.decide(&checks, 600, now_ms + 2) else {
            panic!("passed")
        };
        assert!(denial.retry_at_ms.is_some_and(|at| at <= now_ms + 2_000), "{denial:?}");
    }
}

#[test]
fn a_bucket_whose_leases_would_end_at_once_is_counted_by_the_store() {
    let brief = |limit, burst| Quota {
        algorithm: Algorithm::TokenBucket,
        limit,
        window_ms: 1_000,
        burst: Some(burst),
    };
    assert!(brief(10_000, 200).is_central() && brief(1_000, 101).is_central());
    assert!(!brief(1_000, 1_000).is_central());
}

#[test]
fn a_clock_that_is_set_back_does_not_keep_a_node_deaf() {
    let (rule, quota) = alone(rules([1_000; 5])[0].quota);
    let checks = [QuotaCheck { rule: &rule, quota, entity: "ada" }];
    let (mut store, mut ledger) = (Store::default(), Ledger::new(1, 64));
    assert!(!store.ask(&mut ledger, &checks, 1, Mishap::Cut, START_MS));
    assert!(!store.ask(&mut ledger, &checks, 1, Mishap::None, START_MS + 500), "deaf for a second");
    assert!(store.ask(&mut ledger, &checks, 1, Mishap::None, START_MS - 3_600_000));
}

/// One node's requests at rows that others have moved on: refused so often in a row, then an hour of
/// quiet, then rows that have moved on again.
#[test]
fn refusals_of_long_ago_deny_nothing() {
    let quota = Quota::new(Algorithm::FixedWindow, 6_000, WINDOW_MS);
    let crowded = |window, leases| CounterRow { window, used: 10, leases, ..CounterRow::default() };
    for refusals in 0..8 {
        let mut budget = Budget::new(quota, 1, 0);
        let mut ask = |now_ms: i64, leases: i64| {
            budget.advance_to(now_ms);
            let next = budget.next(1);
            if let DebitPlan::Debit(debit) = &next {
                budget.condition_failed(debit, Some(crowded(now_ms.div_euclid(WINDOW_MS), leases)));
            }
            matches!(next, DebitPlan::Debit(_))
        };
        for number in 0..refusals {
            ask(START_MS, 40 + number);
        }
        let later_ms = START_MS + 3_600_000;
        assert!(ask(later_ms, 40), "{refusals} refusals");
        assert!(ask(later_ms, 41), "shown a newer row after {refusals} refusals");
    }
}
