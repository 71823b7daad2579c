//! What Firebase's refusal means: by its own code where it gives one, by Google's status, by HTTP's.

use std::fmt;

use domain::notifications::Class;
use serde_json::Value;

/// What is read of an error response.
#[derive(Debug, Default)]
pub(super) struct FcmError {
    http: u16,
    /// `UNREGISTERED`, `INVALID_ARGUMENT` and so on.
    code: String,
    /// Whether the argument that is invalid is the device's token.
    about_token: bool,
}

impl FcmError {
    pub(super) fn read(http: u16, body: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let error = &body["error"];
        let details = error["details"].as_array().map(Vec::as_slice).unwrap_or_default();
        let code = details.iter().find_map(|detail| detail["errorCode"].as_str());
        let code = code.or(error["status"].as_str()).unwrap_or_default();
        let violations = details.iter().filter_map(|it| it["fieldViolations"].as_array()).flatten();
        let about_token = violations.into_iter().any(|it| it["field"] == "message.token")
            || error["message"].as_str().is_some_and(|it| it.contains("registration token"));
        // Nothing but a name: it is shown.
        let named = code.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        let code = if named && code.len() <= 40 { code.to_owned() } else { String::new() };
        Self { http, code, about_token }
    }

    pub(super) fn class(&self) -> Class {
        match (self.code.as_str(), self.http) {
            ("UNREGISTERED" | "NOT_FOUND" | "SENDER_ID_MISMATCH", _) => Class::InvalidRecipient,
            ("INVALID_ARGUMENT", _) if self.about_token => Class::InvalidRecipient,
            ("INVALID_ARGUMENT", _) => Class::Content,
            ("QUOTA_EXCEEDED" | "RESOURCE_EXHAUSTED", _) | (_, 429) => Class::RateLimited,
            (
                "UNAVAILABLE"
                | "INTERNAL"
                | "THIRD_PARTY_AUTH_ERROR"
                | "UNAUTHENTICATED"
                | "PERMISSION_DENIED",
                _,
            )
            | (_, 401 | 403 | 408 | 500..) => Class::Outage,
            (_, 400 | 413) => Class::Content,
            (_, 404) => Class::InvalidRecipient,
            _ => Class::Unrecognised,
        }
    }
}

impl fmt::Display for FcmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Firebase answered with status {} {}", self.http, self.code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(status: &str, code: Option<&str>, field: Option<&str>) -> String {
        let mut details = Vec::new();
        details.extend(code.map(|code| serde_json::json!({ "errorCode": code })));
        let violation = |field| serde_json::json!({ "fieldViolations": [{ "field": field }] });
        details.extend(field.map(violation));
        serde_json::json!({ "error": { "status": status, "details": details } }).to_string()
    }

    #[test]
    fn each_answer_has_a_class() {
        for (http, status, code, field, class) in [
            (404, "NOT_FOUND", Some("UNREGISTERED"), None, Class::InvalidRecipient),
            (403, "PERMISSION_DENIED", Some("SENDER_ID_MISMATCH"), None, Class::InvalidRecipient),
            (400, "INVALID_ARGUMENT", Some("INVALID_ARGUMENT"), None, Class::Content),
            (400, "INVALID_ARGUMENT", None, Some("message.token"), Class::InvalidRecipient),
            (400, "INVALID_ARGUMENT", None, Some("message.data"), Class::Content),
            (429, "RESOURCE_EXHAUSTED", Some("QUOTA_EXCEEDED"), None, Class::RateLimited),
            (503, "UNAVAILABLE", Some("UNAVAILABLE"), None, Class::Outage),
            (500, "INTERNAL", Some("INTERNAL"), None, Class::Outage),
            (401, "UNAUTHENTICATED", Some("THIRD_PARTY_AUTH_ERROR"), None, Class::Outage),
            (401, "UNAUTHENTICATED", None, None, Class::Outage),
            (403, "PERMISSION_DENIED", None, None, Class::Outage),
            (418, "", None, None, Class::Unrecognised),
        ] {
            let error = FcmError::read(http, body(status, code, field).as_bytes());
            assert_eq!(error.class(), class, "{error}");
        }
    }

    #[test]
    fn an_answer_that_cannot_be_read_is_judged_by_its_status() {
        for (http, class) in [
            (400, Class::Content),
            (404, Class::InvalidRecipient),
            (429, Class::RateLimited),
            (502, Class::Outage),
        ] {
            assert_eq!(FcmError::read(http, b"<html>").class(), class, "{http}");
        }
    }

    #[test]
    fn only_names_are_repeated() {
        let body =
            r#"{"error":{"status":"token abc is bad","message":"The registration token abc"}}"#;
        let error = FcmError::read(400, body.as_bytes());
        assert_eq!(error.to_string().trim(), "Firebase answered with status 400");
    }
}
