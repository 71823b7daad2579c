//! Injections into every page, and the rules that every page keeps.

mod link;

use std::fs;
use std::path::Path;

use super::*;

/// Texts that break out of a page which does not escape them.
const INJECTIONS: [&str; 14] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</style><style>*{display:none}",
    "</title><script>alert(1)</script>",
    "--><svg onload=alert(1)>",
    "javascript:alert(1)",
    "JaVaScRiPt://example.com/%0aalert(1)",
    "java\tscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "https://example.com/\"onfocus=alert(1) autofocus",
    "https://example.com/\u{202e}gpj.exe",
    "https://example.com/\r\nSet-Cookie: a=b\0",
    "http://é<>\u{200b}\u{feff}\u{e0041}",
];

fn plain() -> LinkSummary<'static> {
    LinkSummary {
        short_url: "https://swy.example/k7Rm2Xa",
        destination: "https://www.example.org/guides/short-links?ref=news&lang=en#start",
        host: "www.example.org",
        created: "2026-10-03T08:15:30Z".parse().unwrap(),
        expires: Some("2027-01-31T23:00:00Z".parse().unwrap()),
        title: Some("A field guide to short links"),
        description: Some("How they are made, what they hide, and how to look before you leap."),
        image: Some("https://www.example.org/cover.png"),
        warnings: &[],
        destinations: 1,
    }
}

fn long(destination: &str) -> LinkSummary<'_> {
    LinkSummary {
        destination,
        host: "раypal-login.example",
        expires: None,
        title: None,
        description: None,
        warnings: &["mixed-script-host", "shortened-by-many"],
        destinations: 3,
        ..plain()
    }
}

/// Every page there is, with `text` wherever a text is taken.
fn pages_with(text: &str) -> Vec<String> {
    let list = [text, text];
    let link = LinkSummary {
        short_url: text,
        destination: text,
        host: text,
        title: Some(text),
        description: Some(text),
        image: Some(text),
        warnings: &list,
        ..plain()
    };
    vec![preview(&link), card(&link), not_found(text), expired(), blocked(text), unavailable()]
}

/// The tags of a page and nothing else, so that two pages can be compared by their shape.
fn tags(page: &str) -> Vec<&str> {
    page.split('<').skip(1).map(|tag| tag.split([' ', '>', '\n']).next().unwrap()).collect()
}

/// The names of all attributes, read as a browser does: quotes end only where they are closed.
fn attributes(page: &str) -> Vec<String> {
    let mut names = Vec::new();
    let (mut inside, mut quoted, mut name) = (false, false, String::new());
    for character in page.chars() {
        match character {
            '"' if inside => quoted = !quoted,
            _ if quoted => {}
            '<' => inside = true,
            '>' => inside = false,
            '=' if inside => names.push(std::mem::take(&mut name)),
            c if inside && c.is_ascii_alphabetic() => name.push(c),
            _ => name.clear(),
        }
    }
    names
}

