//! API keys: `keyId.secret`, of which only a hash is kept.

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::account::{checked_name, hex};
use super::{Account, AccountState, Rejected, Roles, Tenant, UserId};
use crate::base62;

/// Names a key in lists and logs; not secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(String);

impl KeyId {
    pub const ROOT: &'static str = "root";

    /// Makes an id from 12 random bytes.
    pub fn made_from(random: [u8; 12]) -> Self {
        Self(base62::encode(&random))
    }

    /// Accepts up to 32 digits and letters.
    pub fn parse(text: &str) -> Option<Self> {
        let well_formed = (1..=32).contains(&text.len()) && base62::is_base62(text);
        well_formed.then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// SHA-256 of a secret. Secrets are 32 random bytes, so a plain hash is enough: there is nothing
/// to guess that salting or stretching would make slower.
#[derive(Debug, Clone, Copy)]
pub struct SecretHash([u8; 32]);

impl SecretHash {
    pub fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub fn from_hex(hex: &str) -> Option<Self> {
        if hex.len() != 64 || !hex.is_ascii() {
            return None;
        }
        let mut bytes = [0; 32];
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&hex[index * 2..index * 2 + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }

    pub fn to_hex(&self) -> String {
        hex(&self.0)
    }

    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Compares in constant time, so that an answer's timing says nothing about the hash.
    pub fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

/// A key as a caller presents it: the id and the hash of the secret that came with it.
#[derive(Debug, Clone)]
pub struct PresentedKey {
    pub key_id: KeyId,
    pub hash: SecretHash,
}

impl PresentedKey {
    /// Splits `keyId.secret`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, secret) = text.split_once('.')?;
        let well_formed = (1..=128).contains(&secret.len()) && base62::is_base62(secret);
        let key_id = KeyId::parse(id)?;
        well_formed.then(|| Self { key_id, hash: SecretHash::of(secret) })
    }

    /// Makes a key from random bytes: the id, and the text that is shown once.
    pub fn made_from(id: [u8; 12], secret: [u8; 32]) -> (Self, String) {
        let key_id = KeyId::made_from(id);
        let secret = base62::encode(&secret);
        let text = format!("{}.{secret}", key_id.as_str());
        (Self { key_id, hash: SecretHash::of(&secret) }, text)
    }
}

/// What is asked for when a key is created.
#[derive(Debug, Clone, Default)]
pub struct NewKey {
    pub name: Option<String>,
    pub expires_at: Option<Timestamp>,
    /// Fewer roles than the account has.
    pub roles: Option<Roles>,
}

#[derive(Debug, Clone)]
pub struct ApiKey {
    pub key_id: KeyId,
    pub user_id: UserId,
    pub name: Option<String>,
    pub hash: SecretHash,
    /// `None`: all roles of the account.
    pub roles: Option<Roles>,
    /// The account's epoch it was made in.
    pub epoch: u64,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, to the hour.
    pub last_used_at: Option<Timestamp>,
}

impl ApiKey {
    /// A new key for `account`, made by `maker`, if the rules allow it.
    ///
    /// An admin gives what the account has. Anyone else gives at most what the key they use has:
    /// its roles and its remaining life are the defaults and the limits.
    pub fn create(
        account: &Account,
        presented: &PresentedKey,
        new: &NewKey,
        maker: &Principal,
        now: Timestamp,
    ) -> Result<Self, Rejected> {
        if account.state == AccountState::Disabled {
            return Err(Rejected::AccountDisabled);
        }
        if new.expires_at.is_some_and(|expiry| expiry <= now) {
            return Err(Rejected::field("expiresAt", "a time in the future"));
        }
        if new.roles.is_some_and(|roles| !roles.is_subset(account.roles)) {
            return Err(Rejected::field("roles", "a subset of the account's own roles"));
        }
        let (roles, expires_at) = if maker.is_admin() {
            (new.roles, new.expires_at)
        } else {
            restrict_to_maker(new, maker, account)?
        };
        Ok(Self {
            key_id: presented.key_id.clone(),
            user_id: account.user_id.clone(),
            name: new.name.as_deref().map(|name| checked_name("name", name)).transpose()?,
            hash: presented.hash,
            roles,
            epoch: account.key_epoch,
            created_at: now,
            expires_at,
            revoked_at: None,
            last_used_at: None,
        })
    }
}

/// What a key may hand on: no role and no hour more than it has.
fn restrict_to_maker(
    new: &NewKey,
    maker: &Principal,
    account: &Account,
) -> Result<(Option<Roles>, Option<Timestamp>), Rejected> {
    if new.roles.is_some_and(|roles| !roles.is_subset(maker.roles)) {
        return Err(Rejected::field("roles", "a subset of the roles of the key you use"));
    }
    let outlives = |end| new.expires_at.is_some_and(|expiry| expiry > end);
    if maker.key_expires_at.is_some_and(outlives) {
        return Err(Rejected::field("expiresAt", "no later than the end of the key you use"));
    }
    let narrowed = (maker.roles != account.roles).then_some(maker.roles);
    Ok((new.roles.or(narrowed), new.expires_at.or(maker.key_expires_at)))
}

/// Who is calling, once that is proven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    pub user_id: UserId,
    pub name: String,
    /// What this key may do for it, right now.
    pub roles: Roles,
    pub tenant: Tenant,
    /// The key it used; `None` for an OIDC token.
    pub key_id: Option<KeyId>,
    /// When that key ends, if it does.
    pub key_expires_at: Option<Timestamp>,
}

impl Principal {
    /// True for the bearer of the admin role.
    pub const fn is_admin(&self) -> bool {
        self.roles.is_admin()
    }

    /// True for an admin and for the user themselves.
    pub fn may_manage(&self, user_id: &UserId) -> bool {
        self.is_admin() || self.user_id == *user_id
    }
}

/// What a presented key turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyVerdict {
    /// It is who it says.
    Valid(Principal),
    /// Unknown, wrong, expired, revoked, or its account is disabled: the caller is told none of it.
    Denied,
}

/// Decides whether `presented` proves anything, given what is stored.
///
/// The comparison runs whether or not there is a key to compare with, so that an unknown key takes
/// as long as a wrong one.
pub fn verify(
    presented: &PresentedKey,
    stored: Option<(&ApiKey, &Account)>,
    now: Timestamp,
) -> KeyVerdict {
    let never = SecretHash([0; 32]);
    let matches = presented.hash.matches(stored.map_or(&never, |(key, _)| &key.hash));
    match stored {
        Some((key, account)) if matches && is_valid(key, account, now) => {
            KeyVerdict::Valid(Principal {
                user_id: account.user_id.clone(),
                name: account.profile.name.clone(),
                roles: key.roles.unwrap_or(account.roles).intersection(account.roles),
                tenant: account.tenant.clone(),
                key_id: Some(key.key_id.clone()),
                key_expires_at: key.expires_at,
            })
        }
        Some(_) | None => KeyVerdict::Denied,
    }
}

fn is_valid(key: &ApiKey, account: &Account, now: Timestamp) -> bool {
    account.state == AccountState::Active
        && key.user_id == account.user_id
        && key.epoch == account.key_epoch
        && key.revoked_at.is_none()
        && key.expires_at.is_none_or(|expiry| now < expiry)
}

#[cfg(test)]
mod tests;
