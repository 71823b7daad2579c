//! What all senders share: one message on a queue with its trace, and the parts of a batch.

use aws_sdk_sqs::types::MessageAttributeValue;
use domain::{Failure, Result};

use crate::TRACEPARENT;

/// Messages in one call.
pub(crate) const MAX_BATCH: usize = 10;

/// Sends `body`, if it could be written; it arrives `delay` seconds later at the earliest.
pub(crate) async fn send(
    client: &aws_sdk_sqs::Client,
    queue_url: &str,
    body: Result<String, impl Into<Box<dyn std::error::Error + Send + Sync>>>,
    delay: u32,
    traceparent: &str,
    action: &'static str,
) -> Result {
    let body = body.map_err(|cause| Failure::new(action, cause))?;
    let trace = MessageAttributeValue::builder()
        .data_type("String")
        .string_value(traceparent)
        .build()
        .map_err(|cause| Failure::new(action, cause))?;
    client
        .send_message()
        .queue_url(queue_url)
        .message_body(body)
        .set_delay_seconds((delay > 0).then(|| i32::try_from(delay).unwrap_or(0)))
        .message_attributes(TRACEPARENT, trace)
        .send()
        .await
        .map_err(|cause| Failure::new(action, cause))?;
    Ok(())
}

/// The message group of a fair queue (a user). A name that is no valid `MessageGroupId` has no group.
pub(crate) fn group_id(name: &str) -> Option<String> {
    let fits = (1..=128).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_graphic());
    fits.then(|| name.to_owned())
}

/// SQS accepts or refuses a batch message by message; one that is refused fails the call.
pub(crate) fn reject_failed<'a>(
    mut failed: impl Iterator<Item = &'a str>,
    action: &'static str,
) -> Result {
    match failed.next() {
        None => Ok(()),
        Some(code) => Err(Failure::new(action, format!("a message was refused: {code}"))),
    }
}

/// Why a message could not be built.
pub(crate) struct BuildError(Box<dyn std::error::Error + Send + Sync>);

impl BuildError {
    pub(crate) fn new(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }

    pub(crate) fn within(self, action: &'static str) -> Failure {
        Failure::new(action, self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_can_be_no_group_have_none() {
        for (name, fits) in [
            ("ada", true),
            ("auth0|42", true),
            ("ada lovelace", false),
            ("zoë", false),
            ("", false),
        ] {
            assert_eq!(group_id(name).is_some(), fits, "{name}");
        }
        assert_eq!(group_id(&"x".repeat(129)), None);
    }
}
