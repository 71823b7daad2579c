//! Templates: texts with gaps, in versions that never change, of which one is active.

use serde::{Deserialize, Serialize};

use super::id::{NAME_RULE, is_name};
use super::{Locale, Rejected};

/// Names a template.
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

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a text was made from: what a caller is told about it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rendering {
    /// Which template.
    pub template: TemplateId,
    /// Which version.
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
