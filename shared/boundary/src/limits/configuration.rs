//! The rules and the firewall as documents in the store say them.
//!
//! The rules that every deployment starts with are part of the program: a document with the same id
//! takes their place, and an empty one removes them. So there is nothing to seed and nothing to race
//! for, and what an admin decided stays decided.

use domain::limits::firewall::{AutoBlock, Firewall, FirewallRule};
use domain::limits::rule::{Dimension, Override, Rule};
use domain::limits::rules::{Exempt, RuleSet};
use domain::{Failure, Timestamp};
use serde::{Deserialize, Serialize};
use store::Limits;
use store::limits::{Document, Part, Versions};

/// Everything that decides, compiled.
#[derive(Debug)]
pub struct Configuration {
    /// The rules and overrides.
    pub rules: RuleSet,
    pub firewall: Firewall,
    /// What else can be set.
    pub settings: Settings,
    versions: Versions,
}

impl Default for Configuration {
    /// What holds before anyone decided anything.
    fn default() -> Self {
        Self {
            rules: RuleSet::new(RuleSet::defaults(), Vec::new(), Exempt::default()),
            firewall: Firewall::compile(Vec::new()),
            settings: Settings::default(),
            versions: Versions::default(),
        }
    }
}

/// What can be set besides rules.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Settings {
    /// Callers that no rule applies to.
    pub exempt: Vec<ExemptCaller>,
    /// When an address is blocked by itself.
    pub auto_block: AutoBlock,
}

/// A caller that no rule applies to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExemptCaller {
    /// What it is.
    pub dimension: Dimension,
    pub entity: String,
}

/// A decision, and who made it when; nobody for the ones that come with the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided<T> {
    /// What was decided.
    pub what: T,
    /// Who and when.
    pub by: Option<(String, Timestamp)>,
}

/// What the documents of [`Part::Rules`] say.
#[derive(Debug, Default)]
pub struct Rules {
    /// Every rule that holds, by id.
    pub rules: Vec<Decided<Rule>>,
    /// Every override, expired ones included.
    pub overrides: Vec<Decided<Override>>,
    pub settings: Settings,
    /// The settings' version; 0 if nobody set any.
    pub settings_version: u64,
}

/// The document of the settings.
pub const SETTINGS: &str = "settings";

/// The id of a rule's document.
pub fn rule_document(id: &str) -> String {
    format!("rule/{id}")
}

/// The id of an override's document.
pub fn override_document(dimension: Dimension, entity: &str, rule: &str) -> String {
    format!("override/{}/{rule}/{entity}", dimension.name())
}

impl Rules {
    /// Reads the documents over the rules that come with the program. One that can't be read is left
    /// out: it was checked when it was written, so it is from another version of the program.
    pub fn of(documents: &[Document]) -> Self {
        let mut read = Self::default();
        let from_start = RuleSet::defaults().into_iter();
        let mut rules: Vec<Decided<Rule>> =
            from_start.map(|what| Decided { what, by: None }).collect();
        for document in documents {
            if let Some(id) = document.id.strip_prefix("rule/") {
                rules.retain(|rule| rule.what.id != id);
                rules.extend(decided(document));
            } else if document.id.starts_with("override/") {
                read.overrides.extend(decided(document));
            } else if document.id == SETTINGS {
                read.settings = serde_json::from_str(&document.body).unwrap_or_default();
                read.settings_version = document.version;
            }
        }
        rules.sort_by(|one, other| one.what.id.cmp(&other.what.id));
        read.rules = rules;
        read
    }

    /// The rules, ready to be asked.
    pub fn compile(self) -> RuleSet {
        let exempt = self.settings.exempt.iter().map(|it| (it.dimension, it.entity.clone()));
        RuleSet::new(
            self.rules.into_iter().map(|rule| rule.what).collect(),
            self.overrides.into_iter().map(|special| special.what).collect(),
            exempt.collect(),
        )
    }
}

/// The documents of the firewall: what admins decided, and then what nodes did.
pub async fn firewall(rows: &Limits) -> Result<Vec<(FirewallRule, Document)>, Failure> {
    let mut documents = rows.documents(Part::Firewall).await?;
    documents.extend(rows.documents(Part::Blocks).await?);
    let rules = documents.into_iter().filter_map(|document| {
        let rule = FirewallRule::from_document(&document.body)?;
        Some((rule, document))
    });
    Ok(rules.collect())
}

/// The configuration as it is now, if that is another than `have`. Only the part that changed is read.
pub(super) async fn read(
    rows: &Limits,
    have: &Configuration,
) -> Result<Option<Configuration>, Failure> {
    let versions = rows.versions().await?;
    if versions == have.versions {
        return Ok(None);
    }
    let (rules, settings) = if versions.rules == have.versions.rules {
        (have.rules.clone(), have.settings.clone())
    } else {
        let rules = Rules::of(&rows.documents(Part::Rules).await?);
        let settings = rules.settings.clone();
        (rules.compile(), settings)
    };
    let firewall = if versions.firewall == have.versions.firewall {
        have.firewall.clone()
    } else {
        Firewall::compile(firewall(rows).await?.into_iter().map(|(rule, _)| rule).collect())
    };
    Ok(Some(Configuration { rules, firewall, settings, versions }))
}

fn decided<T: for<'de> Deserialize<'de>>(document: &Document) -> Option<Decided<T>> {
    let what = serde_json::from_str(&document.body).ok()?;
    Some(Decided { what, by: Some((document.changed_by.clone(), document.changed_at)) })
}
