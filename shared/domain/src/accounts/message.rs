//! What accounts says to others. Messages say "look"; the rows are the truth.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{AuditEntry, KeyId};

/// Any message of this system, told apart by `type`. Fields that a reader does not know are passed
/// over, so that old and new functions can run side by side during a deployment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum AccountMessage {
    KeyUsed(KeyUsed),
    AccountChanged(AccountChanged),
}

/// A key was used during an hour. Receivers keep the latest; repeats and disorder change nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyUsed {
    /// Format version; 1.
    pub v: u8,
    pub key_id: String,
    pub hour: Timestamp,
}

impl KeyUsed {
    /// The message for a use of `key_id` at `at`.
    pub fn new(key_id: &KeyId, at: Timestamp) -> Self {
        Self { v: 1, key_id: key_id.as_str().to_owned(), hour: hour_of(at) }
    }
}

/// The start of the hour that `at` lies in: as precisely as anyone needs to know.
pub fn hour_of(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second().div_euclid(3600) * 3600).unwrap_or(at)
}

/// Something happened to an account; the audit row of that id says what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountChanged {
    /// Format version; 1.
    pub v: u8,
    /// What happened: also the message attribute that subscriptions filter by.
    pub event: String,
    pub user_id: String,
    /// The audit row; receivers that must act once keep the last they saw.
    pub audit_id: String,
}

impl AccountChanged {
    pub fn new(audit: &AuditEntry) -> Self {
        Self {
            v: 1,
            event: audit.change.name().to_owned(),
            user_id: audit.user_id.as_str().to_owned(),
            audit_id: audit.audit_id.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_tagged_and_versioned() {
        let key_id = KeyId::parse("k1").unwrap();
        let at = "2026-03-01T10:59:59Z".parse().unwrap();
        let used = AccountMessage::KeyUsed(KeyUsed::new(&key_id, at));
        let json = serde_json::to_string(&used).unwrap();
        assert_eq!(json, r#"{"type":"KeyUsed","v":1,"keyId":"k1","hour":"2026-03-01T10:00:00Z"}"#);
        assert_eq!(serde_json::from_str::<AccountMessage>(&json).unwrap(), used);
        let newer = json.replace("\"v\":1", "\"v\":1,\"more\":true");
        assert_eq!(serde_json::from_str::<AccountMessage>(&newer).unwrap(), used);
        assert!(serde_json::from_str::<AccountMessage>(&json.replace("KeyUsed", "Other")).is_err());
    }
}
