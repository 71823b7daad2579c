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
mod asking;
mod caller;
pub mod configuration;
mod known;
mod meter;
mod tidy;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use domain::Timestamp;
use domain::limits::firewall::{Asked, Offenders, Ruling};
use domain::limits::history::Seen;
use domain::limits::ledger::{Claim, Counts, Denial, KEYS, Ledger};
use domain::limits::rule::{Dimension, Mode};
use domain::limits::rules::Applied;
use domain::limits::subject::{Subject, ip_network};
use parking_lot::Mutex;
use store::Limits;

use crate::telemetry::{Unit, measure};
use crate::{Clock, Entropy, Host, Misconfigured};
pub use admission::{Admission, Refusal};
pub use caller::Caller;
use configuration::Configuration;
use known::Known;
pub(crate) use meter::Meter;

/// Addresses that wait to be blocked; who else offends does so again.
const MAX_OFFENCES: usize = 64;

/// What a node knows about limits.
#[derive(Debug)]
pub struct Limiter {
    rows: Limits,
    clock: Clock,
    entropy: Entropy,
    deadline: Duration,
    ledger: Mutex<Ledger>,
    known: Mutex<Known>,
    reading: tokio::sync::Mutex<()>,
    seen: Mutex<Seen>,
    offenders: Mutex<Offenders>,
    /// Addresses to be blocked once the answer is out.
    offences: Mutex<Vec<IpAddr>>,
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
            ledger: Mutex::new(Ledger::new(seed, KEYS)),
            known: Mutex::default(),
            reading: tokio::sync::Mutex::default(),
            seen: Mutex::default(),
            offenders: Mutex::default(),
            offences: Mutex::default(),
        })
    }

    /// Whether the firewall turns a request away: the rule's reason.
    pub fn refusal(&self, asked: &Asked<'_>, now: Timestamp) -> Option<String> {
        match self.known.lock().configuration.firewall.judge(asked, now.as_millisecond()) {
            Ruling::Pass => None,
            Ruling::Refused { reason, .. } => {
                measure("FirewallRefused", Unit::Count, 1.0);
                Some(reason.to_owned())
            }
        }
    }

    /// May `units` of `method` on `path` pass? `resource` is what reports call it.
    pub async fn admit(
        &self,
        caller: &Caller,
        resource: &str,
        path: &str,
        method: &str,
        units: i64,
    ) -> Admission {
        let (now, configuration) = (self.clock.now(), self.configuration());
        let subject = caller.subject();
        let applied = configuration.rules.applying(&subject, path, method, now.as_millisecond());
        let claims = in_mode(&applied, Mode::Enforce).collect::<Vec<_>>();
        let denial = self.decide(&claims, units, now).await.err();
        if denial.is_none() {
            for claim in in_mode(&applied, Mode::Shadow) {
                // What can't be asked would not have been denied for its quota.
                if self.decide(&[claim], units, now).await.is_err_and(|denial| !denial.unavailable)
                {
                    measure("LimitsShadowDenied", Unit::Count, 1.0);
                }
            }
        }
        let refusing = denial.filter(|denial| !denial.unavailable);
        let refusing = refusing.and_then(|denial| claims.get(denial.claim));
        self.note(&subject, resource, units, refusing.map(|claim| claim.rule.dimension), now);
        self.admission(&claims, units, denial, now)
    }

    /// May one more of what is no request pass, under rules that a function brings itself? What it
    /// refuses has consumed nothing.
    pub async fn take(&self, claims: &[Claim<'_>]) -> Result<(), Denial> {
        let taken = self.decide(claims, 1, self.clock.now()).await;
        measure_all(self.ledger.lock().counts());
        taken
    }

    /// Whether any rule applies to a request.
    pub fn applies(&self, caller: &Caller, path: &str, method: &str) -> bool {
        self.known.lock().configuration.rules.applies(&caller.subject(), path, method)
    }

    /// How a request would stand, without taking or asking anything.
    pub fn standing(&self, caller: &Caller, path: &str, method: &str) -> Admission {
        let (now, configuration) = (self.clock.now(), self.configuration());
        let subject = caller.subject();
        let applied = configuration.rules.applying(&subject, path, method, now.as_millisecond());
        let claims = in_mode(&applied, Mode::Enforce).collect::<Vec<_>>();
        self.admission(&claims, 0, None, now)
    }

    /// The rules and the firewall as they are known.
    pub fn configuration(&self) -> Arc<Configuration> {
        Arc::clone(&self.known.lock().configuration)
    }

    fn admission(
        &self,
        claims: &[Claim<'_>],
        units: i64,
        denial: Option<Denial>,
        now: Timestamp,
    ) -> Admission {
        let mut ledger = self.ledger.lock();
        let now_ms = now.as_millisecond();
        measure_all(ledger.counts());
        let standings = claims.iter().map(|claim| ledger.standing(claim, units, now_ms));
        Admission::new(claims, standings.collect(), denial, now)
    }

    /// Remembers what was asked and refused, for reports, and who is refused too often.
    fn note(
        &self,
        subject: &Subject<'_>,
        resource: &str,
        units: i64,
        refusing: Option<Dimension>,
        now: Timestamp,
    ) {
        let refused = refusing.is_some();
        let (now_ms, units) = (now.as_millisecond(), u32::try_from(units).unwrap_or(u32::MAX));
        {
            let mut seen = self.seen.lock();
            for dimension in Dimension::ALL {
                if let Some(entity) = subject.entity(dimension) {
                    seen.note(resource, dimension, &entity, units, refused, now_ms);
                }
            }
        }
        let Some(refusing) = refusing else { return };
        measure("LimitsDenied", Unit::Count, 1.0);
        // What many use up together is no offence of the one who comes last.
        let theirs = !matches!(refusing, Dimension::Tenant | Dimension::Global);
        if let Some(ip) = subject.ip.filter(|_| theirs)
            && let Some(offence) = self.offenders.lock().note_denial(ip_network(ip), now_ms)
        {
            let mut offences = self.offences.lock();
            if offences.len() < MAX_OFFENCES {
                offences.push(offence.ip);
            }
        }
    }
}

/// The rules that refuse, or those that only count.
fn in_mode<'a>(applied: &'a [Applied<'_>], mode: Mode) -> impl Iterator<Item = Claim<'a>> {
    applied.iter().filter(move |applied| applied.rule.mode == mode).map(|applied| Claim {
        rule: applied.rule,
        quota: applied.quota,
        entity: &applied.entity,
    })
}

/// What was done without the store, or found.
fn measure_all(counts: Counts) {
    let Counts { frozen, open, closed, failed, spread } = counts;
    for (name, count) in [
        ("LimitsFrozen", frozen),
        ("LimitsOpen", open),
        ("LimitsClosed", closed),
        ("LimitsFailed", failed),
        ("LimitsSpread", spread),
    ] {
        if count > 0 {
            measure(name, Unit::Count, f64::from(u32::try_from(count).unwrap_or(u32::MAX)));
        }
    }
}
