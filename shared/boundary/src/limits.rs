//! Every request's first question: may it pass?
//!
//! The path: the firewall (in memory) → the rules that apply (in memory) → the ledger, which answers
//! from what this node holds, or names the debits to be tried at the store. A decision on held units
//! makes no call. Rules and firewall are as fresh as five seconds on every request, the first one after
//! a freeze included, because age is checked when they are used and not by a timer.
//!
//! Guarantee: a refused request has consumed nothing. If the store can't be asked within the deadline,
//! what is held is spent, then each rule does what its `onFailure` says; all of that is measured.
//! Absent: a background task; an address, a key or a name in a log line.

mod admission;
mod after_response;
mod caller;
pub mod configuration;
mod configuration_cache;
mod decide;
mod request_limiter;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use domain::Timestamp;
use domain::limits::caller::{CallerRef, ip_network};
use domain::limits::firewall::{DenialTracker, FirewallDecision, FirewallRequest};
use domain::limits::history::UsageRecorder;
use domain::limits::ledger::{Denial, Ledger, LedgerMetrics, MAX_KEYS, QuotaCheck};
use domain::limits::rule::{Dimension, RuleMode};
use domain::limits::rules::AppliedRule;
use parking_lot::Mutex;
use store::Limits;

use crate::telemetry::{Unit, measure};
use crate::{Clock, Entropy, Host, Misconfigured};
pub use admission::{Admission, QuotaRefusal};
pub use caller::QuotaSubject;
use configuration::Configuration;
use configuration_cache::ConfigurationCache;
pub(crate) use request_limiter::RequestLimiter;

/// Addresses that wait to be blocked; who else offends does so again.
const MAX_PENDING_BLOCKS: usize = 64;

#[derive(Debug)]
pub struct Limiter {
    rows: Limits,
    clock: Clock,
    entropy: Entropy,
    deadline: Duration,
    ledger: Mutex<Ledger>,
    cache: Mutex<ConfigurationCache>,
    refreshing: tokio::sync::Mutex<()>,
    usage: Mutex<UsageRecorder>,
    denials: Mutex<DenialTracker>,
    /// Addresses to be blocked once the answer is out.
    pending_blocks: Mutex<Vec<IpAddr>>,
}

