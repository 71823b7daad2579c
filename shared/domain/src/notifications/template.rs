//! Templates: texts with gaps, in versions that never change, of which one is active.
//!
//! A version has words for some channels in some locales, maybe in several variants that are compared
//! with each other. Where there are none in the locale that a person reads, wider ones stand in
//! (`es_MX`, `es`, the default), and the delivery says which.
//!
//! The language is a small part of Jinja: gaps, conditions, loops and a handful of filters. Absent:
//! everything that could read something, make something large out of something small, or switch the
//! escaping of HTML off; see [`language`].

mod language;
mod publish;
mod render;

pub use publish::{AbTest, TemplateDraft, TemplateVariant, TemplateVersion};
pub use render::{RenderError, Rendered};

use serde::{Deserialize, Serialize};

use super::id::{NAME_RULE, is_name};
use super::{Locale, Rejected};

/// What every template may use without declaring it: where one click ends mails of its kind.
pub const SYSTEM_VARIABLES: [&str; 1] = ["unsubscribe_url"];

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TemplateId(String);

impl TemplateId {
    /// Accepts 1 to 64 of `a-z 0-9 . _ -`, starting with a letter or digit.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        if !is_name(text) {
            return Err(Rejected::field("template.id", NAME_RULE));
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A template: which of its versions is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    pub id: TemplateId,
    /// The version that a notification without one gets; the first is active at once.
    pub active: u32,
    /// The latest version; versions are numbered from 1, without gaps.
    pub latest: u32,
    #[serde(rename = "v")]
    pub version: u64,
}

impl Template {
    /// The template after its first version, or after one more.
    pub fn published(before: Option<&Self>, id: &TemplateId) -> Self {
        match before {
            None => Self { id: id.clone(), active: 1, latest: 1, version: 1 },
            Some(before) => {
                Self { latest: before.latest + 1, version: before.version + 1, ..before.clone() }
            }
        }
    }

    /// The template with another version active, if there is such a version.
    pub fn activated(&self, number: u32) -> Result<Self, Rejected> {
        if !(1..=self.latest).contains(&number) {
            return Err(Rejected::UnknownTemplate(format!("{} v{number}", self.id.as_str())));
        }
        Ok(Self { active: number, version: self.version + 1, ..self.clone() })
    }
}

/// What a text was made from: what a caller is told about it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rendering {
    pub template: TemplateId,
    pub version: u32,
    /// Which variant, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The locale it was wanted in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<Locale>,
    /// The locale it was made in: another, if there is none in the one that was wanted.
    pub locale: Locale,
}

#[cfg(test)]
mod tests;
