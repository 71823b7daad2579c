//! What a rule that is not saved would have denied in the last hour.
//!
//! Every key that nodes reported is replayed against the proposed quota, if the rule would apply to
//! what it asked for among all the others as they are. Absent: callers that are exempt or have an
//! override, whom the change does not touch; and keys too light to be reported.

use std::net::IpAddr;

use boundary::limits::configuration::{Configured, ConfiguredRules};
use domain::limits::dry_run::DryRun;
use domain::limits::history::{UsageReport, UsageSeries};
use domain::limits::{CallerRef, Dimension, Rule, RuleSet};
use domain::{Result, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use store::limits::DocumentPart;

use crate::http::check::time;
use crate::http::state::App;
use crate::http::view::RuleView;

/// What a rule would have done, and the rule as it would be.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DryRunView {
    dry_run: Denials,
    rule: RuleView,
}

/// What would have been denied. The demand of a minute counts as spread evenly over it, and a window
/// longer than the hour begins empty.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Denials {
    /// Keys that asked for something.
    keys: usize,
    /// Keys that would have been denied something.
    keys_denied: usize,
    /// Units asked for.
    asked: u64,
    /// Units that would have been denied.
    denied: u64,
    /// Denied ÷ asked.
    share: f64,
    /// The keys with the most denied units: ten at most.
    worst: Vec<Denied>,
    /// Where the hour begins.
    from: String,
    /// Where it ends.
    to: String,
}

/// A key that would have been denied something.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Denied {
    entity: String,
    denied: u64,
}

/// Replays the last hour as if `rule` had held.
pub(crate) async fn replay(app: &App, rule: Rule, now: Timestamp) -> Result<DryRunView> {
    let mut rules =
        ConfiguredRules::from_documents(&app.limits.documents(DocumentPart::Rules).await?);
    rules.rules.retain(|other| other.value.id != rule.id);
    rules.rules.push(Configured { value: rule.clone(), changed: None });
    let set = rules.compile();
    let now_ms = now.as_millisecond();
    let reports = app.limits.usage_reports(now).await?;
    let affected = reports.into_iter().filter(|report| is_affected(&set, &rule, report, now_ms));
    let run = rule.quota.dry_run(&UsageSeries::by_entity(affected, now_ms), now_ms);
    let proposed = RuleView::from(&Configured { value: rule, changed: None });
    Ok(DryRunView { dry_run: run.into(), rule: proposed })
}

/// Whether the rule's own quota would have decided on what the report is about.
fn is_affected(set: &RuleSet, rule: &Rule, report: &UsageReport, now_ms: i64) -> bool {
    if report.dimension != rule.dimension {
        return false;
    }
    let Some((method, path)) = report.resource.split_once(' ') else { return false };
    let applied = set.matching(&caller_of(report), path, method, now_ms);
    applied.iter().any(|applied| applied.rule.id == rule.id && applied.quota == rule.quota)
}

fn caller_of(report: &UsageReport) -> CallerRef<'_> {
    let entity = Some(report.entity.as_str());
    let anonymous = CallerRef::default();
    match report.dimension {
        Dimension::User => CallerRef { user: entity, ..anonymous },
        Dimension::ApiKey => CallerRef { api_key: entity, ..anonymous },
        Dimension::Ip => CallerRef { ip: address(&report.entity), ..anonymous },
        Dimension::Tenant => CallerRef { tenant: entity, ..anonymous },
        Dimension::Global => anonymous,
    }
}

/// An address that is counted by its /64 is reported with it.
fn address(entity: &str) -> Option<IpAddr> {
    entity.split('/').next()?.parse().ok()
}

impl From<DryRun> for Denials {
    fn from(run: DryRun) -> Self {
        let worst = run.worst.into_iter().map(|(entity, denied)| Denied { entity, denied });
        Self {
            keys: run.keys,
            keys_denied: run.keys_denied,
            asked: run.asked,
            denied: run.denied,
            share: run.share,
            worst: worst.collect(),
            from: time(run.from_ms),
            to: time(run.to_ms),
        }
    }
}