impl Limiter {
    /// Counts in the table that `LIMITS_TABLE` names.
    pub fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        let deadline = host.vars.parsed(
            "LIMITS_DEADLINE_MS",
            |text| text.parse().ok().filter(|ms| (1..=10_000).contains(ms)),
            "a number of milliseconds from 1 to 10000",
        )?;
        let seed = u64::from_be_bytes(host.entropy.bytes());
        Ok(Self {
            rows: host.limits()?,
            clock: host.clock.clone(),
            entropy: host.entropy.clone(),
            deadline: Duration::from_millis(deadline.unwrap_or(50)),
            ledger: Mutex::new(Ledger::new(seed, MAX_KEYS)),
            cache: Mutex::default(),
            refreshing: tokio::sync::Mutex::default(),
            usage: Mutex::default(),
            denials: Mutex::default(),
            pending_blocks: Mutex::default(),
        })
    }

    /// Whether the firewall turns a request away: the rule's reason.
    pub fn firewall_refusal(
        &self,
        request: &FirewallRequest<'_>,
        now: Timestamp,
    ) -> Option<String> {
        match self.cache.lock().configuration.firewall.evaluate(request, now.as_millisecond()) {
            FirewallDecision::Pass => None,
            FirewallDecision::Refused { reason, .. } => {
                measure("FirewallRefused", Unit::Count, 1.0);
                Some(reason.to_owned())
            }
        }
    }

    /// May `units` of `method` on `path` pass? `resource` is what reports call it.
    pub async fn admit(
        &self,
        caller: &QuotaSubject,
        resource: &str,
        path: &str,
        method: &str,
        units: i64,
    ) -> Admission {
        let (now, configuration) = (self.clock.now(), self.configuration());
        let caller = caller.borrowed();
        let applied = configuration.rules.matching(&caller, path, method, now.as_millisecond());
        let checks = in_mode(&applied, RuleMode::Enforce).collect::<Vec<_>>();
        let denial = self.decide(&checks, units, now).await.err();
        if denial.is_none() {
            for check in in_mode(&applied, RuleMode::Shadow) {
                // What can't be asked would not have been denied for its quota.
                if self.decide(&[check], units, now).await.is_err_and(|denial| !denial.unavailable)
                {
                    measure("LimitsShadowDenied", Unit::Count, 1.0);
                }
            }
        }
        let refusing = denial.filter(|denial| !denial.unavailable);
        let refusing = refusing.and_then(|denial| checks.get(denial.check));
        self.record(&caller, resource, units, refusing.map(|check| check.rule.dimension), now);
        self.admission(&checks, units, denial, now)
    }

    /// May one more of what is no request pass, under rules that a function brings itself? What it
    /// refuses has consumed nothing.
    pub async fn charge(&self, checks: &[QuotaCheck<'_>]) -> Result<(), Denial> {
        let outcome = self.decide(checks, 1, self.clock.now()).await;
        measure_all(self.ledger.lock().take_metrics());
        outcome
    }

    /// Whether any rule applies to a request.
    pub fn applies(&self, caller: &QuotaSubject, path: &str, method: &str) -> bool {
        self.cache.lock().configuration.rules.applies(&caller.borrowed(), path, method)
    }

    /// How a request would stand, without taking or asking anything.
    pub fn status(&self, caller: &QuotaSubject, path: &str, method: &str) -> Admission {
        let (now, configuration) = (self.clock.now(), self.configuration());
        let caller = caller.borrowed();
        let applied = configuration.rules.matching(&caller, path, method, now.as_millisecond());
        let checks = in_mode(&applied, RuleMode::Enforce).collect::<Vec<_>>();
        self.admission(&checks, 0, None, now)
    }

    /// The rules and the firewall as the cache has them.
    pub fn configuration(&self) -> Arc<Configuration> {
        Arc::clone(&self.cache.lock().configuration)
    }

    fn admission(
        &self,
        checks: &[QuotaCheck<'_>],
        units: i64,
        denial: Option<Denial>,
        now: Timestamp,
    ) -> Admission {
        let mut ledger = self.ledger.lock();
        let now_ms = now.as_millisecond();
        measure_all(ledger.take_metrics());
        let statuses = checks.iter().map(|check| ledger.status(check, units, now_ms));
        Admission::new(checks, statuses.collect(), denial, now)
    }

    /// Remembers what was asked and refused, for reports, and who is refused too often.
    fn record(
        &self,
        caller: &CallerRef<'_>,
        resource: &str,
        units: i64,
        refusing: Option<Dimension>,
        now: Timestamp,
    ) {
        let refused = refusing.is_some();
        let (now_ms, units) = (now.as_millisecond(), u32::try_from(units).unwrap_or(u32::MAX));
        {
            let mut usage = self.usage.lock();
            for dimension in Dimension::ALL {
                if let Some(entity) = caller.entity(dimension) {
                    usage.record(resource, dimension, &entity, units, refused, now_ms);
                }
            }
        }
        let Some(refusing) = refusing else { return };
        measure("LimitsDenied", Unit::Count, 1.0);
        // What many use up together is no offence of the one who comes last.
        let theirs = !matches!(refusing, Dimension::Tenant | Dimension::Global);
        if let Some(ip) = caller.ip.filter(|_| theirs)
            && let Some(offender) = self.denials.lock().record_denial(ip_network(ip), now_ms)
        {
            let mut pending = self.pending_blocks.lock();
            if pending.len() < MAX_PENDING_BLOCKS {
                pending.push(offender.ip);
            }
        }
    }
}

/// The rules that refuse, or those that only count.
fn in_mode<'a>(
    applied: &'a [AppliedRule<'_>],
    mode: RuleMode,
) -> impl Iterator<Item = QuotaCheck<'a>> {
    applied.iter().filter(move |applied| applied.rule.mode == mode).map(|applied| QuotaCheck {
        rule: applied.rule,
        quota: applied.quota,
        entity: &applied.entity,
    })
}

/// What was done without the store, or found.
fn measure_all(metrics: LedgerMetrics) {
    let LedgerMetrics { expired_spent, failed_open, failed_closed, store_failures, hot_keys } =
        metrics;
    for (name, count) in [
        ("LimitsFrozen", expired_spent),
        ("LimitsOpen", failed_open),
        ("LimitsClosed", failed_closed),
        ("LimitsFailed", store_failures),
        ("LimitsSpread", hot_keys),
    ] {
        if count > 0 {
            measure(name, Unit::Count, f64::from(u32::try_from(count).unwrap_or(u32::MAX)));
        }
    }
}
