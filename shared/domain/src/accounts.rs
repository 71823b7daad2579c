//! Who is calling: accounts, API keys, roles, and the rules about them.
//!
//! State machine of an account: `Active` ⇄ `Disabled`. Of a key: valid → expired (by the clock) or
//! revoked (for ever). The invariants, as absences:
//!
//! - No key works after its account was disabled, nor comes back when the account does: a key is
//!   valid only in the account's epoch it was made in, and disabling begins another.
//! - No key makes a key that can do more, or lasts longer, than itself.
//! - No key carries a role its account does not have *now*; the intersection is taken on each use.
//! - No account without another admin beside it stops being an admin.
//! - No secret is kept: a key's row has the SHA-256 of it.

mod account;
mod audit;
mod key;
mod message;
mod role;

pub use account::{
    Account, AccountProfile, AccountState, Amendment, NewAccount, NewValue, Tenant, UserId,
};
pub use audit::{AccountChange, AuditEntry};
pub use key::{ApiKey, KeyId, KeyVerdict, NewKey, PresentedKey, Principal, SecretHash, verify};
pub use message::{AccountChanged, AccountMessage, KeyUsed, hour_of};
pub use role::{Role, Roles};

/// The caller's mistake, in the domain's words; the boundary knows what HTTP calls it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    #[error("{field}: {rule}")]
    Field {
        /// The field, as the caller wrote it.
        field: &'static str,
        rule: String,
    },
    /// Another account already has this user id.
    #[error("the user id is taken")]
    UserIdTaken,
    /// No such account, or none that the caller may know of.
    #[error("there is no such account")]
    UnknownAccount,
    #[error("there is no such key on this account")]
    UnknownKey,
    /// The account changed since the caller read it.
    #[error("the account has changed since you read it")]
    Moved,
    #[error("the account is disabled")]
    AccountDisabled,
    #[error("this is the last admin: give the role to another account first")]
    LastAdmin,
    #[error("only an admin may {0}")]
    NeedsAdmin(&'static str),
}

impl Rejected {
    pub(crate) fn field(field: &'static str, rule: impl Into<String>) -> Self {
        Self::Field { field, rule: rule.into() }
    }
}
