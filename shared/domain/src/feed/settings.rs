//! The numbers that can be changed without changing a rule. Tests make them small.

use serde::Deserialize;

/// What a feed is run with. What is left out is as the documents say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct FeedSettings {
    /// From so many followers on an author's posts are pulled.
    pub pull_from: u64,
    /// Under so many followers they are pushed again.
    pub push_below: u64,
    /// Who was away for so long gets no writes.
    pub dormant_seconds: i64,
    #[serde(rename = "kept")]
    pub timeline_size: usize,
    /// References that an author's row of recent posts keeps.
    #[serde(rename = "recents")]
    pub recent_size: usize,
    /// Followers of one page of a fan-out.
    #[serde(rename = "page")]
    pub page_size: usize,
    /// Candidates that are looked at in one go. A batch read takes as many keys.
    #[serde(rename = "gathered")]
    pub candidate_batch: usize,
}

impl FeedSettings {
    pub const DEFAULT: Self = Self {
        pull_from: 10_000,
        push_below: 9_000,
        dormant_seconds: 7 * 86_400,
        timeline_size: 1_000,
        recent_size: 100,
        page_size: 200,
        candidate_batch: 100,
    };

    /// Reads settings from JSON; what makes no sense is refused.
    pub fn parse(json: &str) -> Result<Self, String> {
        // A list would be taken for settings without names.
        let named: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(json).map_err(|wrong| wrong.to_string())?;
        let settings: Self =
            serde_json::from_value(named.into()).map_err(|wrong| wrong.to_string())?;
        let Self {
            pull_from,
            push_below,
            dormant_seconds,
            timeline_size,
            recent_size,
            page_size,
            candidate_batch,
        } = settings;
        let sound = (1..=pull_from).contains(&push_below)
            && dormant_seconds > 3_600
            && (1..=5_000).contains(&timeline_size)
            && (1..=500).contains(&recent_size)
            && (1..=1_000).contains(&page_size)
            && (1..=100).contains(&candidate_batch);
        if sound { Ok(settings) } else { Err("a number is out of its range".to_owned()) }
    }
}

impl Default for FeedSettings {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_and_nonsense_is_refused() {
        assert_eq!(FeedSettings::parse("{}"), Ok(FeedSettings::DEFAULT));
        let few = FeedSettings::parse(r#"{"pullFrom":3,"pushBelow":2}"#).unwrap();
        assert_eq!((few.pull_from, few.push_below, few.timeline_size), (3, 2, 1_000));
        for wrong in ["", "[]", r#"{"pullfrom":3}"#, r#"{"pullFrom":3}"#, r#"{"gathered":101}"#] {
            assert!(FeedSettings::parse(wrong).is_err(), "{wrong}");
        }
    }
}
