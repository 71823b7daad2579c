//! The bodies of requests and responses, in the API's own names.
//!
//! Unused fields of responses are left out, so that new ones break nothing.

use std::borrow::Cow;
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ClaimedJob, HeartbeatAction, Payload, StartedJob};

/// All characters but those that stand for themselves in a path's segment.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

pub(super) fn encode_segment(name: &str) -> Cow<'_, str> {
    utf8_percent_encode(name, ENCODED).into()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClaimBody<'a> {
    pub(super) worker_id: &'a str,
    pub(super) max: usize,
}

#[derive(Deserialize)]
pub(super) struct ClaimResponse {
    pub(super) jobs: Vec<ClaimedJob>,
}

/// The worker and the attempt that a report is about.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AttemptBody<'a> {
    pub(super) worker_id: &'a str,
    pub(super) attempt: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StartResponse {
    job_type: String,
    timeout_seconds: u64,
    heartbeat_seconds: u64,
    #[serde(default)]
    payload: Value,
    #[serde(default)]
    payload_url: Option<String>,
}

impl From<StartResponse> for StartedJob {
    fn from(response: StartResponse) -> Self {
        Self {
            job_type: response.job_type,
            timeout: Duration::from_secs(response.timeout_seconds),
            heartbeat: Duration::from_secs(response.heartbeat_seconds),
            payload: response
                .payload_url
                .map_or(Payload::Inline(response.payload), Payload::Remote),
        }
    }
}

#[derive(Serialize)]
pub(super) struct HeartbeatBody<'a> {
    #[serde(flatten)]
    pub(super) attempt: AttemptBody<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) progress: Option<u8>,
}

#[derive(Deserialize)]
pub(super) struct HeartbeatResponse {
    pub(super) action: HeartbeatAction,
}

#[derive(Serialize)]
pub(super) struct CompleteBody<'a> {
    #[serde(flatten)]
    pub(super) attempt: AttemptBody<'a>,
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
pub(super) struct FailBody<'a> {
    #[serde(flatten)]
    pub(super) attempt: AttemptBody<'a>,
    pub(super) retryable: bool,
    pub(super) error: &'a str,
}

#[derive(Serialize)]
pub(super) struct ArtifactBody<'a> {
    #[serde(flatten)]
    pub(super) attempt: AttemptBody<'a>,
    pub(super) name: &'a str,
}

/// The signed address to upload to.
#[derive(Deserialize)]
pub(super) struct ArtifactResponse {
    pub(super) url: String,
}

/// An RFC 9457 problem.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Problem {
    pub(super) title: String,
    pub(super) detail: String,
}
