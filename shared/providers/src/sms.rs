//! Text messages by SNS.
//!
//! Guarantee: a message is sent once or not at all: SNS recognises no repeat, so that a message
//! that may have arrived is left unknown.

use async_trait::async_trait;
use aws_sdk_sns::Client;
use aws_sdk_sns::types::MessageAttributeValue;
use domain::Timestamp;
use domain::notifications::{Address, Class, Content, ProviderMessage, SendOutcome};

use crate::Provider;
use crate::aws::{self, ServiceError};
use crate::outcome::{accepted, refused, unsupported_address};
use crate::settings::SmsSettings;

/// SNS cuts a longer text into several messages, and takes no more than that.
const MAX_CHARS: usize = 1600;

#[derive(Debug)]
pub struct Sms {
    settings: SmsSettings,
    client: Client,
}

impl Sms {
    /// Publishes with `client`.
    pub fn new(settings: SmsSettings, client: Client) -> Self {
        Self { settings, client }
    }

    fn attributes(&self, message: &ProviderMessage) -> Vec<(&'static str, MessageAttributeValue)> {
        let sms_type = if message.urgent { "Transactional" } else { "Promotional" };
        let named = [
            ("AWS.SNS.SMS.SMSType", Some(sms_type)),
            ("AWS.SNS.SMS.SenderID", self.settings.sender_id.as_deref()),
            ("AWS.MM.SMS.OriginationNumber", self.settings.origination_number.as_deref()),
        ];
        let text = |value: &str| {
            let built = MessageAttributeValue::builder().data_type("String").string_value(value);
            built.build().ok()
        };
        named.into_iter().filter_map(|(name, value)| Some((name, text(value?)?))).collect()
    }
}

#[async_trait]
impl Provider for Sms {
    fn name(&self) -> &'static str {
        "sns"
    }

    fn supports(&self, address: &Address) -> bool {
        matches!(address, Address::Phone { .. })
    }

    async fn send(&self, message: &ProviderMessage, _: Timestamp) -> SendOutcome {
        let Address::Phone { number } = &message.to else { return unsupported_address() };
        let Content::Sms { text } = &message.content else {
            return refused(Class::Content, "not a text message");
        };
        if !is_e164(number) {
            return refused(Class::InvalidRecipient, "not a number");
        }
        if text.is_empty() || text.chars().count() > MAX_CHARS {
            return refused(Class::Content, "empty, or longer than SNS takes");
        }
        let mut call = self.client.publish().phone_number(number).message(text);
        for (name, value) in self.attributes(message) {
            call = call.message_attributes(name, value);
        }
        let config = aws_sdk_sns::config::Builder::new()
            .retry_config(aws::no_retries())
            .timeout_config(aws::timeouts(self.settings.timeout_ms));
        match call.customize().config_override(config).send().await {
            Ok(published) => accepted(published.message_id),
            Err(error) => aws::outcome(&error, &message.to, classify),
        }
    }
}

/// `+`, a digit that is not 0, and 7 to 15 digits in all.
fn is_e164(number: &str) -> bool {
    let Some(digits) = number.strip_prefix('+') else { return false };
    (7..=15).contains(&digits.len())
        && !digits.starts_with('0')
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn classify(error: &ServiceError<'_>) -> Class {
    if let Some(class) = aws::classify_common(error) {
        return class;
    }
    let message = error.message.to_ascii_lowercase();
    match error.code {
        "OptedOut" | "OptedOutException" => Class::OptedOut,
        "InvalidParameter"
        | "InvalidParameterValue"
        | "ParameterValueInvalid"
        | "InvalidParameterException"
        | "ValidationError" => {
            if message.contains("opted out") {
                Class::OptedOut
            } else if message.contains("message") {
                Class::Content
            } else {
                Class::InvalidRecipient
            }
        }
        "UserErrorException" | "ValidationException" => Class::Content,
        _ if error.code.starts_with("KMS") => Class::Outage,
        _ => Class::Unrecognised,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_has_a_class() {
        for (status, code, message, class) in [
            (400, "Throttling", "Rate exceeded", Class::RateLimited),
            (400, "ThrottledException", "", Class::RateLimited),
            (429, "", "", Class::RateLimited),
            (400, "InvalidParameter", "PhoneNumber Reason: not valid", Class::InvalidRecipient),
            (400, "InvalidParameterValue", "", Class::InvalidRecipient),
            (400, "InvalidParameter", "Message too long", Class::Content),
            (400, "InvalidParameter", "Phone number is opted out", Class::OptedOut),
            (400, "OptedOut", "", Class::OptedOut),
            (403, "AuthorizationError", "", Class::Outage),
            (403, "SignatureDoesNotMatch", "", Class::Outage),
            (403, "InvalidClientTokenId", "", Class::Outage),
            (400, "KMSDisabled", "", Class::Outage),
            (500, "InternalError", "", Class::Outage),
            (503, "ServiceUnavailable", "", Class::Outage),
            (400, "SomethingNew", "", Class::Unrecognised),
        ] {
            assert_eq!(classify(&ServiceError { code, message, status }), class, "{status} {code}");
        }
    }

    #[test]
    fn a_number_is_international_or_none() {
        for (number, is) in [
            ("+15551234567", true),
            ("+4930123456", true),
            ("+0123456789", false),
            ("15551234567", false),
            ("+1555123", true),
            ("+155512", false),
            ("+1234567890123456", false),
            ("+1 555 1234567", false),
            ("+1555123456a", false),
            ("", false),
        ] {
            assert_eq!(is_e164(number), is, "{number}");
        }
    }
}
