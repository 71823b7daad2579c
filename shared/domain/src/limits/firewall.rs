//! The firewall: which requests are refused before anything else is asked.
//!
//! A [`FirewallRule`] allows or denies by network, path, method, header and user agent. All rules
//! together are compiled into a [`Firewall`], which is asked on every request. [`DenialTracker`] says
//! which address has been refused so often that it earns a rule of its own.
//!
//! Guarantee: an allow rule that matches wins over every deny rule, and no rule matches after its
//! end. Absent: a rule without conditions (it would hold for everyone), and a request's body.

mod auto_block;
mod compiled;
mod draft;
mod network;
mod network_index;
mod pattern;

pub use auto_block::{AutoBlock, DenialTracker, Offender, auto_block_rule};
pub use compiled::{Firewall, FirewallDecision, FirewallRequest};
pub use draft::FirewallDraft;
pub use network::IpNetwork;

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// What a rule does with the requests it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FirewallAction {
    /// Lets them pass, no matter what other rules say.
    Allow,
    Deny,
}

/// What a header must be like: exactly one of the three is set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HeaderTest {
    /// The header's name in lower case.
    pub name: String,
    /// It is there and has this in it, letter for letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// It is there and is this, letter for letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equals: Option<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub absent: bool,
}

/// A rule as it is kept and applied. Every list that isn't empty must match; any entry will do.
///
/// Its document refuses fields it doesn't know: a condition that was passed over would make the rule
/// match what it was never meant for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FirewallRule {
    /// Its name: 1 to 64 of `a-z`, `0-9`, `-`, a letter first.
    pub id: String,
    /// What happens to a request that it matches.
    pub action: FirewallAction,
    /// Networks that the caller's address is in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cidrs: Vec<IpNetwork>,
    /// Paths in the template's notation (`/api/v1/jobs/{id}`, `/admin/{*rest}`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<HeaderTest>,
    /// What the `user-agent` header has in it, in upper or lower case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub user_agents: Vec<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// When it ends by itself: from then on it matches nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    pub version: u64,
    /// Whether it was made because of an [`Offender`] and not by a person.
    #[serde(default, skip_serializing_if = "is_false")]
    pub automatic: bool,
}

impl FirewallRule {
    /// A rule without conditions yet, at its first version.
    pub fn new(id: impl Into<String>, action: FirewallAction) -> Self {
        Self {
            id: id.into(),
            action,
            cidrs: Vec::new(),
            paths: Vec::new(),
            methods: Vec::new(),
            headers: Vec::new(),
            user_agents: Vec::new(),
            reason: String::new(),
            expires_at: None,
            version: 1,
            automatic: false,
        }
    }

    /// The rule as one compact JSON document.
    pub fn to_document(&self) -> String {
        // Strings, numbers and lists of them: there is nothing in a rule that JSON can't hold.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The rule in a document; none if it isn't one that [`FirewallRule::to_document`] writes.
    pub fn from_document(document: &str) -> Option<Self> {
        serde_json::from_str(document).ok()
    }

    /// Whether it has at least one condition.
    pub fn has_conditions(&self) -> bool {
        !(self.cidrs.is_empty()
            && self.paths.is_empty()
            && self.methods.is_empty()
            && self.headers.is_empty()
            && self.user_agents.is_empty())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests;
