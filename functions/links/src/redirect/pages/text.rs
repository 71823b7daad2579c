//! Text on its way into a page: nothing that a stranger wrote gets there without passing here.
//!
//! Guarantee: what comes out holds no markup, no quote, no control character and none of the marks
//! that turn the reading direction around, between tags and inside quoted attributes alike.

use domain::html::push_escaped;

/// An address, shown letter by letter: what the eye would miss is spelled out as `[U+202E]`.
pub(super) fn address(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) || (character.is_whitespace() && character != ' ') {
            safe.extend(["[U+", &format!("{:04X}", u32::from(character)), "]"]);
        } else {
            push_escaped(&mut safe, character);
        }
    }
    safe
}

/// Words, cut after `limit` characters: breaks become spaces and what cannot be seen is dropped,
/// apart from the joiners that Persian, Hindi and emoji are written with.
pub(super) fn prose(text: &str, limit: usize) -> String {
    let spaced = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
    let words = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    let joins = |c: char| matches!(c, '\u{200c}' | '\u{200d}');
    let mut seen = words.chars().filter(|&c| joins(c) || !is_hidden(c));
    let mut safe = String::with_capacity(words.len().min(limit));
    seen.by_ref().take(limit).for_each(|c| push_escaped(&mut safe, c));
    if seen.next().is_some() {
        safe.push('…');
    }
    safe
}

/// The value of an `href`, if `url` is one that a browser fetches from the web and does not run.
pub(super) fn href(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let of_the_web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
    (of_the_web && !rest.is_empty()).then(|| {
        let mut safe = String::with_capacity(url.len());
        for character in url.chars() {
            if is_hidden(character) || character.is_whitespace() {
                push_percent(&mut safe, character);
            } else {
                push_escaped(&mut safe, character);
            }
        }
        safe
    })
}

/// A code as one segment of a path; what is percent-encoded already stays as it is.
pub(super) fn segment(code: &str) -> String {
    let mut safe = String::with_capacity(code.len());
    for character in code.chars() {
        if character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.' | '~' | '%') {
            safe.push(character);
        } else {
            push_percent(&mut safe, character);
        }
    }
    safe
}

/// Splits a URL around its host: what goes before, the host, what follows. A browser reads `\` as
/// `/` and takes what stands before `@` for a login, so the host is looked for as it would.
pub(super) fn around_host(url: &str) -> Option<(&str, &str, &str)> {
    let authority_at = url.find("://")? + 3;
    let authority = url[authority_at..].split(['/', '\\', '?', '#']).next()?;
    let host_at = authority_at + authority.rfind('@').map_or(0, |at| at + 1);
    let end = authority_at + authority.len();
    let bracketed = url[host_at..end].rfind(']').map_or(host_at, |at| host_at + at);
    let host_end = url[bracketed..end].find(':').map_or(end, |at| bracketed + at);
    Some((&url[..host_at], &url[host_at..host_end], &url[host_end..]))
}

fn push_percent(safe: &mut String, character: char) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    for byte in character.encode_utf8(&mut [0; 4]).bytes() {
        safe.extend(['%', digit(byte >> 4), digit(byte & 15)]);
    }
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
