//! A job as its owner submits it, checked.

use super::job_type::MAX_RUN_SECONDS;
use super::{
    Job, JobId, JobPriority, JobStatus, JobType, OnDependencyFailure, PayloadLocation, RetryPolicy,
};
use crate::accounts::UserId;
use crate::{Rejected, Timestamp};

/// The largest payload that is stored in a row: what is larger goes to the bucket.
pub const MAX_ROW_PAYLOAD_LENGTH: usize = 256 * 1024;

/// The most dependencies of one job: each may take two of the hundred writes of a transaction.
pub const MAX_DEPENDENCIES: usize = 40;

/// A year ahead at most: a mistyped time should not look like a lost job.
const MAX_NOT_BEFORE_SECONDS: i64 = 366 * 86_400;

#[derive(Debug, Clone, Default)]
pub struct Submission {
    pub priority: JobPriority,
    /// The type's policy if absent.
    pub retry: Option<RetryPolicy>,
    /// The type's timeout if absent.
    pub timeout_seconds: Option<u32>,
    pub dependencies: Vec<JobId>,
    pub on_dependency_failure: OnDependencyFailure,
    pub not_before: Option<Timestamp>,
    pub payload: PayloadLocation,
}

impl Submission {
    /// Checks what does not depend on other jobs.
    pub fn checked(self, now: Timestamp) -> Result<Self, Rejected> {
        if let Some(retry) = self.retry {
            retry.checked()?;
        }
        if self.timeout_seconds.is_some_and(|s| !(1..=MAX_RUN_SECONDS).contains(&s)) {
            return Err(Rejected::invalid("timeoutSeconds", "1 to 86400"));
        }
        if self.dependencies.len() > MAX_DEPENDENCIES {
            return Err(Rejected::invalid("dependencies", "at most 40 jobs"));
        }
        let latest = now.as_second().saturating_add(MAX_NOT_BEFORE_SECONDS);
        if self.not_before.is_some_and(|at| at.as_second() > latest) {
            return Err(Rejected::invalid("notBefore", "within a year from now"));
        }
        let mut dependencies = self.dependencies;
        dependencies.sort();
        dependencies.dedup();
        Ok(Self { dependencies, ..self })
    }

    /// The job, given the number of its dependencies that are still open, and one that ended without
    /// completing.
    pub fn build(
        &self,
        id: JobId,
        job_type: &JobType,
        owner: &UserId,
        open: u32,
        failed: Option<&JobId>,
        now: Timestamp,
    ) -> Job {
        let retry = self.retry.unwrap_or(job_type.settings.retry);
        let fails = failed.filter(|_| self.on_dependency_failure == OnDependencyFailure::Fail);
        let status = match (fails, open) {
            (Some(_), _) => JobStatus::Failed,
            (None, 0) => JobStatus::Queued,
            (None, _) => JobStatus::Waiting,
        };
        let error = fails.map(|id| format!("its dependency {} did not complete", id.as_str()));
        Job {
            id,
            job_type: job_type.name.clone(),
            owner: owner.clone(),
            priority: self.priority,
            status,
            retry,
            timeout_seconds: self.timeout_seconds.unwrap_or(job_type.settings.timeout_seconds),
            dependencies: self.dependencies.clone(),
            open_dependencies: open,
            on_dependency_failure: self.on_dependency_failure,
            payload: self.payload,
            attempt: 1,
            last_attempt: retry.max_attempts,
            created_at: now,
            not_before: self.not_before,
            ready_at: self.not_before.map_or(now, |at| at.max(now)),
            assigned_at: None,
            started_at: None,
            heartbeat_at: None,
            ended_at: error.is_some().then_some(now),
            cancel_requested_at: None,
            worker: None,
            shard: None,
            progress: 0,
            error,
            artifacts: Vec::new(),
            result: None,
            end_announced: false,
            version: 1,
        }
    }
}
