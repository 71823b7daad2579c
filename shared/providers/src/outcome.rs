//! How a provider's response becomes a [`SendOutcome`].

use domain::Timestamp;
use domain::notifications::{Class, SendOutcome};
use egress::{FetchError, PostError};
use http::HeaderMap;
use http::header::RETRY_AFTER;
use jiff::fmt::rfc2822::DateTimeParser;

/// A provider's longer `Retry-After` is cut to a day.
const MAX_RETRY_AFTER: i64 = 86_400;

pub(crate) fn accepted(reference: Option<String>) -> SendOutcome {
    SendOutcome::Accepted { reference }
}

pub(crate) fn refused(class: Class, reason: impl Into<String>) -> SendOutcome {
    refused_until(class, None, reason.into())
}

pub(crate) fn refused_until(
    class: Class,
    retry_after_seconds: Option<u32>,
    reason: String,
) -> SendOutcome {
    SendOutcome::Refused { class, retry_after_seconds, reason }
}

/// By an HTTP response, with its `Retry-After`.
pub(crate) fn refused_by_response(
    class: Class,
    headers: &HeaderMap,
    now: Timestamp,
    reason: String,
) -> SendOutcome {
    refused_until(class, retry_after(headers, now), reason)
}

/// The message may have arrived.
pub(crate) fn unknown(reason: impl Into<String>) -> SendOutcome {
    SendOutcome::Unknown { reason: reason.into() }
}

/// A message for another provider: a mistake of the caller.
pub(crate) fn unsupported_address() -> SendOutcome {
    refused(Class::Unrecognised, "a message that this provider does not take")
}

/// What a failure to post means. A URL of a user's that must not be called never delivers anything.
pub(crate) fn from_post_error(error: &PostError) -> SendOutcome {
    match error {
        PostError::NotSent(FetchError::Forbidden(_)) => {
            refused(Class::InvalidRecipient, error.to_string())
        }
        PostError::NotSent(_) => refused(Class::Outage, error.to_string()),
        PostError::MaybeSent(_) => unknown(error.to_string()),
    }
}

/// Seconds, or a date (RFC 9110).
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<u32> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let seconds = value.parse::<i64>().ok().or_else(|| {
        let at = DateTimeParser::new().parse_timestamp(value).ok()?;
        Some(at.as_second() - now.as_second())
    })?;
    u32::try_from(seconds.clamp(0, MAX_RETRY_AFTER)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now: Timestamp = "2026-08-01T12:00:00Z".parse().unwrap();
        for (value, seconds) in [
            ("7", Some(7)),
            (" 120 ", Some(120)),
            ("0", Some(0)),
            ("-5", Some(0)),
            ("99999999", Some(86_400)),
            ("Sat, 01 Aug 2026 12:00:30 GMT", Some(30)),
            ("Sat, 01 Aug 2026 11:00:00 GMT", Some(0)),
            ("soon", None),
            ("", None),
        ] {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, value.parse().unwrap())]);
            assert_eq!(retry_after(&headers, now), seconds, "{value}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }
}
