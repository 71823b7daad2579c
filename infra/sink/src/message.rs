//! What was sent, as its reader would find it.

use domain::Timestamp;
use serde::Serialize;

/// The provider it was sent by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
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

impl Via {
    /// Each of them.
    pub const ALL: [Self; 7] =
        [Self::Smtp, Self::Ses, Self::Sms, Self::WebPush, Self::Fcm, Self::Apns, Self::Webhook];

    /// Its name in addresses and in JSON.
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

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|via| via.name() == name)
    }
}

/// One thing that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Counts up from 1.
    pub id: u64,
    /// When it came.
    pub at: Timestamp,
    /// Who was asked to carry it.
    pub via: Via,
    /// Whom it is for.
    pub to: String,
    /// Who sends it, where that is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// A mail's subject, a notification's title.
    pub title: String,
    /// What is read.
    pub text: String,
    /// The same for readers of HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// What goes with it: headers of the mail or of the request, without secrets.
    pub headers: Vec<(String, String)>,
    /// As it came over the wire, or decrypted if it came encrypted.
    pub source: String,
}

/// A message that nobody has numbered yet.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) to: String,
    pub(crate) from: Option<String>,
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) html: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) source: String,
}

impl Draft {
    pub(crate) fn numbered(self, id: u64, at: Timestamp, via: Via) -> Message {
        let Self { to, from, title, text, html, headers, source } = self;
        Message { id, at, via, to, from, title, text, html, headers, source }
    }
}
