//! Why a delivery waits or has ended: the rule, and the sentence that people read.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Category, Channel, Class, ProviderName};
use crate::Timestamp;

/// What a person has switched off.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum OptOut {
    Everything,
    Channel {
        channel: Channel,
    },
    /// What a category says on a channel.
    Category {
        category: Category,
        channel: Channel,
    },
}

/// A limit on what one person, or one person on one channel, gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UserLimit {
    Hourly,
    /// Those of a day on this channel.
    Daily,
}

/// Why an address gets nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SuppressionReason {
    /// A provider said that the address does not exist.
    Refused,
    /// What was sent there came back.
    Bounced,
    Complained,
}

/// The rule that holds a delivery, or that ended it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Reason {
    Scheduled,
    /// The person is not to be disturbed.
    #[serde(rename = "quiet")]
    DoNotDisturb,
    /// The person has had enough for now.
    Limited {
        limit: UserLimit,
    },
    /// The provider is broken, and is left alone.
    ProviderDown {
        provider: ProviderName,
    },
    /// The provider takes no more at the moment.
    ProviderBusy {
        provider: ProviderName,
    },
    /// An attempt was refused, and another follows.
    Backoff {
        attempt: u32,
        /// What kind of no it was.
        class: Class,
    },
    /// An attempt may have succeeded; it is repeated, because that does no harm on this channel.
    Repeated {
        attempt: u32,
    },
    /// An operator replayed the dead letter.
    Replayed,
    /// The person does not want it.
    OptedOut {
        switch: OptOut,
    },
    /// It was of no use any more.
    Expired {
        at: Timestamp,
    },
    /// The person has no such address any more.
    AddressGone,
    /// Nothing goes to this address any more.
    AddressSuppressed {
        #[serde(rename = "because")]
        reason: SuppressionReason,
    },
    Cancelled,
    /// Every attempt was used up, or the kind of no allowed no other.
    GivenUp {
        attempt: u32,
        /// What kind of no it was.
        class: Class,
    },
    /// Whether it arrived is not known, and repeating it might do harm.
    Uncertain {
        attempt: u32,
    },
    /// It was accepted, and came back.
    Bounced {
        hard: bool,
    },
    NoProvider,
    /// Its text could not be made.
    Unrenderable {
        /// What was wrong, without the content.
        reason: String,
    },
}

impl fmt::Display for OptOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everything => f.write_str("all notifications"),
            Self::Channel { channel } => write!(f, "everything by {}", channel.name()),
            Self::Category { category, channel } => {
                write!(f, "`{}` by {}", category.as_str(), channel.name())
            }
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheduled => f.write_str("it was asked for at a later time"),
            Self::DoNotDisturb => f.write_str("the person is not to be disturbed"),
            Self::Limited { limit: UserLimit::Hourly } => {
                f.write_str("the person has had as many notifications as an hour may bring")
            }
            Self::Limited { limit: UserLimit::Daily } => {
                f.write_str("the person has had as many on this channel as a day may bring")
            }
            Self::ProviderDown { provider } => {
                write!(f, "{} is failing and is left alone for a while", provider.as_str())
            }
            Self::ProviderBusy { provider } => {
                write!(f, "{} takes no more at the moment", provider.as_str())
            }
            Self::Backoff { attempt, class } => {
                write!(f, "attempt {attempt} was refused ({}); another follows", class.name())
            }
            Self::Repeated { attempt } => {
                write!(f, "attempt {attempt} may have succeeded; it is repeated without harm")
            }
            Self::Replayed => f.write_str("it was a dead letter and is sent again"),
            Self::OptedOut { switch } => write!(f, "the person has switched off {switch}"),
            Self::Expired { at } => write!(f, "it was of no use after {at}"),
            Self::AddressGone => f.write_str("the person has no such address any more"),
            Self::AddressSuppressed { reason } => f.write_str(match reason {
                SuppressionReason::Refused => "a provider reported that the address does not exist",
                SuppressionReason::Bounced => "what was sent to the address came back",
                SuppressionReason::Complained => {
                    "the person complained about what was sent to the address"
                }
            }),
            Self::Cancelled => f.write_str("it was cancelled"),
            Self::GivenUp { attempt, class } => {
                write!(f, "attempt {attempt} was refused ({}), and was the last", class.name())
            }
            Self::Uncertain { attempt } => {
                write!(f, "whether attempt {attempt} succeeded is not known")
            }
            Self::Bounced { hard: true } => f.write_str("it came back: the address is dead"),
            Self::Bounced { hard: false } => f.write_str("it was accepted, and came back"),
            Self::NoProvider => f.write_str("no provider is configured for this channel"),
            Self::Unrenderable { reason } => write!(f, "its text could not be made: {reason}"),
        }
    }
}
