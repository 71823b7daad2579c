//! Delivery callbacks: what a provider reports about a message that it had accepted.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// An event of a provider about a message, independent of its format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Callback {
    /// The provider's id of the message, or our key.
    pub reference: String,
    #[serde(flatten)]
    pub kind: CallbackKind,
    pub at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum CallbackKind {
    Delivered,
    Bounced {
        hard: bool,
    },
    /// It arrived, and the person called it spam.
    Complained,
}

impl CallbackKind {
    /// Why nothing more may go to that address, if so.
    pub const fn suppression_reason(self) -> Option<super::SuppressionReason> {
        match self {
            Self::Bounced { hard: true } => Some(super::SuppressionReason::Bounced),
            Self::Complained => Some(super::SuppressionReason::Complained),
            Self::Delivered | Self::Bounced { hard: false } => None,
        }
    }
}
