//! Mails and text messages: what arrives, and how a mail server is spoken to.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::Timestamp;
use domain::notifications::{Address, Class, Content, ProviderMessage, SendOutcome};
use sink::{Behaviour, Message, Via};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::stage::{Stage, alone, now, refusal};
use crate::settings::{Settings, SmtpSettings};
use crate::{Provider, Smtp};

fn header<'a>(message: &'a Message, name: &str) -> &'a str {
    let found = message.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.as_str()).unwrap_or_default()
}

#[tokio::test]
async fn a_mail_arrives_in_both_forms_with_one_click_to_end_it() {
    let stage = Stage::new().await;
    for via in [Via::Smtp, Via::Ses] {
        stage.send(via).await;
        let mail: Arc<Message> = stage.sink.sent(via).remove(0);
        assert_eq!(
            (mail.title.as_str(), mail.to.as_str()),
            ("Your order", "bob.private@example.com")
        );
        assert_eq!(mail.text.replace('\r', "").trim_end(), "It is on its way.\n.\nBye", "{via:?}");
        let html = mail.html.as_deref().unwrap_or_default();
        assert_eq!(html.trim_end(), "<p>It is on its <b>way</b>.</p>");
        let link = "<https://api.example/unsubscribe?token=t>";
        assert_eq!(header(&mail, "List-Unsubscribe"), link, "{via:?}");
        assert_eq!(header(&mail, "List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
        assert_eq!(mail.from.as_deref(), Some("Switchyard <notifications@sink.localhost>"));
    }
}

#[tokio::test]
async fn the_same_parcel_is_recognised_by_its_message_id() {
    let stage = Stage::new().await;
    stage.send(Via::Smtp).await;
    stage.send(Via::Smtp).await;
    let other = ProviderMessage { key: "n2".to_owned(), ..stage.parcel(Via::Smtp) };
    stage.send_message(Via::Smtp, &other).await;
    let sent = stage.sink.sent(Via::Smtp);
    let ids: Vec<_> = sent.iter().map(|mail| header(mail, "Message-ID")).collect();
    assert_eq!(ids[1], ids[2]);
    assert_ne!(ids[0], ids[1]);
    assert!(stage.provider(Via::Smtp).recognises_repeats());
    assert!(!stage.provider(Via::Ses).recognises_repeats());
    assert!(!stage.provider(Via::Sms).recognises_repeats());
}

#[tokio::test]
async fn no_part_of_a_parcel_becomes_a_header_or_a_command() {
    let stage = Stage::new().await;
    let evil = "x\r\nBcc: eve@example.com\r\n.\r\nMAIL FROM:<eve@example.com>\r\nRCPT TO:<eve@example.com>";
    for via in [Via::Smtp, Via::Ses] {
        let content = Content::Email {
            subject: evil.to_owned(),
            text: evil.to_owned(),
            html: Some(evil.to_owned()),
        };
        let parcel = ProviderMessage { key: evil.to_owned(), content, ..stage.parcel(via) };
        let handed = stage.send_message(via, &parcel).await;
        assert!(matches!(handed, SendOutcome::Accepted { .. }), "{handed:?}");
        let mail = stage.sink.sent(via).remove(0);
        assert_eq!(header(&mail, "Bcc"), "", "{via:?}");
        assert_eq!(mail.to, "bob.private@example.com");
        assert!(mail.title.starts_with("x Bcc: eve@example.com ."), "{}", mail.title);
        assert_eq!(mail.text.replace('\r', "").trim_end(), evil.replace('\r', ""), "{via:?}");
    }
    assert_eq!(stage.sink.messages().len(), 2);
}

#[tokio::test]
async fn what_is_no_mailbox_or_no_number_is_refused_without_asking() {
    let stage = Stage::new().await;
    for address in ["bob", "a@b\r\nRCPT TO:<eve@example.com>", "bob@example.com, eve@example.com"] {
        for via in [Via::Smtp, Via::Ses] {
            let to = Address::Email { address: address.to_owned() };
            let handed =
                stage.send_message(via, &ProviderMessage { to, ..stage.parcel(via) }).await;
            assert_eq!(refusal(&handed).0, Class::InvalidRecipient, "{address}");
        }
    }
    for number in ["5551234567", "+1555", "+1555123456789012", "arn:aws:sns:topic"] {
        let to = Address::Phone { number: number.to_owned() };
        let handed =
            stage.send_message(Via::Sms, &ProviderMessage { to, ..stage.parcel(Via::Sms) }).await;
        assert_eq!(refusal(&handed).0, Class::InvalidRecipient, "{number}");
    }
    let content = Content::Sms { text: "x".repeat(1601) };
    let handed =
        stage.send_message(Via::Sms, &ProviderMessage { content, ..stage.parcel(Via::Sms) }).await;
    assert_eq!(refusal(&handed).0, Class::Content);
    assert!(stage.sink.messages().is_empty());
}

#[tokio::test]
async fn who_is_not_believed_has_an_outage_and_not_a_bad_recipient() {
    let stage = Stage::with(20_000, |settings| settings["smtp"]["password"] = "wrong".into()).await;
    let handed = stage.send(Via::Smtp).await;
    assert_eq!(refusal(&handed).0, Class::Outage, "{handed:?}");
    let stage = Stage::new().await;
    let fail = Behaviour::Fail { code: 454, said: "4.7.0 later".to_owned() };
    stage.sink.behave_next(Via::Smtp, 1, fail);
    assert_eq!(refusal(&stage.send(Via::Smtp).await).0, Class::Outage);
}

#[tokio::test]
async fn a_refused_mail_does_not_spoil_the_next_on_the_same_line() {
    let stage = Stage::new().await;
    for code in [550, 554] {
        stage.send(Via::Smtp).await;
        stage.sink.behave_next(Via::Smtp, 1, Behaviour::Fail { code, said: "no".to_owned() });
        stage.send(Via::Smtp).await;
        let handed = stage.send(Via::Smtp).await;
        assert!(matches!(handed, SendOutcome::Accepted { .. }), "{handed:?}");
    }
    assert_eq!(stage.sink.sent(Via::Smtp).len(), 4);
}

#[tokio::test]
async fn what_never_left_for_aws_is_refused_and_not_unknown() {
    let stage = Stage::without_aws().await;
    for via in [Via::Ses, Via::Sms] {
        let handed = stage.send(via).await;
        assert_eq!(refusal(&handed).0, Class::Outage, "{via:?}: {handed:?}");
    }
}

fn settings(port: u16, security: &str) -> SmtpSettings {
    let document = serde_json::json!({ "smtp": {
        "host": "127.0.0.1", "port": port, "security": security, "from": "a@example.org",
        "timeoutMs": 2000,
    } });
    Settings::parse(&document.to_string()).unwrap().smtp.unwrap()
}

/// A server that says one line after another, whatever it hears in between, and what it heard.
async fn script(lines: &'static [&'static str]) -> (u16, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let (mut heard, mut room) = (String::new(), vec![0; 4096]);
        for line in lines {
            stream.write_all(line.as_bytes()).await.unwrap();
            let count = stream.read(&mut room).await.unwrap_or_default();
            heard.push_str(&String::from_utf8_lossy(&room[..count]));
        }
        heard
    });
    (port, heard)
}

