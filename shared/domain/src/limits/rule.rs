//! A rule: whose requests, for what, are held to which quota.

use serde::{Deserialize, Serialize};

use super::quota::Quota;
use crate::Timestamp;

/// Whom a rule counts separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Dimension {
    /// Each account.
    User,
    /// Each API key.
    ApiKey,
    /// Each address; of IPv6 each /64, because its owner has all of it.
    Ip,
    /// Each tenant.
    Tenant,
    /// Everyone together.
    Global,
}

/// Whether a rule refuses, or only says what it would have refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// It refuses.
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
    /// Refuses.
    Closed,
}

/// A rule as it is kept and applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its name: 1 to 64 of `a-z`, `0-9`, `-`. Policies in headers and counters in rows carry it.
    pub id: String,
    /// Paths it is for, in the template's notation (`/api/v1/jobs/{id}`, `/api/{*rest}`). Empty: it is
    /// a default, which holds wherever no other rule of its dimension does.
    pub resources: Vec<String>,
    /// Methods it is for; empty: all.
    pub methods: Vec<String>,
    /// Whom it counts.
    pub dimension: Dimension,
    /// Whether it passes over callers who said who they are.
    pub anonymous_only: bool,
    /// How much.
    pub quota: Quota,
    /// Whether it refuses.
    pub mode: Mode,
    /// What it does without the store.
    pub on_failure: OnFailure,
    /// A sentence for people.
    pub description: String,
    /// Grows with every change.
    pub version: u64,
}

/// Another limit for one entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// What the entity is.
    pub dimension: Dimension,
    /// Which one, as [`Subject::entity`] writes it.
    pub entity: String,
    /// The rule whose limit it replaces.
    pub rule: String,
    /// Units in the rule's window.
    pub limit: i64,
    /// The burst, where the rule has a bucket.
    pub burst: Option<i64>,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// Why, for people.
    pub reason: String,
    /// Grows with every change.
    pub version: u64,
}
