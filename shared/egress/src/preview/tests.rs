//! Pages as they are found, and as an attacker would write them.

use std::time::Duration;

use proptest::prelude::*;

use super::PagePreview;
use crate::FetchedPage;

fn read(html: &str) -> PagePreview {
    page(Some("text/html; charset=utf-8"), html.as_bytes())
}

fn page(content_type: Option<&str>, body: &[u8]) -> PagePreview {
    PagePreview::from_page(&FetchedPage {
        url: "https://example.org/".to_owned(),
        status: 200,
        content_type: content_type.map(ToOwned::to_owned),
        body: body.to_vec(),
    })
}

fn title(html: &str) -> Option<String> {
    read(html).title
}

#[test]
fn a_page_with_everything_is_read_in_full() {
    let html = r#"<!DOCTYPE html><html><head>
        <meta charset="utf-8">
        <title>The page &mdash; the site</title>
        <meta name="description" content="Plain.">
        <META PROPERTY='OG:Title' CONTENT='The page'>
        <meta property="og:description" content="Fish &amp; chips,&#10;twice &#x1F41F;">
        <meta property="og:image" content="https://cdn.example.org/a.png?x=1&amp;y=2" />
        <meta content="The site" property=og:site_name>
        </head><body></body></html>"#;
    assert_eq!(
        read(html),
        PagePreview {
            title: Some("The page".to_owned()),
            description: Some("Fish & chips, twice 🐟".to_owned()),
            image: Some("https://cdn.example.org/a.png?x=1&y=2".to_owned()),
            site_name: Some("The site".to_owned()),
        }
    );
}

#[test]
fn what_says_more_of_sharing_is_preferred() {
    let og = "<meta property=og:title content=og>";
    let twitter = "<meta name=twitter:title content=twitter>";
    let title_tag = "<title>title</title>";
    for (html, expected) in [
        (format!("{title_tag}{twitter}{og}"), "og"),
        (format!("{title_tag}{twitter}"), "twitter"),
        (title_tag.to_owned(), "title"),
        (format!("<meta name=og:title content=misnamed>{title_tag}"), "misnamed"),
        (format!("<meta property=og:title content='  '>{title_tag}"), "title"),
        (format!("<meta property=og:title>{twitter}"), "twitter"),
        (format!("{og}<meta property=og:title content=second>"), "og"),
    ] {
        assert_eq!(title(&html).as_deref(), Some(expected), "{html}");
    }
}

#[test]
fn a_title_is_the_pages_and_not_a_drawings() {
    for (html, expected) in [
        ("<svg><title>drawing</title></svg><title>late</title>", None),
        ("<body><title>in the body</title>", None),
        ("<title></title><title>second</title>", Some("second")),
        ("<title>first</title><title>second</title>", Some("first")),
        ("<title>a <b>bold</b> claim</title>", Some("a <b>bold</b> claim")),
        ("<title>unfinished", Some("unfinished")),
        ("<!-- <title>hidden</title> --><title>shown</title>", Some("shown")),
        ("<script>'<title>code</title>'</script><title>shown</title>", Some("shown")),
        ("<noscript><title>none</title></noscript><title>shown</title>", Some("shown")),
        ("<textarea><title>typed</title></textarea>", None),
        ("<title/>x</title>", Some("x")),
        ("", None),
    ] {
        assert_eq!(title(html).as_deref(), expected, "{html}");
    }
}

#[test]
fn texts_are_one_clean_line() {
    for (written, expected) in [
        ("  a \n\t b  ", Some("a b")),
        ("a&nbsp;b", Some("a b")),
        ("a&#0;b&#7;c&#x9b;d", Some("a\u{fffd}bc\u{203a}d")),
        ("\u{1b}[31mred", Some("[31mred")),
        ("moc.live\u{202e}\u{2066}x", Some("moc.livex")),
        ("\u{feff}\u{200f}\u{7}", None),
        ("&lt;script&gt;", Some("<script>")),
        ("AT&T &notanentity; &copy", Some("AT&T \u{ac}anentity; ©")),
    ] {
        assert_eq!(title(&format!("<title>{written}</title>")).as_deref(), expected, "{written:?}");
    }
}

