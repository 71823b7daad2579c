//! What a caller asks for, checked.

use super::kind::MAX_RUN_SECONDS;
use super::{
    Job, JobId, JobType, OnDependencyFailure, PayloadPlace, Priority, RetryPolicy, Status,
};
use crate::accounts::UserId;
use crate::{Rejected, Timestamp};

/// The largest payload that is kept in a row: what is larger goes to the bucket.
pub const MAX_PAYLOAD_LENGTH: usize = 256 * 1024;

/// The most dependencies of one job: each may take two of the hundred writes of a transaction.
pub const MAX_DEPENDENCIES: usize = 40;

/// A year ahead at most: a mistyped time should not look like a lost job.
const FURTHEST_SECONDS: i64 = 366 * 86_400;

/// A job to be made.
#[derive(Debug, Clone)]
pub struct Submission {
    pub priority: Priority,
    /// How often, if not as its type says.
    pub retry: Option<RetryPolicy>,
    /// How long, if not as its type says.
    pub timeout_seconds: Option<u32>,
    /// What it waits for.
    pub dependencies: Vec<JobId>,
    /// What happens if one of those does not complete.
    pub on_dependency_failure: OnDependencyFailure,
    /// Not before that.
    pub not_before: Option<Timestamp>,
    /// Where its payload will be.
    pub payload: PayloadPlace,
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
        let latest = now.as_second().saturating_add(FURTHEST_SECONDS);
        if self.not_before.is_some_and(|at| at.as_second() > latest) {
            return Err(Rejected::invalid("notBefore", "within a year from now"));
        }
        let mut dependencies = self.dependencies;
        dependencies.sort();
        dependencies.dedup();
        Ok(Self { dependencies, ..self })
    }

    /// The job, given what became of its dependencies so far: those that are still open, and one that
    /// ended without completing.
    pub fn job(
        &self,
        id: JobId,
        kind: &JobType,
        owner: &UserId,
        open: u32,
        failed: Option<&JobId>,
        now: Timestamp,
    ) -> Job {
        let retry = self.retry.unwrap_or(kind.settings.retry);
        let fails = failed.filter(|_| self.on_dependency_failure == OnDependencyFailure::Fail);
        let status = match (fails, open) {
            (Some(_), _) => Status::Failed,
            (None, 0) => Status::Queued,
            (None, _) => Status::Waiting,
        };
        let error = fails.map(|id| format!("its dependency {} did not complete", id.as_str()));
        Job {
            id,
            kind: kind.name.clone(),
            owner: owner.clone(),
            priority: self.priority,
            status,
            retry,
            timeout_seconds: self.timeout_seconds.unwrap_or(kind.settings.timeout_seconds),
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
            beat_at: None,
            ended_at: error.is_some().then_some(now),
            cancel_requested_at: None,
            worker: None,
            shard: None,
            progress: 0,
            error,
            artifacts: Vec::new(),
            result: None,
            settled: false,
            version: 1,
        }
    }
}
