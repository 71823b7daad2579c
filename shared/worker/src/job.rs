//! What a handler takes and returns.

use std::fmt;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;

/// The longest error that the API takes is 1,000 characters; this is in bytes.
const MAX_ERROR_LENGTH: usize = 1_000;

/// A job to run.
#[derive(Debug, Clone)]
pub struct Job {
    /// Its id.
    pub id: String,
    /// Its type.
    pub job_type: String,
    /// The number of this run, counted from 1.
    pub attempt: u32,
    /// The longest that it may run before another worker gets it.
    pub timeout: Duration,
    pub(crate) payload: Value,
}

impl Job {
    /// The payload, as a `T`. Another run would get the same one, so that a payload of another shape fails
    /// the job for good.
    pub fn payload<T: DeserializeOwned>(&self) -> Result<T, Error> {
        T::deserialize(&self.payload)
            .map_err(|cause| Error::permanent(format!("the payload does not fit: {cause}")))
    }
}

/// The output of a job that is done. Artifacts that were uploaded through its context are added to it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobOutput {
    /// The names of further artifacts.
    pub artifacts: Vec<String>,
    /// JSON, at most 4 KB.
    pub result: Option<Value>,
}

impl JobOutput {
    /// Without a result.
    pub fn new() -> Self {
        Self::default()
    }

    /// With a result of at most 4 KB.
    pub fn with_result(result: Value) -> Self {
        Self { artifacts: Vec::new(), result: Some(result) }
    }
}

/// Why a job failed. Any error that `?` converts is retryable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    message: String,
    retryable: bool,
}

impl Error {
    /// Another run may succeed.
    pub fn retryable(message: impl Into<String>) -> Self {
        Self { message: shortened(message.into()), retryable: true }
    }

    /// Another run would fail too.
    pub fn permanent(message: impl Into<String>) -> Self {
        Self { message: shortened(message.into()), retryable: false }
    }

    /// Whether another run may succeed.
    pub const fn is_retryable(&self) -> bool {
        self.retryable
    }

    /// The reason, at most 1,000 bytes.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// This is why [`Error`] is no [`std::error::Error`] itself: the two would overlap.
impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message.push_str(": ");
            message.push_str(&cause.to_string());
            source = cause.source();
        }
        Self::retryable(message)
    }
}

fn shortened(mut message: String) -> String {
    message.truncate(message.floor_char_boundary(MAX_ERROR_LENGTH));
    if message.is_empty() { "no reason was given".to_owned() } else { message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_cut_between_characters_and_never_empty() {
        let error = Error::retryable("ä".repeat(600));
        assert_eq!(error.message(), "ä".repeat(500));
        let error = Error::permanent(format!("a{}", "ä".repeat(600)));
        assert_eq!(error.message().len(), 999);
        assert_eq!(Error::retryable("").message(), "no reason was given");
    }

    #[test]
    fn a_converted_error_is_retryable_and_keeps_its_causes() {
        let cause = std::io::Error::other(std::io::Error::other("the disk is full"));
        let error = Error::from(cause);
        assert!(error.is_retryable());
        assert!(error.message().contains("the disk is full"));
    }
}
