//! The JSON that SNS wraps around a message unless the subscription wants it raw.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Serialize;

use crate::error::Error;
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
) -> Result<String, Error> {
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
    let (days, in_day) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    let (year, month, day) = civil(days);
    let (hours, minutes) = (in_day / 3_600_000, in_day / 60_000 % 60);
    let (seconds, millis) = (in_day / 1_000 % 60, in_day % 1_000);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{millis:03}Z")
}

/// The calendar day that is so many days after 1970-01-01, counted in eras of 400 years that begin
/// in March, so that the leap day is the last of its year.
fn civil(days: i64) -> (i64, i64, i64) {
    let since_era_zero = days + 719_468;
    let (era, day_of_era) =
        (since_era_zero.div_euclid(146_097), since_era_zero.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
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
