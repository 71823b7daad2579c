//! What a stack says about its providers, in one JSON document; a provider without an entry is not
//! used. Guarantee: no secret shows in `Debug` or in what is said about a mistake.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Deserialize;

mod providers;

pub use providers::{
    ApnsSettings, FcmSettings, Security, ServiceAccount, SesSettings, SmsSettings, SmtpSettings,
    WebPushSettings, WebhookSettings,
};

/// All of it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Settings {
    /// Mail by a server.
    pub smtp: Option<SmtpSettings>,
    /// Mail by SES.
    pub ses: Option<SesSettings>,
    /// Text messages by SNS.
    pub sms: Option<SmsSettings>,
    /// Push to browsers.
    pub web_push: Option<WebPushSettings>,
    /// Push by Firebase.
    pub fcm: Option<FcmSettings>,
    /// Push by Apple.
    pub apns: Option<ApnsSettings>,
    /// Push to customers' servers.
    pub webhook: Option<WebhookSettings>,
    /// How many parcels a second a provider takes, by its name; as many as there are, without an entry.
    pub rates: BTreeMap<String, u32>,
}

/// What cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{setting}: {problem}")]
pub struct Misconfigured {
    /// Where it is in the document.
    pub setting: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl Misconfigured {
    pub(crate) fn new(setting: &str, problem: &'static str) -> Self {
        Self { setting: setting.to_owned(), problem }
    }
}

impl Settings {
    /// Reads the document. A mistake is described by where it is, never by what is there: that may be
    /// a secret.
    pub fn parse(document: &str) -> Result<Self, Misconfigured> {
        let mut reader = serde_json::Deserializer::from_str(document);
        let read = serde_path_to_error::deserialize(&mut reader);
        let settings = read.map_err(|error| Misconfigured {
            setting: error.path().to_string(),
            problem: "missing, misspelt or of another kind than it should be",
        })?;
        reader.end().map_err(|_| Misconfigured::new(".", "more than one document"))?;
        Ok(settings)
    }
}

/// A text that nobody gets to see.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// How long a provider may take, from connecting to its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Patience(u64);

impl Patience {
    /// So many milliseconds.
    pub const fn milliseconds(milliseconds: u64) -> Self {
        Self(milliseconds)
    }

    pub(crate) const fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self(10_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "hunter2-hunter2";

    #[test]
    fn a_secret_is_neither_shown_nor_quoted() {
        let document = format!(
            r#"{{"smtp":{{"host":"h","port":25,"from":"a@b.c","user":"u","password":"{SECRET}"}},
                "webhook":{{"secrets":["{SECRET}"]}}}}"#
        );
        let settings = Settings::parse(&document).unwrap();
        assert!(!format!("{settings:?}").contains(SECRET));
        for broken in [
            format!(r#"{{"webhook":{{"secrets":"{SECRET}"}}}}"#),
            format!(r#"{{"smtp":{{"host":"h","port":"{SECRET}","from":"a@b.c"}}}}"#),
            format!(r#"{{"apns":{{"{SECRET}":1}}}}"#),
            format!(r#"{{"smtp":"{SECRET}"}}"#),
        ] {
            let mistake = Settings::parse(&broken).unwrap_err();
            let said = format!("{mistake} {mistake:?}");
            // A key's name is not a secret; its value may be.
            assert!(!said.contains(SECRET) || broken.contains(&format!("\"{SECRET}\":")), "{said}");
        }
    }

    #[test]
    fn a_mistake_is_described_by_where_it_is() {
        for (document, setting) in [
            (r#"{"smtp":{"host":"h","port":"x","from":"a@b.c"}}"#, "smtp.port"),
            (r#"{"smpt":{}}"#, "smpt"),
            (r#"{"webhook":{"secrets":[1]}}"#, "webhook.secrets[0]"),
            ("{}{}", "."),
        ] {
            assert_eq!(Settings::parse(document).unwrap_err().setting, setting);
        }
    }

    #[test]
    fn an_empty_document_uses_nobody() {
        let settings = Settings::parse("{}").unwrap();
        assert!(settings.smtp.is_none() && settings.webhook.is_none());
    }
}