async fn talk(settings: SmtpSettings) -> SendOutcome {
    let stage = Stage::new().await;
    let smtp = Smtp::new(settings, alone()).unwrap();
    smtp.send(&stage.parcel(Via::Smtp), now()).await
}

#[tokio::test]
async fn nothing_is_said_in_the_clear_to_who_should_speak_tls() {
    for lines in [
        &["220 hi\r\n", "250-me\r\n250 SIZE 1\r\n", ""][..],
        &["220 hi\r\n", "250 STARTTLS\r\n", "454 not now\r\n", ""],
        &["220 hi\r\n", "250 STARTTLS\r\n", "220 go\r\n250 injected\r\n", ""],
    ] {
        let (port, heard) = script(lines).await;
        let handed = talk(settings(port, "starttls")).await;
        assert_eq!(refusal(&handed).0, Class::Outage, "{handed:?}");
        assert!(!heard.await.unwrap().contains("MAIL"), "{lines:?}");
    }
    let (port, heard) = script(&["220 hi\r\n", ""]).await;
    assert_eq!(refusal(&talk(settings(port, "tls")).await).0, Class::Outage);
    assert!(!heard.await.unwrap().contains("EHLO"));
}

#[tokio::test]
async fn a_line_cut_before_the_mail_is_an_outage_and_after_it_unknown() {
    let yes = ["220 hi\r\n", "250 me\r\n", "250 ok\r\n", "250 ok\r\n", "354 go\r\n"];
    for cut in 0..yes.len() {
        let lines: &'static [&'static str] = Vec::leak(yes[..cut].to_vec());
        let (port, _heard) = script(lines).await;
        let handed = talk(settings(port, "none")).await;
        assert_eq!(refusal(&handed).0, Class::Outage, "cut after {cut}: {handed:?}");
    }
    let (port, _heard) = script(Vec::leak(yes.to_vec())).await;
    let handed = talk(settings(port, "none")).await;
    assert!(matches!(handed, SendOutcome::Unknown { .. }), "{handed:?}");
}

#[tokio::test]
async fn a_line_is_used_again_unless_it_rested_too_long() {
    let stage = Stage::new().await;
    let dialled = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&dialled);
    let network = alone().with_connect(move |address| {
        counter.fetch_add(1, Ordering::SeqCst);
        Box::pin(TcpStream::connect(address))
    });
    let document = stage.sink.settings().to_string();
    let smtp = Smtp::new(Settings::parse(&document).unwrap().smtp.unwrap(), network).unwrap();
    for (seconds, connections) in [(0, 1), (59, 1), (119, 2), (118, 3)] {
        let at = Timestamp::from_second(now().as_second() + seconds).unwrap();
        let handed = smtp.send(&stage.parcel(Via::Smtp), at).await;
        assert!(matches!(handed, SendOutcome::Accepted { .. }), "{handed:?}");
        assert_eq!(dialled.load(Ordering::SeqCst), connections, "after {seconds} s");
    }
}
