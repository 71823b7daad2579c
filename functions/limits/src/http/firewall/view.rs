//! Firewall rules as callers write and see them.

use domain::Timestamp;
use domain::limits::firewall::{FirewallAction, FirewallDraft, FirewallRule, HeaderTest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::limits::LimitsDocument;

/// What happens to a request.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum ActionName {
    Allow,
    Deny,
}

/// What a header must be like: exactly one of the three.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct HeaderBody {
    /// The header's name.
    name: String,
    /// It has this in it.
    contains: Option<String>,
    /// It is this.
    equals: Option<String>,
    /// It isn't there.
    absent: Option<bool>,
}

/// A firewall rule to be. Every list that isn't empty must match, any entry of it will do, and one
/// list at least must not be empty. An `allow` rule that matches wins over every `deny` rule.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FirewallBody {
    #[schemars(with = "ActionName")]
    action: FirewallAction,
    /// Networks or single addresses, at most 5,000.
    #[serde(default)]
    cidrs: Vec<String>,
    /// Paths like `/api/v1/jobs/{id}` or `/admin/{*rest}`, at most 50.
    #[serde(default)]
    paths: Vec<String>,
    /// Methods.
    #[serde(default)]
    methods: Vec<String>,
    /// Tests of headers, at most 50.
    #[serde(default)]
    #[schemars(with = "Vec<HeaderBody>")]
    headers: Vec<HeaderTest>,
    /// What the `user-agent` header has in it, in upper or lower case; at most 50.
    #[serde(default)]
    user_agents: Vec<String>,
    /// Why; a refused caller is told.
    #[serde(default)]
    #[schemars(length(max = 200))]
    reason: String,
    /// When it ends by itself, as RFC 3339; never if left out.
    #[schemars(with = "Option<String>")]
    expires_at: Option<Timestamp>,
}

impl From<FirewallBody> for FirewallDraft {
    fn from(body: FirewallBody) -> Self {
        Self {
            action: body.action,
            cidrs: body.cidrs,
            paths: body.paths,
            methods: body.methods,
            headers: body.headers,
            user_agents: body.user_agents,
            reason: body.reason,
            expires_at: body.expires_at,
        }
    }
}

/// A firewall rule.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FirewallView {
    id: String,
    #[schemars(with = "ActionName")]
    action: FirewallAction,
    /// Of each rule in a list the first hundred.
    cidrs: Vec<String>,
    /// How many there are.
    cidr_count: usize,
    paths: Vec<String>,
    methods: Vec<String>,
    #[schemars(with = "Vec<HeaderBody>")]
    headers: Vec<HeaderTest>,
    user_agents: Vec<String>,
    reason: String,
    expires_at: Option<String>,
    /// Whether a node made it, because an address was refused too often.
    automatic: bool,
    /// Grows with each change; the same number as in `ETag`.
    version: u64,
    changed_by: String,
    changed_at: String,
}

/// Firewall rules: the admins' by id, then the automatic ones.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FirewallsView {
    pub(crate) rules: Vec<FirewallView>,
}

impl FirewallView {
    pub(crate) fn new(rule: &FirewallRule, document: &LimitsDocument, networks: usize) -> Self {
        Self {
            id: rule.id.clone(),
            action: rule.action,
            cidrs: rule.cidrs.iter().take(networks).map(ToString::to_string).collect(),
            cidr_count: rule.cidrs.len(),
            paths: rule.paths.clone(),
            methods: rule.methods.clone(),
            headers: rule.headers.clone(),
            user_agents: rule.user_agents.clone(),
            reason: rule.reason.clone(),
            expires_at: rule.expires_at.map(|at| at.to_string()),
            automatic: rule.automatic,
            version: document.version,
            changed_by: document.changed_by.clone(),
            changed_at: document.changed_at.to_string(),
        }
    }
}
