//! One structure for each provider.

use serde::Deserialize;

use super::{Secret, Timeout};

/// A mail server.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SmtpSettings {
    /// Its name, which its certificate must be for.
    pub host: String,
    /// 587 with `starttls`, 465 with `tls`.
    pub port: u16,
    #[serde(default)]
    pub security: SmtpSecurity,
    /// The user name, if it asks for one.
    pub user: Option<String>,
    pub password: Option<Secret>,
    /// `Name <mailbox>`.
    pub from: String,
    /// Where replies go, if not to `from`.
    pub reply_to: Option<String>,
    #[serde(default)]
    pub timeout_ms: Timeout,
}

/// How a connection to a mail server is secured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SmtpSecurity {
    /// STARTTLS; a server without it is sent nothing.
    #[default]
    StartTls,
    /// TLS from the first byte.
    Tls,
    None,
}

/// Amazon's mail service; the rest is in the account.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SesSettings {
    /// `Name <mailbox>`, verified with SES.
    pub from: String,
    /// Where replies go, if not to `from`.
    pub reply_to: Option<String>,
    /// Where its events go.
    pub configuration_set: Option<String>,
    #[serde(default)]
    pub timeout_ms: Timeout,
}

/// Text messages by SNS; the rest is in the account.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SmsSettings {
    /// The name shown as the sender, where a country allows that.
    pub sender_id: Option<String>,
    /// The number shown as the sender.
    pub origination_number: Option<String>,
    pub timeout_ms: Timeout,
}

/// Our identity for push services (VAPID).
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WebPushSettings {
    /// Where an operator of a push service finds us: `mailto:` or `https:`.
    pub subject: String,
    /// What browsers subscribe with: base64url, 65 bytes.
    pub public_key: String,
    /// Its private half: base64url, 32 bytes or PKCS#8.
    pub private_key: Secret,
    #[serde(default)]
    pub timeout_ms: Timeout,
}

/// A Firebase project.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FcmSettings {
    /// The file that Google's console gives out.
    pub service_account: ServiceAccount,
    /// Where messages go.
    #[serde(default = "fcm_endpoint")]
    pub endpoint: String,
    #[serde(default)]
    pub timeout_ms: Timeout,
}

/// As Google writes it; what is not needed is not read.
#[derive(Debug, Clone, Deserialize)]
pub struct ServiceAccount {
    pub project_id: String,
    /// The account's name.
    pub client_email: String,
    /// Its key: PKCS#8 in PEM.
    pub private_key: Secret,
    /// Where an assertion is exchanged for a token.
    pub token_uri: String,
}

/// An app on Apple's devices.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApnsSettings {
    /// The developer's team.
    pub team_id: String,
    /// The key's id.
    pub key_id: String,
    /// The key: the `.p8` file's text.
    pub key: Secret,
    /// The app's bundle id.
    pub topic: String,
    /// Where messages go; another for apps under development.
    #[serde(default = "apns_endpoint")]
    pub endpoint: String,
    #[serde(default)]
    pub timeout_ms: Timeout,
}

/// What webhooks are signed with.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WebhookSettings {
    /// `whsec_` and base64. All of them sign, so that secrets can be rotated.
    pub secrets: Vec<Secret>,
    #[serde(default)]
    pub timeout_ms: Timeout,
}

fn fcm_endpoint() -> String {
    "https://fcm.googleapis.com".to_owned()
}

fn apns_endpoint() -> String {
    "https://api.push.apple.com".to_owned()
}
