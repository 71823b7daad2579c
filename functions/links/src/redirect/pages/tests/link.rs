//! What the preview and the card say about a link.

use super::*;

#[test]
fn the_button_goes_to_the_destination_that_is_shown_and_tells_it_nothing() {
    let page = preview(&LinkSummary { destinations: 3, ..plain() });
    assert_eq!(
        hrefs(&page),
        ["https://www.example.org/guides/short-links?ref=news&amp;lang=en#start"]
    );
    assert!(page.contains("rel=\"noreferrer noopener\""));
    assert!(page.contains("one of 3 destinations"));
    assert!(
        page.contains("https://<b>www.example.org</b>/guides/short-links?ref=news&amp;lang=en")
    );
}

#[test]
fn a_preview_says_when_the_link_was_made_and_when_it_ends() {
    let page = preview(&plain());
    assert!(page.contains("<time datetime=\"2026-10-03T08:15:30Z\">3 October 2026</time>"));
    assert!(page.contains(">31 January 2027, 23:00 UTC</time>"));
    let eve = LinkSummary { created: "2024-12-31T23:59:59.9Z".parse().unwrap(), ..plain() };
    assert!(preview(&eve).contains(">31 December 2024</time>"));
    assert!(!page.contains("A/B") && !page.contains("Look twice"));
    assert!(preview(&LinkSummary { expires: None, ..plain() }).contains("<dd>Never</dd>"));
}

#[test]
fn a_preview_names_the_qr_code_and_the_way_to_report() {
    let page = preview(&plain());
    assert!(page.contains("<img src=\"/qr/k7Rm2Xa.svg\" alt=\"QR code of https://swy.example/"));
    assert!(page.contains("POST /api/v1/url/k7Rm2Xa/report"));
    let odd = preview(&LinkSummary { short_url: "https://swy.example/ü\"x", ..plain() });
    assert!(odd.contains("<img src=\"/qr/%C3%BC%22x.svg\""));
}

#[test]
fn warnings_are_put_in_plain_words() {
    let page = preview(&long("https://example.org/"));
    assert!(page.contains("mixes letters of different alphabets"));
    assert!(page.contains("A check found: shortened by many."));
    assert!(page.contains(">Continue anyway</a>"));
}

#[test]
fn only_letters_that_imitate_others_are_marked() {
    let page = preview(&long("https://раypal-login.example/"));
    assert!(page.contains("<h1 dir=\"ltr\"><mark>ра</mark>ypal-login.example</h1>"));
    assert!(page.contains("https://<b><mark>ра</mark>ypal-login.example</b>/"));
    let honest = LinkSummary { host: "münchen.example", ..plain() };
    assert!(preview(&honest).contains("<h1 dir=\"ltr\">münchen.example</h1>"));
}

#[test]
fn a_card_carries_what_crawlers_read() {
    let page = card(&plain());
    for tag in [
        "<link rel=\"canonical\" href=\"https://swy.example/k7Rm2Xa\">",
        "<meta name=\"robots\" content=\"noindex, nofollow\">",
        "<meta property=\"og:url\" content=\"https://swy.example/k7Rm2Xa\">",
        "<meta property=\"og:site_name\" content=\"www.example.org\">",
        "<meta property=\"og:title\" content=\"A field guide to short links\">",
        "<meta property=\"og:description\" content=\"How they are made, what they hide, and how to \
         look before you leap.\">",
        "<meta property=\"og:image\" content=\"https://www.example.org/cover.png\">",
        "<meta name=\"twitter:card\" content=\"summary_large_image\">",
    ] {
        assert!(page.contains(tag), "{tag} is not in {page}");
    }
}

#[test]
fn a_card_without_words_of_its_own_names_the_host() {
    let bare = LinkSummary { title: Some(" \u{202e} "), description: None, image: None, ..plain() };
    let page = card(&bare);
    assert!(page.contains("<meta property=\"og:title\" content=\"www.example.org\">"));
    assert!(page.contains("content=\"A short link to www.example.org\""));
    assert!(page.contains("<meta name=\"twitter:card\" content=\"summary\">"));
}

#[test]
fn only_pictures_sent_over_tls_are_named() {
    for image in ["http://example.org/a.png", "data:image/png;base64,AA", "//example.org/a.png"] {
        assert!(
            !card(&LinkSummary { image: Some(image), ..plain() }).contains("og:image"),
            "{image}"
        );
    }
}
