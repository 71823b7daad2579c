//! A notification: what one person is to be told, as it was asked for.

use serde::{Deserialize, Serialize};

use super::id::{NAME_RULE, is_name};
use super::{ChannelContents, NotificationId, Rejected, TemplateId};
use crate::Timestamp;
use crate::accounts::UserId;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// Now, also at night and beyond what a person usually gets. Never against their will.
    Critical,
    Normal,
    Low,
}

impl Priority {
    /// Each of them, the most urgent first.
    pub const ALL: [Self; 3] = [Self::Critical, Self::Normal, Self::Low];

    /// Its name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Normal => "normal",
            Self::Low => "low",
        }
    }

    /// The priority of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|priority| priority.name() == name)
    }

    /// 0 is the most urgent.
    pub const fn level(self) -> usize {
        match self {
            Self::Critical => 0,
            Self::Normal => 1,
            Self::Low => 2,
        }
    }
}

/// What it is about: what a person switches off.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Category(String);

impl Category {
    /// Accepts 1 to 64 of `a-z 0-9 . _ -`, starting with a letter or digit.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        if !is_name(text) {
            return Err(Rejected::field("category", NAME_RULE));
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "lowercase")]
pub enum Body {
    /// A template, filled in for each channel right before sending.
    Template {
        id: TemplateId,
        /// The version: the active one at the time it was accepted, unless the caller named one.
        version: u32,
        /// What it is filled in with: a JSON object, as text.
        data: String,
    },
    /// The caller's own words, ready to send.
    Inline {
        #[serde(rename = "words")]
        contents: ChannelContents,
    },
}

/// Says where it comes from: what a person reads is in no log.
impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Template { id, version, .. } => write!(f, "Template({} v{version})", id.as_str()),
            Self::Inline { .. } => f.write_str("Inline(..)"),
        }
    }
}

/// A notification. It never changes: what becomes of it is in its deliveries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notification {
    pub id: NotificationId,
    pub user: UserId,
    pub category: Category,
    pub priority: Priority,
    pub body: Body,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// A later one with the same key takes its place on a device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collapse_key: Option<String>,
    /// Whether it is noted when a mail is opened, and which links in it are followed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tracked: bool,
    pub created_by: UserId,
    pub created_at: Timestamp,
}

impl Notification {
    /// Whether it is of use no more.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}
