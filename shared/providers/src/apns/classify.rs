//! What Apple's refusal means, by its `reason` where it gives one.

use domain::notifications::Class;
use serde_json::Value;

/// The `reason` in a response: a name, or nothing.
pub(super) fn reason(body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let reason = body["reason"].as_str().unwrap_or_default();
    let named = reason.len() <= 40 && reason.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if named { reason.to_owned() } else { String::new() }
}

pub(super) fn classify(status: u16, reason: &str) -> Class {
    match (reason, status) {
        (
            "BadDeviceToken"
            | "Unregistered"
            | "DeviceTokenNotForTopic"
            | "MissingDeviceToken"
            | "ExpiredToken",
            _,
        )
        | ("", 410) => Class::InvalidRecipient,
        (
            "PayloadTooLarge" | "PayloadEmpty" | "BadCollapseId" | "BadExpirationDate"
            | "BadMessageId" | "BadPriority" | "DuplicateHeaders" | "InvalidPushType",
            _,
        )
        | ("", 413) => Class::Content,
        ("TooManyRequests" | "TooManyProviderTokenUpdates", _) | ("", 429) => Class::RateLimited,
        // Our provider token, or our topic.
        (
            "BadCertificate"
            | "BadCertificateEnvironment"
            | "BadEnvironmentKeyIdInToken"
            | "BadEnvironmentKeyInToken"
            | "BadTopic"
            | "ExpiredProviderToken"
            | "Forbidden"
            | "InvalidProviderToken"
            | "MissingProviderToken"
            | "MissingTopic"
            | "TopicDisallowed"
            | "UnrelatedKeyIdInToken"
            | "IdleTimeout",
            _,
        )
        | (_, 401 | 403 | 500..600) => Class::Outage,
        _ => Class::Unrecognised,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_a_class() {
        for (status, reason, class) in [
            (400, "BadDeviceToken", Class::InvalidRecipient),
            (410, "Unregistered", Class::InvalidRecipient),
            (410, "ExpiredToken", Class::InvalidRecipient),
            (410, "", Class::InvalidRecipient),
            (400, "DeviceTokenNotForTopic", Class::InvalidRecipient),
            (413, "PayloadTooLarge", Class::Content),
            (400, "BadCollapseId", Class::Content),
            (413, "", Class::Content),
            (429, "TooManyRequests", Class::RateLimited),
            (429, "TooManyProviderTokenUpdates", Class::RateLimited),
            (429, "", Class::RateLimited),
            (403, "ExpiredProviderToken", Class::Outage),
            (403, "InvalidProviderToken", Class::Outage),
            (400, "TopicDisallowed", Class::Outage),
            (400, "BadTopic", Class::Outage),
            (400, "IdleTimeout", Class::Outage),
            (500, "InternalServerError", Class::Outage),
            (503, "ServiceUnavailable", Class::Outage),
            (503, "Shutdown", Class::Outage),
            (400, "SomethingNew", Class::Unrecognised),
            (404, "BadPath", Class::Unrecognised),
        ] {
            assert_eq!(classify(status, reason), class, "{status} {reason}");
        }
    }

    #[test]
    fn a_reason_is_a_name_or_nothing() {
        assert_eq!(reason(br#"{"reason":"BadTopic"}"#), "BadTopic");
        for body in ["", "{}", "[]", r#"{"reason":7}"#, r#"{"reason":"token ab12 is bad"}"#] {
            assert_eq!(reason(body.as_bytes()), "", "{body}");
        }
    }
}
