//! The body of a job to submit, alone or in bulk.

use boundary::http::{Problem, Result};
use domain::jobs::{
    self, JobId, JobPriority, JobType, OnDependencyFailure, PayloadLocation, RetryPolicy,
};
use domain::{Rejected, Timestamp};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// A job to submit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewJob {
    /// A type that exists; `GET /api/v1/job-types` lists them.
    pub(crate) job_type: String,
    /// `P0` to `P3`; `P2` if left out.
    #[schemars(with = "Option<String>")]
    pub(crate) priority: Option<String>,
    /// Any JSON, for the worker. Over 256 KB it is kept in a bucket, and the worker gets a link.
    pub(crate) payload: Option<Value>,
    /// A repeat with the same key and body within 24 hours gets the first answer. The header
    /// `Idempotency-Key` does the same.
    pub(crate) idempotency_key: Option<String>,
    /// The type's policy if left out.
    pub(crate) retry_policy: Option<RetryBody>,
    /// Ids of jobs that have to end first, at most 40.
    #[serde(default)]
    pub(crate) dependencies: Vec<String>,
    /// The earliest start.
    #[schemars(with = "Option<String>")]
    pub(crate) not_before: Option<Timestamp>,
    /// The longest that one run may take, 1 to 86400; the type's timeout if left out.
    pub(crate) timeout_seconds: Option<u32>,
    /// `fail` (if left out) or `run`: what happens if a dependency does not complete.
    #[schemars(with = "Option<String>")]
    pub(crate) on_dependency_failure: Option<OnDependencyFailure>,
}

/// How often a job is tried, and the backoff between runs.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RetryBody {
    /// 1 to 100.
    pub(crate) max_attempts: Option<u32>,
    /// Before the second run, 0 to 3600; doubled before each further one, and spread.
    pub(crate) backoff_seconds: Option<u32>,
}

impl RetryBody {
    pub(crate) fn or_defaults(self, defaults: RetryPolicy) -> RetryPolicy {
        RetryPolicy {
            max_attempts: self.max_attempts.unwrap_or(defaults.max_attempts),
            backoff_seconds: self.backoff_seconds.unwrap_or(defaults.backoff_seconds),
        }
    }
}

impl NewJob {
    pub(super) fn checked(
        &self,
        dependencies: Vec<JobId>,
        job_type: &JobType,
        payload: PayloadLocation,
        now: Timestamp,
    ) -> Result<jobs::Submission, Rejected> {
        let priority = match &self.priority {
            None => JobPriority::default(),
            Some(name) => JobPriority::from_name(name)
                .ok_or_else(|| Rejected::invalid("priority", "`P0`, `P1`, `P2` or `P3`"))?,
        };
        jobs::Submission {
            priority,
            retry: self.retry_policy.map(|retry| retry.or_defaults(job_type.settings.retry)),
            timeout_seconds: self.timeout_seconds,
            dependencies,
            on_dependency_failure: self.on_dependency_failure.unwrap_or_default(),
            not_before: self.not_before,
            payload,
        }
        .checked(now)
    }
}

pub(crate) fn parse_ids(written: &[String]) -> Result<Vec<JobId>> {
    let id = |text: &String| JobId::parse(text).ok_or_else(|| unknown_dependency(text));
    written.iter().map(id).collect()
}

pub(super) fn unknown_dependency(written: &str) -> Problem {
    let shown: String = written.chars().take(64).collect();
    Problem::invalid_field("dependencies", format!("There is no job `{shown}` to depend on."))
}
