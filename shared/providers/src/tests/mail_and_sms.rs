//! Mails and text messages: what arrives, and the SMTP session.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::Timestamp;
use domain::notifications::{Address, Class, Content, ProviderMessage, SendOutcome};
use sink::{Behaviour, ProviderKind, SinkMessage};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::harness::{Harness, closed_network, now, refusal};
use crate::settings::{ProviderSettings, SmtpSettings};
use crate::{Provider, Smtp};

#[tokio::test]
async fn a_mail_arrives_in_both_forms_with_one_click_to_end_it() {
    let harness = Harness::new().await;
    for via in [ProviderKind::Smtp, ProviderKind::Ses] {
        harness.send(via).await;
        let mail: Arc<SinkMessage> = harness.sink.sent(via).remove(0);
        assert_eq!(
            (mail.title.as_str(), mail.to.as_str()),
            ("Your order", "bob.private@example.com")
        );
        assert_eq!(mail.text.replace('\r', "").trim_end(), "It is on its way.\n.\nBye", "{via:?}");
        let html = mail.html.as_deref().unwrap_or_default();
        assert_eq!(html.trim_end(), "<p>It is on its <b>way</b>.</p>");
        let link = "<https://api.example/unsubscribe?token=t>";
        assert_eq!(mail.header("List-Unsubscribe"), link, "{via:?}");
        assert_eq!(mail.header("List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
        assert_eq!(mail.from.as_deref(), Some("Switchyard <notifications@sink.localhost>"));
    }
}

#[tokio::test]
async fn the_same_message_is_recognised_by_its_message_id() {
    let harness = Harness::new().await;
    harness.send(ProviderKind::Smtp).await;
    harness.send(ProviderKind::Smtp).await;
    let other = ProviderMessage { key: "n2".to_owned(), ..harness.message(ProviderKind::Smtp) };
    harness.send_message(ProviderKind::Smtp, &other).await;
    let sent = harness.sink.sent(ProviderKind::Smtp);
    let ids: Vec<_> = sent.iter().map(|mail| mail.header("Message-ID")).collect();
    assert_eq!(ids[1], ids[2]);
    assert_ne!(ids[0], ids[1]);
}

#[tokio::test]
async fn no_part_of_a_message_becomes_a_header_or_a_command() {
    let harness = Harness::new().await;
    let evil = "x\r\nBcc: eve@example.com\r\n.\r\nMAIL FROM:<eve@example.com>\r\nRCPT TO:<eve@example.com>";
    for via in [ProviderKind::Smtp, ProviderKind::Ses] {
        let content = Content::Email {
            subject: evil.to_owned(),
            text: evil.to_owned(),
            html: Some(evil.to_owned()),
        };
        let message = ProviderMessage { key: evil.to_owned(), content, ..harness.message(via) };
        let outcome = harness.send_message(via, &message).await;
        assert!(matches!(outcome, SendOutcome::Accepted { .. }), "{outcome:?}");
        let mail = harness.sink.sent(via).remove(0);
        assert_eq!(mail.header("Bcc"), "", "{via:?}");
        assert_eq!(mail.to, "bob.private@example.com");
        assert!(mail.title.starts_with("x Bcc: eve@example.com ."), "{}", mail.title);
        assert_eq!(mail.text.replace('\r', "").trim_end(), evil.replace('\r', ""), "{via:?}");
    }
    assert_eq!(harness.sink.messages().len(), 2);
}

#[tokio::test]
async fn what_is_no_mailbox_or_no_number_is_refused_without_asking() {
    let harness = Harness::new().await;
    for address in ["bob", "a@b\r\nRCPT TO:<eve@example.com>", "bob@example.com, eve@example.com"] {
        for via in [ProviderKind::Smtp, ProviderKind::Ses] {
            let to = Address::Email { address: address.to_owned() };
            let outcome =
                harness.send_message(via, &ProviderMessage { to, ..harness.message(via) }).await;
            assert_eq!(refusal(&outcome).0, Class::InvalidRecipient, "{address}");
        }
    }
    for number in ["5551234567", "+1555", "+1555123456789012", "arn:aws:sns:topic"] {
        let to = Address::Phone { number: number.to_owned() };
        let outcome = harness
            .send_message(
                ProviderKind::Sms,
                &ProviderMessage { to, ..harness.message(ProviderKind::Sms) },
            )
            .await;
        assert_eq!(refusal(&outcome).0, Class::InvalidRecipient, "{number}");
    }
    let content = Content::Sms { text: "x".repeat(1601) };
    let outcome = harness
        .send_message(
            ProviderKind::Sms,
            &ProviderMessage { content, ..harness.message(ProviderKind::Sms) },
        )
        .await;
    assert_eq!(refusal(&outcome).0, Class::Content);
    assert!(harness.sink.messages().is_empty());
}

#[tokio::test]
async fn wrong_credentials_are_an_outage_and_not_a_bad_recipient() {
    let harness =
        Harness::with(20_000, |settings| settings["smtp"]["password"] = "wrong".into()).await;
    let outcome = harness.send(ProviderKind::Smtp).await;
    assert_eq!(refusal(&outcome).0, Class::Outage, "{outcome:?}");
    let harness = Harness::new().await;
    let fail = Behaviour::Fail { code: 454, reason: "4.7.0 later".to_owned() };
    harness.sink.behave_next(ProviderKind::Smtp, 1, fail);
    assert_eq!(refusal(&harness.send(ProviderKind::Smtp).await).0, Class::Outage);
}

#[tokio::test]
async fn a_refused_mail_does_not_spoil_the_next_on_the_same_connection() {
    let harness = Harness::new().await;
    for code in [550, 554] {
        harness.send(ProviderKind::Smtp).await;
        harness.sink.behave_next(
            ProviderKind::Smtp,
            1,
            Behaviour::Fail { code, reason: "no".to_owned() },
        );
        harness.send(ProviderKind::Smtp).await;
        let outcome = harness.send(ProviderKind::Smtp).await;
        assert!(matches!(outcome, SendOutcome::Accepted { .. }), "{outcome:?}");
    }
    assert_eq!(harness.sink.sent(ProviderKind::Smtp).len(), 4);
}

#[tokio::test]
async fn what_never_left_for_aws_is_refused_and_not_unknown() {
    let harness = Harness::without_aws().await;
    for via in [ProviderKind::Ses, ProviderKind::Sms] {
        let outcome = harness.send(via).await;
        assert_eq!(refusal(&outcome).0, Class::Outage, "{via:?}: {outcome:?}");
    }
}

fn settings(port: u16, security: &str) -> SmtpSettings {
    let document = serde_json::json!({ "smtp": {
        "host": "127.0.0.1", "port": port, "security": security, "from": "a@example.org",
        "timeoutMs": 2000,
    } });
    ProviderSettings::parse(&document.to_string()).unwrap().smtp.unwrap()
}

/// A server that sends one line after another, without regard to the commands, and what it received.
async fn script(lines: &'static [&'static str]) -> (u16, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let received = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let (mut received, mut room) = (String::new(), vec![0; 4096]);
        for line in lines {
            stream.write_all(line.as_bytes()).await.unwrap();
            let count = stream.read(&mut room).await.unwrap_or_default();
            received.push_str(&String::from_utf8_lossy(&room[..count]));
        }
        received
    });
    (port, received)
}

