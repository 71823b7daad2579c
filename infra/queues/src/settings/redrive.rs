//! The two policies about dead letters: where a queue sends its own, and whose it takes.

use serde::Deserialize;
use serde_json::Value;

use super::invalid;
use crate::error::{Code, Refused};
use crate::names;

/// Where messages go that were received too often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Redrive {
    pub(crate) target: String,
    pub(crate) max_receive_count: i64,
}

impl Redrive {
    /// Reads a redrive policy; `maxReceiveCount` may be a number or, as older tools write it, text.
    pub(super) fn read(text: &str) -> Result<Self, Refused> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Wire {
            dead_letter_target_arn: String,
            max_receive_count: Value,
        }
        let bad = |reason| {
            Refused::new(Code::InvalidParameterValue, invalid("RedrivePolicy", text, reason))
        };
        let wire: Wire = serde_json::from_str(text).map_err(|_| {
            bad("it must be a JSON object with deadLetterTargetArn and maxReceiveCount")
        })?;
        let target = names::queue_in_arn(&wire.dead_letter_target_arn)
            .ok_or_else(|| bad("deadLetterTargetArn must be the ARN of a queue"))?;
        let count = match &wire.max_receive_count {
            Value::String(digits) => digits.parse().ok(),
            Value::Number(number) => number.as_i64(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        match count {
            Some(max_receive_count @ 1..=1_000) => {
                Ok(Self { target: target.into(), max_receive_count })
            }
            _ => Err(bad("maxReceiveCount must be between 1 and 1000")),
        }
    }
}

/// Which queues may use a queue as their dead letter queue.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RedriveAllow {
    redrive_permission: Permission,
    #[serde(default)]
    source_queue_arns: Vec<String>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
enum Permission {
    AllowAll,
    DenyAll,
    ByQueue,
}

impl RedriveAllow {
    /// Reads the attribute's text.
    pub(crate) fn read(text: &str) -> Result<Self, Refused> {
        let policy: Option<Self> = serde_json::from_str(text).ok();
        policy
            .filter(|policy| {
                let by_queue = policy.redrive_permission == Permission::ByQueue;
                policy.source_queue_arns.len() <= 10
                    && by_queue != policy.source_queue_arns.is_empty()
            })
            .ok_or_else(|| {
                let reason = "it must be a redrivePermission with, for byQueue alone, 1 to 10 \
                              sourceQueueArns";
                let message = invalid("RedriveAllowPolicy", text, reason);
                Refused::new(Code::InvalidParameterValue, message)
            })
    }

    /// Whether the queue with this ARN may send its dead letters here.
    pub(crate) fn allows(&self, source_arn: &str) -> bool {
        match self.redrive_permission {
            Permission::AllowAll => true,
            Permission::DenyAll => false,
            Permission::ByQueue => self.source_queue_arns.iter().any(|arn| arn == source_arn),
        }
    }
}
