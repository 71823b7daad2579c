//! The audit trail: one immutable row for each change, written in the change's own transaction.

use jiff::Timestamp;

use super::{KeyId, UserId};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountChange {
    AccountCreated,
    /// Its name, email, roles, tenant or state changed.
    AccountAmended,
    AccountDisabled,
    KeyCreated,
    KeyRevoked,
}

impl AccountChange {
    const ALL: [Self; 5] = [
        Self::AccountCreated,
        Self::AccountAmended,
        Self::AccountDisabled,
        Self::KeyCreated,
        Self::KeyRevoked,
    ];

    /// The change's name in the store, in messages and in the attribute that topics filter by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AccountCreated => "AccountCreated",
            Self::AccountAmended => "AccountAmended",
            Self::AccountDisabled => "AccountDisabled",
            Self::KeyCreated => "KeyCreated",
            Self::KeyRevoked => "KeyRevoked",
        }
    }

    /// The change of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|change| change.name() == name)
    }
}

/// Who did what to which account, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Sorts by time and is unique: milliseconds, then random digits.
    pub audit_id: String,
    pub user_id: UserId,
    pub change: AccountChange,
    /// The key, where the change was to one.
    pub key_id: Option<KeyId>,
    pub by: UserId,
    pub at: Timestamp,
}

impl AuditEntry {
    /// A row for `change`; `random` keeps two changes of one millisecond apart.
    pub fn new(
        change: AccountChange,
        user_id: &UserId,
        key_id: Option<&KeyId>,
        by: &UserId,
        at: Timestamp,
        random: [u8; 8],
    ) -> Self {
        let audit_id = format!("{:013}-{:016x}", at.as_millisecond(), u64::from_be_bytes(random));
        Self {
            audit_id,
            user_id: user_id.clone(),
            change,
            key_id: key_id.cloned(),
            by: by.clone(),
            at,
        }
    }
}
