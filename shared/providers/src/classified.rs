//! What answers have in common, whoever gives them.

use domain::Timestamp;
use domain::notifications::{Class, SendOutcome};
use http::HeaderMap;
use http::header::RETRY_AFTER;
use jiff::fmt::rfc2822::DateTimeParser;
use outside::{FetchError, PostError};

/// The longest that a provider's wish is heard: a day.
const LONGEST: i64 = 86_400;

pub(crate) fn refused(class: Class, said: impl Into<String>) -> SendOutcome {
    SendOutcome::Refused { class, retry_after_seconds: None, said: said.into() }
}

pub(crate) fn accepted(reference: Option<String>) -> SendOutcome {
    SendOutcome::Accepted { reference }
}

/// A parcel for somebody else: a mistake of ours.
pub(crate) fn misdirected() -> SendOutcome {
    refused(Class::Unrecognised, "a parcel that this provider does not take")
}

/// A no by status, with the time they want to be left alone.
pub(crate) fn refused_with(
    class: Class,
    headers: &HeaderMap,
    now: Timestamp,
    said: String,
) -> SendOutcome {
    SendOutcome::Refused { class, retry_after_seconds: retry_after(headers, now), said }
}

/// What a failure to post means. To a URL that somebody chose and that must not be called, nothing
/// is ever delivered.
pub(crate) fn not_posted(cause: &PostError) -> SendOutcome {
    match cause {
        PostError::NotSent(FetchError::Forbidden(_)) => {
            refused(Class::InvalidRecipient, cause.to_string())
        }
        PostError::NotSent(_) => refused(Class::Outage, cause.to_string()),
        PostError::MaybeSent(_) => SendOutcome::Unknown { said: cause.to_string() },
    }
}

/// Seconds, or a date (RFC 9110).
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<u32> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let seconds = value.parse::<i64>().ok().or_else(|| {
        let at = DateTimeParser::new().parse_timestamp(value).ok()?;
        Some(at.as_second() - now.as_second())
    })?;
    u32::try_from(seconds.clamp(0, LONGEST)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_to_be_left_alone_is_seconds_or_a_date() {
        let now: Timestamp = "2026-08-01T12:00:00Z".parse().unwrap();
        for (said, seconds) in [
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
            let headers = HeaderMap::from_iter([(RETRY_AFTER, said.parse().unwrap())]);
            assert_eq!(retry_after(&headers, now), seconds, "{said}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }
}
