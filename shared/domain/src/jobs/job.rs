//! A job: what was asked for, and how far it has come.

use serde::{Deserialize, Serialize};

use super::job_type::JobTypeName;
use super::{HEARTBEAT_TIMEOUT_SECONDS, after};
use crate::accounts::UserId;
use crate::{Rejected, Timestamp, hex};

/// Ids sort by the time they were made at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(String);

impl JobId {
    const LENGTH: usize = 28;

    pub fn new(now: Timestamp, random: [u8; 8]) -> Self {
        Self(format!("{:012x}{}", now.as_millisecond().max(0), hex(&random)))
    }

    pub fn parse(text: &str) -> Option<Self> {
        let is_digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == Self::LENGTH && text.bytes().all(is_digit)).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A stable hash of the id: which of `partitions` index partitions it is listed in.
    pub fn partition(&self, partitions: u8) -> u8 {
        let sum = self.0.bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31) + u32::from(byte));
        u8::try_from(sum % u32::from(partitions.max(1))).unwrap_or(0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum JobStatus {
    /// Dependencies are open.
    Waiting,
    /// It may run, now or from its time on.
    Queued,
    /// It has a licence, and a worker was sent its assignment.
    Assigned,
    Running,
    Completed,
    Failed,
    Cancelled,
}

impl JobStatus {
    pub const ALL: [Self; 7] = [
        Self::Waiting,
        Self::Queued,
        Self::Assigned,
        Self::Running,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Its name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "WAITING",
            Self::Queued => "QUEUED",
            Self::Assigned => "ASSIGNED",
            Self::Running => "RUNNING",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Cancelled => "CANCELLED",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Whether it stays until its owner retries it.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    pub const fn holds_licence(self) -> bool {
        matches!(self, Self::Assigned | Self::Running)
    }
}

/// How urgent a job is; P0 goes first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
pub enum JobPriority {
    P0,
    P1,
    #[default]
    P2,
    P3,
}

impl JobPriority {
    pub const ALL: [Self; 4] = [Self::P0, Self::P1, Self::P2, Self::P3];

    /// 0 to 3; 0 is the most urgent.
    pub const fn level(self) -> u8 {
        match self {
            Self::P0 => 0,
            Self::P1 => 1,
            Self::P2 => 2,
            Self::P3 => 3,
        }
    }

    /// Its name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::P0 => "P0",
            Self::P1 => "P1",
            Self::P2 => "P2",
            Self::P3 => "P3",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|priority| priority.name() == name)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryPolicy {
    pub max_attempts: u32,
    /// Before the second run; doubled before each further one.
    pub backoff_seconds: u32,
}

const MAX_BACKOFF_MS: i64 = 3_600_000;

impl RetryPolicy {
    /// The policy if it is within bounds, or the field that is not.
    pub fn checked(self) -> Result<Self, Rejected> {
        if !(1..=100).contains(&self.max_attempts) {
            return Err(Rejected::invalid("retryPolicy.maxAttempts", "1 to 100"));
        }
        if self.backoff_seconds > 3_600 {
            return Err(Rejected::invalid("retryPolicy.backoffSeconds", "0 to 3600"));
        }
        Ok(self)
    }

    /// How long to wait after `attempt` has failed: anything up to the doubled backoff (full jitter),
    /// so that jobs that failed together do not come back together.
    pub fn delay_ms(self, attempt: u32, jitter: u64) -> i64 {
        let doublings = attempt.saturating_sub(1).min(20);
        let max = (i64::from(self.backoff_seconds) * 1_000) << doublings;
        let max = u64::try_from(max.min(MAX_BACKOFF_MS)).unwrap_or(0);
        i64::try_from(jitter % (max + 1)).unwrap_or(0)
    }
}

/// What happens to a job whose dependency did not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnDependencyFailure {
    /// It fails too.
    #[default]
    Fail,
    /// It runs all the same.
    Run,
}

/// Where a job's payload is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PayloadLocation {
    /// The job has none.
    #[default]
    #[serde(rename = "nowhere")]
    None,
    /// In a row beside the job's, so that changing the job does not rewrite it.
    Row,
    /// In the bucket: it is too large for a row.
    Bucket,
}

/// The name that a worker gave itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkerId(String);

impl WorkerId {
    /// Accepts 1 to 128 printable ASCII characters.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let fits = (1..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        if !fits {
            let rule = "1 to 128 printable ASCII characters without spaces";
            return Err(Rejected::invalid("workerId", rule));
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A file that a worker uploaded to the bucket for its job.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Artifact {
    /// Unique in the job.
    pub name: String,
}

impl Artifact {
    pub const MAX_PER_JOB: usize = 20;

    /// Accepts 1 to 100 of letters, digits, `.`, `_` and `-`, not beginning with a dot.
    pub fn parse(name: &str) -> Result<Self, Rejected> {
        let fits = (1..=100).contains(&name.len())
            && !name.starts_with('.')
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
        if !fits {
            let rule = "1 to 100 letters, digits, `.`, `_` and `-`, not beginning with a dot";
            return Err(Rejected::invalid("name", rule));
        }
        Ok(Self { name: name.to_owned() })
    }

    /// The object's key: by type and day, so that old ones share a prefix.
    pub fn key(&self, job: &Job) -> String {
        let day = job.created_at.strftime("%Y-%m-%d");
        format!("artifacts/{}/{day}/{}/{}", job.job_type.as_str(), job.id.as_str(), self.name)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Job {
    pub id: JobId,
    #[serde(rename = "kind")]
    pub job_type: JobTypeName,
    /// The user who submitted it.
    pub owner: UserId,
    pub priority: JobPriority,
    pub status: JobStatus,
    pub retry: RetryPolicy,
    /// The longest that one run may take.
    pub timeout_seconds: u32,
    /// Jobs that must end before it may run.
    pub dependencies: Vec<JobId>,
    /// How many of those have not ended.
    pub open_dependencies: u32,
    pub on_dependency_failure: OnDependencyFailure,
    pub payload: PayloadLocation,
    /// The run that it is queued for or that is going on: the fencing token, 1 at first.
    pub attempt: u32,
    /// The last run that it gets.
    pub last_attempt: u32,
    pub created_at: Timestamp,
    /// The earliest start, as submitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Timestamp>,
    /// The earliest start, of this attempt: its age in the queue is counted from here.
    pub ready_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned_at: Option<Timestamp>,
    /// When the current run began, or the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// The last heartbeat received from its worker.
    #[serde(rename = "beat_at", default, skip_serializing_if = "Option::is_none")]
    pub heartbeat_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// When its owner cancelled the run; its worker learns of it from its next heartbeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_requested_at: Option<Timestamp>,
    /// The worker that runs it, or ran it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<WorkerId>,
    /// The licence shard that it holds a licence of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<u8>,
    /// 0 to 100, as its worker reported.
    pub progress: u8,
    /// Why the last run failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub artifacts: Vec<Artifact>,
    /// What its worker returned: JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Whether its dependents, its licence and the topic were all updated after it ended.
    #[serde(rename = "settled")]
    pub end_announced: bool,
    /// Grows with every change but heartbeats and `end_announced`.
    #[serde(rename = "v")]
    pub version: u64,
}

impl Job {
    /// The earliest time at which its worker can have missed its heartbeats or its timeout.
    pub fn check_due_at(&self) -> Option<Timestamp> {
        let seconds = HEARTBEAT_TIMEOUT_SECONDS.min(self.timeout_seconds.into());
        self.assigned_at.map(|at| after(at, seconds))
    }
}
