//! What a caller sends to make a rule or an override, and the bounds that both must keep.
//!
//! Guarantee: what comes out can be compiled and counted. A refusal names the JSON field.

use serde::Deserialize;

use super::{Dimension, OnFailure, Override, Rule, RuleMode};
use crate::Timestamp;
use crate::limits::Rejected;
use crate::limits::caller::canonical;
use crate::limits::methods::{self, Methods};
use crate::limits::pattern::{self, Pattern};
use crate::limits::quota::{Algorithm, MAX_LIMIT, MAX_LOG_LENGTH, Quota};

/// A rule as a caller writes it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RuleDraft {
    /// Paths it is for; none: it is a default.
    #[serde(default)]
    pub resources: Vec<String>,
    /// Methods it is for; none: all.
    #[serde(default)]
    pub methods: Vec<String>,
    pub dimension: Dimension,
    /// Whether it passes over callers who said who they are.
    #[serde(default)]
    pub anonymous_only: bool,
    /// The way of counting; where nothing is said, a token bucket if there is a burst, else a sliding
    /// window.
    pub algorithm: Option<Algorithm>,
    /// Units in a window.
    pub limit: i64,
    pub window_seconds: i64,
    /// What a bucket holds.
    pub burst: Option<i64>,
    /// Whether it refuses; it does, where nothing is said.
    pub mode: Option<RuleMode>,
    /// What it does without the store; lets pass, where nothing is said.
    pub on_failure: Option<OnFailure>,
    #[serde(default)]
    pub description: String,
}

/// An override as a caller writes it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OverrideDraft {
    /// Units in the rule's window.
    pub limit: i64,
    /// The burst, where the rule has a bucket.
    pub burst: Option<i64>,
    pub expires_at: Option<Timestamp>,
    #[serde(default)]
    pub reason: String,
}

const MAX_RESOURCES: usize = 20;
const MAX_ID_LENGTH: usize = 64;
const MAX_ENTITY_LENGTH: usize = 256;
const MAX_SENTENCE_LENGTH: usize = 200;
const MAX_WINDOW: i64 = 86_400;

impl RuleDraft {
    /// The rule, if it keeps the bounds.
    pub fn into_rule(self, id: &str, version: u64) -> Result<Rule, Rejected> {
        check_id(id)?;
        check_resources(&self.resources)?;
        check_methods(&self.methods)?;
        if self.anonymous_only && self.dimension != Dimension::Ip {
            return Err(Rejected::field("anonymousOnly", "false unless `dimension` is `ip`"));
        }
        check_sentence("description", &self.description)?;
        within("windowSeconds", self.window_seconds, 1, MAX_WINDOW)?;
        let usual =
            if self.burst.is_some() { Algorithm::TokenBucket } else { Algorithm::SlidingWindow };
        let quota = Quota {
            algorithm: self.algorithm.unwrap_or(usual),
            limit: self.limit,
            window_ms: self.window_seconds * 1_000,
            burst: self.burst,
        };
        check_quota(&quota)?;
        Ok(Rule {
            id: id.to_owned(),
            resources: self.resources,
            methods: self.methods,
            dimension: self.dimension,
            anonymous_only: self.anonymous_only,
            quota,
            mode: self.mode.unwrap_or(RuleMode::Enforce),
            on_failure: self.on_failure.unwrap_or(OnFailure::Open),
            description: self.description,
            version,
        })
    }
}

impl OverrideDraft {
    /// The override of `rule` for one entity, if it keeps the bounds. An address may be written in any
    /// notation.
    pub fn into_override(
        self,
        dimension: Dimension,
        entity: &str,
        rule: &Rule,
        version: u64,
        now: Timestamp,
    ) -> Result<Override, Rejected> {
        if dimension != rule.dimension {
            let rule = format!("`{}`, as the rule's is", rule.dimension.name());
            return Err(Rejected::field("dimension", rule));
        }
        let entity = canonical(dimension, entity)
            .filter(|entity| entity.chars().count() <= MAX_ENTITY_LENGTH)
            .ok_or_else(|| Rejected::field("entity", entity_rule(dimension)))?;
        if self.expires_at.is_some_and(|at| at <= now) {
            return Err(Rejected::field("expiresAt", "in the future"));
        }
        check_sentence("reason", &self.reason)?;
        check_quota(&Quota { limit: self.limit, burst: self.burst, ..rule.quota })?;
        Ok(Override {
            dimension,
            entity: entity.into_owned(),
            rule: rule.id.clone(),
            limit: self.limit,
            burst: self.burst,
            expires_at: self.expires_at,
            reason: self.reason,
            version,
        })
    }
}

fn check_id(id: &str) -> Result<(), Rejected> {
    let fits = id.len() <= MAX_ID_LENGTH
        && id.starts_with(|c: char| c.is_ascii_lowercase())
        && id.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'));
    let rule = "1 to 64 of `a-z`, `0-9` and `-`, beginning with a letter";
    fits.then_some(()).ok_or_else(|| Rejected::field("id", rule))
}

fn check_resources(resources: &[String]) -> Result<(), Rejected> {
    if resources.len() > MAX_RESOURCES {
        return Err(Rejected::field("resources", format!("at most {MAX_RESOURCES} paths")));
    }
    for (index, resource) in resources.iter().enumerate() {
        if Pattern::parse(resource).is_none() {
            let longest = pattern::MAX_LENGTH;
            let rule = format!(
                "a path like `/api/v1/jobs/{{id}}` or `/api/{{*rest}}`, at most {longest} characters"
            );
            return Err(Rejected::field(format!("resources[{index}]"), rule));
        }
    }
    Ok(())
}

fn check_methods(methods: &[String]) -> Result<(), Rejected> {
    if methods.len() > methods::METHOD_COUNT {
        return Err(Rejected::field(
            "methods",
            format!("at most {} methods", methods::METHOD_COUNT),
        ));
    }
    match methods.iter().position(|method| !Methods::is_known(method)) {
        Some(index) => {
            Err(Rejected::field(format!("methods[{index}]"), "an HTTP method in capitals"))
        }
        None => Ok(()),
    }
}

fn check_quota(quota: &Quota) -> Result<(), Rejected> {
    within("limit", quota.limit, 0, MAX_LIMIT)?;
    if quota.algorithm == Algorithm::SlidingLog && quota.limit > MAX_LOG_LENGTH {
        return Err(Rejected::field(
            "limit",
            format!("at most {MAX_LOG_LENGTH} for a sliding log"),
        ));
    }
    match quota.burst {
        Some(_) if !quota.is_bucket() => {
            Err(Rejected::field("burst", "left out unless the algorithm is a bucket"))
        }
        Some(_) if quota.limit == 0 => Err(Rejected::field("burst", "left out if `limit` is 0")),
        Some(burst) => within("burst", burst, 1, quota.limit * 2),
        None => Ok(()),
    }
}

fn check_sentence(field: &str, text: &str) -> Result<(), Rejected> {
    if text.chars().count() > MAX_SENTENCE_LENGTH {
        return Err(Rejected::field(field, format!("at most {MAX_SENTENCE_LENGTH} characters")));
    }
    Ok(())
}

fn within(field: &str, value: i64, least: i64, most: i64) -> Result<(), Rejected> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Rejected::field(field, format!("from {least} to {most}")))
}

fn entity_rule(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Ip => "an address or an IPv6 /64",
        Dimension::Global => "`all`",
        Dimension::User | Dimension::ApiKey | Dimension::Tenant => "1 to 256 characters",
    }
}

#[cfg(test)]
mod tests;
