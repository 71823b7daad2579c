//! What the handlers share: the table, and the one way to change a document in it.

use boundary::http::{Call, IfMatch, Problem, Result};
use boundary::limits::configuration::{Configured, ConfiguredRules};
use boundary::{Entropy, Host, Misconfigured, Switches};
use domain::Timestamp;
use domain::limits::{Rejected, Rule, RuleSet};
use store::Limits;
use store::limits::{DocumentPart, LimitsDocument, SaveOutcome};

/// What the handlers share.
#[derive(Debug)]
pub struct App {
    pub(crate) limits: Limits,
    entropy: Entropy,
    switches: Switches,
}

impl App {
    pub(crate) fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        let switches = Switches::from_vars(&host.vars);
        Ok(Self { limits: host.limits()?, entropy: host.entropy.clone(), switches })
    }

    /// The rules that there are: those that the program brings for a system that is switched off
    /// are none, unless an admin has saved them.
    pub(crate) fn rules(&self, documents: &[LimitsDocument]) -> Vec<Configured<Rule>> {
        let mut rules = ConfiguredRules::from_documents(documents).rules;
        let is_off = |id: &str| RuleSet::system_of(id).is_some_and(|it| self.switches.is_off(it));
        rules.retain(|rule| rule.changed.is_some() || !is_off(&rule.value.id));
        rules
    }

    /// Saves a document over the version before its own.
    pub(crate) async fn save(&self, part: DocumentPart, document: &LimitsDocument) -> Result {
        ensure_saved(self.limits.save(part, document, &self.entropy.token()).await?)
    }

    /// Removes a document that is at that version.
    pub(crate) async fn remove(&self, part: DocumentPart, id: &str, version: u64) -> Result {
        ensure_saved(self.limits.remove(part, id, version, &self.entropy.token()).await?)
    }
}

fn ensure_saved(saved: SaveOutcome) -> Result {
    match saved {
        SaveOutcome::Saved => Ok(()),
        SaveOutcome::VersionConflict => Err(Rejected::Moved.into()),
    }
}

/// A document that the caller decides on now.
pub(crate) fn new_document(
    call: &Call,
    id: String,
    version: u64,
    body: String,
    expires_at: Option<Timestamp>,
) -> Result<LimitsDocument> {
    let changed_by = call.caller()?.user_id.as_str().to_owned();
    Ok(LimitsDocument { id, version, body, changed_by, changed_at: call.now, expires_at })
}

/// The version that the caller expects, if they say one. It counts once it is known what is there:
/// what is wrong with the rest, and that there is nothing, is said before.
pub(crate) type Expected = Result<Option<IfMatch>>;

/// Holds the caller to the version they expect. `current` is the one that is there, if any is.
pub(crate) fn check_version(expected: Expected, current: Option<u64>) -> Result {
    match expected? {
        Some(IfMatch(version)) if current != Some(version) => Err(Problem::version_mismatch()),
        Some(_) | None => Ok(()),
    }
}
