//! Mail by SES (API version 2).
//!
//! Guarantee: a mail is sent once or not at all: SES names mails itself and recognises no repeat, so
//! that a mail that may have arrived is left unknown. Headers are SES's, but for those that offer to
//! unsubscribe.

use async_trait::async_trait;
use aws_sdk_sesv2::Client;
use aws_sdk_sesv2::error::BuildError;
use aws_sdk_sesv2::types::{
    Body, Content as Text, Destination, EmailContent, Message, MessageHeader, MessageTag,
};
use domain::Timestamp;
use domain::notifications::{Address, Class, Content, ProviderMessage, SendOutcome};
use lettre::message::Mailbox;

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
    pub fn new(settings: SesSettings, client: Client) -> Result<Self, InvalidSettings> {
        let reply_to = settings.reply_to.as_deref().unwrap_or(&settings.from);
        for (setting, mailbox) in [("ses.from", settings.from.as_str()), ("ses.replyTo", reply_to)]
        {
            if mailbox.parse::<Mailbox>().is_err() {
                return Err(InvalidSettings::new(setting, "not a mailbox"));
            }
        }
        Ok(Self { settings, client })
    }

    async fn send_email(&self, message: &ProviderMessage, to: &str, mail: Message) -> SendOutcome {
        let tag = MessageTag::builder().name("parcel").value(hashed_id(&message.key)).build();
        let config = aws_sdk_sesv2::config::Builder::new()
            .retry_config(aws::no_retries())
            .timeout_config(aws::timeouts(self.settings.timeout_ms));
        let sent = self
            .client
            .send_email()
            .from_email_address(&self.settings.from)
            .set_reply_to_addresses(self.settings.reply_to.clone().map(|mailbox| vec![mailbox]))
            .set_configuration_set_name(self.settings.configuration_set.clone())
            .destination(Destination::builder().to_addresses(to).build())
            .content(EmailContent::builder().simple(mail).build())
            .set_email_tags(tag.ok().map(|tag| vec![tag]))
            .customize()
            .config_override(config)
            .send()
            .await;
        match sent {
            Ok(sent) => accepted(sent.message_id),
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
            Some(Ok(mail)) => self.send_email(message, address, mail).await,
            _ => refused(Class::Content, "not a mail"),
        }
    }
}

fn mail(
    content: &Content,
    headers: &[(&'static str, String)],
) -> Option<Result<Message, BuildError>> {
    let Content::Email { subject, text, html } = content else { return None };
    let build = || {
        let utf8 = |data: &str| Text::builder().data(data).charset("UTF-8").build();
        let headers = headers
            .iter()
            .map(|(name, value)| MessageHeader::builder().name(*name).value(value).build())
            .collect::<Result<Vec<_>, _>>()?;
        let html = html.as_deref().map(utf8).transpose()?;
        let body = Body::builder().text(utf8(text)?).set_html(html).build();
        let headers = (!headers.is_empty()).then_some(headers);
        let subject = utf8(&one_line(subject))?;
        Ok(Message::builder().subject(subject).body(body).set_headers(headers).build())
    };
    Some(build())
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