#[test]
fn texts_are_capped_by_characters() {
    let long = "é".repeat(10_000);
    let html = format!(
        "<title>{long}</title><meta name=description content={long}>\
         <meta property=og:site_name content={long}>"
    );
    let preview = read(&html);
    let lengths = [preview.title, preview.description, preview.site_name]
        .map(|text| text.unwrap().chars().count());
    assert_eq!(lengths, [200, 400, 100]);
}

#[test]
fn an_image_is_a_public_https_url_or_none() {
    let long = format!("https://example.org/{}", "a".repeat(2_100));
    for (written, expected) in [
        ("https://example.org/a.png", Some("https://example.org/a.png")),
        (" HTTPS://Example.org ", Some("https://example.org/")),
        ("https://93.184.216.34/a", Some("https://93.184.216.34/a")),
        ("http://example.org/a.png", None),
        ("/a.png", None),
        ("//example.org/a.png", None),
        ("javascript:alert(1)", None),
        ("data:image/png;base64,AAAA", None),
        ("https://192.168.1.1/reboot", None),
        ("https://2130706433/", None),
        ("https://[::1]/", None),
        ("https://user:secret@example.org/", None),
        (&long, None),
        ("", None),
    ] {
        let html = format!("<meta property=og:image content='{written}'>");
        assert_eq!(read(&html).image.as_deref(), expected, "{written}");
    }
    let second =
        "<meta property=og:image content=/a><meta name=twitter:image content=https://b.test/>";
    assert_eq!(read(second).image.as_deref(), Some("https://b.test/"));
}

#[test]
fn only_html_is_read() {
    let body = b"<title>x</title>";
    for (content_type, is_read) in [
        (None, true),
        (Some("text/html"), true),
        (Some(" Text/HTML ;charset=x"), true),
        (Some("application/xhtml+xml"), true),
        (Some("text/plain"), false),
        (Some("image/svg+xml"), false),
        (Some("text/htmlx"), false),
        (Some(""), false),
    ] {
        assert_eq!(page(content_type, body).title.is_some(), is_read, "{content_type:?}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_replaced() {
    let latin = page(None, b"<title>caf\xe9</title>");
    assert_eq!(latin.title.as_deref(), Some("caf\u{fffd}"));
}

#[test]
fn a_page_made_to_be_slow_is_not() {
    for piece in
        ["<", "<a ", "&", "<!--", "<meta property=og:title content=", "<title>", "</", "x=y "]
    {
        let body = piece.repeat(256 * 1024 / piece.len());
        let (done, end) = std::sync::mpsc::channel();
        std::thread::spawn(move || done.send(read(&body)));
        assert!(end.recv_timeout(Duration::from_secs(5)).is_ok(), "{piece}");
    }
}

proptest! {
    #[test]
    fn no_bytes_break_the_reader_or_its_promises(body: Vec<u8>) {
        check(&page(None, &body))?;
    }

    #[test]
    fn no_tag_soup_breaks_the_reader_or_its_promises(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "<meta ", "property=", "'og:title'", "\"og:image\"", " content=", "'https://a.test/",
            ">", "<title>", "</title>", "&amp;", "&#0;", "&#x202e;", "<!--", "-->", "<script>",
            "</script>", "<svg>", "\u{7}", "é", " ",
        ]), 0..60)
    ) {
        check(&read(&pieces.concat()))?;
    }
}

fn check(preview: &PagePreview) -> Result<(), TestCaseError> {
    let texts = [(&preview.title, 200), (&preview.description, 400), (&preview.site_name, 100)];
    for (text, cap) in texts.into_iter().filter_map(|(text, cap)| Some((text.as_ref()?, cap))) {
        prop_assert!(!text.is_empty() && text.chars().count() <= cap);
        let harmless = text.chars().all(|char| !char.is_control() && char != '\u{202e}');
        prop_assert!(harmless);
        prop_assert_eq!(text.trim(), text);
    }
    prop_assert!(preview.image.iter().all(|image| image.starts_with("https://")));
    Ok(())
}