async fn talk(settings: SmtpSettings) -> SendOutcome {
    let harness = Harness::new().await;
    let smtp = Smtp::new(settings, closed_network()).unwrap();
    smtp.send(&harness.message(ProviderKind::Smtp), now()).await
}

#[tokio::test]
async fn no_command_is_sent_in_plaintext_to_a_server_that_should_use_tls() {
    for lines in [
        &["220 hi\r\n", "250-me\r\n250 SIZE 1\r\n", ""][..],
        &["220 hi\r\n", "250 STARTTLS\r\n", "454 not now\r\n", ""],
        &["220 hi\r\n", "250 STARTTLS\r\n", "220 go\r\n250 injected\r\n", ""],
    ] {
        let (port, received) = script(lines).await;
        let outcome = talk(settings(port, "starttls")).await;
        assert_eq!(refusal(&outcome).0, Class::Outage, "{outcome:?}");
        assert!(!received.await.unwrap().contains("MAIL"), "{lines:?}");
    }
    let (port, received) = script(&["220 hi\r\n", ""]).await;
    assert_eq!(refusal(&talk(settings(port, "tls")).await).0, Class::Outage);
    assert!(!received.await.unwrap().contains("EHLO"));
}

#[tokio::test]
async fn a_connection_closed_before_the_mail_is_an_outage_and_after_it_unknown() {
    let yes = ["220 hi\r\n", "250 me\r\n", "250 ok\r\n", "250 ok\r\n", "354 go\r\n"];
    for cut in 0..yes.len() {
        let lines: &'static [&'static str] = Vec::leak(yes[..cut].to_vec());
        let (port, _heard) = script(lines).await;
        let outcome = talk(settings(port, "none")).await;
        assert_eq!(refusal(&outcome).0, Class::Outage, "cut after {cut}: {outcome:?}");
    }
    let (port, _heard) = script(Vec::leak(yes.to_vec())).await;
    let outcome = talk(settings(port, "none")).await;
    assert!(matches!(outcome, SendOutcome::Unknown { .. }), "{outcome:?}");
}

#[tokio::test]
async fn a_connection_is_used_again_unless_it_was_idle_too_long() {
    let harness = Harness::new().await;
    let connections_made = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&connections_made);
    let network = closed_network().with_connect(move |address| {
        counter.fetch_add(1, Ordering::SeqCst);
        Box::pin(TcpStream::connect(address))
    });
    let document = harness.sink.settings().to_string();
    let smtp =
        Smtp::new(ProviderSettings::parse(&document).unwrap().smtp.unwrap(), network).unwrap();
    for (seconds, connections) in [(0, 1), (59, 1), (119, 2), (118, 3)] {
        let at = Timestamp::from_second(now().as_second() + seconds).unwrap();
        let outcome = smtp.send(&harness.message(ProviderKind::Smtp), at).await;
        assert!(matches!(outcome, SendOutcome::Accepted { .. }), "{outcome:?}");
        assert_eq!(connections_made.load(Ordering::SeqCst), connections, "after {seconds} s");
    }
}
