//! What a message can and cannot do to a mail.

use super::*;

fn message(subject: &str, html: Option<&str>) -> ProviderMessage {
    ProviderMessage {
        key: "n1.email".to_owned(),
        to: Address::Email { address: "bob@example.com".to_owned() },
        content: Content::Email {
            subject: subject.to_owned(),
            text: "Hello.".to_owned(),
            html: html.map(str::to_owned),
        },
        collapse_key: None,
        urgent: false,
        expires_at: None,
        unsubscribe: Some("https://api.example.com/unsubscribe?token=t.k".to_owned()),
    }
}

fn composed(message: &ProviderMessage) -> Result<String, UnsendableMail> {
    let from = "Switchyard <hello@example.org>".parse().unwrap();
    let mail = compose(message, &from, None, Timestamp::UNIX_EPOCH)?;
    Ok(String::from_utf8(mail.bytes).unwrap())
}

/// The names of a mail's headers.
fn headers(mail: &str) -> Vec<&str> {
    let (head, _) = mail.split_once("\r\n\r\n").unwrap();
    let starts = head.split("\r\n").filter(|line| !line.starts_with([' ', '\t']));
    starts.map(|line| line.split_once(':').unwrap().0).collect()
}

#[test]
fn a_mail_in_two_forms_has_both_and_can_be_unsubscribed_from() {
    let mail = composed(&message("Hi", Some("<b>Hello.</b>"))).unwrap();
    assert!(mail.contains("Content-Type: multipart/alternative"));
    assert!(mail.contains("Content-Type: text/plain") && mail.contains("Content-Type: text/html"));
    assert!(mail.contains("List-Unsubscribe: <https://api.example.com/unsubscribe?token=t.k>\r\n"));
    assert!(mail.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"));
    assert!(mail.contains("Date: Thu, 01 Jan 1970 00:00:00 +0000\r\n"));
}

#[test]
fn the_same_message_has_the_same_id_and_another_has_another() {
    let id = |key: &str| {
        let message = ProviderMessage { key: key.to_owned(), ..message("Hi", None) };
        let from = "hello@example.org".parse().unwrap();
        compose(&message, &from, None, Timestamp::UNIX_EPOCH).unwrap().id
    };
    assert_eq!(id("n1"), id("n1"));
    assert_ne!(id("n1"), id("n2"));
    assert!(id("a\r\nb").ends_with("@example.org") && !id("a\r\nb").contains(['\r', '\n']));
}

#[test]
fn no_subject_begins_a_header() {
    let plain = headers(&composed(&message("Hi", None)).unwrap()).len();
    for subject in [
        "Hi\r\nBcc: eve@example.com",
        "Hi\nBcc: eve@example.com",
        "Hi\rBcc: eve@example.com",
        "Hi\r\n\r\n<script>",
        "Hi\u{2028}Bcc: eve@example.com",
        "\r\n.\r\nMAIL FROM:<eve@example.com>",
        "=?utf-8?q?Hi=0D=0ABcc:_eve@example.com?=",
        &"long ".repeat(500),
        "Grüße\r\nBcc: eve@example.com",
    ] {
        let mail = composed(&message(subject, None)).unwrap();
        let names = headers(&mail);
        assert_eq!(names.len(), plain, "{subject:?}: {names:?}");
        assert!(!names.iter().any(|name| name.eq_ignore_ascii_case("bcc")), "{subject:?}");
    }
}

#[test]
fn what_is_no_mailbox_is_no_recipient() {
    for address in [
        "bob@example.com\r\nRCPT TO:<eve@example.com>",
        "bob@example.com>\r\nDATA",
        "bob",
        "",
        "a@b@c",
        "bob@example.com, eve@example.com",
        "Bob <bob@example.com>",
    ] {
        let to = Address::Email { address: address.to_owned() };
        let refused = composed(&ProviderMessage { to, ..message("Hi", None) }).unwrap_err();
        assert_eq!(refused.0, Class::InvalidRecipient, "{address:?}");
    }
}

#[test]
fn without_tls_there_is_a_link_and_no_click() {
    let link = "http://localhost:4000/unsubscribe?token=t.k".to_owned();
    let mail =
        composed(&ProviderMessage { unsubscribe: Some(link), ..message("Hi", None) }).unwrap();
    assert!(mail.contains("List-Unsubscribe: <http://localhost:4000/unsubscribe?token=t.k>\r\n"));
    assert!(!mail.contains("List-Unsubscribe-Post"));
}

#[test]
fn a_link_to_unsubscribe_is_a_plain_url() {
    for link in [
        "https://a.example/\r\nBcc: eve@example.com",
        "https://a.example/>, <mailto:eve@example.com",
        "ftp://a.example/",
        "javascript:alert(1)",
        "https://a.example/ b",
        &format!("https://a.example/{}", "x".repeat(1000)),
    ] {
        let message = ProviderMessage { unsubscribe: Some(link.to_owned()), ..message("Hi", None) };
        assert_eq!(composed(&message).unwrap_err().0, Class::Content, "{link:?}");
    }
}

#[test]
fn a_message_of_another_kind_is_no_mail() {
    let content = Content::Sms { text: "hi".to_owned() };
    let message = ProviderMessage { content, ..message("Hi", None) };
    assert_eq!(composed(&message).unwrap_err().0, Class::Content);
}
