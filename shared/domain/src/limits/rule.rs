//! A rule: whose requests, for what, are held to which quota.
//!
//! A [`Rule`] or an [`Override`] that came from a draft keeps every bound named in `draft`. Absent: how
//! rules are kept, and which of them applies to a request.

mod draft;

use serde::{Deserialize, Serialize};

pub use draft::{OverrideDraft, RuleDraft};

use super::quota::Quota;
use crate::Timestamp;

/// Whom a rule counts separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Dimension {
    User,
    ApiKey,
    /// Each address; of IPv6 each /64, because its owner has all of it.
    Ip,
    Tenant,
    Global,
}

impl Dimension {
    pub const ALL: [Self; 5] = [Self::User, Self::ApiKey, Self::Ip, Self::Tenant, Self::Global];

    /// Its name, as JSON and paths have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::ApiKey => "apiKey",
            Self::Ip => "ip",
            Self::Tenant => "tenant",
            Self::Global => "global",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dimension| dimension.name() == name)
    }
}

/// Whether a rule refuses, or only says what it would have refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleMode {
    Enforce,
    /// It counts and reports.
    Shadow,
}

/// What a rule does when the store can't be asked and nothing is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// Lets pass what this node alone would let pass.
    Open,
    Closed,
}

/// A rule as it is kept and applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Its name: 1 to 64 of `a-z`, `0-9`, `-`. Policies in headers and counters in rows carry it.
    pub id: String,
    /// Paths it is for, in the template's notation (`/api/v1/jobs/{id}`, `/api/{*rest}`). Empty: it is
    /// a default, which holds wherever no other rule of its dimension does.
    pub resources: Vec<String>,
    /// Methods it is for; empty: all.
    pub methods: Vec<String>,
    pub dimension: Dimension,
    /// Whether it passes over callers who said who they are.
    pub anonymous_only: bool,
    pub quota: Quota,
    pub mode: RuleMode,
    pub on_failure: OnFailure,
    pub description: String,
    pub version: u64,
}

impl Rule {
    /// An enforced rule for every path and method that lets pass without the store, at its first
    /// version.
    pub fn new(id: impl Into<String>, dimension: Dimension, quota: Quota) -> Self {
        Self {
            id: id.into(),
            resources: Vec::new(),
            methods: Vec::new(),
            dimension,
            anonymous_only: false,
            quota,
            mode: RuleMode::Enforce,
            on_failure: OnFailure::Open,
            description: String::new(),
            version: 1,
        }
    }
}

/// Another limit for one entity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Override {
    pub dimension: Dimension,
    /// Which one, as [`Subject::entity`](super::Subject::entity) writes it.
    pub entity: String,
    /// The rule whose limit it replaces.
    pub rule: String,
    /// Units in the rule's window.
    pub limit: i64,
    /// The burst, where the rule has a bucket.
    pub burst: Option<i64>,
    pub expires_at: Option<Timestamp>,
    pub reason: String,
    pub version: u64,
}
