//! The JSON that SNS wraps around a message unless the subscription wants it raw.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use serde::Serialize;

use crate::error::Result;
use crate::fanout::Publication;
use crate::message::AttributeValue;
use crate::names::REGION;

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Envelope<'a> {
    r#type: &'a str,
    message_id: &'a str,
    topic_arn: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    message: &'a str,
    timestamp: String,
    signature_version: &'a str,
    signature: &'a str,
    #[serde(rename = "SigningCertURL")]
    signing_cert_url: String,
    #[serde(rename = "UnsubscribeURL")]
    unsubscribe_url: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    message_attributes: BTreeMap<&'a str, Attribute<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Attribute<'a> {
    r#type: &'a str,
    value: String,
}

/// Wraps a publication as a subscriber that does not want it raw gets it. The signature is made
/// up: there is no key here to sign with.
pub(crate) fn wrap(
    publication: &Publication,
    (id, topic_arn, subscription_arn): (&str, &str, &str),
    now: i64,
) -> Result<String> {
    let host = format!("http://sns.{REGION}.localhost");
    let envelope = Envelope {
        r#type: "Notification",
        message_id: id,
        topic_arn,
        subject: publication.subject.as_deref(),
        message: &publication.message,
        timestamp: timestamp(now),
        signature_version: "1",
        signature: "EXAMPLE",
        signing_cert_url: format!("{host}/SimpleNotificationService.pem"),
        unsubscribe_url: format!("{host}/?Action=Unsubscribe&SubscriptionArn={subscription_arn}"),
        message_attributes: publication
            .attributes
            .iter()
            .map(|(name, value)| (name.as_str(), attribute(value)))
            .collect(),
    };
    Ok(serde_json::to_string(&envelope)?)
}

fn attribute(value: &AttributeValue) -> Attribute<'_> {
    let text = match (&value.string_value, &value.binary_value) {
        (Some(text), _) => text.clone(),
        (None, Some(bytes)) => STANDARD.encode(bytes),
        (None, None) => String::new(),
    };
    Attribute { r#type: &value.data_type, value: text }
}

/// Milliseconds since the epoch as `2012-03-29T05:12:16.901Z`.
fn timestamp(ms: i64) -> String {
    let time = Timestamp::from_millisecond(ms).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_written_as_sns_writes_them() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_332_997_936_901, "2012-03-29T05:12:16.901Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(timestamp(ms), text);
        }
    }
}
