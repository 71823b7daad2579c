//! Messages: what is sent, what is received, and the rules that a message must keep.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::error::{Code, Refused, refuse};

/// Message attributes by name; the order is the one that digests need.
pub type MessageAttributes = BTreeMap<String, AttributeValue>;

/// One message attribute, in the JSON form that SQS speaks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct AttributeValue {
    /// `String`, `Number` or `Binary`, perhaps with a label after a dot.
    pub data_type: String,
    /// The value of a `String` or `Number`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub string_value: Option<String>,
    /// The value of a `Binary`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "write_base64",
        deserialize_with = "read_base64"
    )]
    pub binary_value: Option<Vec<u8>>,
}

impl AttributeValue {
    /// A `String` attribute.
    pub fn string(value: impl Into<String>) -> Self {
        Self { data_type: "String".into(), string_value: Some(value.into()), binary_value: None }
    }

    fn size(&self) -> usize {
        self.data_type.len()
            + self.string_value.as_ref().map_or(0, String::len)
            + self.binary_value.as_ref().map_or(0, Vec::len)
    }
}

/// A message that is about to be sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewMessage {
    /// The text itself.
    pub body: String,
    /// The sender's own attributes.
    pub attributes: MessageAttributes,
    /// Seconds until it can be received; the queue's own delay when absent.
    pub delay: Option<u32>,
    /// The tenant it belongs to, for fair receiving.
    pub group: Option<String>,
    /// The X-Ray header that travels with it.
    pub trace_header: Option<String>,
}

impl NewMessage {
    /// A message with nothing but a body.
    pub fn text(body: impl Into<String>) -> Self {
        Self { body: body.into(), ..Self::default() }
    }

    /// The bytes that count against the size limits of queues and batches.
    pub(crate) fn size(&self) -> usize {
        self.body.len() + self.attributes.iter().map(|(k, v)| k.len() + v.size()).sum::<usize>()
    }

    /// Refuses what SQS would refuse, for a queue that takes messages of up to `max_message_size` bytes.
    pub(crate) fn check(&self, max_message_size: usize) -> Result<(), Refused> {
        if self.body.is_empty() {
            let message = "The request must contain the parameter MessageBody.";
            return refuse(Code::MissingParameter, message);
        }
        if !self.body.chars().all(is_allowed) {
            let message = "The message contains characters outside the allowed set.";
            return refuse(Code::InvalidMessageContents, message);
        }
        if self.size() > max_message_size {
            let message = format!(
                "One or more parameters are invalid. Reason: Message must be shorter than \
                 {max_message_size} bytes."
            );
            return refuse(Code::InvalidParameterValue, message);
        }
        if self.delay.is_some_and(|seconds| seconds > 900) {
            let message = "Value for parameter DelaySeconds is invalid. Reason: DelaySeconds must \
                           be >= 0 and <= 900.";
            return refuse(Code::InvalidParameterValue, message);
        }
        if self.group.as_ref().is_some_and(|group| !is_group(group)) {
            let message = "Value for parameter MessageGroupId is invalid. Reason: MessageGroupId \
                           can only include alphanumeric and punctuation characters. 1 to 128 in \
                           length.";
            return refuse(Code::InvalidParameterValue, message);
        }
        check_attributes(&self.attributes)
    }
}

/// Refuses an attribute whose name or value SQS would refuse.
pub(crate) fn check_attributes(attributes: &MessageAttributes) -> Result<(), Refused> {
    if attributes.len() > 10 {
        let message = format!(
            "Number of message attributes [{}] exceeds the allowed maximum [10].",
            attributes.len()
        );
        return refuse(Code::InvalidParameterValue, message);
    }
    attributes.iter().try_for_each(|(name, value)| check_attribute(name, value))
}

