//! A stack's configuration of its providers, in one JSON document; a provider without an entry is not
//! used. Guarantee: no secret shows in `Debug` or in an error message.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Deserialize;

mod providers;

pub use providers::{
    ApnsSettings, FcmSettings, ServiceAccount, SesSettings, SmsSettings, SmtpSecurity,
    SmtpSettings, WebPushSettings, WebhookSettings,
};

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ProviderSettings {
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
    /// How many messages a second a provider takes, by its name; as many as there are, without an entry.
    pub rates: BTreeMap<String, u32>,
}

/// A setting that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{setting}: {problem}")]
pub struct InvalidSettings {
    /// Where it is in the document.
    pub setting: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl InvalidSettings {
    pub(crate) fn new(setting: &str, problem: &'static str) -> Self {
        Self { setting: setting.to_owned(), problem }
    }
}

impl ProviderSettings {
    /// Reads the document. A mistake is described by where it is, never by what is there: that may be
    /// a secret.
    pub fn parse(document: &str) -> Result<Self, InvalidSettings> {
        let mut reader = serde_json::Deserializer::from_str(document);
        let read = serde_path_to_error::deserialize(&mut reader);
        let settings = read.map_err(|error| InvalidSettings {
            setting: error.path().to_string(),
            problem: "missing, misspelt or of the wrong type",
        })?;
        reader.end().map_err(|_| InvalidSettings::new(".", "more than one document"))?;
        Ok(settings)
    }
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
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
pub struct Timeout(u64);

impl Timeout {
    /// So many milliseconds.
    pub const fn milliseconds(milliseconds: u64) -> Self {
        Self(milliseconds)
    }

    pub(crate) const fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

impl Default for Timeout {
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
        let settings = ProviderSettings::parse(&document).unwrap();
        assert!(!format!("{settings:?}").contains(SECRET));
        for broken in [
            format!(r#"{{"webhook":{{"secrets":"{SECRET}"}}}}"#),
            format!(r#"{{"smtp":{{"host":"h","port":"{SECRET}","from":"a@b.c"}}}}"#),
            format!(r#"{{"apns":{{"{SECRET}":1}}}}"#),
            format!(r#"{{"smtp":"{SECRET}"}}"#),
        ] {
            let mistake = ProviderSettings::parse(&broken).unwrap_err();
            let shown = format!("{mistake} {mistake:?}");
            // A key's name is not a secret; its value may be.
            assert!(
                !shown.contains(SECRET) || broken.contains(&format!("\"{SECRET}\":")),
                "{shown}"
            );
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
            assert_eq!(ProviderSettings::parse(document).unwrap_err().setting, setting);
        }
    }

    #[test]
    fn an_empty_document_configures_no_provider() {
        let settings = ProviderSettings::parse("{}").unwrap();
        assert!(settings.smtp.is_none() && settings.webhook.is_none());
    }
}
