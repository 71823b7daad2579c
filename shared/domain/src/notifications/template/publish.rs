//! Publishing: what a version must be before it becomes one.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{SYSTEM_VARIABLES, TemplateId, language};
use crate::Timestamp;
use crate::accounts::UserId;
use crate::notifications::contents::{TextKind, try_map_texts};
use crate::notifications::id::{NAME_RULE, is_name, stable_hash};
use crate::notifications::{Channel, ChannelContents, Locale, Rejected};

/// A version as its author writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TemplateDraft {
    /// What stands in for every other locale.
    pub default_locale: Locale,
    /// What has to be passed in.
    #[serde(default)]
    pub required: BTreeSet<String>,
    #[serde(default)]
    pub optional: BTreeSet<String>,
    /// What is said, by locale; unless there is a test.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: BTreeMap<Locale, ChannelContents>,
    /// Several ways to say it, to be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<AbTest>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbTest {
    /// What the comparison is called: with the same name, a person gets the same variant.
    pub name: String,
    pub variants: Vec<TemplateVariant>,
}

/// One of several ways to say it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateVariant {
    /// What its results are counted under.
    pub name: String,
    /// How many people get it, in proportion to the other variants' weights.
    pub weight: u32,
    pub texts: BTreeMap<Locale, ChannelContents>,
}

/// A version of a template. It never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateVersion {
    pub template: TemplateId,
    pub number: u32,
    pub draft: TemplateDraft,
    pub created_by: UserId,
    pub created_at: Timestamp,
}

/// All texts of a version together: a row has its limits.
const LARGEST: usize = 300_000;
const MAX_VARIANTS: usize = 10;
const HEAVIEST: u32 = 10_000;

impl TemplateDraft {
    /// Checks that it can become a version: its texts are of the language, they use what it declares
    /// and nothing else, and wherever there are words for a channel, the default locale has some too.
    pub fn validated(self) -> Result<Self, Rejected> {
        let size = serde_json::to_string(&self).map_or(usize::MAX, |json| json.len());
        if size > LARGEST {
            return Err(Rejected::field("texts", format!("at most {LARGEST} bytes in all")));
        }
        if let Some(test) = &self.test {
            check_test(test, self.texts.is_empty())?;
        }
        let mut used = BTreeSet::new();
        for (_, texts) in self.variants() {
            self.check_channels(texts)?;
            for (locale, contents) in texts {
                used.extend(used_by(locale, contents)?);
            }
        }
        for name in SYSTEM_VARIABLES {
            used.remove(name);
        }
        self.check_variables(&used)?;
        Ok(self)
    }

    /// Each variant's name, if it has one, and what it says.
    fn variants(&self) -> Vec<(Option<&str>, &BTreeMap<Locale, ChannelContents>)> {
        match &self.test {
            Some(test) => test
                .variants
                .iter()
                .map(|variant| (Some(variant.name.as_str()), &variant.texts))
                .collect(),
            None => vec![(None, &self.texts)],
        }
    }

    /// The variant that a person gets, always the same one.
    pub(super) fn variant_for(
        &self,
        user: &UserId,
    ) -> (Option<&str>, &BTreeMap<Locale, ChannelContents>) {
        let Some(test) = &self.test else { return (None, &self.texts) };
        let total: u64 = test.variants.iter().map(|variant| u64::from(variant.weight)).sum();
        let mut drawn = stable_hash(&[&test.name, user.as_str()]) % total.max(1);
        for variant in &test.variants {
            match drawn.checked_sub(variant.weight.into()) {
                Some(rest) => drawn = rest,
                None => return (Some(&variant.name), &variant.texts),
            }
        }
        (None, &self.texts)
    }

    /// The channels that there are words for.
    pub fn channels(&self) -> Vec<Channel> {
        let all = self.variants();
        let first = all.first().and_then(|(_, texts)| texts.get(&self.default_locale));
        first.map(|contents| contents.channels().collect()).unwrap_or_default()
    }

    fn check_channels(&self, texts: &BTreeMap<Locale, ChannelContents>) -> Result<(), Rejected> {
        let default =
            texts.get(&self.default_locale).filter(|contents| contents.channels().count() > 0);
        let Some(default) = default else {
            return Err(Rejected::field("texts", "words in the default locale"));
        };
        let has: Vec<Channel> = default.channels().collect();
        for (locale, contents) in texts {
            if let Some(channel) = contents.channels().find(|channel| !has.contains(channel)) {
                let rule = format!("`{}` also in the default locale", channel.name());
                return Err(Rejected::field(format!("texts.{}", locale.as_str()), rule));
            }
        }
        if has != self.channels() {
            return Err(Rejected::field("test.variants", "words for the same channels in each"));
        }
        Ok(())
    }

    fn check_variables(&self, used: &BTreeSet<String>) -> Result<(), Rejected> {
        let declared: BTreeSet<String> = self.required.union(&self.optional).cloned().collect();
        let listed = |names: Vec<&String>| {
            names.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ")
        };
        let undeclared: Vec<&String> = used.difference(&declared).collect();
        if !undeclared.is_empty() {
            let rule = format!("must name what the texts use: {}", listed(undeclared));
            return Err(Rejected::field("required", rule));
        }
        let unused: Vec<&String> = declared.difference(used).collect();
        if !unused.is_empty() {
            let rule = format!("must name nothing that no text uses: {}", listed(unused));
            return Err(Rejected::field("required", rule));
        }
        if self.required.intersection(&self.optional).next().is_some() {
            return Err(Rejected::field("optional", "nothing that is required"));
        }
        Ok(())
    }
}

fn check_test(test: &AbTest, alone: bool) -> Result<(), Rejected> {
    if !alone {
        return Err(Rejected::field("texts", "nothing where there is a test"));
    }
    if !is_name(&test.name) {
        return Err(Rejected::field("test.name", NAME_RULE));
    }
    let names: BTreeSet<&str> = test.variants.iter().map(|variant| variant.name.as_str()).collect();
    let fits = (2..=MAX_VARIANTS).contains(&test.variants.len())
        && names.len() == test.variants.len()
        && names.iter().all(|name| is_name(name))
        && test.variants.iter().all(|variant| (1..=HEAVIEST).contains(&variant.weight));
    if !fits {
        let rule = "2 to 10, each with a name of its own and a weight of 1 to 10000";
        return Err(Rejected::field("test.variants", rule));
    }
    Ok(())
}

/// What some words use, or which of them is not of the language.
fn used_by(locale: &Locale, contents: &ChannelContents) -> Result<BTreeSet<String>, Rejected> {
    let mut used = BTreeSet::new();
    for content in contents.channels().filter_map(|channel| contents.for_channel(channel)) {
        try_map_texts(&content, |field, form, source| {
            let at = || format!("texts.{}.{field}", locale.as_str());
            if form == TextKind::Line && source.contains(['\r', '\n']) {
                return Err(Rejected::field(at(), "one line"));
            }
            let variables = language::variables(form, source)
                .map_err(|problem| Rejected::Template { field: at(), problem })?;
            used.extend(variables);
            Ok(String::new())
        })?;
    }
    Ok(used)
}
