//! Fills what a node keeps in memory: `limits-memory <keys|shards|logs|firewall> <count>`.
//!
//! A process of its own, so that its memory holds nothing else. `keys`, `shards` and `logs` put as many
//! random callers through one node's ledger, reports and offenders, under rules with one row, with
//! all the shards that there are, and with full logs. Prints three numbers, all KiB resident as the
//! kernel counts them: before anything, the peak after the first tenth, and the peak at the end.
#![expect(clippy::print_stdout, reason = "a bench prints what it finds")]

use std::error::Error;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use domain::limits::counter::CounterRow;
use domain::limits::firewall::{DenialTracker, Firewall, FirewallAction, FirewallRule, IpNetwork};
use domain::limits::history::{MAX_REPORTS, UsageRecorder};
use domain::limits::ledger::{DebitOutcome, Ledger, LedgerDecision, MAX_KEYS, QuotaCheck};
use domain::limits::rule::{Dimension, Rule};
use domain::limits::{Algorithm, CallerRef, Quota};

const HOUR_MS: i64 = 3_600_000;
const RESOURCE: &str = "POST /api/v1/jobs/{id}";

/// Requests a millisecond.
const PACE: u64 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, count] = arguments.as_slice() else { return Err("<mode> <count>".into()) };
    let count: u64 = count.parse()?;
    let window = |limit, window_ms| (Algorithm::SlidingWindow, limit, window_ms);
    let (algorithm, limit, window_ms) = match mode.as_str() {
        "keys" => window(10_000, HOUR_MS),
        "shards" => window(1_000_000_000, 1_000),
        "logs" => (Algorithm::SlidingLog, 500, HOUR_MS),
        "firewall" => return firewall(count),
        _ => return Err("<keys|shards|logs|firewall> <count>".into()),
    };
    let quota = Quota::new(algorithm, limit, window_ms);
    let before = resident("VmRSS:")?;
    let mut node = Node::new(quota);
    let mut early = 0;
    for request in 0..count {
        if request == count / 10 {
            early = resident("VmHWM:")?;
        }
        node.serve(request);
    }
    println!("{before} {early} {}", resident("VmHWM:")?);
    if node.ledger.len() > MAX_KEYS {
        return Err("more keys than there is room for".into());
    }
    Ok(())
}

/// What a function keeps about limits.
struct Node {
    ledger: Ledger,
    seen: UsageRecorder,
    offenders: DenialTracker,
    rules: [Arc<Rule>; 2],
}

impl Node {
    fn new(quota: Quota) -> Self {
        Self {
            ledger: Ledger::new(7, MAX_KEYS),
            seen: UsageRecorder::new(),
            offenders: DenialTracker::default(),
            rules: [Dimension::User, Dimension::Ip]
                .map(|dimension| Arc::new(rule(quota, dimension))),
        }
    }

    /// One request of a new caller: decided, leased, recorded, and what follows the response.
    fn serve(&mut self, request: u64) {
        let now_ms = 1_772_366_400_000 + i64::try_from(request / PACE).unwrap_or(0);
        let user = format!("{:016x}", scattered(request));
        let ip = IpAddr::V6(Ipv6Addr::from_bits(u128::from(scattered(!request)) << 64));
        let subject = CallerRef { user: Some(&user), ip: Some(ip), ..CallerRef::default() };
        let entities = self.rules.each_ref().map(|rule| subject.entity(rule.dimension));
        let checks: Vec<QuotaCheck<'_>> =
            self.rules.iter().zip(&entities).filter_map(check).collect();
        decide(&mut self.ledger, &checks, now_ms);
        let denied = request.is_multiple_of(4);
        for dimension in [Dimension::User, Dimension::Ip, Dimension::Global] {
            if let Some(entity) = subject.entity(dimension) {
                self.seen.record(RESOURCE, dimension, &entity, 1, denied, now_ms);
            }
        }
        if denied {
            self.offenders.record_denial(ip, now_ms);
        }
        self.ledger.take_refunds(4);
        if self.seen.is_due(now_ms) {
            self.seen.drain(now_ms, MAX_REPORTS);
        }
    }
}

/// Every write is granted, and a log comes back as long as it can be.
fn decide(ledger: &mut Ledger, checks: &[QuotaCheck<'_>], now_ms: i64) {
    for _ in 0..2 {
        match ledger.decide(checks, 1, now_ms) {
            LedgerDecision::Allowed | LedgerDecision::Denied(_) => return,
            LedgerDecision::Debit(tasks) => {
                for task in tasks {
                    let row = CounterRow::apply(None, task.write()).unwrap_or_default();
                    let committed = DebitOutcome::Committed(row);
                    ledger.apply_outcome(&checks[task.check], &task, committed, now_ms);
                }
            }
            LedgerDecision::DebitTogether(tasks, reserved) => {
                let full =
                    CounterRow { leases: 1, log: vec![now_ms; 500], ..CounterRow::default() };
                let outcomes =
                    tasks.iter().map(|_| DebitOutcome::Committed(full.clone())).collect();
                ledger.apply_transaction(checks, 1, &tasks, reserved, outcomes, now_ms);
                return;
            }
        }
    }
}

fn check<'a>(
    (rule, entity): (&'a Arc<Rule>, &'a Option<std::borrow::Cow<'_, str>>),
) -> Option<QuotaCheck<'a>> {
    Some(QuotaCheck { rule, quota: rule.quota, entity: entity.as_deref()? })
}

fn rule(quota: Quota, dimension: Dimension) -> Rule {
    Rule {
        resources: vec!["/api/v1/jobs/{id}".to_owned()],
        methods: vec!["POST".to_owned()],
        ..Rule::new(format!("jobs-{}", dimension.name()), dimension, quota)
    }
}

/// Compiles as many networks, a rule for each, as automatic blocks are: the dearest way to have them.
fn firewall(count: u64) -> Result<(), Box<dyn Error>> {
    let before = resident("VmRSS:")?;
    let firewall = Firewall::compile((0..count).map(block).collect());
    let held = resident("VmRSS:")?;
    println!("{before} {held} {}", resident("VmHWM:")?);
    if firewall.is_empty() { Err("no rules".into()) } else { Ok(()) }
}

fn block(number: u64) -> FirewallRule {
    let bits = scattered(number);
    let address = if number.is_multiple_of(2) {
        IpAddr::V4(u32::try_from(bits >> 32).unwrap_or(0).into())
    } else {
        IpAddr::V6((u128::from(bits) << 64).into())
    };
    FirewallRule {
        cidrs: vec![IpNetwork::containing(address, if address.is_ipv4() { 32 } else { 64 })],
        reason: "Refused 100 times within 60 s: blocked for 600 s.".to_owned(),
        automatic: true,
        ..FirewallRule::new(format!("auto-{bits:016x}"), FirewallAction::Deny)
    }
}

/// KiB, as the kernel counts them under that name.
fn resident(name: &str) -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)).ok_or("no such line")?;
    Ok(line.split_whitespace().next().ok_or("no number")?.parse()?)
}

/// Numbers in a row, spread evenly (`SplitMix64`).
fn scattered(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
