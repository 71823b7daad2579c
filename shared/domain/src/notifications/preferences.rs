//! What a person wants to be told, how and when. Opt-outs win over everything, urgency included.

mod do_not_disturb;
mod history;
mod time_zone;

pub use do_not_disturb::{Day, DoNotDisturb, TimeOfDay, do_not_disturb_until};
pub use history::{ChangeSource, PreferenceChange};
pub use time_zone::TimeZoneName;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Category, Channel, Locale, OptOut, Rejected};

/// A user's preferences. The default is everything, at any hour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Preferences {
    /// Off: nothing at all.
    pub enabled: bool,
    pub time_zone: TimeZoneName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<Locale>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub do_not_disturb: Option<DoNotDisturb>,
    /// Switched by channel; what is not here is on.
    pub channels: BTreeMap<Channel, bool>,
    /// Switched by category and channel; what is not here is on.
    pub categories: BTreeMap<Category, BTreeMap<Channel, bool>>,
    /// At most so many a day on a channel, if fewer than the default.
    pub daily_caps: BTreeMap<Channel, u32>,
    /// What was switched, oldest first.
    pub history: Vec<PreferenceChange>,
    /// Grows with every change; 0 if none was ever saved.
    #[serde(rename = "v")]
    pub version: u64,
}

impl Default for Preferences {
    fn default() -> Self {
        Self {
            enabled: true,
            time_zone: TimeZoneName::default(),
            language: None,
            do_not_disturb: None,
            channels: BTreeMap::new(),
            categories: BTreeMap::new(),
            daily_caps: BTreeMap::new(),
            history: Vec::new(),
            version: 0,
        }
    }
}

impl Preferences {
    /// Categories that a person can switch, at most: a row has its limits.
    pub const MAX_CATEGORIES: usize = 200;

    /// The opt-out that `category` on `channel` falls under, if one does.
    pub fn opt_out_for(&self, category: &Category, channel: Channel) -> Option<OptOut> {
        if !self.enabled {
            return Some(OptOut::Everything);
        }
        if self.channels.get(&channel) == Some(&false) {
            return Some(OptOut::Channel { channel });
        }
        let switch = self.categories.get(category).and_then(|switches| switches.get(&channel));
        (switch == Some(&false)).then(|| OptOut::Category { category: category.clone(), channel })
    }

    /// How many a day they get on `channel`: the default, or fewer.
    pub fn daily_cap(&self, channel: Channel) -> u32 {
        let most = match channel {
            Channel::Email => 20,
            Channel::Sms => 10,
            Channel::Push => 100,
        };
        self.daily_caps.get(&channel).map_or(most, |cap| most.min(*cap))
    }

    pub fn switch_off(&mut self, switch: &OptOut) {
        match switch {
            OptOut::Everything => self.enabled = false,
            OptOut::Channel { channel } => {
                self.channels.insert(*channel, false);
            }
            OptOut::Category { category, channel } => {
                self.categories.entry(category.clone()).or_default().insert(*channel, false);
            }
        }
    }

    /// Checks what types alone do not.
    pub fn validated(self) -> Result<Self, Rejected> {
        if self.categories.len() > Self::MAX_CATEGORIES {
            return Err(Rejected::field("categories", "at most 200 categories"));
        }
        for category in self.categories.keys() {
            Category::parse(category.as_str())?;
        }
        if self.do_not_disturb.as_ref().is_some_and(|do_not_disturb| do_not_disturb.days.is_empty())
        {
            return Err(Rejected::field("doNotDisturb.days", "at least one day"));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests;
