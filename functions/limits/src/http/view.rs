//! Rules as callers write and see them, and the names that more than one body has.

use boundary::limits::configuration::Configured;
use domain::limits::rule::{OnFailure, RuleMode};
use domain::limits::{Algorithm, Dimension, Rule, RuleDraft};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whom a rule counts separately.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum DimensionName {
    User,
    ApiKey,
    Ip,
    Tenant,
    Global,
}

/// The ways of counting.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum AlgorithmName {
    FixedWindow,
    SlidingWindow,
    SlidingLog,
    TokenBucket,
    LeakyBucket,
}

/// Whether a rule refuses, or only counts and reports.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ModeName {
    Enforce,
    Shadow,
}

/// What a rule does when the store can't be asked.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum OnFailureName {
    Open,
    Closed,
}

/// A rule to be.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RuleBody {
    /// Paths it is for, like `/api/v1/jobs/{id}` or `/api/{*rest}`, at most 20. None: it holds
    /// wherever no other rule of its dimension does.
    #[serde(default)]
    resources: Vec<String>,
    /// Methods it is for, in capitals; none: all.
    #[serde(default)]
    methods: Vec<String>,
    #[schemars(with = "DimensionName")]
    dimension: Dimension,
    /// Whether it passes over callers who said who they are; only for `ip`.
    #[serde(default)]
    anonymous_only: bool,
    /// If left out: a token bucket where there is a burst, else a sliding window.
    #[schemars(with = "Option<AlgorithmName>")]
    algorithm: Option<Algorithm>,
    /// Units in a window; 0 refuses everything.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    limit: i64,
    /// The window's length.
    #[schemars(range(min = 1, max = 86_400))]
    window_seconds: i64,
    /// What a bucket holds, at most twice the limit; the limit if left out.
    burst: Option<i64>,
    /// `enforce` if left out.
    #[schemars(with = "Option<ModeName>")]
    mode: Option<RuleMode>,
    /// `open` if left out.
    #[schemars(with = "Option<OnFailureName>")]
    on_failure: Option<OnFailure>,
    /// A sentence for people.
    #[serde(default)]
    #[schemars(length(max = 200))]
    description: String,
}

impl From<RuleBody> for RuleDraft {
    fn from(body: RuleBody) -> Self {
        Self {
            resources: body.resources,
            methods: body.methods,
            dimension: body.dimension,
            anonymous_only: body.anonymous_only,
            algorithm: body.algorithm,
            limit: body.limit,
            window_seconds: body.window_seconds,
            burst: body.burst,
            mode: body.mode,
            on_failure: body.on_failure,
            description: body.description,
        }
    }
}

/// A rule.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RuleView {
    id: String,
    resources: Vec<String>,
    methods: Vec<String>,
    #[schemars(with = "DimensionName")]
    dimension: Dimension,
    anonymous_only: bool,
    #[schemars(with = "AlgorithmName")]
    algorithm: Algorithm,
    limit: i64,
    window_seconds: i64,
    burst: Option<i64>,
    #[schemars(with = "ModeName")]
    mode: RuleMode,
    #[schemars(with = "OnFailureName")]
    on_failure: OnFailure,
    description: String,
    /// Grows with each change; the same number as in `ETag`. 0 for a rule as it came with the program.
    version: u64,
    /// Who changed it last; null if it was never changed.
    changed_by: Option<String>,
    /// When.
    changed_at: Option<String>,
}

impl From<&Configured<Rule>> for RuleView {
    fn from(configured: &Configured<Rule>) -> Self {
        let rule = &configured.value;
        let by = configured.changed.as_ref();
        Self {
            id: rule.id.clone(),
            resources: rule.resources.clone(),
            methods: rule.methods.clone(),
            dimension: rule.dimension,
            anonymous_only: rule.anonymous_only,
            algorithm: rule.quota.algorithm,
            limit: rule.quota.limit,
            window_seconds: rule.quota.window_ms / 1_000,
            burst: rule.quota.burst,
            mode: rule.mode,
            on_failure: rule.on_failure,
            description: rule.description.clone(),
            version: by.map_or(0, |_| rule.version),
            changed_by: by.map(|(who, _)| who.clone()),
            changed_at: by.map(|(_, at)| at.to_string()),
        }
    }
}
