//! Mail by SES (API version 2).
//!
//! Guarantee: a mail is sent once or not at all: SES names mails itself and recognises no repeat, so
//! that a mail that may have arrived is left unknown. Headers are SES's, but for those that offer to
//! unsubscribe.

use async_trait::async_trait;
use domain::Timestamp;
use domain::notifications::{Address, Class, Content, ProviderMessage, SendOutcome};
use http::Method;
use lettre::message::Mailbox;
use rest::{Client, Request};
use serde_json::{Value, json};

use crate::Provider;
use crate::aws::{self, ServiceError};
use crate::ids::hashed_id;
use crate::mail::{one_line, unsubscribe_headers};
use crate::outcome::{accepted, refused, unsupported_address};
use crate::settings::{InvalidSettings, SesSettings};

#[derive(Debug)]
pub struct Ses {
    settings: SesSettings,
    client: Client,
}

impl Ses {
    /// Sends with `client`.
    pub fn new(settings: SesSettings, client: &Client) -> Result<Self, InvalidSettings> {
        let reply_to = settings.reply_to.as_deref().unwrap_or(&settings.from);
        for (setting, mailbox) in [("ses.from", settings.from.as_str()), ("ses.replyTo", reply_to)]
        {
            if mailbox.parse::<Mailbox>().is_err() {
                return Err(InvalidSettings::new(setting, "not a mailbox"));
            }
        }
        let client = client.with(aws::no_retries(), aws::timeouts(settings.timeout_ms));
        Ok(Self { settings, client })
    }

    async fn send_email(&self, message: &ProviderMessage, to: &str, mail: Value) -> SendOutcome {
        let mut body = json!({
            "FromEmailAddress": self.settings.from,
            "Destination": { "ToAddresses": [to] },
            "Content": { "Simple": mail },
            "EmailTags": [{ "Name": "parcel", "Value": hashed_id(&message.key) }],
        });
        if let Some(mailbox) = &self.settings.reply_to {
            body["ReplyToAddresses"] = json!([mailbox]);
        }
        if let Some(name) = &self.settings.configuration_set {
            body["ConfigurationSetName"] = json!(name);
        }
        let request = Request::new(Method::POST, "/v2/email/outbound-emails")
            .header("content-type", "application/json")
            .body(body.to_string());
        match self.client.send(request).await {
            Ok(sent) => {
                let sent: Value = serde_json::from_slice(&sent.body).unwrap_or_default();
                accepted(sent["MessageId"].as_str().map(str::to_owned))
            }
            Err(error) => aws::outcome(&error, &message.to, classify),
        }
    }
}

#[async_trait]
impl Provider for Ses {
    fn name(&self) -> &'static str {
        "ses"
    }

    fn supports(&self, address: &Address) -> bool {
        matches!(address, Address::Email { .. })
    }

    async fn send(&self, message: &ProviderMessage, _: Timestamp) -> SendOutcome {
        let Address::Email { address } = &message.to else { return unsupported_address() };
        if address.parse::<lettre::Address>().is_err() {
            return refused(Class::InvalidRecipient, "not a mailbox");
        }
        let headers = match unsubscribe_headers(message) {
            Ok(headers) => headers,
            Err((class, reason)) => return refused(class, reason),
        };
        match mail(&message.content, &headers) {
            Some(mail) => self.send_email(message, address, mail).await,
            None => refused(Class::Content, "not a mail"),
        }
    }
}

fn mail(content: &Content, headers: &[(&'static str, String)]) -> Option<Value> {
    let Content::Email { subject, text, html } = content else { return None };
    let utf8 = |data: &str| json!({ "Data": data, "Charset": "UTF-8" });
    let mut mail = json!({ "Subject": utf8(&one_line(subject)), "Body": { "Text": utf8(text) } });
    if let Some(html) = html {
        mail["Body"]["Html"] = utf8(html);
    }
    if !headers.is_empty() {
        let header = |(name, value): &(_, String)| json!({ "Name": name, "Value": value });
        mail["Headers"] = headers.iter().map(header).collect();
    }
    Some(mail)
}

fn classify(error: &ServiceError<'_>) -> Class {
    if let Some(class) = aws::classify_common(error) {
        return class;
    }
    let message = error.message.to_ascii_lowercase();
    let code = error.code.trim_end_matches("Exception");
    match code {
        "LimitExceeded" => Class::RateLimited,
        _ if message.contains("suppress") => Class::OptedOut,
        // An address of ours that is not verified yet, or any address while SES does not trust us.
        _ if message.contains("not verified") => Class::Outage,
        "MessageRejected" => Class::Content,
        "AccountSuspended" | "SendingPaused" | "MailFromDomainNotVerified" | "NotFound" => {
            Class::Outage
        }
        "BadRequest" | "ValidationError" | "InvalidParameterValue" => {
            let whom = ["address", "domain", "recipient", "local part"];
            let about_them = whom.iter().any(|word| message.contains(word));
            if about_them { Class::InvalidRecipient } else { Class::Content }
        }
        _ => Class::Unrecognised,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_has_a_class() {
        for (status, code, message, class) in [
            (429, "TooManyRequestsException", "", Class::RateLimited),
            (400, "ThrottlingException", "", Class::RateLimited),
            (400, "LimitExceededException", "", Class::RateLimited),
            (400, "MessageRejected", "spam", Class::Content),
            (400, "MessageRejected", "Email address is not verified.", Class::Outage),
            (400, "MessageRejected", "Address is on the suppression list", Class::OptedOut),
            (400, "AccountSuspendedException", "", Class::Outage),
            (400, "SendingPausedException", "", Class::Outage),
            (400, "MailFromDomainNotVerifiedException", "", Class::Outage),
            (404, "NotFoundException", "no configuration set", Class::Outage),
            (400, "BadRequestException", "Illegal address", Class::InvalidRecipient),
            (400, "BadRequestException", "Missing final '@domain'", Class::InvalidRecipient),
            (400, "BadRequestException", "Header is too long", Class::Content),
            (403, "AccessDeniedException", "", Class::Outage),
            (403, "ExpiredTokenException", "", Class::Outage),
            (500, "InternalFailure", "", Class::Outage),
            (503, "ServiceUnavailableException", "", Class::Outage),
            (400, "SomethingNew", "", Class::Unrecognised),
        ] {
            assert_eq!(
                classify(&ServiceError { code, message, status }),
                class,
                "{code}: {message}"
            );
        }
    }
}
