//! A job as a caller writes it, alone or as one of many.

use boundary::http::Problem;
use domain::jobs::{
    self, JobId, JobType, OnDependencyFailure, PayloadPlace, Priority, RetryPolicy,
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
    /// How often it is tried; as its type says if left out.
    pub(crate) retry_policy: Option<RetryBody>,
    /// Ids of jobs that have to end first, at most 40.
    #[serde(default)]
    pub(crate) dependencies: Vec<String>,
    /// Not to run before that.
    #[schemars(with = "Option<String>")]
    pub(crate) not_before: Option<Timestamp>,
    /// How long one run may take, 1 to 86400; as its type says if left out.
    pub(crate) timeout_seconds: Option<u32>,
    /// `fail` (if left out) or `run`: what happens if a dependency does not complete.
    #[schemars(with = "Option<String>")]
    pub(crate) on_dependency_failure: Option<OnDependencyFailure>,
}

/// How often, and how soon again.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RetryBody {
    /// Runs at most, 1 to 100.
    pub(crate) max_attempts: Option<u32>,
    /// Before the second run, 0 to 3600; doubled before each further one, and spread.
    pub(crate) backoff_seconds: Option<u32>,
}

impl RetryBody {
    pub(crate) fn over(self, usual: RetryPolicy) -> RetryPolicy {
        RetryPolicy {
            max_attempts: self.max_attempts.unwrap_or(usual.max_attempts),
            backoff_seconds: self.backoff_seconds.unwrap_or(usual.backoff_seconds),
        }
    }
}

impl NewJob {
    /// What it asks of the domain, within bounds.
    pub(super) fn checked(
        &self,
        dependencies: Vec<JobId>,
        kind: &JobType,
        payload: PayloadPlace,
        now: Timestamp,
    ) -> Result<jobs::Submission, Rejected> {
        let priority = match &self.priority {
            None => Priority::P2,
            Some(name) => Priority::named(name)
                .ok_or_else(|| Rejected::invalid("priority", "`P0`, `P1`, `P2` or `P3`"))?,
        };
        jobs::Submission {
            priority,
            retry: self.retry_policy.map(|retry| retry.over(kind.settings.retry)),
            timeout_seconds: self.timeout_seconds,
            dependencies,
            on_dependency_failure: self.on_dependency_failure.unwrap_or_default(),
            not_before: self.not_before,
            payload,
        }
        .checked(now)
    }
}

/// The ids that a caller wrote.
pub(crate) fn ids(written: &[String]) -> Result<Vec<JobId>, Problem> {
    let id = |text: &String| JobId::parse(text).ok_or_else(|| unknown_dependency(text));
    written.iter().map(id).collect()
}

pub(super) fn unknown_dependency(written: &str) -> Problem {
    let shown: String = written.chars().take(64).collect();
    Problem::invalid_field("dependencies", format!("There is no job `{shown}` to depend on."))
}
