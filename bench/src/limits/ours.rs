//! Our limiter as a request meets it: the rules that apply, then the ledger, on units already held.

use std::cell::Cell;
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};

use domain::limits::counter::CounterRow;
use domain::limits::ledger::{DebitOutcome, Ledger, LedgerDecision, QuotaCheck};
use domain::limits::rule::{Dimension, Rule};
use domain::limits::rules::{AppliedRule, Exemptions, RuleSet};
use domain::limits::{Algorithm, CallerRef, Quota};

use super::unix_ms;

/// What every rule allows: more than is ever asked for here, in one row.
const LIMIT: i64 = 100_000_000;
const DAY_MS: i64 = 86_400_000;

/// Units that each key holds.
const HELD: i64 = 50_000_000;

/// A node with rules and held units.
pub(crate) struct Node {
    rules: RuleSet,
    ledger: Ledger,
    callers: Vec<CallerRef<'static>>,
    paths: Vec<String>,
    now_ms: i64,
}

/// What the rules count by, and how many each resource has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// One rule, by account.
    User,
    /// One rule, by address.
    Ip,
    /// Five rules, by everything there is.
    All,
}

impl By {
    fn dimensions(self) -> &'static [Dimension] {
        match self {
            Self::User => &[Dimension::User],
            Self::Ip => &[Dimension::Ip],
            Self::All => &Dimension::ALL,
        }
    }

    /// How many rules a request matches.
    pub(crate) fn rules(self) -> usize {
        self.dimensions().len()
    }
}

impl Node {
    /// `rules` rules, each for one resource, and callers for `keys` keys that all hold units. The
    /// ledger is large enough for them: a function's holds [`domain::limits::ledger::MAX_KEYS`].
    pub(crate) fn new(rules: usize, by: By, keys: usize) -> Self {
        let resources = (rules / by.rules()).max(1);
        let made = (0..resources).flat_map(|resource| {
            by.dimensions().iter().map(move |dimension| rule(resource, *dimension))
        });
        let mut node = Self {
            rules: RuleSet::new(made.collect(), Vec::new(), Exemptions::default()),
            ledger: Ledger::new(7, 8 * keys.max(2_048)),
            callers: (0..keys).map(caller).collect(),
            paths: (0..resources).map(|number| format!("/api/v1/r{number}/7")).collect(),
            now_ms: unix_ms() / DAY_MS * DAY_MS + DAY_MS / 2,
        };
        for request in 0..keys {
            node.hold(request);
        }
        node
    }

    /// Decides about a request, and says whether the store would have had to be asked.
    pub(crate) fn decide(&mut self, request: usize) -> bool {
        // The others read a clock for every decision, so this does; the day must not end meanwhile.
        black_box(unix_ms());
        let (rules, now_ms) = (&self.rules, self.now_ms);
        let (caller, path) = of(&self.callers, &self.paths, request);
        let applied = rules.matching(caller, path, "POST", now_ms);
        let checks: Vec<QuotaCheck<'_>> = applied.iter().map(check).collect();
        black_box(self.ledger.decide(&checks, 1, now_ms)) != LedgerDecision::Allowed
    }

    /// Has the units granted that the request's keys are to hold.
    fn hold(&mut self, request: usize) {
        let (caller, path) = of(&self.callers, &self.paths, request);
        let applied = self.rules.matching(caller, path, "POST", self.now_ms);
        let checks: Vec<QuotaCheck<'_>> = applied.iter().map(check).collect();
        if let LedgerDecision::Debit(tasks) = self.ledger.decide(&checks, HELD, self.now_ms) {
            for task in tasks {
                let row = CounterRow::apply(None, task.write()).unwrap_or_default();
                let committed = DebitOutcome::Committed(row);
                self.ledger.apply_outcome(&checks[task.check], &task, committed, self.now_ms);
            }
        }
    }
}

/// How many decisions there were, and how many of them would have gone to the store.
#[derive(Debug, Default)]
pub(crate) struct CapacityUsed {
    pub(crate) decisions: Cell<u64>,
    pub(crate) asked: Cell<u64>,
}

pub(crate) fn counted(mut node: Node, capacity: &CapacityUsed) -> impl FnMut(usize) {
    move |request| {
        let asks = node.decide(request);
        capacity.decisions.set(capacity.decisions.get() + 1);
        capacity.asked.set(capacity.asked.get() + u64::from(asks));
    }
}

/// A key always asks for the same resource, so that there are as many counters as keys.
fn of<'a>(
    callers: &'a [CallerRef<'static>],
    paths: &'a [String],
    request: usize,
) -> (&'a CallerRef<'static>, &'a str) {
    let key = request % callers.len();
    (&callers[key], &paths[key.wrapping_mul(7_919) % paths.len()])
}

fn check<'a>(applied: &'a AppliedRule<'_>) -> QuotaCheck<'a> {
    QuotaCheck { rule: applied.rule, quota: applied.quota, entity: &applied.entity }
}

fn caller(number: usize) -> CallerRef<'static> {
    let named = |kind: &str| -> &'static str { format!("{kind}-{number:012}").leak() };
    let bits = u32::try_from(number).unwrap_or(u32::MAX).wrapping_mul(0x9e37_79b1);
    CallerRef {
        user: Some(named("user")),
        api_key: Some(named("key")),
        ip: Some(IpAddr::V4(Ipv4Addr::from_bits(bits))),
        tenant: Some(named("tenant")),
    }
}

/// The rule of a resource in one dimension.
pub(crate) fn rule(resource: usize, dimension: Dimension) -> Rule {
    Rule {
        resources: vec![format!("/api/v1/r{resource}/{{id}}")],
        methods: vec!["POST".to_owned()],
        ..Rule::new(
            format!("resource-{resource}-{}", dimension.name().to_lowercase()),
            dimension,
            Quota::new(Algorithm::SlidingWindow, LIMIT, DAY_MS),
        )
    }
}
