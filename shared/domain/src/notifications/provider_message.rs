//! What is sent to a provider, and the outcome.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// A channel to reach a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    Email,
    Sms,
    /// On a device, in a browser, or at a webhook.
    Push,
}

impl Channel {
    pub const ALL: [Self; 3] = [Self::Email, Self::Sms, Self::Push];

    /// Its name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Sms => "sms",
            Self::Push => "push",
        }
    }
}

/// Where one person is reached on one channel.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Address {
    Email {
        /// As in RFC 5321, without a display name.
        address: String,
    },
    Phone {
        /// E.164: `+` and up to 15 digits.
        number: String,
    },
    /// A browser's subscription, as the Push API gives it.
    WebPush {
        /// Where its push service takes messages.
        endpoint: String,
        /// The browser's public key: base64url.
        p256dh: String,
        /// What both sides know: base64url.
        auth: String,
    },
    Fcm {
        token: String,
    },
    Apns {
        /// Its device token: hexadecimal.
        token: String,
    },
    Webhook {
        /// An `https` URL.
        url: String,
    },
}

impl Address {
    pub const fn channel(&self) -> Channel {
        match self {
            Self::Email { .. } => Channel::Email,
            Self::Phone { .. } => Channel::Sms,
            Self::WebPush { .. } | Self::Fcm { .. } | Self::Apns { .. } | Self::Webhook { .. } => {
                Channel::Push
            }
        }
    }
}

/// Says what kind of address it is and nothing more: addresses are in no log.
impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Email { .. } => "Email(..)",
            Self::Phone { .. } => "Phone(..)",
            Self::WebPush { .. } => "WebPush(..)",
            Self::Fcm { .. } => "Fcm(..)",
            Self::Apns { .. } => "Apns(..)",
            Self::Webhook { .. } => "Webhook(..)",
        })
    }
}

/// What a person gets to read, rendered.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Content {
    Email {
        subject: String,
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        html: Option<String>,
    },
    Sms {
        text: String,
    },
    Push {
        title: String,
        body: String,
        /// What opens when it is touched.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        link: Option<String>,
        /// For the app, not for the person.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        data: BTreeMap<String, String>,
    },
}

/// Says of what kind it is: what a person reads is in no log.
impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Email { .. } => "Email(..)",
            Self::Sms { .. } => "Sms(..)",
            Self::Push { .. } => "Push(..)",
        })
    }
}

/// Everything that a provider needs to know.
#[derive(Clone, PartialEq, Eq)]
pub struct ProviderMessage {
    /// The same for every attempt at one delivery, and no other: what a provider that can
    /// recognises a repeat by.
    pub key: String,
    pub to: Address,
    pub content: Content,
    /// A later one with the same key takes the place of this one, where the channel can do that.
    pub collapse_key: Option<String>,
    /// Whether a sleeping device should be woken for it.
    pub urgent: bool,
    /// Of no use after that.
    pub expires_at: Option<Timestamp>,
    /// Where one POST ends mails of this kind (RFC 8058).
    pub unsubscribe: Option<String>,
}

/// Says which: what is in it, and the link that ends it, are in no log.
impl std::fmt::Debug for ProviderMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ProviderMessage({} for {:?})", self.key, self.to)
    }
}

/// What a provider made of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendOutcome {
    Accepted {
        /// Their name for it, which their callbacks mention.
        reference: Option<String>,
    },
    Refused {
        /// What kind of no it was.
        class: Class,
        /// How long they want to be left alone.
        retry_after_seconds: Option<u32>,
        /// The provider's reason, without an address in it.
        reason: String,
    },
    /// It may be theirs: the line was cut, or time ran out, after it could have been accepted.
    Unknown { reason: String },
}

/// Kinds of no, by what can be done about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// There is no such mailbox, number or device (any more).
    InvalidRecipient,
    /// The person does not want it, as the provider knows.
    OptedOut,
    /// This message can't be sent at all: too large, malformed, against their rules.
    Content,
    RateLimited,
    /// They, or the way to them, are broken; or they do not accept who we say we are.
    Outage,
    /// Something that we do not understand.
    Unrecognised,
}

impl Class {
    pub const ALL: [Self; 6] = [
        Self::InvalidRecipient,
        Self::OptedOut,
        Self::Content,
        Self::RateLimited,
        Self::Outage,
        Self::Unrecognised,
    ];

    /// Its name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidRecipient => "invalid-recipient",
            Self::OptedOut => "opted-out",
            Self::Content => "content",
            Self::RateLimited => "rate-limited",
            Self::Outage => "outage",
            Self::Unrecognised => "unrecognised",
        }
    }
}
