//! The two ways a call can end badly: the caller is refused, or the machinery failed.
//!
//! A refusal carries a [`Code`] and knows no status codes; `wire` alone turns it into the form an
//! AWS SDK expects.

use std::error::Error as StdError;

pub(crate) type Result<T = (), E = Error> = std::result::Result<T, E>;

/// Why a call did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller asked for something that cannot be done; asking again will not help.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The storage underneath failed; nothing of the call was kept.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// The machinery broke: what was being done, and the cause as `source()`.
#[derive(Debug, thiserror::Error)]
#[error("could not {action}")]
pub struct Failure {
    action: &'static str,
    #[source]
    cause: Box<dyn StdError + Send + Sync>,
}

impl Failure {
    pub(crate) fn new(
        action: &'static str,
        cause: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        Self { action, cause: cause.into() }
    }

    /// Names the call that failed instead of the statement inside it.
    pub(crate) fn during(self, action: &'static str) -> Self {
        Self { action, ..self }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(cause: rusqlite::Error) -> Self {
        Self::Failed(Failure::new("run a statement", cause))
    }
}

impl From<serde_json::Error> for Error {
    /// Only stored JSON takes this path; what callers send is parsed where it can be refused.
    fn from(cause: serde_json::Error) -> Self {
        Self::Failed(Failure::new("read stored JSON", cause))
    }
}

/// The caller's mistake, in words that an AWS SDK shows to its user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// Which mistake it was.
    pub code: Code,
    /// What was wrong with this call.
    pub message: String,
}

impl Refused {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Shortens `return Err(..)` where a call is refused.
pub(crate) fn refuse<T>(code: Code, message: impl Into<String>) -> Result<T, Refused> {
    Err(Refused::new(code, message))
}

/// The mistakes that SQS and SNS tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Code {
    BatchEntryIdsNotDistinct,
    BatchRequestTooLong,
    EmptyBatchRequest,
    InvalidAction,
    InvalidAttributeName,
    InvalidAttributeValue,
    InvalidBatchEntryId,
    InvalidMessageContents,
    InvalidParameterValue,
    MessageNotInflight,
    MissingParameter,
    QueueDoesNotExist,
    QueueNameExists,
    ReceiptHandleIsInvalid,
    ResourceNotFound,
    SerializationException,
    TooManyEntriesInBatchRequest,
    UnsupportedOperation,
    TopicNotFound,
    SubscriptionNotFound,
    InvalidTopicParameter,
}
