//! Mails as they come over SMTP, taken apart for reading.

use mail_parser::{Address, MessageParser};

use crate::message::ReceivedMessage;

/// Reads a mail that was sent to `to`. What cannot be understood is shown as it came.
pub(crate) fn read(from: &str, to: &[String], raw: &[u8]) -> ReceivedMessage {
    let source = String::from_utf8_lossy(raw).into_owned();
    let mut received = ReceivedMessage { to: to.join(", "), source, ..ReceivedMessage::default() };
    received.from = Some(from.to_owned());
    let Some(mail) = MessageParser::default().parse(raw) else {
        received.text.clone_from(&received.source);
        return received;
    };
    mail.subject().unwrap_or_default().clone_into(&mut received.title);
    received.text = mail.body_text(0).unwrap_or_default().into_owned();
    // Of a mail without HTML the parser would make some up.
    received.html =
        mail.html_body.first().and_then(|part| mail.parts.get(*part as usize)).and_then(|part| {
            if let mail_parser::PartType::Html(html) = &part.body {
                Some(html.to_string())
            } else {
                None
            }
        });
    received.from = mail.from().and_then(Address::first).map(shown).or(received.from);
    received.headers =
        mail.headers_raw().map(|(name, value)| (name.to_owned(), unfolded(value))).collect();
    received
}

fn shown(address: &mail_parser::Addr<'_>) -> String {
    let mailbox = address.address().unwrap_or_default();
    address.name().map_or_else(|| mailbox.to_owned(), |name| format!("{name} <{mailbox}>"))
}

fn unfolded(value: &str) -> String {
    value
        .split(['\r', '\n'])
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_in_two_forms_is_read_in_both() {
        let raw = b"From: Ada <ada@example.com>\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\
            X-Long: one\r\n two\r\n\
            Content-Type: multipart/alternative; boundary=b\r\n\r\n\
            --b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
            Sch=C3=B6n\r\n--b\r\nContent-Type: text/html\r\n\r\n<b>hi</b>\r\n--b--\r\n";
        let received = read("bounce@example.com", &["bob@example.com".to_owned()], raw);
        assert_eq!((received.title.as_str(), received.text.trim()), ("Grüße", "Schön"));
        assert_eq!(received.html.as_deref().map(str::trim), Some("<b>hi</b>"));
        assert_eq!(received.from.as_deref(), Some("Ada <ada@example.com>"));
        assert!(received.headers.contains(&("X-Long".to_owned(), "one two".to_owned())));
    }

    #[test]
    fn a_mail_without_html_has_none() {
        let received = read("a@b.c", &["d@e.f".to_owned()], b"Subject: plain\r\n\r\nhello\r\n");
        assert_eq!((received.text.trim(), received.html), ("hello", None));
    }
}
