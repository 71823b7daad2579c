//! Error responses in each provider's format.

use http::{HeaderValue, header};
use serde_json::json;

use super::{aws, json, plain};
use crate::ProviderKind;
use crate::http::Response;

#[derive(Debug)]
pub(super) struct Refusal {
    code: u16,
    reason: String,
    retry_after: Option<u32>,
}

impl Refusal {
    pub(super) fn new(code: u16, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into(), retry_after: None }
    }

    pub(super) fn throttled(via: ProviderKind, seconds: u32) -> Self {
        let reason = match via {
            ProviderKind::Ses => "TooManyRequestsException",
            ProviderKind::Sms => "Throttling",
            ProviderKind::Fcm => "QUOTA_EXCEEDED",
            ProviderKind::Apns => "TooManyRequests",
            ProviderKind::WebPush | ProviderKind::Webhook | ProviderKind::Smtp => {
                "too many requests"
            }
        };
        Self { code: 429, reason: reason.to_owned(), retry_after: Some(seconds) }
    }

    pub(super) fn answer(self, via: ProviderKind) -> Response {
        let Self { code, reason, retry_after } = self;
        let mut answer = match via {
            ProviderKind::Ses => aws::refused_mail(code, &reason),
            ProviderKind::Sms => aws::refused_sms(code, &reason),
            ProviderKind::Fcm => json(code, &fcm(code, &reason)),
            ProviderKind::Apns => json(code, &json!({ "reason": reason })),
            ProviderKind::WebPush | ProviderKind::Webhook | ProviderKind::Smtp => {
                plain(code, &reason)
            }
        };
        let seconds = retry_after.map(HeaderValue::from);
        answer.headers_mut().extend(seconds.map(|seconds| (header::RETRY_AFTER, seconds)));
        answer
    }
}

/// Google has a code for HTTP, a status for its own calls, and a reason for Firebase in the details.
fn fcm(code: u16, reason: &str) -> serde_json::Value {
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
        "message": reason,
        "status": status,
        "details": [{
            "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError",
            "errorCode": reason,
        }],
    } })
}
