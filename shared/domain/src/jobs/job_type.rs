//! Job types: how many may run at once, and where their work goes.

use serde::{Deserialize, Serialize};

use super::RetryPolicy;
use crate::{Rejected, Timestamp};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobTypeName(String);

impl JobTypeName {
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

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// How a type's jobs reach their workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryMode {
    /// A message on the worker queue.
    Sqs,
    /// Workers claim them over HTTP.
    Poll,
}

/// What an admin sets for a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct JobTypeSettings {
    /// Licences: jobs that may be ASSIGNED or RUNNING at once; 0 pauses the type.
    pub max_concurrent: u32,
    /// Rows that the licences are split over. One carries some 250 jobs a second.
    pub licence_shards: u8,
    /// For jobs that bring no policy of their own.
    pub retry: RetryPolicy,
    /// For jobs that bring no timeout of their own.
    pub timeout_seconds: u32,
    pub delivery: DeliveryMode,
    /// A job gains a level of priority for each of these that it has waited.
    pub aging_seconds: u32,
}

impl Default for JobTypeSettings {
    fn default() -> Self {
        Self {
            max_concurrent: 10,
            licence_shards: 1,
            retry: RetryPolicy { max_attempts: 3, backoff_seconds: 5 },
            timeout_seconds: 3_600,
            delivery: DeliveryMode::Sqs,
            aging_seconds: 300,
        }
    }
}

/// A day: a run that takes longer should be several jobs.
pub(super) const MAX_RUN_SECONDS: u32 = 86_400;

impl JobTypeSettings {
    pub const MAX_CONCURRENT: u32 = 100_000;

    /// All shards are changed in one transaction.
    pub const MAX_SHARDS: u8 = 16;

    /// The settings if they are within bounds, or the field that is not.
    pub fn checked(self) -> Result<Self, Rejected> {
        if self.max_concurrent > Self::MAX_CONCURRENT {
            return Err(Rejected::invalid("maxConcurrent", "0 to 100000"));
        }
        if !(1..=Self::MAX_SHARDS).contains(&self.licence_shards) {
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobType {
    pub name: JobTypeName,
    pub settings: JobTypeSettings,
    /// `None` for a built-in type that no admin has changed.
    pub updated_at: Option<Timestamp>,
    /// The most shards its licences were ever split over: rows that may still have holders.
    pub peak_shards: u8,
    /// Grows with each change; 0 for a built-in type that no admin has changed.
    pub version: u64,
}

impl JobType {
    /// Shards whose rows may have holders.
    pub fn shard_count(&self) -> u8 {
        self.peak_shards.max(self.settings.licence_shards)
    }
}

/// The demo types that the sample worker knows. They need no row: a fresh stack runs them.
pub const fn builtin_job_type_names() -> [&'static str; 4] {
    ["echo", "sleep", "hash-file", "fail-n-times"]
}

pub fn builtin_job_type(name: &JobTypeName) -> Option<JobType> {
    builtin_job_type_names().contains(&name.as_str()).then(|| JobType {
        name: name.clone(),
        settings: JobTypeSettings::default(),
        updated_at: None,
        peak_shards: 1,
        version: 0,
    })
}
