//! A job: what was asked for, and how far it has come.

use serde::{Deserialize, Serialize};

use super::kind::TypeName;
use super::{SILENCE_SECONDS, after};
use crate::accounts::UserId;
use crate::{Rejected, Timestamp, hex};

/// Names a job; ids sort by the time they were made at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(String);

impl JobId {
    const LENGTH: usize = 28;

    /// Makes an id from the time and 8 random bytes.
    pub fn made_from(now: Timestamp, random: [u8; 8]) -> Self {
        Self(format!("{:012x}{}", now.as_millisecond().max(0), hex(&random)))
    }

    /// The id that `text` is, if it is one.
    pub fn parse(text: &str) -> Option<Self> {
        let is_digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == Self::LENGTH && text.bytes().all(is_digit)).then(|| Self(text.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Spreads jobs over so many lists.
    pub fn lot(&self, of: u8) -> u8 {
        let sum = self.0.bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31) + u32::from(byte));
        u8::try_from(sum % u32::from(of.max(1))).unwrap_or(0)
    }
}

/// Where a job is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Dependencies are open.
    Waiting,
    /// It may run, now or from its time on.
    Queued,
    /// It has a licence, and someone was told to begin.
    Assigned,
    /// A worker is at it.
    Running,
    Completed,
    Failed,
    /// Not wanted any more.
    Cancelled,
}

impl Status {
    /// Each of them, in the order of a life.
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

    /// The status of that name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Whether nothing more happens by itself.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// Whether a job in it holds a licence.
    pub const fn holds(self) -> bool {
        matches!(self, Self::Assigned | Self::Running)
    }
}

/// How urgent a job is; P0 goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Priority {
    /// Before everything else.
    P0,
    P1,
    P2,
    /// When there is time.
    P3,
}

impl Priority {
    /// Each of them, the most urgent first.
    pub const ALL: [Self; 4] = [Self::P0, Self::P1, Self::P2, Self::P3];

    /// 0 is the most urgent.
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

    /// The priority of that name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|priority| priority.name() == name)
    }
}

/// How often, and how soon again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryPolicy {
    /// Runs at most.
    pub max_attempts: u32,
    /// Before the second run; doubled before each further one.
    pub backoff_seconds: u32,
}

/// No delay is longer.
const MAX_BACKOFF_MS: i64 = 3_600_000;

impl RetryPolicy {
    /// A policy within bounds, or which field is not.
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
        let most = (i64::from(self.backoff_seconds) * 1_000) << doublings;
        let most = u64::try_from(most.min(MAX_BACKOFF_MS)).unwrap_or(0);
        i64::try_from(jitter % (most + 1)).unwrap_or(0)
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PayloadPlace {
    /// There is none.
    Nowhere,
    /// In a row beside the job's, so that changing the job does not rewrite it.
    Row,
    /// In the bucket: it is too large for a row.
    Bucket,
}

/// Names whoever works on a job.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Worker(String);

impl Worker {
    /// Accepts 1 to 128 printable ASCII characters.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let fits = (1..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        if !fits {
            let rule = "1 to 128 printable ASCII characters without spaces";
            return Err(Rejected::invalid("workerId", rule));
        }
        Ok(Self(text.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Something that a job left in the bucket.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Artifact {
    /// Its name, unique in the job.
    pub name: String,
}

impl Artifact {
    /// Artifacts of one job at most.
    pub const MOST: usize = 20;

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

    /// Where it lies in the bucket: by type and day, so that old ones are found together.
    pub fn key(&self, job: &Job) -> String {
        let day = job.created_at.strftime("%Y-%m-%d");
        format!("artifacts/{}/{day}/{}/{}", job.kind.as_str(), job.id.as_str(), self.name)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Job {
    pub id: JobId,
    /// What kind of work it is.
    pub kind: TypeName,
    /// Who submitted it.
    pub owner: UserId,
    /// How urgent it is.
    pub priority: Priority,
    /// Where it is in its life.
    pub status: Status,
    /// How often it is tried.
    pub retry: RetryPolicy,
    /// How long one run may take.
    pub timeout_seconds: u32,
    /// What it waits for.
    pub dependencies: Vec<JobId>,
    /// How many of those have not ended.
    pub open_dependencies: u32,
    /// What happens if one of them does not complete.
    pub on_dependency_failure: OnDependencyFailure,
    /// Where its payload is.
    pub payload: PayloadPlace,
    /// The run that it is queued for or that is going on: the fencing token, 1 at first.
    pub attempt: u32,
    /// The last run that it gets.
    pub last_attempt: u32,
    /// When it was submitted.
    pub created_at: Timestamp,
    /// Not to run before that, as submitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Timestamp>,
    /// From when on it may run: what its age in the queue is counted from.
    pub ready_at: Timestamp,
    /// When it got its licence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned_at: Option<Timestamp>,
    /// When the run began that is going on, or the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When its worker was last heard of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beat_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// When someone asked its worker to stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_requested_at: Option<Timestamp>,
    /// Who works on it, or did last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<Worker>,
    /// Which part of its type's licences it holds one of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<u8>,
    /// How far it says it is: 0 to 100.
    pub progress: u8,
    /// Why the last run failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it left in the bucket.
    pub artifacts: Vec<Artifact>,
    /// What it answered: JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Whether everyone who has to was told that it ended.
    pub settled: bool,
    /// Grows with every change but heartbeats and the note that all were told.
    #[serde(rename = "v")]
    pub version: u64,
}

impl Job {
    /// When it is first worth looking whether whoever has it is silent or too slow.
    pub fn due_at(&self) -> Option<Timestamp> {
        let seconds = SILENCE_SECONDS.min(self.timeout_seconds.into());
        self.assigned_at.map(|at| after(at, seconds))
    }
}