/// Refuses an attribute whose name or value SQS would refuse.
pub(crate) fn check_attribute(name: &str, value: &AttributeValue) -> Result<(), Refused> {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    let dotted = name.starts_with('.') || name.ends_with('.') || name.contains("..");
    let lower = name.to_ascii_lowercase();
    let reserved = lower.starts_with("aws.") || lower.starts_with("amazon.");
    if name.is_empty() || name.len() > 256 || !plain || dotted || reserved {
        let message = format!("The message attribute name '{name}' is invalid.");
        return refuse(Code::InvalidParameterValue, message);
    }
    let text = value.string_value.as_deref();
    let bytes = value.binary_value.as_deref();
    let fits = match value.data_type.split('.').next() {
        Some("String") => text.is_some_and(|t| !t.is_empty()) && bytes.is_none(),
        Some("Number") => text.is_some_and(|t| t.trim().parse::<f64>().is_ok()) && bytes.is_none(),
        Some("Binary") => bytes.is_some_and(|b| !b.is_empty()) && text.is_none(),
        _ => false,
    };
    if fits {
        return Ok(());
    }
    let message = format!(
        "The message attribute '{name}' must contain a non-empty value of its type \
         '{}', which must start with String, Number or Binary.",
        value.data_type
    );
    refuse(Code::InvalidParameterValue, message)
}

/// The characters that XML allows: SQS takes no others in any protocol.
fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{FFFD}' | '\u{10000}'..)
}

fn is_group(group: &str) -> bool {
    (1..=128).contains(&group.len()) && group.bytes().all(|b| b.is_ascii_graphic())
}

/// A message as a consumer gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Given by the queue when the message was sent; kept when it moves to the dead letters.
    pub id: String,
    /// Proves this very receive; each receive gives a new one, and only the newest deletes.
    pub receipt_handle: String,
    /// The text itself.
    pub body: String,
    /// The MD5 digest of the body, in hexadecimal.
    pub md5: String,
    /// System attributes, such as `ApproximateReceiveCount`.
    pub attributes: BTreeMap<String, String>,
    /// The sender's own attributes.
    pub message_attributes: MessageAttributes,
}

#[expect(clippy::ref_option, reason = "serde calls it with a reference to the field")]
fn write_base64<S: Serializer>(bytes: &Option<Vec<u8>>, to: S) -> Result<S::Ok, S::Error> {
    bytes.as_ref().map(|bytes| STANDARD.encode(bytes)).serialize(to)
}

fn read_base64<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<u8>>, D::Error> {
    Option::<String>::deserialize(from)?
        .map(|text| STANDARD.decode(text).map_err(D::Error::custom))
        .transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_at_the_limit_is_taken_and_one_byte_more_is_refused() {
        assert!(NewMessage::text("x".repeat(1024)).check(1024).is_ok());
        let refused = NewMessage::text("x".repeat(1025)).check(1024).unwrap_err();
        assert_eq!(refused.code, Code::InvalidParameterValue);
    }

    #[test]
    fn characters_outside_xml_are_refused() {
        assert!(NewMessage::text("tab\tnewline\nzoë 🚲").check(1024).is_ok());
        for bad in ["\u{0}", "\u{8}", "\u{b}", "\u{FFFE}", "\u{FFFF}"] {
            let refused = NewMessage::text(bad).check(1024).unwrap_err();
            assert_eq!(refused.code, Code::InvalidMessageContents, "{bad:?}");
        }
    }

    #[test]
    fn attributes_must_have_a_name_and_a_value_of_their_type() {
        let value = |data_type: &str, text: Option<&str>, bytes: Option<&[u8]>| AttributeValue {
            data_type: data_type.into(),
            string_value: text.map(Into::into),
            binary_value: bytes.map(Into::into),
        };
        let table = [
            ("a", value("String", Some("v"), None), true),
            ("a.b", value("String.label", Some("v"), None), true),
            ("n", value("Number", Some("-1.5e3"), None), true),
            ("b", value("Binary", None, Some(b"\0")), true),
            ("a", value("String", Some(""), None), false),
            ("n", value("Number", Some("many"), None), false),
            ("b", value("Binary", Some("v"), None), false),
            ("a", value("Text", Some("v"), None), false),
            ("AWS.a", value("String", Some("v"), None), false),
            (".a", value("String", Some("v"), None), false),
            ("a b", value("String", Some("v"), None), false),
        ];
        for (name, value, fits) in table {
            assert_eq!(check_attribute(name, &value).is_ok(), fits, "{name} {value:?}");
        }
    }
}
