//! An account and what may be done to it.

use jiff::Timestamp;

use serde::{Deserialize, Serialize};

use super::{Rejected, Role, Roles};

/// The caller's name in keys, logs and audit rows: chosen once, never reused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UserId(String);

impl UserId {
    /// The bootstrap admin's id; it has no account row, so no account may take it.
    pub const ROOT: &'static str = "root";

    /// What the names of those begin with whom another issuer vouches for. No account of ours can
    /// have the last character, so no subject is ever taken for one.
    pub const OIDC: &'static str = "oidc|";

    /// Accepts 1 to 64 of `a-z 0-9 . _ -`, starting with a letter or digit.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let rule = "1 to 64 of a-z, 0-9, '.', '_' and '-', starting with a letter or digit";
        let well_formed = (1..=64).contains(&text.len())
            && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'))
            && text.as_bytes()[0].is_ascii_alphanumeric();
        if !well_formed {
            return Err(Rejected::field("userId", rule));
        }
        if text == Self::ROOT {
            return Err(Rejected::field("userId", "anything but `root`, which is reserved"));
        }
        Ok(Self(text.to_owned()))
    }

    /// Makes an id from 12 random bytes.
    pub fn made_from(random: [u8; 12]) -> Self {
        Self(format!("u-{}", hex(&random)))
    }

    /// Names a caller that is not stored here: the bootstrap admin, or an OIDC subject.
    pub fn outside(subject: &str) -> Self {
        Self(subject.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The team or customer an account belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant(String);

impl Tenant {
    /// Accounts that name no tenant share this one.
    pub const DEFAULT: &'static str = "default";

    /// Accepts what a [`UserId`] accepts.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        match UserId::parse(text) {
            Ok(_) => Ok(Self(text.to_owned())),
            Err(_) => Err(Rejected::field(
                "tenant",
                "1 to 64 of a-z, 0-9, '.', '_' and '-', starting with a letter or digit",
            )),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Tenant {
    fn default() -> Self {
        Self(Self::DEFAULT.to_owned())
    }
}

/// Whether the account's keys can work at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountState {
    Active,
    /// Switched off; none of its keys works.
    Disabled,
}

impl AccountState {
    /// The state's name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Disabled => "disabled",
        }
    }

    /// The state of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Active, Self::Disabled].into_iter().find(|state| state.name() == name)
    }
}

/// What a person reads about an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountProfile {
    /// 1 to 100 characters, no control characters.
    pub name: String,
    /// Where to reach the person; kept, never logged.
    pub email: Option<String>,
}

impl AccountProfile {
    pub fn new(name: &str, email: Option<&str>) -> Result<Self, Rejected> {
        Ok(Self { name: checked_name("name", name)?, email: email.map(checked_email).transpose()? })
    }
}

/// A label people choose: 1 to 100 characters after trimming, nothing that breaks a line.
pub(super) fn checked_name(field: &'static str, name: &str) -> Result<String, Rejected> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > 100 || name.chars().any(char::is_control) {
        return Err(Rejected::field(field, "1 to 100 characters, none of them control characters"));
    }
    Ok(name.to_owned())
}

/// Enough of RFC 5321 to catch slips; only a delivered message proves an address.
fn checked_email(email: &str) -> Result<String, Rejected> {
    let rule = "an address like ada@example.org, at most 254 characters";
    let plausible = email.len() <= 254
        && email.bytes().all(|b| b.is_ascii_graphic() || !b.is_ascii())
        && email.split_once('@').is_some_and(|(local, host)| {
            !local.is_empty()
                && local.len() <= 64
                && host.contains('.')
                && !host.starts_with('.')
                && !host.ends_with('.')
                && !host.contains('@')
        });
    if plausible { Ok(email.to_owned()) } else { Err(Rejected::field("email", rule)) }
}

/// What is asked for when an account is created.
#[derive(Debug, Clone)]
pub struct NewAccount {
    /// Chosen by the caller or made from random bytes.
    pub user_id: UserId,
    pub profile: AccountProfile,
    pub roles: Roles,
    pub tenant: Tenant,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub user_id: UserId,
    pub profile: AccountProfile,
    pub roles: Roles,
    pub tenant: Tenant,
    /// Whether its keys can work at all.
    pub state: AccountState,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Grows by one each time the account is disabled. A key works only in the epoch it was made
    /// in: counting needs no agreement of clocks.
    pub key_epoch: u64,
    /// Grows by one with each change; what `ETag` and `If-Match` speak of.
    pub version: u64,
}

impl Account {
    /// The first version of a new account.
    pub fn create(new: NewAccount, now: Timestamp) -> Self {
        Self {
            user_id: new.user_id,
            profile: new.profile,
            roles: new.roles,
            tenant: new.tenant,
            state: AccountState::Active,
            created_at: now,
            updated_at: now,
            key_epoch: 0,
            version: 1,
        }
    }

    /// True for an account that counts as an admin.
    pub fn is_active_admin(&self) -> bool {
        self.state == AccountState::Active && self.roles.contains(Role::Admin)
    }

    /// The next version with `amendment` applied. Only admins change more than their own profile.
    pub fn amend(
        &self,
        amendment: &Amendment,
        by_admin: bool,
        now: Timestamp,
    ) -> Result<Self, Rejected> {
        if !by_admin {
            let beyond_own = [
                (amendment.roles.is_some(), "change roles"),
                (amendment.tenant.is_some(), "change the tenant"),
                (amendment.state.is_some(), "change the state"),
                (amendment.email.is_some(), "change the email"),
            ];
            if let Some((_, what)) = beyond_own.into_iter().find(|(asked, _)| *asked) {
                return Err(Rejected::NeedsAdmin(what));
            }
        }
        let mut next = self.clone();
        if let Some(name) = &amendment.name {
            next.profile.name = checked_name("name", name)?;
        }
        if let Some(email) = &amendment.email {
            next.profile.email = match email {
                NewValue::To(email) => Some(checked_email(email)?),
                NewValue::Forget => None,
            };
        }
        next.roles = amendment.roles.unwrap_or(self.roles);
        next.tenant = amendment.tenant.clone().unwrap_or_else(|| self.tenant.clone());
        next.state = amendment.state.unwrap_or(self.state);
        if next.state == AccountState::Disabled && self.state == AccountState::Active {
            next.key_epoch = self.key_epoch + 1;
        }
        next.updated_at = now;
        next.version = self.version + 1;
        Ok(next)
    }
}

/// What something that may be absent becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewValue<T> {
    To(T),
    Forget,
}

/// A change asked for; what is `None` stays.
#[derive(Debug, Clone, Default)]
pub struct Amendment {
    pub name: Option<String>,
    /// A new address, or none any more.
    pub email: Option<NewValue<String>>,
    pub roles: Option<Roles>,
    pub tenant: Option<Tenant>,
    /// Disabled, or active again (with no key: the old ones stay dead).
    pub state: Option<AccountState>,
}

#[cfg(test)]
mod tests;
