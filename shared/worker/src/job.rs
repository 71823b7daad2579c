//! What a handler is given and what it answers.

use std::fmt;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;

/// What the API takes of a reason, in bytes.
const MAX_REASON_LENGTH: usize = 1_000;

/// A job to be done.
#[derive(Debug, Clone)]
pub struct Job {
    /// Its id.
    pub id: String,
    /// What kind of work it is.
    pub job_type: String,
    /// Which run of it this is, counted from 1.
    pub attempt: u32,
    /// How long it may run before it is taken away.
    pub timeout: Duration,
    pub(crate) payload: Value,
}

impl Job {
    /// What it was submitted with, as a `T`. Another run would find the same, so that a payload of
    /// another shape ends the job.
    pub fn payload<T: DeserializeOwned>(&self) -> Result<T, Error> {
        T::deserialize(&self.payload)
            .map_err(|cause| Error::give_up(format!("the payload does not fit: {cause}")))
    }
}

/// A job that is done. What was uploaded through its context is listed with it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Done {
    /// The names of what it left in the bucket.
    pub artifacts: Vec<String>,
    /// What it answers, at most 4 KB.
    pub result: Option<Value>,
}

impl Done {
    /// Done, with nothing to answer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Done, with an answer of at most 4 KB.
    pub fn with(result: Value) -> Self {
        Self { artifacts: Vec::new(), result: Some(result) }
    }
}

/// Why a job could not be done. Any error that `?` turns into one is worth another run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    message: String,
    retryable: bool,
}

impl Error {
    /// Another run might do better.
    pub fn retry(message: impl Into<String>) -> Self {
        Self { message: shortened(message.into()), retryable: true }
    }

    /// No other run would do better.
    pub fn give_up(message: impl Into<String>) -> Self {
        Self { message: shortened(message.into()), retryable: false }
    }

    /// Whether another run might do better.
    pub const fn is_retryable(&self) -> bool {
        self.retryable
    }

    /// Why, in at most 1,000 bytes.
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
        Self::retry(message)
    }
}

fn shortened(mut message: String) -> String {
    message.truncate(message.floor_char_boundary(MAX_REASON_LENGTH));
    if message.is_empty() { "no reason was given".to_owned() } else { message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_cut_between_characters_and_never_empty() {
        let error = Error::retry("ä".repeat(600));
        assert_eq!(error.message(), "ä".repeat(500));
        let error = Error::give_up(format!("a{}", "ä".repeat(600)));
        assert_eq!(error.message().len(), 999);
        assert_eq!(Error::retry("").message(), "no reason was given");
    }

    #[test]
    fn an_error_of_others_is_worth_another_run_and_keeps_its_causes() {
        let cause = std::io::Error::other(std::io::Error::other("the disk is full"));
        let error = Error::from(cause);
        assert!(error.is_retryable());
        assert!(error.message().contains("the disk is full"));
    }
}
