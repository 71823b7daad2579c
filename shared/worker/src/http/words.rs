//! What goes over the wire: the bodies of requests and answers, in the API's own names.
//!
//! Fields of answers that a worker has no use for are left out, so that new ones break nothing.

use std::borrow::Cow;
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Action, Payload, Started, Ticket};

/// What stays as it is in a path's segment.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A name as one segment of a path.
pub(super) fn segment(name: &str) -> Cow<'_, str> {
    utf8_percent_encode(name, ENCODED).into()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Claim<'a> {
    pub(super) worker_id: &'a str,
    pub(super) max: usize,
}

#[derive(Deserialize)]
pub(super) struct Claimed {
    pub(super) jobs: Vec<ClaimedJob>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClaimedJob {
    job_id: String,
    attempt: u32,
}

impl From<ClaimedJob> for Ticket {
    fn from(job: ClaimedJob) -> Self {
        Self { job_id: job.job_id, attempt: job.attempt }
    }
}

/// Who says something, and with which attempt.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Speaker<'a> {
    pub(super) worker_id: &'a str,
    pub(super) attempt: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Running {
    job_type: String,
    timeout_seconds: u64,
    heartbeat_seconds: u64,
    #[serde(default)]
    payload: Value,
    #[serde(default)]
    payload_url: Option<String>,
}

impl From<Running> for Started {
    fn from(running: Running) -> Self {
        Self {
            job_type: running.job_type,
            timeout: Duration::from_secs(running.timeout_seconds),
            heartbeat: Duration::from_secs(running.heartbeat_seconds),
            payload: running.payload_url.map_or(Payload::Here(running.payload), Payload::At),
        }
    }
}

#[derive(Serialize)]
pub(super) struct Heartbeat<'a> {
    #[serde(flatten)]
    pub(super) speaker: Speaker<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) progress: Option<u8>,
}

#[derive(Deserialize)]
pub(super) struct Heard {
    pub(super) action: HeardAction,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum HeardAction {
    Continue,
    Cancel,
}

impl From<HeardAction> for Action {
    fn from(action: HeardAction) -> Self {
        match action {
            HeardAction::Continue => Self::Continue,
            HeardAction::Cancel => Self::Cancel,
        }
    }
}

#[derive(Serialize)]
pub(super) struct Complete<'a> {
    #[serde(flatten)]
    pub(super) speaker: Speaker<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) artifacts: Vec<NamedArtifact<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<&'a Value>,
}

#[derive(Serialize)]
pub(super) struct NamedArtifact<'a> {
    pub(super) name: &'a str,
}

#[derive(Serialize)]
pub(super) struct Fail<'a> {
    #[serde(flatten)]
    pub(super) speaker: Speaker<'a>,
    pub(super) retryable: bool,
    pub(super) error: &'a str,
}

#[derive(Serialize)]
pub(super) struct Upload<'a> {
    #[serde(flatten)]
    pub(super) speaker: Speaker<'a>,
    pub(super) name: &'a str,
}

/// A signed address.
#[derive(Deserialize)]
pub(super) struct Signed {
    pub(super) url: String,
}

/// What of a problem is worth telling.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Problem {
    pub(super) title: String,
    pub(super) detail: String,
}