fn hrefs(page: &str) -> Vec<&str> {
    page.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

#[test]
fn no_text_adds_a_tag_or_an_attribute() {
    let known = [
        "http", "lang", "charset", "name", "content", "property", "rel", "href", "class", "dir",
        "viewBox", "width", "height", "hidden", "d", "cx", "cy", "r", "src", "alt", "datetime",
        "tabindex",
    ];
    for injected in INJECTIONS {
        for page in pages_with(injected) {
            let markup = page.replace(STYLE, "");
            for name in attributes(&markup) {
                assert!(known.contains(&name.as_str()), "{injected:?} made {name:?} in {markup}");
            }
            for tag in ["script", "img", "style", "title", "/style", "/title"] {
                let count = tags(&markup).iter().filter(|found| **found == tag).count();
                let most = usize::from(tag != "script");
                assert!(count <= most, "{injected:?} made {count} <{tag}> in {markup}");
            }
        }
    }
}

#[test]
fn no_page_holds_a_character_that_hides_or_turns_text() {
    for injected in INJECTIONS {
        for page in pages_with(injected) {
            let found = page.chars().find(|&c| {
                (c.is_control() && c != '\n')
                    || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
                    || matches!(c, '\u{200b}' | '\u{feff}' | '\u{e0041}')
            });
            assert_eq!(found, None, "from {injected:?}");
        }
    }
}

#[test]
fn a_turned_address_shows_the_mark_that_turns_it() {
    let link = LinkSummary { destination: "https://example.org/\u{202e}gpj.exe", ..plain() };
    let page = preview(&link);
    assert!(page.contains("</b>/[U+202E]gpj.exe</p>"));
    assert!(page.contains("href=\"https://example.org/%E2%80%AEgpj.exe\""));
}

#[test]
fn only_web_addresses_become_links() {
    for injected in INJECTIONS {
        for page in pages_with(injected) {
            for href in hrefs(&page) {
                let web = href.starts_with("https://") || href.starts_with("http://");
                assert!(web || href.is_empty(), "{injected:?} became {href:?}");
            }
        }
    }
    let page = preview(&LinkSummary { destination: "javascript:alert(1)", ..plain() });
    assert!(!page.contains("Continue") && page.contains("no button to follow it"));
}

#[test]
fn a_blocked_link_gives_its_reason_and_no_address() {
    let page = blocked("Phishing & fraud");
    assert!(page.contains("<dt>Reason</dt><dd dir=\"auto\">Phishing &amp; fraud</dd>"));
    assert!(hrefs(&page).is_empty());
    assert!(!blocked(" ").contains("Reason"));
}

#[test]
fn a_missing_code_is_repeated_only_so_far() {
    assert!(not_found("k7Rm2Xb").contains("<code dir=\"ltr\">k7Rm2Xb</code>"));
    assert!(not_found(&"é".repeat(5_000)).contains(&format!(">{}…<", "é".repeat(64))));
}

#[test]
fn every_page_holds_the_one_stylesheet_that_the_hash_lets_through() {
    // The SHA-256 of nothing at all, as the standard's test vectors have it.
    assert_eq!(hash(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    assert!(!STYLE.contains(['<', '\r']) && !STYLE.contains("url(") && !STYLE.contains("@import"));
    for page in pages_with("x") {
        let inline = page.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
        assert_eq!(hash(inline), style_hash());
    }
}

/// Leaves the pages in `target/pages`, to be looked at in a browser.
#[test]
fn every_page_is_small() {
    const MAX_BYTES: usize = 6 * 1024;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/pages");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("style-hash"), style_hash()).unwrap();
    let endless = format!("https://раypal-login.example/{}", "account/verify?step=1&".repeat(91));
    let (title, description) = ("Short links ".repeat(10), "what they hide, ".repeat(15));
    let full = LinkSummary {
        title: Some(&title),
        description: Some(&description),
        warnings: &["mixed-script-host"],
        destinations: 4,
        ..plain()
    };
    // A destination stands in the page twice; what it adds is its own doing.
    let twice = |url: &str| 2 * (url.len() + 4 * url.matches('&').count());
    let samples = [
        ("preview", preview(&plain()), 0),
        ("preview-full", preview(&full), 0),
        ("preview-long", preview(&long(&endless)), twice(&endless)),
        ("card", card(&plain()), 0),
        ("card-full", card(&full), 0),
        ("missing", not_found("k7Rm2Xb"), 0),
        ("expired", expired(), 0),
        ("blocked", blocked("Reported as phishing and confirmed on review"), 0),
        ("unavailable", unavailable(), 0),
    ];
    for (name, page, destination) in samples {
        fs::write(folder.join(name).with_extension("html"), &page).unwrap();
        println!("{name}: {} bytes", page.len());
        assert!(page.len() - destination <= MAX_BYTES, "{name} has {} bytes", page.len());
    }
}
