//! What a provider says later about what it had accepted.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// A provider's word about a parcel, whatever format it came in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Callback {
    /// Their name for the parcel, or our key if they carry that.
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
    /// Whether nothing more may go to that address.
    pub const fn suppression_reason(self) -> Option<super::SuppressionReason> {
        match self {
            Self::Bounced { hard: true } => Some(super::SuppressionReason::Bounced),
            Self::Complained => Some(super::SuppressionReason::Complained),
            Self::Delivered | Self::Bounced { hard: false } => None,
        }
    }
}
