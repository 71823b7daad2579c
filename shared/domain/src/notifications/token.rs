//! Signed tokens in links: what a user may do without a session.
//!
//! A token is `1.<key id>.<claim>.<HMAC-SHA256>`, base64url. The first key of a ring signs, all verify,
//! so keys are rotated by putting a new one in front and taking the old one away when its tokens have
//! expired. Absent: anything secret in the claim (it can be read), and any token of one scope that
//! passes for one of another.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Category, Channel, DeliveryId};
use crate::Timestamp;
use crate::accounts::UserId;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenScope {
    /// To end what a category says on a channel.
    Unsubscribe,
    /// To tell that a mail was opened.
    Open,
    /// To tell that a link was followed.
    Click,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "lowercase")]
pub enum TokenClaim {
    Unsubscribe {
        #[serde(rename = "u")]
        user: UserId,
        #[serde(rename = "c")]
        channel: Channel,
        #[serde(rename = "k")]
        category: Category,
    },
    Open {
        #[serde(rename = "d")]
        delivery: DeliveryId,
    },
    Click {
        #[serde(rename = "d")]
        delivery: DeliveryId,
        /// Where it leads: signed, so that this is no open redirect.
        #[serde(rename = "to")]
        target: String,
    },
}

impl TokenClaim {
    pub const fn scope(&self) -> TokenScope {
        match self {
            Self::Unsubscribe { .. } => TokenScope::Unsubscribe,
            Self::Open { .. } => TokenScope::Open,
            Self::Click { .. } => TokenScope::Click,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidToken {
    /// It is none, or not one of ours, or for something else.
    #[error("the link is not valid")]
    Forged,
    #[error("the link has expired")]
    Expired,
}

/// A key: its id is in every token that it signed.
#[derive(Clone)]
pub struct TokenKey {
    id: String,
    secret: [u8; 64],
}

/// Says which: keys are in no log.
impl std::fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TokenKey({})", self.id)
    }
}

impl TokenKey {
    /// A key of at least 32 bytes, with an id of 1 to 16 letters and digits; `None` for anything else.
    pub fn new(id: &str, secret: &[u8]) -> Option<Self> {
        let named = (1..=16).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric());
        (named && secret.len() >= 32).then(|| {
            // Hashed, a secret of any length fills the same part of a block.
            let mut block = [0; 64];
            block[..32].copy_from_slice(&Sha256::digest(secret));
            Self { id: id.to_owned(), secret: block }
        })
    }

    fn mac(&self, claim: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new(&self.secret.into());
        for part in ["notification-token-1", &self.id, claim] {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        mac
    }
}

/// Keys: the first signs, all verify.
#[derive(Debug, Clone)]
pub struct KeyRing {
    first: TokenKey,
    older: Vec<TokenKey>,
}

#[derive(Serialize, Deserialize)]
struct Signed {
    #[serde(flatten)]
    claim: TokenClaim,
    /// Seconds since 1970.
    #[serde(rename = "x")]
    expires: i64,
}

/// No token is longer: one that is was not made here.
const LONGEST: usize = 6_000;

impl KeyRing {
    pub const fn new(first: TokenKey, older: Vec<TokenKey>) -> Self {
        Self { first, older }
    }

    /// A token that says `claim` until `expires_at`.
    pub fn sign(&self, claim: &TokenClaim, expires_at: Timestamp) -> String {
        let signed = Signed { claim: claim.clone(), expires: expires_at.as_second() };
        let json = serde_json::to_vec(&signed).unwrap_or_default();
        let claim = URL_SAFE_NO_PAD.encode(json);
        let tag = self.first.mac(&claim).finalize().into_bytes();
        format!("1.{}.{claim}.{}", self.first.id, URL_SAFE_NO_PAD.encode(tag))
    }

    /// What a token says, if it is one of ours, for `scope`, and in time.
    pub fn verify(
        &self,
        scope: TokenScope,
        token: &str,
        now: Timestamp,
    ) -> Result<TokenClaim, InvalidToken> {
        let Signed { claim, expires } = self.read(token).ok_or(InvalidToken::Forged)?;
        if claim.scope() != scope {
            return Err(InvalidToken::Forged);
        }
        if expires <= now.as_second() {
            return Err(InvalidToken::Expired);
        }
        Ok(claim)
    }

    fn read(&self, token: &str) -> Option<Signed> {
        let parts: Vec<&str> = token.splitn(5, '.').collect();
        let ["1", key, claim, tag] = parts[..] else { return None };
        if token.len() > LONGEST {
            return None;
        }
        let tag = URL_SAFE_NO_PAD.decode(tag).ok()?;
        let key = std::iter::once(&self.first).chain(&self.older).find(|known| known.id == key)?;
        // Compares in constant time.
        key.mac(claim).verify_slice(&tag).ok()?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claim).ok()?).ok()
    }
}

#[cfg(test)]
mod tests;
