//! What is kept of a visitor's headers. This runs before each redirect: one pass over each header, one
//! allocation for what is kept of it.
//!
//! Guarantee: every result fits its field of a [`Click`](super::Click). Absent:
//! any part of an address that could name a person, such as a path, a query or a user.

use super::{MAX_HOST_LENGTH, MAX_USER_AGENT_LENGTH};

/// The host that a `Referer` header names, in lower case: without scheme, user, port and path. An
/// Android app, as in `android-app://com.example`, counts as a host. `None` if there is no scheme, or
/// if the host is not one in ASCII; browsers send international names encoded.
pub fn referrer_host(header: &str) -> Option<String> {
    let after_scheme = header.find("://")? + "://".len();
    let rest = header.get(after_scheme..)?;
    let end = rest.bytes().position(|byte| matches!(byte, b'/' | b'?' | b'#' | b'\\'));
    let authority = rest.get(..end.unwrap_or(rest.len()))?;
    let with_port = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let dotted = with_port.split_once(':').map_or(with_port, |(host, _)| host);
    let host = dotted.strip_suffix('.').unwrap_or(dotted);
    let is_host = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    (is_host && (1..=MAX_HOST_LENGTH).contains(&host.len())).then(|| host.to_ascii_lowercase())
}

/// The country that the `CloudFront-Viewer-Country` header names. `None` for anything else, and for the
/// codes of an unknown country.
pub fn country(header: &str) -> Option<String> {
    let letters = header.trim();
    if letters.len() != 2 || !letters.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return None;
    }
    let country = letters.to_ascii_uppercase();
    (country != "XX" && country != "ZZ").then_some(country)
}

/// As much of a `User-Agent` header as is kept. Each byte that is not printable ASCII becomes `?`, so
/// that the message grows by no more than a backslash for each. `None` if there is nothing.
pub fn user_agent(header: &str) -> Option<String> {
    let kept = header.trim_ascii().bytes().take(MAX_USER_AGENT_LENGTH);
    let kept: String =
        kept.map(|b| if matches!(b, b' '..=b'~') { b.into() } else { '?' }).collect();
    (!kept.is_empty()).then_some(kept)
}
