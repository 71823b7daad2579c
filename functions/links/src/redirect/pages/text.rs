//! Text on its way into a page; the templates escape it, but a browser may hide or turn it.
//!
//! Guarantee: what comes out holds no control character and none of the marks that turn the reading
//! direction around, and a URL that a page links to is one of the web.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// An address, shown letter by letter: what the eye would miss is spelled out as `[U+202E]`.
pub(super) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) || (character.is_whitespace() && character != ' ') {
            // Writing to a string can't fail.
            let _ = write!(shown, "[U+{:04X}]", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Words, cut after `limit` characters: breaks become spaces and what cannot be seen is dropped,
/// apart from the joiners that Persian, Hindi and emoji are written with.
pub(super) fn one_line(text: &str, limit: usize) -> String {
    let spaced = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
    let words = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    let joins = |c: char| matches!(c, '\u{200c}' | '\u{200d}');
    let mut seen = words.chars().filter(|&c| joins(c) || !is_hidden(c));
    let mut line: String = seen.by_ref().take(limit).collect();
    if seen.next().is_some() {
        line.push('…');
    }
    line
}

/// The value of an `href`, if `url` is one that a browser fetches from the web and does not run.
pub(super) fn web_url(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let is_web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
    (is_web && !rest.is_empty()).then(|| {
        url.chars().fold(String::with_capacity(url.len()), |mut encoded, character| {
            if is_hidden(character) || character.is_whitespace() {
                let character = character.encode_utf8(&mut [0; 4]).to_owned();
                encoded.extend(utf8_percent_encode(&character, NON_ALPHANUMERIC));
            } else {
                encoded.push(character);
            }
            encoded
        })
    })
}

/// A code as one segment of a path; what is percent-encoded already stays as it is.
pub(super) fn path_segment(code: &str) -> String {
    const ENCODED: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'%');
    utf8_percent_encode(code, ENCODED).to_string()
}

/// Splits a URL around its host: what goes before, the host, what follows. A browser reads `\` as
/// `/` and takes what stands before `@` for a login, so the host is looked for as it would.
pub(super) fn split_at_host(url: &str) -> Option<(&str, &str, &str)> {
    let authority_at = url.find("://")? + 3;
    let authority = url[authority_at..].split(['/', '\\', '?', '#']).next()?;
    let host_at = authority_at + authority.rfind('@').map_or(0, |at| at + 1);
    let end = authority_at + authority.len();
    let bracketed = url[host_at..end].rfind(']').map_or(host_at, |at| host_at + at);
    let host_end = url[bracketed..end].find(':').map_or(end, |at| bracketed + at);
    Some((&url[..host_at], &url[host_at..host_end], &url[host_end..]))
}

/// Characters that draw nothing themselves: controls, direction marks, joiners, fillers and tags.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests;
