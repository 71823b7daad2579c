//! What a person switched off and on again, and where.

use serde::{Deserialize, Serialize};

use super::Preferences;
use crate::Timestamp;
use crate::notifications::{Channel, OptOut};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeSource {
    Preferences,
    /// By the link or the header in a mail.
    Unsubscribe,
    Complaint,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PreferenceChange {
    pub at: Timestamp,
    #[serde(flatten)]
    pub switch: OptOut,
    /// Whether it was switched on again.
    pub on: bool,
    pub by: ChangeSource,
}

impl Preferences {
    /// Switches touched that are kept; older ones are forgotten.
    pub const MAX_HISTORY_LENGTH: usize = 100;

    /// What `wanted` makes of these: the history goes on, and the version grows. Nothing that
    /// `wanted` says about either counts.
    #[must_use]
    pub fn updated(&self, wanted: Self, by: ChangeSource, at: Timestamp) -> Self {
        let mut history = self.history.clone();
        for switch in switches_of(self, &wanted) {
            let (was, is) = (self.is_on(&switch), wanted.is_on(&switch));
            if was != is {
                history.push(PreferenceChange { at, switch, on: is, by });
            }
        }
        history.drain(..history.len().saturating_sub(Self::MAX_HISTORY_LENGTH));
        Self { history, version: self.version + 1, ..wanted }
    }

    /// Whether anything that was wanted is not wanted any more, so that what waits has to be looked at.
    pub fn narrows(&self, before: &Self) -> bool {
        switches_of(before, self).iter().any(|switch| before.is_on(switch) && !self.is_on(switch))
    }

    fn is_on(&self, switch: &OptOut) -> bool {
        match switch {
            OptOut::Everything => self.enabled,
            OptOut::Channel { channel } => self.channels.get(channel) != Some(&false),
            OptOut::Category { category, channel } => {
                self.categories.get(category).and_then(|by| by.get(channel)) != Some(&false)
            }
        }
    }
}

fn switches_of(before: &Preferences, after: &Preferences) -> Vec<OptOut> {
    let mut switches = vec![OptOut::Everything];
    switches.extend(Channel::ALL.map(|channel| OptOut::Channel { channel }));
    let mut categories: Vec<_> = before.categories.keys().chain(after.categories.keys()).collect();
    categories.sort();
    categories.dedup();
    for category in categories {
        switches.extend(
            Channel::ALL.map(|channel| OptOut::Category { category: category.clone(), channel }),
        );
    }
    switches
}
