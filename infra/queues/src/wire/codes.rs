//! What SQS and SNS call the mistakes of a caller.

use crate::error::Code;

/// What SQS calls a mistake in its JSON protocol and in its Query protocol.
pub(crate) fn sqs_names(code: Code) -> (&'static str, &'static str) {
    match code {
        Code::BatchEntryIdsNotDistinct => {
            ("BatchEntryIdsNotDistinct", "AWS.SimpleQueueService.BatchEntryIdsNotDistinct")
        }
        Code::BatchRequestTooLong => {
            ("BatchRequestTooLong", "AWS.SimpleQueueService.BatchRequestTooLong")
        }
        Code::EmptyBatchRequest => {
            ("EmptyBatchRequest", "AWS.SimpleQueueService.EmptyBatchRequest")
        }
        Code::InvalidBatchEntryId => {
            ("InvalidBatchEntryId", "AWS.SimpleQueueService.InvalidBatchEntryId")
        }
        Code::MessageNotInflight => {
            ("MessageNotInflight", "AWS.SimpleQueueService.MessageNotInflight")
        }
        Code::QueueDoesNotExist => ("QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue"),
        Code::TooManyEntriesInBatchRequest => {
            ("TooManyEntriesInBatchRequest", "AWS.SimpleQueueService.TooManyEntriesInBatchRequest")
        }
        Code::UnsupportedOperation => {
            ("UnsupportedOperation", "AWS.SimpleQueueService.UnsupportedOperation")
        }
        Code::QueueNameExists => ("QueueNameExists", "QueueAlreadyExists"),
        Code::InvalidParameterValue => ("InvalidParameterValueException", "InvalidParameterValue"),
        Code::MissingParameter => ("MissingRequiredParameterException", "MissingParameter"),
        Code::ResourceNotFound => ("ResourceNotFoundException", "ResourceNotFoundException"),
        Code::InvalidAction => ("InvalidAction", "InvalidAction"),
        Code::InvalidAttributeName => ("InvalidAttributeName", "InvalidAttributeName"),
        Code::InvalidAttributeValue => ("InvalidAttributeValue", "InvalidAttributeValue"),
        Code::InvalidMessageContents => ("InvalidMessageContents", "InvalidMessageContents"),
        Code::ReceiptHandleIsInvalid => ("ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid"),
        Code::SerializationException => ("SerializationException", "SerializationException"),
        Code::TopicNotFound | Code::SubscriptionNotFound => ("NotFound", "NotFound"),
        Code::InvalidTopicParameter => ("InvalidParameter", "InvalidParameter"),
    }
}

/// What SNS calls a mistake.
pub(crate) fn sns_name(code: Code) -> &'static str {
    let (shape, query_code) = sqs_names(code);
    if code == Code::InvalidParameterValue {
        return "ParameterValueInvalid";
    }
    // Those about batches are spelt alike, without the prefix that SQS gives them.
    if query_code.starts_with("AWS.") { shape } else { query_code }
}
