//! What was sent, as its reader would find it.

use domain::Timestamp;
use serde::Serialize;

/// The provider it was sent by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProviderKind {
    /// Mail over SMTP.
    Smtp,
    /// Mail by SES.
    Ses,
    /// A text message by SNS.
    Sms,
    /// To a browser.
    WebPush,
    /// To a device, by Firebase.
    Fcm,
    /// To a device, by Apple.
    Apns,
    /// To a server.
    Webhook,
}

impl ProviderKind {
    pub const ALL: [Self; 7] =
        [Self::Smtp, Self::Ses, Self::Sms, Self::WebPush, Self::Fcm, Self::Apns, Self::Webhook];

    /// Its name in URLs and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Smtp => "smtp",
            Self::Ses => "ses",
            Self::Sms => "sms",
            Self::WebPush => "web-push",
            Self::Fcm => "fcm",
            Self::Apns => "apns",
            Self::Webhook => "webhook",
        }
    }

    /// Its name for people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Smtp => "SMTP",
            Self::Ses => "SES",
            Self::Sms => "SMS",
            Self::WebPush => "Web Push",
            Self::Fcm => "FCM",
            Self::Apns => "APNs",
            Self::Webhook => "Webhook",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|via| via.name() == name)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SinkMessage {
    /// Counts up from 1.
    pub id: u64,
    pub at: Timestamp,
    pub via: ProviderKind,
    /// The recipient's address.
    pub to: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// A mail's subject, a notification's title.
    pub title: String,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// Headers of the mail or of the request, without secrets.
    pub headers: Vec<(String, String)>,
    /// As it came over the wire, or decrypted if it came encrypted.
    pub source: String,
}

impl SinkMessage {
    /// A header's value; empty without one.
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }

    /// Its title, or else its first line.
    pub(crate) fn headline(&self) -> &str {
        let lines = self.title.lines().chain(self.text.lines());
        lines.map(str::trim).find(|line| !line.is_empty()).unwrap_or("(empty)")
    }

    /// How the text begins; empty without a title, for then the text is the headline.
    pub(crate) fn excerpt(&self) -> String {
        let text = if self.title.trim().is_empty() { "" } else { self.text.as_str() };
        text.split_whitespace().take(24).collect::<Vec<_>>().join(" ")
    }
}

/// A message before it has its id.
#[derive(Debug, Default)]
pub(crate) struct ReceivedMessage {
    pub(crate) to: String,
    pub(crate) from: Option<String>,
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) html: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) source: String,
}

impl ReceivedMessage {
    pub(crate) fn with_id(self, id: u64, at: Timestamp, via: ProviderKind) -> SinkMessage {
        let Self { to, from, title, text, html, headers, source } = self;
        SinkMessage { id, at, via, to, from, title, text, html, headers, source }
    }
}
