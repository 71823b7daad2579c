//! Adding to a URL's query without touching what is there.
//!
//! Guarantee: what is added holds only characters that a query may hold, so a URL fit for a header
//! stays one. Absent: parsing the query as a whole and writing it anew, which would break signatures.

use std::fmt::Write;

use url::form_urlencoded::{byte_serialize, parse};

/// The URL with `raw` after its own query.
pub(super) fn append(url: &str, raw: &str) -> String {
    if raw.is_empty() {
        return url.to_owned();
    }
    let (sent, fragment) = split_fragment(url);
    format!("{}{}{fragment}", ready_for_more(sent), encoded(raw))
}

/// The URL with each of `pairs` in place of the parameters of that name.
pub(super) fn set(url: &str, pairs: &[(&str, &str)]) -> String {
    if pairs.is_empty() {
        return url.to_owned();
    }
    let (sent, fragment) = split_fragment(url);
    let (path, query) = sent.split_once('?').unwrap_or((sent, ""));
    let named = |part: &str| {
        let name = parse(part.as_bytes()).next().map(|(name, _)| name);
        name.is_some_and(|name| pairs.iter().any(|(replaced, _)| *replaced == name))
    };
    let kept = query.split('&').filter(|part| !part.is_empty() && !named(part)).map(str::to_owned);
    let serialized = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let added =
        pairs.iter().map(|(name, value)| format!("{}={}", serialized(name), serialized(value)));
    let query: Vec<String> = kept.chain(added).collect();
    format!("{path}?{}{fragment}", query.join("&"))
}

/// What is sent to a server, and the fragment with its `#`.
pub(super) fn split_fragment(url: &str) -> (&str, &str) {
    url.find('#').map_or((url, ""), |hash| url.split_at(hash))
}

fn ready_for_more(sent: &str) -> String {
    let separator = match sent.split_once('?') {
        None => "?",
        Some((_, query)) if query.is_empty() || query.ends_with('&') => "",
        Some(_) => "&",
    };
    format!("{sent}{separator}")
}

fn encoded(raw: &str) -> String {
    let bytes = raw.as_bytes();
    let mut text = String::with_capacity(bytes.len());
    for (index, &byte) in bytes.iter().enumerate() {
        if may_stay(byte, &bytes[index + 1..]) {
            text.push(char::from(byte));
        } else {
            // Writing to a string can't fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// The characters of a query (RFC 3986), and `%` where two hex digits follow it.
fn may_stay(byte: u8, next: &[u8]) -> bool {
    match byte {
        b'%' => next.len() >= 2 && next[..2].iter().all(u8::is_ascii_hexdigit),
        b'"' | b'#' | b'\'' | b'<' | b'>' | b'[' | b']' | b'\\' | b'^' | b'`' | b'{' | b'|'
        | b'}' => false,
        _ => byte.is_ascii_graphic(),
    }
}
