//! Text that hides, turns or poses as an address.

use proptest::prelude::*;

use super::*;

#[test]
fn an_address_spells_out_what_the_eye_would_miss() {
    for (text, shown) in [
        ("a\u{202e}b", "a[U+202E]b"),
        ("a\u{2066}b\u{2069}", "a[U+2066]b[U+2069]"),
        ("a\r\n\tb\0", "a[U+000D][U+000A][U+0009]b[U+0000]"),
        ("a\u{a0}b\u{3000}", "a[U+00A0]b[U+3000]"),
        ("a\u{200d}b\u{e0041}", "a[U+200D]b[U+E0041]"),
        ("<'\">", "<'\">"),
        ("müller.example", "müller.example"),
    ] {
        assert_eq!(visible(text), shown);
    }
}

#[test]
fn a_line_holds_what_can_be_seen() {
    for (text, shown) in [
        ("  two\r\n words\t", "two words"),
        ("a\u{202e}b\u{200b}c", "abc"),
        ("\u{202e}\u{feff}", ""),
        ("می\u{200c}خواهم", "می\u{200c}خواهم"),
        ("👩\u{200d}🚀", "👩\u{200d}🚀"),
        ("1234567890", "1234567890"),
        ("12345678901", "1234567890…"),
    ] {
        assert_eq!(one_line(text, 10), shown);
    }
}

#[test]
fn only_addresses_of_the_web_are_linked() {
    for url in ["http://example.org", "HTTPS://example.org/a", "https://[2001:db8::1]:8443/"] {
        assert_eq!(web_url(url).as_deref(), Some(url));
    }
    for url in [
        "javascript:alert(1)",
        "javascript://example.org/%0aalert(1)",
        " https://example.org",
        "java\nscript:alert(1)",
        "data:text/html,a",
        "vbscript:a",
        "file:///etc/passwd",
        "//example.org",
        "https:example.org",
        "https://",
        "",
    ] {
        assert_eq!(web_url(url), None, "{url:?}");
    }
    let odd = web_url("https://example.org/a b\n\u{202e}\"'").unwrap();
    assert_eq!(odd, "https://example.org/a%20b%0A%E2%80%AE\"'");
}

#[test]
fn the_host_is_found_where_a_browser_finds_it() {
    for (url, host) in [
        ("https://example.org", "example.org"),
        ("https://example.org:8443/a", "example.org"),
        ("https://bank.example@evil.example/", "evil.example"),
        ("https://evil.example\\@bank.example/", "evil.example"),
        ("https://evil.example?@bank.example/", "evil.example"),
        ("https://evil.example#@bank.example/", "evil.example"),
        ("https://user:pass@example.org:1/", "example.org"),
        ("https://[2001:db8::1]:443/", "[2001:db8::1]"),
        ("https://[::1", "["),
    ] {
        assert_eq!(split_at_host(url).map(|(_, host, _)| host), Some(host), "{url}");
    }
    assert_eq!(split_at_host("mailto:a@b.example"), None);
}

#[test]
fn a_segment_never_leaves_its_place_in_the_path() {
    for (code, safe) in [
        ("k7Rm2Xa", "k7Rm2Xa"),
        ("a/../b?c#d", "a%2F..%2Fb%3Fc%23d"),
        ("%C3%BC", "%C3%BC"),
        ("ü", "%C3%BC"),
    ] {
        assert_eq!(path_segment(code), safe);
    }
}

proptest! {
    #[test]
    fn no_text_comes_out_hidden_or_turned(text in any::<String>(), limit in 0_usize..300) {
        for safe in [visible(&text), one_line(&text, limit), path_segment(&text)] {
            let joins = |c: char| matches!(c, '\u{200c}' | '\u{200d}');
            let hides = safe.chars().any(|c| is_hidden(c) && !joins(c));
            prop_assert!(!hides);
        }
        let url = format!("https://{text}");
        if let Some(safe) = web_url(&url) {
            prop_assert!(!safe.contains(char::is_whitespace) && !safe.chars().any(is_hidden));
        }
    }

    #[test]
    fn the_parts_around_a_host_make_up_the_whole(rest in any::<String>()) {
        let url = format!("https://{rest}");
        let (before, host, after) = split_at_host(&url).unwrap();
        prop_assert_eq!([before, host, after].concat(), url.as_str());
    }
}
