//! Usage: how a caller stands at the shared counters, rule by rule.
//!
//! The counters know what nodes debited. How much of that is spent, and how much a node still holds,
//! only that node knows.

use std::collections::BTreeSet;
use std::sync::Arc;

use boundary::http::{Call, Json, Operation, Problem, Query, State};
use boundary::limits::configuration::ConfiguredRules;
use domain::accounts::Role;
use domain::limits::counter::CounterRow;
use domain::limits::rule::RuleMode;
use domain::limits::{Algorithm, AppliedRule, Dimension, Quota};
use domain::{Result, Timestamp};
use futures::future::try_join_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::limits::{CounterKey, DocumentPart};

use crate::http::caller;
use crate::http::check::time;
use crate::http::overrides::is_active;
use crate::http::state::App;
use crate::http::view::{DimensionName, ModeName};

/// Whose usage, of what.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct UsageQuery {
    /// The account.
    user_id: Option<String>,
    /// The API key's id.
    api_key: Option<String>,
    /// The address.
    client_ip: Option<String>,
    /// The tenant.
    tenant_id: Option<String>,
    /// The path that is asked for.
    resource: String,
    /// The method; `GET` if left out.
    method: Option<String>,
}

/// Every rule that applies, most restrictive first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UsageView {
    usage: Vec<Usage>,
}

/// How a caller stands with one rule.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Usage {
    rule: String,
    #[schemars(with = "DimensionName")]
    dimension: Dimension,
    /// Whom the rule counts.
    entity: String,
    #[schemars(with = "ModeName")]
    mode: RuleMode,
    /// Units in a window.
    limit: i64,
    /// Whether the limit comes from an override.
    overridden: bool,
    window_seconds: i64,
    /// Units that count against the limit now; of a sliding window also what is left of the one before.
    used: i64,
    /// Units that could still be debited.
    remaining: i64,
    /// When everything is available again if no more is taken.
    reset_at: String,
    /// Units debited in this window: spent, or still held by nodes.
    leased: i64,
    /// Debits in this window; null for a sliding log, which counts every unit by itself.
    leases: Option<i64>,
}

pub(super) const READ: Operation =
    Operation::get("/admin/ratelimits/usage", "readUsage", "How does a caller stand?")
        .description(
            "From the shared counters, which know what was debited: spent, or still held by nodes.",
        )
        .role(Role::Admin);

pub(super) async fn read(
    State(app): State<Arc<App>>,
    call: Call,
    Query(query): Query<UsageQuery>,
) -> Result<Json<UsageView>, Problem> {
    let path = caller::resource(&query.resource)?;
    let method = caller::method(query.method.as_deref())?;
    let (api_key, client_ip) = (query.api_key.as_deref(), query.client_ip.as_deref());
    let caller = caller::from_fields(query.user_id, api_key, client_ip, query.tenant_id)?;
    let rules = ConfiguredRules::from_documents(&app.limits.documents(DocumentPart::Rules).await?);
    let overrides = rules.overrides.iter().map(|limit_override| &limit_override.value);
    let overridden: BTreeSet<(String, String)> = overrides
        .filter(|limit_override| is_active(limit_override, call.now))
        .map(|limit_override| (limit_override.rule.clone(), limit_override.entity.clone()))
        .collect();
    let set = rules.compile();
    let subject = caller.borrowed();
    let mut usage = Vec::new();
    for applied in set.matching(&subject, path, &method, call.now.as_millisecond()) {
        let key = (applied.rule.id.clone(), applied.entity.clone().into_owned());
        usage.push(app.usage(&applied, overridden.contains(&key), call.now).await?);
    }
    Ok(Json(UsageView { usage }))
}

impl App {
    async fn usage(
        &self,
        applied: &AppliedRule<'_>,
        overridden: bool,
        now: Timestamp,
    ) -> Result<Usage> {
        let AppliedRule { rule, quota, entity, .. } = applied;
        let keys: Vec<CounterKey> = (0..quota.shards())
            .map(|shard| CounterKey::new(&rule.id, quota, entity, shard))
            .collect();
        let rows = try_join_all(keys.iter().map(|key| self.limits.counter(key))).await?;
        let sum = CounterTotals::new(quota, &rows, now.as_millisecond());
        Ok(Usage {
            rule: rule.id.clone(),
            dimension: rule.dimension,
            entity: entity.clone().into_owned(),
            mode: rule.mode,
            limit: quota.limit,
            overridden,
            window_seconds: quota.window_ms / 1_000,
            used: sum.used,
            remaining: sum.remaining,
            reset_at: time(sum.reset_at_ms),
            leased: sum.leased,
            leases: (quota.algorithm != Algorithm::SlidingLog).then_some(sum.leases),
        })
    }
}

/// What all shards of a counter come to.
#[derive(Default)]
struct CounterTotals {
    used: i64,
    remaining: i64,
    reset_at_ms: i64,
    leased: i64,
    leases: i64,
}

impl CounterTotals {
    fn new(quota: &Quota, rows: &[Option<CounterRow>], now_ms: i64) -> Self {
        let mut sum = Self { reset_at_ms: now_ms, ..Self::default() };
        for (shard, row) in (0..quota.shards()).zip(rows) {
            let part = quota.shard(shard);
            let free = part.free(row.as_ref(), now_ms);
            let used = part.free(None, now_ms) - free;
            let current =
                row.as_ref().filter(|row| row.window == quota.window_at(Some(row), now_ms));
            sum.used += used;
            sum.remaining += free;
            sum.reset_at_ms = sum.reset_at_ms.max(part.reset_at_ms(row.as_ref(), now_ms));
            sum.leases += current.map_or(0, |row| row.leases);
            sum.leased += match quota.algorithm {
                Algorithm::FixedWindow | Algorithm::SlidingWindow => {
                    current.map_or(0, |row| row.used)
                }
                Algorithm::SlidingLog | Algorithm::TokenBucket | Algorithm::LeakyBucket => used,
            };
        }
        sum
    }
}
