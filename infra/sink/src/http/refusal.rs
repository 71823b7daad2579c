//! A no, worded as each provider words it.

use bytes::Bytes;
use http::{HeaderValue, Response, header};
use serde_json::json;

use super::{aws, json, plain};
use crate::Via;

/// A status and a reason.
#[derive(Debug)]
pub(super) struct Refusal {
    code: u16,
    said: String,
    retry_after: Option<u32>,
}

impl Refusal {
    pub(super) fn new(code: u16, said: impl Into<String>) -> Self {
        Self { code, said: said.into(), retry_after: None }
    }

    /// Too much, in the provider's own word for it.
    pub(super) fn throttled(via: Via, seconds: u32) -> Self {
        let said = match via {
            Via::Ses => "TooManyRequestsException",
            Via::Sms => "Throttling",
            Via::Fcm => "QUOTA_EXCEEDED",
            Via::Apns => "TooManyRequests",
            Via::WebPush | Via::Webhook | Via::Smtp => "too many requests",
        };
        Self { code: 429, said: said.to_owned(), retry_after: Some(seconds) }
    }

    pub(super) fn answer(self, via: Via) -> Response<Bytes> {
        let Self { code, said, retry_after } = self;
        let mut answer = match via {
            Via::Ses => aws::refused_mail(code, &said),
            Via::Sms => aws::refused_sms(code, &said),
            Via::Fcm => json(code, &fcm(code, &said)),
            Via::Apns => json(code, &json!({ "reason": said })),
            Via::WebPush | Via::Webhook | Via::Smtp => plain(code, &said),
        };
        let seconds = retry_after.map(HeaderValue::from);
        answer.headers_mut().extend(seconds.map(|seconds| (header::RETRY_AFTER, seconds)));
        answer
    }
}

/// Google has a code for HTTP, a status for its own calls, and a reason for Firebase in the details.
fn fcm(code: u16, said: &str) -> serde_json::Value {
    let status = match code {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    json!({ "error": {
        "code": code,
        "message": said,
        "status": status,
        "details": [{
            "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError",
            "errorCode": said,
        }],
    } })
}
