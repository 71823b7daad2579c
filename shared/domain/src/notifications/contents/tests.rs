//! What may be said, and what may not.

use super::*;

fn mail(subject: &str) -> Content {
    Content::Email { subject: subject.to_owned(), text: "Hello".to_owned(), html: None }
}

fn push(link: &str) -> Content {
    let [title, body] = ["Hi", "there"].map(str::to_owned);
    Content::Push { title, body, link: Some(link.to_owned()), data: BTreeMap::new() }
}

#[test]
fn a_subject_is_one_line() {
    assert_eq!(invalid_field(&mail("Your order №1 ✓")), None);
    for subject in [
        "a\r\nBcc: eve@example.org",
        "a\nb",
        "a\rb",
        "a\0b",
        "a\u{85}b",
        "a\u{2028}b",
        "a\tb",
        "",
        "  ",
    ] {
        assert_eq!(
            invalid_field(&mail(subject)).map(|(field, _)| field),
            Some("email.subject"),
            "{subject:?}"
        );
    }
    assert_eq!(to_single_line("a\r\nBcc: eve@example.org\n"), "a  Bcc: eve@example.org");
    assert!(invalid_field(&mail(&"x".repeat(256))).is_some());
}

#[test]
fn a_link_opens_and_runs_nothing() {
    for link in ["https://example.org/x?y=1", "http://example.org", "myapp://orders/1"] {
        assert_eq!(invalid_field(&push(link)), None, "{link}");
    }
    for link in [
        "javascript:alert(1)",
        "JAVASCRIPT:alert(1)",
        "java\nscript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "vbscript:x",
        "orders/1",
        "",
    ] {
        assert!(invalid_field(&push(link)).is_some(), "{link:?}");
    }
}

#[test]
fn sizes_are_those_that_channels_carry() {
    assert!(invalid_field(&Content::Sms { text: "é".repeat(1_600) }).is_none());
    assert!(invalid_field(&Content::Sms { text: "é".repeat(1_601) }).is_some());
    let with = |entries: usize, length: usize| {
        let data = (0..entries).map(|n| (format!("k{n}"), "v".repeat(length))).collect();
        let [title, body] = ["Hi", "there"].map(str::to_owned);
        invalid_field(&Content::Push { title, body, link: None, data })
    };
    assert_eq!(with(20, 100), None);
    assert!(with(21, 1).is_some() && with(5, 1_000).is_some());
}

#[test]
fn words_are_for_the_channels_they_are_written_for() {
    let contents: ChannelContents = serde_json::from_str(r#"{"sms":{"text":"hi"}}"#).unwrap();
    assert_eq!(contents.channels().collect::<Vec<_>>(), [Channel::Sms]);
    assert_eq!(contents.for_channel(Channel::Sms), Some(Content::Sms { text: "hi".to_owned() }));
    assert_eq!(contents.for_channel(Channel::Email), None);
    assert_eq!(format!("{contents:?}"), "Words(sms)");
    assert!(serde_json::from_str::<ChannelContents>(r#"{"fax":{"text":"hi"}}"#).is_err());
}
