//! The rules and the firewall as documents in the store say them.
//!
//! The rules that every deployment starts with are part of the program: a document with the same id
//! takes their place, and an empty one removes them. So there is nothing to seed and nothing to race
//! for, and what an admin decided stays decided.

use domain::limits::firewall::{AutoBlock, Firewall, FirewallRule};
use domain::limits::rule::{Dimension, Override, Rule};
use domain::limits::rules::{Exemptions, RuleSet};
use domain::{Result, Timestamp};
use serde::{Deserialize, Serialize};
use store::Limits;
use store::limits::{DocumentPart, DocumentVersions, LimitsDocument};

#[derive(Debug)]
pub struct Configuration {
    pub rules: RuleSet,
    pub firewall: Firewall,
    pub settings: LimitsSettings,
    versions: DocumentVersions,
}

impl Default for Configuration {
    /// What holds before anyone decided anything.
    fn default() -> Self {
        Self {
            rules: RuleSet::new(RuleSet::defaults(), Vec::new(), Exemptions::default()),
            firewall: Firewall::compile(Vec::new()),
            settings: LimitsSettings::default(),
            versions: DocumentVersions::default(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct LimitsSettings {
    pub exempt: Vec<ExemptCaller>,
    /// When an address is blocked by itself.
    pub auto_block: AutoBlock,
}

/// A caller that no rule applies to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExemptCaller {
    pub dimension: Dimension,
    pub entity: String,
}

/// A configured value, and who changed it when; `None` for those that come with the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configured<T> {
    pub value: T,
    pub changed: Option<(String, Timestamp)>,
}

/// What the documents of [`DocumentPart::Rules`] say.
#[derive(Debug, Default)]
pub struct ConfiguredRules {
    /// Every rule that holds, by id.
    pub rules: Vec<Configured<Rule>>,
    /// Every override, expired ones included.
    pub overrides: Vec<Configured<Override>>,
    pub settings: LimitsSettings,
    /// The settings' version; 0 if there are none.
    pub settings_version: u64,
}

pub const SETTINGS: &str = "settings";

pub fn rule_document(id: &str) -> String {
    format!("rule/{id}")
}

pub fn override_document(dimension: Dimension, entity: &str, rule: &str) -> String {
    format!("override/{}/{rule}/{entity}", dimension.name())
}

impl ConfiguredRules {
    /// Reads the documents over the rules that come with the program. One that can't be read is left
    /// out: it was checked when it was written, so it is from another version of the program.
    pub fn from_documents(documents: &[LimitsDocument]) -> Self {
        let mut read = Self::default();
        let defaults = RuleSet::defaults().into_iter();
        let mut rules: Vec<Configured<Rule>> =
            defaults.map(|value| Configured { value, changed: None }).collect();
        for document in documents {
            if let Some(id) = document.id.strip_prefix("rule/") {
                rules.retain(|rule| rule.value.id != id);
                rules.extend(decided(document));
            } else if document.id.starts_with("override/") {
                read.overrides.extend(decided(document));
            } else if document.id == SETTINGS {
                read.settings = serde_json::from_str(&document.body).unwrap_or_default();
                read.settings_version = document.version;
            }
        }
        rules.sort_by(|one, other| one.value.id.cmp(&other.value.id));
        read.rules = rules;
        read
    }

    pub fn compile(self) -> RuleSet {
        let exempt = self.settings.exempt.iter().map(|it| (it.dimension, it.entity.clone()));
        RuleSet::new(
            self.rules.into_iter().map(|rule| rule.value).collect(),
            self.overrides.into_iter().map(|limit_override| limit_override.value).collect(),
            exempt.collect(),
        )
    }
}

/// The documents of the firewall: what admins decided, and then what nodes did.
pub async fn firewall(rows: &Limits) -> Result<Vec<(FirewallRule, LimitsDocument)>> {
    let mut documents = rows.documents(DocumentPart::Firewall).await?;
    documents.extend(rows.documents(DocumentPart::Blocks).await?);
    let rules = documents.into_iter().filter_map(|document| {
        let rule = FirewallRule::from_document(&document.body)?;
        Some((rule, document))
    });
    Ok(rules.collect())
}

/// The configuration as it is now, if that is another than `have`. Only the part that changed is read.
pub(super) async fn read(rows: &Limits, have: &Configuration) -> Result<Option<Configuration>> {
    let versions = rows.versions().await?;
    if versions == have.versions {
        return Ok(None);
    }
    let (rules, settings) = if versions.rules == have.versions.rules {
        (have.rules.clone(), have.settings.clone())
    } else {
        let rules = ConfiguredRules::from_documents(&rows.documents(DocumentPart::Rules).await?);
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

fn decided<T: for<'de> Deserialize<'de>>(document: &LimitsDocument) -> Option<Configured<T>> {
    let value = serde_json::from_str(&document.body).ok()?;
    Some(Configured { value, changed: Some((document.changed_by.clone(), document.changed_at)) })
}
