//! Queue attributes: which there are, what they may be, and what a queue does when they are absent.

mod redrive;

use std::collections::BTreeMap;

use crate::error::{Code, Refused, refuse};
pub(crate) use redrive::{Redrive, RedriveAllow};

/// Attributes as SDKs send and read them: text by name.
pub type Attributes = BTreeMap<String, String>;

/// The numeric attributes: name, least, max, and the value when absent.
const NUMBERS: [(&str, i64, i64, i64); 6] = [
    ("DelaySeconds", 0, 900, 0),
    ("MaximumMessageSize", 1_024, 1_048_576, 1_048_576),
    ("MessageRetentionPeriod", 60, 1_209_600, 345_600),
    ("ReceiveMessageWaitTimeSeconds", 0, 20, 0),
    ("VisibilityTimeout", 0, 43_200, 30),
    ("KmsDataKeyReusePeriodSeconds", 60, 86_400, 300),
];

/// Attributes that are kept and shown but that change nothing here.
const STORED_ONLY: [&str; 3] = ["Policy", "KmsMasterKeyId", "SqsManagedSseEnabled"];

/// Attributes that only FIFO queues have.
const FIFO: [&str; 4] =
    ["FifoQueue", "ContentBasedDeduplication", "DeduplicationScope", "FifoThroughputLimit"];

/// The attributes that are computed when a queue is described.
pub(crate) const COMPUTED: [&str; 6] = [
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesDelayed",
    "ApproximateNumberOfMessagesNotVisible",
    "CreatedTimestamp",
    "LastModifiedTimestamp",
    "QueueArn",
];

/// What a queue does, with the defaults filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) delay_ms: i64,
    pub(crate) visibility_ms: i64,
    pub(crate) retention_ms: i64,
    pub(crate) wait_seconds: i64,
    pub(crate) max_message_size: usize,
    pub(crate) redrive: Option<Redrive>,
}

impl Settings {
    /// Reads attributes that [`check`] has let through.
    pub(crate) fn from_attributes(attributes: &Attributes) -> Self {
        let number = |name| number(attributes, name);
        Self {
            delay_ms: number("DelaySeconds") * 1_000,
            visibility_ms: number("VisibilityTimeout") * 1_000,
            retention_ms: number("MessageRetentionPeriod") * 1_000,
            wait_seconds: number("ReceiveMessageWaitTimeSeconds"),
            max_message_size: usize::try_from(number("MaximumMessageSize")).unwrap_or(usize::MAX),
            redrive: attributes.get("RedrivePolicy").and_then(|text| Redrive::read(text).ok()),
        }
    }
}

/// A numeric attribute, or its default.
fn number(attributes: &Attributes, name: &str) -> i64 {
    let default = NUMBERS.iter().find(|row| row.0 == name).map_or(0, |row| row.3);
    attributes.get(name).and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Every attribute that a caller may set, with the value that counts for this queue. Attributes
/// without a default are left out while unset.
pub(crate) fn effective(attributes: &Attributes) -> Attributes {
    let mut all: Attributes = NUMBERS
        .iter()
        .filter(|row| row.0 != "KmsDataKeyReusePeriodSeconds")
        .map(|row| (row.0.to_owned(), row.3.to_string()))
        .collect();
    all.insert("SqsManagedSseEnabled".into(), "true".into());
    all.extend(attributes.clone());
    all
}

/// Whether `GetQueueAttributes` may be asked for this attribute.
pub(crate) fn is_known(name: &str) -> bool {
    name == "All" || COMPUTED.contains(&name) || is_settable(name) || FIFO.contains(&name)
}

fn is_settable(name: &str) -> bool {
    NUMBERS.iter().any(|row| row.0 == name)
        || STORED_ONLY.contains(&name)
        || name == "RedrivePolicy"
        || name == "RedriveAllowPolicy"
}

/// Refuses attributes that SQS would refuse by themselves, without a look at other queues.
pub(crate) fn check(attributes: &Attributes) -> Result<(), Refused> {
    attributes.iter().try_for_each(|(name, value)| check_one(name, value))
}

fn check_one(name: &str, value: &str) -> Result<(), Refused> {
    if FIFO.contains(&name) {
        let message = format!("FIFO queues are not offered here, so neither is {name}.");
        return refuse(Code::UnsupportedOperation, message);
    }
    if !is_settable(name) {
        return refuse(Code::InvalidAttributeName, format!("Unknown Attribute {name}."));
    }
    let fits = match NUMBERS.iter().find(|row| row.0 == name) {
        Some((_, min, max, _)) => {
            value.parse::<i64>().is_ok_and(|number| (*min..=*max).contains(&number))
        }
        // An empty policy takes the policy away.
        None if value.is_empty() => true,
        None if name == "RedrivePolicy" => return Redrive::read(value).map(|_| ()),
        None if name == "RedriveAllowPolicy" => return RedriveAllow::read(value).map(|_| ()),
        None => true,
    };
    if fits { Ok(()) } else { refuse(Code::InvalidAttributeValue, invalid(name, value, "range")) }
}

fn invalid(name: &str, value: &str, reason: &str) -> String {
    format!("Value {value} for parameter {name} is invalid. Reason: {reason}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names;

    #[test]
    fn attributes_are_taken_within_their_ranges_only() {
        let policy = |count: &str| {
            format!(
                r#"{{"deadLetterTargetArn":"{}","maxReceiveCount":{count}}}"#,
                names::queue_arn("d")
            )
        };
        let table = [
            ("VisibilityTimeout", "0", true),
            ("VisibilityTimeout", "43200", true),
            ("VisibilityTimeout", "43201", false),
            ("MessageRetentionPeriod", "59", false),
            ("MessageRetentionPeriod", "1209600", true),
            ("DelaySeconds", "901", false),
            ("DelaySeconds", "soon", false),
            ("MaximumMessageSize", "1023", false),
            ("RedrivePolicy", &policy("3"), true),
            ("RedrivePolicy", &policy("\"3\""), true),
            ("RedrivePolicy", &policy("0"), false),
            ("RedrivePolicy", "{}", false),
            ("RedrivePolicy", "", true),
            ("RedriveAllowPolicy", r#"{"redrivePermission":"denyAll"}"#, true),
            ("RedriveAllowPolicy", r#"{"redrivePermission":"byQueue"}"#, false),
            ("FifoQueue", "true", false),
            ("Nonsense", "1", false),
            ("QueueArn", "arn", false),
        ];
        for (name, value, fits) in table {
            let attributes = Attributes::from([(name.into(), value.into())]);
            assert_eq!(check(&attributes).is_ok(), fits, "{name}={value}");
        }
    }

    #[test]
    fn a_queue_without_attributes_has_the_defaults_of_aws() {
        let settings = Settings::from_attributes(&Attributes::new());
        assert_eq!((settings.visibility_ms, settings.delay_ms), (30_000, 0));
        assert_eq!((settings.retention_ms, settings.max_message_size), (345_600_000, 1_048_576));
        assert_eq!(settings.redrive, None);
    }
}
