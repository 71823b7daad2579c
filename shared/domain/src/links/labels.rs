//! Tags and campaign parameters: short texts with rules.

use std::collections::BTreeMap;

use crate::Rejected;

/// Tags of one link at most.
const MAX_TAGS: usize = 10;

/// Labels to find links by: lower case, sorted, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tags(Vec<String>);

impl Tags {
    /// Checks and tidies.
    pub fn new(given: &[String]) -> Result<Self, Rejected> {
        let mut tags = Vec::with_capacity(given.len());
        for tag in given {
            let tag = tag.trim().to_lowercase();
            if !(1..=40).contains(&tag.chars().count()) || tag.chars().any(char::is_control) {
                return Err(Rejected::invalid("tags", "labels of 1 to 40 characters"));
            }
            tags.push(tag);
        }
        tags.sort_unstable();
        tags.dedup();
        if tags.len() > MAX_TAGS {
            return Err(Rejected::invalid("tags", "at most 10 labels"));
        }
        Ok(Self(tags))
    }

    /// What a row holds, which was checked when it was written.
    pub fn stored(tags: Vec<String>) -> Self {
        let mut tags = tags;
        tags.sort_unstable();
        Self(tags)
    }

    /// The labels in order.
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }
}

/// Campaign parameters by their short names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Utm(BTreeMap<String, String>);

impl Utm {
    /// The parameters there are.
    pub const NAMES: [&str; 5] = ["source", "medium", "campaign", "term", "content"];

    /// Takes what is one of [`Self::NAMES`] and says something.
    pub fn new(given: impl IntoIterator<Item = (String, String)>) -> Result<Self, Rejected> {
        let mut utm = BTreeMap::new();
        for (name, value) in given {
            if !Self::NAMES.contains(&name.as_str()) {
                let rule = "an object of source, medium, campaign, term and content";
                return Err(Rejected::invalid("utm", rule));
            }
            let value = value.trim().to_owned();
            if !(1..=200).contains(&value.chars().count()) || value.chars().any(char::is_control) {
                return Err(Rejected::invalid(format!("utm.{name}"), "1 to 200 characters"));
            }
            utm.insert(name, value);
        }
        Ok(Self(utm))
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The same as query parameters, `utm_source` and so on.
    pub fn parameters(&self) -> Vec<(String, String)> {
        self.iter().map(|(name, value)| (format!("utm_{name}"), value.to_owned())).collect()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_tidied_and_bounded() {
        let given =
            |tags: &[&str]| Tags::new(&tags.iter().map(|&t| t.to_owned()).collect::<Vec<_>>());
        assert_eq!(given(&[" News ", "a", "news"]).unwrap().as_slice(), ["a", "news"]);
        for wrong in [&[""][..], &["a\nb"], &[&"x".repeat(41)]] {
            assert!(given(wrong).is_err(), "{wrong:?}");
        }
        let eleven: Vec<String> = (0..11).map(|n| n.to_string()).collect();
        assert!(Tags::new(&eleven).is_err());
    }

    #[test]
    fn campaign_parameters_have_their_names() {
        let one = |name: &str, value: &str| Utm::new([(name.to_owned(), value.to_owned())]);
        assert_eq!(
            one("source", "mail").unwrap().parameters(),
            [("utm_source".to_owned(), "mail".to_owned())]
        );
        assert!(one("sauce", "mail").is_err());
        assert!(one("source", "").is_err());
        assert!(one("source", "a\r\nb").is_err());
    }
}
