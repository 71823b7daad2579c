//! Job types: how many may run at once, and where their work goes.

use serde::{Deserialize, Serialize};

use super::RetryPolicy;
use crate::{Rejected, Timestamp};

/// Names a type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TypeName(String);

impl TypeName {
    /// Accepts 1 to 64 of `a-z 0-9 . _ -`, starting with a letter or digit.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let fits = (1..=64).contains(&text.len())
            && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'))
            && text.as_bytes()[0].is_ascii_alphanumeric();
        if !fits {
            let rule = "1 to 64 of a-z, 0-9, '.', '_' and '-', starting with a letter or digit";
            return Err(Rejected::invalid("jobType", rule));
        }
        Ok(Self(text.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// How a type's jobs reach their workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// A message on the worker queue.
    Sqs,
    /// Workers ask for them.
    Poll,
}

/// What an admin decides about a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Settings {
    /// Holders at any moment; 0 lets nothing run.
    pub max_concurrent: u32,
    /// Over how many rows the licences are spread. One carries some 250 jobs a second.
    pub shards: u8,
    /// For jobs that say nothing about it.
    pub retry: RetryPolicy,
    /// For jobs that say nothing about it.
    pub timeout_seconds: u32,
    /// How its jobs reach their workers.
    pub delivery: Delivery,
    /// A job gains a level of priority for each of these that it has waited.
    pub aging_seconds: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_concurrent: 10,
            shards: 1,
            retry: RetryPolicy { max_attempts: 3, backoff_seconds: 5 },
            timeout_seconds: 3_600,
            delivery: Delivery::Sqs,
            aging_seconds: 300,
        }
    }
}

/// A day: a run that takes longer should be several jobs.
pub(super) const MAX_RUN_SECONDS: u32 = 86_400;

impl Settings {
    /// The most licences a type may have.
    pub const MOST: u32 = 100_000;

    /// The most rows that they may be spread over: all are changed in one transaction.
    pub const MAX_SHARDS: u8 = 16;

    /// Settings within bounds, or which field is not.
    pub fn checked(self) -> Result<Self, Rejected> {
        if self.max_concurrent > Self::MOST {
            return Err(Rejected::invalid("maxConcurrent", "0 to 100000"));
        }
        if !(1..=Self::MAX_SHARDS).contains(&self.shards) {
            return Err(Rejected::invalid("licenceShards", "1 to 16"));
        }
        if !(1..=MAX_RUN_SECONDS).contains(&self.timeout_seconds) {
            return Err(Rejected::invalid("timeoutSeconds", "1 to 86400"));
        }
        if !(1..=MAX_RUN_SECONDS).contains(&self.aging_seconds) {
            return Err(Rejected::invalid("agingSeconds", "1 to 86400"));
        }
        self.retry.checked()?;
        Ok(self)
    }
}

/// A type as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobType {
    pub name: TypeName,
    /// What was decided about it.
    pub settings: Settings,
    /// When that was; never, for what comes with the product.
    pub updated_at: Option<Timestamp>,
    /// Over how many rows its licences were ever spread: the rows that may have holders.
    pub widest: u8,
    /// Grows with each change; 0 for what comes with the product.
    pub version: u64,
}

/// The demo types that the sample worker knows. They need no row: a fresh stack runs them.
pub const fn builtins() -> [&'static str; 4] {
    ["echo", "sleep", "hash-file", "fail-n-times"]
}

/// The type of that name that comes with the product, if one does.
pub fn builtin(name: &TypeName) -> Option<JobType> {
    builtins().contains(&name.as_str()).then(|| JobType {
        name: name.clone(),
        settings: Settings::default(),
        updated_at: None,
        widest: 1,
        version: 0,
    })
}
