//! Languages: what a text is written in, and what may stand in for it.

use serde::{Deserialize, Serialize};

use super::Rejected;

/// A language, maybe with a script and a region: `es`, `es_MX`, `zh_Hant_TW`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Locale(String);

impl Locale {
    /// Accepts `es`, `es_MX`, `es-mx` and the like, and writes them one way.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        Self::read(text).ok_or_else(|| {
            Rejected::field("locale", "a language like `es`, `es_MX` or `zh_Hant_TW`")
        })
    }

    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split(['_', '-']).peekable();
        let alphabetic = |part: &&str| part.bytes().all(|b| b.is_ascii_alphabetic());
        let language =
            parts.next().filter(|part| matches!(part.len(), 2 | 3)).filter(alphabetic)?;
        let mut locale = language.to_ascii_lowercase();
        if let Some(script) = parts.next_if(|part| part.len() == 4).filter(alphabetic) {
            locale.push('_');
            locale.push_str(&script[..1].to_ascii_uppercase());
            locale.push_str(&script[1..].to_ascii_lowercase());
        }
        if let Some(region) = parts.next() {
            let letters = region.len() == 2 && alphabetic(&region);
            let digits = region.len() == 3 && region.bytes().all(|b| b.is_ascii_digit());
            if !letters && !digits {
                return None;
            }
            locale.push('_');
            locale.push_str(&region.to_ascii_uppercase());
        }
        parts.next().is_none().then_some(Self(locale))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Itself, and what may stand in for it, the nearest first: `es_MX`, `es`.
    pub fn chain(&self) -> impl Iterator<Item = Self> {
        let mut rest = Some(self.0.clone());
        std::iter::from_fn(move || {
            let here = rest.take()?;
            rest = here.rsplit_once('_').map(|(wider, _)| wider.to_owned());
            Some(Self(here))
        })
    }
}

impl From<Locale> for String {
    fn from(locale: Locale) -> Self {
        locale.0
    }
}

impl TryFrom<String> for Locale {
    type Error = Rejected;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locales_are_written_one_way_and_grow_wider() {
        for (text, chain) in [
            ("es-mx", vec!["es_MX", "es"]),
            ("ES", vec!["es"]),
            ("zh-hant-tw", vec!["zh_Hant_TW", "zh_Hant", "zh"]),
            ("es_419", vec!["es_419", "es"]),
        ] {
            let locale = Locale::parse(text).unwrap();
            let found: Vec<String> = locale.chain().map(String::from).collect();
            assert_eq!(found, chain);
        }
        for text in ["", "e", "english", "es_", "es_M", "es__MX", "es_MX_x", "e1", "es\nMX", "é_MX"]
        {
            assert!(Locale::parse(text).is_err(), "{text}");
        }
    }
}
