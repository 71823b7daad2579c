//! One way to put a message on a queue, with the trace it belongs to.

use aws_sdk_sqs::types::MessageAttributeValue;
use domain::Failure;

use crate::TRACEPARENT;

/// Sends `body`, if it could be written; it arrives `delay` seconds later at the earliest.
pub(crate) async fn send(
    client: &aws_sdk_sqs::Client,
    queue_url: &str,
    body: Result<String, impl Into<Box<dyn std::error::Error + Send + Sync>>>,
    delay: u32,
    traceparent: &str,
    action: &'static str,
) -> Result<(), Failure> {
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
