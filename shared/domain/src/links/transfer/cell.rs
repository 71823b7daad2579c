//! What stands in one cell: guarded text, lists, times, short links.

use jiff::civil::DateTime;
use jiff::tz::Offset;

use crate::Timestamp;

/// Puts an apostrophe before what a spreadsheet would run. [`unescape_formula`] takes it off again.
pub(super) fn escape_formula(text: String) -> String {
    if is_formula(&text) { format!("'{text}") } else { text }
}

/// The text that [`escape_formula`] was given. An apostrophe before anything harmless is the text's own.
pub(super) fn unescape_formula(text: &str) -> &str {
    text.strip_prefix('\'').filter(|_| is_formula(text)).unwrap_or(text)
}

/// Apostrophes are looked through, so that guarded text counts as a formula too: text that had one
/// to begin with gets a second, and loses only that. Spaces are, because some programs trim them.
fn is_formula(text: &str) -> bool {
    let bare = text.trim_start_matches(|letter: char| letter == '\'' || letter.is_whitespace());
    // The wide forms are what East Asian keyboards type; spreadsheets take them for the narrow ones.
    bare.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠'])
}

/// Items parted by `|`. A backslash stands before a `|` or a backslash of their own.
pub(super) fn join(items: impl Iterator<Item = String>) -> String {
    let escaped = items.map(|item| item.replace('\\', r"\\").replace('|', r"\|"));
    escaped.collect::<Vec<_>>().join("|")
}

/// The items that [`join`] was given, but for empty ones.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let meant = match letter {
            '|' => {
                items.push(String::new());
                continue;
            }
            '\\' => letters.next().unwrap_or('\\'),
            letter => letter,
        };
        if let Some(item) = items.last_mut() {
            item.push(meant);
        }
    }
    items.retain(|item| !item.is_empty());
    items
}

/// A time in RFC 3339, as `YYYY-MM-DD HH:MM:SS` or a date alone (both UTC), or in Unix seconds.
pub(super) fn time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Timestamp::from_second(text.parse().ok()?).ok();
    }
    let civil = || Offset::UTC.to_timestamp(text.parse::<DateTime>().ok()?).ok();
    text.parse().ok().or_else(civil)
}

/// Yes or no, in the words that programs and databases use.
pub(super) fn flag(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "t" | "1" | "yes" => Some(true),
        "false" | "f" | "0" | "no" => Some(false),
        _ => None,
    }
}

/// The domain and code of a short link; without a domain if it is a bare code.
pub(super) fn short(link: &str) -> Option<(Option<String>, String)> {
    let bare = link.split_once("://").map_or(link, |(_, rest)| rest);
    let bare = bare.split(['?', '#']).next().unwrap_or_default();
    let (domain, code) = match bare.split_once('/') {
        Some((domain, code)) => (Some(domain.to_ascii_lowercase()), code),
        None if bare.len() == link.len() => (None, bare),
        None => return None,
    };
    let code = code.trim_matches('/');
    let domain = domain.filter(|domain| !domain.is_empty());
    (!code.is_empty()).then(|| (domain, code.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spreadsheet_would_run_is_guarded_and_nothing_else() {
        for (text, written) in [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("＝1", "'＝1"),
            ("'=1", "''=1"),
            ("'tis", "'tis"),
            ("''", "''"),
            ("1-1", "1-1"),
            ("", ""),
        ] {
            assert_eq!(escape_formula(text.to_owned()), written);
            assert_eq!(unescape_formula(written), text);
        }
    }

    #[test]
    fn times_are_read_in_every_form_that_exports_have() {
        for text in [
            "2026-03-01T12:30:00Z",
            "2026-03-01T13:30:00+01:00",
            "2026-03-01T12:30:00+0000",
            "2026-03-01T12:30:00.000Z",
            "2026-03-01T12:30:00",
            "2026-03-01 12:30:00",
            "1772368200",
            " 1772368200 ",
        ] {
            assert_eq!(time(text).map(Timestamp::as_second), Some(1_772_368_200), "{text}");
        }
        assert_eq!(time("2026-03-01").unwrap().to_string(), "2026-03-01T00:00:00Z");
        for text in
            ["", "yesterday", "2026-02-30", "99999999999999999999", "-1", "0000-00-00 00:00:00"]
        {
            assert_eq!(time(text), None, "{text}");
        }
    }

    #[test]
    fn a_short_link_falls_into_domain_and_code() {
        let of = |domain: &str, code: &str| Some((Some(domain.to_owned()), code.to_owned()));
        for (link, parts) in [
            ("https://bit.ly/3xYz", of("bit.ly", "3xYz")),
            ("Go.Example/Spring/", of("go.example", "Spring")),
            ("http://go.example:8080/a/b?x#y", of("go.example:8080", "a/b")),
            ("/docs/", Some((None, "docs".to_owned()))),
            ("docs", Some((None, "docs".to_owned()))),
            ("https://bit.ly/", None),
            ("https://bit.ly", None),
            ("", None),
        ] {
            assert_eq!(short(link), parts, "{link}");
        }
    }
}
