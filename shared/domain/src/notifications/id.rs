//! Ids: of notifications, of a user's devices and endpoints, and of deliveries.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Channel, Rejected};
use crate::accounts::UserId;
use crate::{Timestamp, hex};

/// Names a notification: one message for one person.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NotificationId(String);

impl NotificationId {
    const LENGTH: usize = 28;

    /// Makes an id from the time and 8 random bytes.
    pub fn new(now: Timestamp, random: [u8; 8]) -> Self {
        Self(format!("{:012x}{}", now.as_millisecond().max(0), hex(&random)))
    }

    /// The id that `user`'s part of a call with an idempotency key always has, so that a repeat of the call
    /// writes the same rows. It says nothing about the time: lists sort by when it was made.
    pub fn derived(caller: &UserId, idempotency_key: &str, user: &UserId) -> Self {
        let mut hash = Sha256::new();
        for part in [caller.as_str(), idempotency_key, user.as_str()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        Self(hex(&hash.finalize()[..Self::LENGTH / 2]))
    }

    /// The id that `text` is, if it is one.
    pub fn parse(text: &str) -> Option<Self> {
        let is_digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == Self::LENGTH && text.bytes().all(is_digit)).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Names one of a person's devices, as their app calls it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeviceId(String);

impl DeviceId {
    /// Accepts 1 to 64 letters, digits, `_` and `-`.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let fits = (1..=64).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
        if !fits {
            return Err(Rejected::field("deviceId", "1 to 64 letters, digits, `_` and `-`"));
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Which of a person's addresses: `email`, `sms` or `push-` and a device. It stays the same when the
/// address behind it changes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Endpoint {
    Email,
    Sms,
    Push(DeviceId),
}

impl Endpoint {
    pub const fn channel(&self) -> Channel {
        match self {
            Self::Email => Channel::Email,
            Self::Sms => Channel::Sms,
            Self::Push(_) => Channel::Push,
        }
    }

    /// The way of that name, if it is one.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "email" => Some(Self::Email),
            "sms" => Some(Self::Sms),
            _ => DeviceId::parse(text.strip_prefix("push-")?).ok().map(Self::Push),
        }
    }

    /// Its name on the wire and in the store.
    pub fn name(&self) -> String {
        match self {
            Self::Email | Self::Sms => self.channel().name().to_owned(),
            Self::Push(device) => format!("push-{}", device.as_str()),
        }
    }
}

impl From<Endpoint> for String {
    fn from(endpoint: Endpoint) -> Self {
        endpoint.name()
    }
}

impl TryFrom<String> for Endpoint {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("no endpoint")
    }
}

/// Names a delivery: one notification to one endpoint.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryId {
    pub notification_id: NotificationId,
    #[serde(rename = "way")]
    pub endpoint: Endpoint,
}

impl DeliveryId {
    /// What providers recognise a repeat by: [`super::ProviderMessage::key`].
    pub fn key(&self) -> String {
        let mut key = self.notification_id.as_str().to_owned();
        // Writing to a string can't fail.
        let _ = write!(key, ".{}", self.endpoint.name());
        key
    }

    /// The id that such a key names, if it names one.
    pub fn parse(key: &str) -> Option<Self> {
        let (notification, endpoint) = key.split_once('.')?;
        let notification_id = NotificationId::parse(notification)?;
        Some(Self { notification_id, endpoint: Endpoint::parse(endpoint)? })
    }

    /// A hash that is the same on every instance, and evenly spread.
    pub fn stable_hash(&self) -> u64 {
        stable_hash(&[self.key().as_str()])
    }
}

/// A hash of some texts: the same on every instance, and evenly spread.
pub(super) fn stable_hash(parts: &[&str]) -> u64 {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    let digest = hash.finalize();
    digest[..8].iter().fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}

/// Whether `text` is 1 to 64 of `a-z 0-9 . _ -`, starting with a letter or digit.
pub(super) fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'))
        && text.as_bytes()[0].is_ascii_alphanumeric()
}

/// What such a name must be.
pub(super) const NAME_RULE: &str =
    "1 to 64 of a-z, 0-9, '.', '_' and '-', starting with a letter or digit";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_call_names_the_same_notifications_and_another_call_others() {
        let user = |name: &str| UserId::outside(name);
        let id = |caller, key, to| NotificationId::derived(&user(caller), key, &user(to));
        assert_eq!(id("shop", "k1", "ada"), id("shop", "k1", "ada"));
        let others = [id("shop", "k1", "bob"), id("shop", "k2", "ada"), id("shopk", "1", "ada")];
        assert!(others.iter().all(|other| *other != id("shop", "k1", "ada")));
        assert_eq!(NotificationId::parse(others[0].as_str()).as_ref(), Some(&others[0]));
    }

    #[test]
    fn names_of_deliveries_lead_back_to_them() {
        let notification_id = NotificationId::new(Timestamp::UNIX_EPOCH, [7; 8]);
        for name in ["email", "sms", "push-Pixel_8-a"] {
            let id = DeliveryId {
                notification_id: notification_id.clone(),
                endpoint: Endpoint::parse(name).unwrap(),
            };
            assert_eq!(id.endpoint.name(), name);
            assert_eq!(DeliveryId::parse(&id.key()), Some(id.clone()));
            let json = serde_json::to_string(&id).unwrap();
            assert_eq!(serde_json::from_str::<DeliveryId>(&json).unwrap(), id);
        }
        for name in ["", "push-", "push-a.b", "fax", "push-a b"] {
            assert_eq!(Endpoint::parse(name), None, "{name}");
        }
    }
}
