//! Webhooks and browsers, whose URL a user chooses.

use std::io::ErrorKind;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::notifications::{Address, Class, ProviderMessage, SendOutcome};
use serde_json::{Value, json};
use sink::ProviderKind;

use super::harness::{Harness, refusal};

#[tokio::test]
async fn a_webhook_says_who_what_and_when() {
    let harness = Harness::new().await;
    harness.send(ProviderKind::Webhook).await;
    let sent = harness.sink.sent(ProviderKind::Webhook).remove(0);
    assert_eq!(sent.to, "https://bob.sink.localhost/hook");
    assert_eq!(sent.header("webhook-id"), "n1.a1");
    assert_eq!(sent.header("content-type"), "application/json");
    let body: Value = serde_json::from_str(&sent.source).unwrap();
    assert_eq!(body["type"], "notification");
    assert_eq!(body["data"]["data"]["order"], "7");
    assert_eq!(body["data"]["link"], "https://shop.example/orders/7");
}

#[tokio::test]
async fn a_browser_reads_what_was_encrypted_for_it() {
    let harness = Harness::new().await;
    harness.send(ProviderKind::WebPush).await;
    let sent = harness.sink.sent(ProviderKind::WebPush).remove(0);
    assert_eq!((sent.title.as_str(), sent.text.as_str()), ("Your order", "It is on its way."));
    assert_eq!((sent.header("urgency"), sent.header("ttl")), ("high", "3600"));
    assert_eq!(sent.header("topic").len(), 32);
    let body: Value = serde_json::from_str(&sent.source).unwrap();
    assert_eq!(body["data"]["order"], "7");
    assert_eq!(body["tag"], sent.header("topic"));
}

#[tokio::test]
async fn every_secret_signs_while_receivers_change_over() {
    let fresh = format!("whsec_{}", STANDARD.encode([7; 32]));
    let harness = Harness::with(20_000, |settings| {
        let old = settings["webhook"]["secrets"][0].clone();
        settings["webhook"]["secrets"] = json!([fresh, old]);
    })
    .await;
    assert!(matches!(harness.send(ProviderKind::Webhook).await, SendOutcome::Accepted { .. }));
    let sent = harness.sink.sent(ProviderKind::Webhook).remove(0);
    assert_eq!(sent.header("webhook-signature").split(' ').count(), 2);
}

#[tokio::test]
async fn a_receiver_refuses_another_secret_and_a_push_service_another_key() {
    let other = format!("whsec_{}", STANDARD.encode([7; 32]));
    let harness = Harness::with(20_000, |settings| {
        settings["webhook"]["secrets"] = json!([other]);
        let mailto = settings["webPush"]["subject"].clone();
        settings["webPush"] = serde_json::from_str(OTHER_VAPID).unwrap();
        settings["webPush"]["subject"] = mailto;
    })
    .await;
    for via in [ProviderKind::Webhook, ProviderKind::WebPush] {
        let outcome = harness.send(via).await;
        assert_eq!(refusal(&outcome).0, Class::Outage, "{via:?}: {outcome:?}");
    }
    assert!(harness.sink.messages().is_empty());
}

/// Made for this test: the raw halves of a key.
const OTHER_VAPID: &str = r#"{
    "publicKey": "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8",
    "privateKey": "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
}"#;

/// Spellings of "this machine", "this network" and "something other than the web".
const FORBIDDEN: [&str; 18] = [
    "https://127.0.0.1:PORT/",
    "https://127.1:PORT/",
    "https://2130706433:PORT/",
    "https://0x7f000001:PORT/",
    "https://[::1]:PORT/",
    "https://[::ffff:127.0.0.1]:PORT/",
    "https://0.0.0.0:PORT/",
    "https://10.0.0.7/",
    "https://192.168.1.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://[fd00:ec2::254]/",
    "http://93.184.216.34/",
    "http://bob.sink.localhost/hook",
    "https://user:secret@93.184.216.34/",
    "https://93.184.216.34:25/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:PORT/",
    "not a url",
];

#[tokio::test]
async fn a_user_who_chooses_the_url_cannot_choose_what_is_called() {
    let canary = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    canary.set_nonblocking(true).unwrap();
    let port = canary.local_addr().unwrap().port().to_string();
    let harness = Harness::new().await;
    for url in FORBIDDEN {
        let url = url.replace("PORT", &port);
        let hook = Address::Webhook { url: url.clone() };
        let browser = harness.sink.subscription();
        let (p256dh, auth) = (browser.p256dh, browser.auth);
        let browser = Address::WebPush { endpoint: url.clone(), p256dh, auth };
        for (via, to) in [(ProviderKind::Webhook, hook), (ProviderKind::WebPush, browser)] {
            let outcome =
                harness.send_message(via, &ProviderMessage { to, ..harness.message(via) }).await;
            assert_eq!(refusal(&outcome).0, Class::InvalidRecipient, "{via:?} {url}: {outcome:?}");
        }
    }
    assert_eq!(canary.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "a connection was made");
    assert!(harness.sink.messages().is_empty());
}

#[tokio::test]
async fn an_unknown_host_is_an_outage() {
    let harness = Harness::new().await;
    let to = Address::Webhook { url: "https://unknown.example/".to_owned() };
    let outcome = harness
        .send_message(
            ProviderKind::Webhook,
            &ProviderMessage { to, ..harness.message(ProviderKind::Webhook) },
        )
        .await;
    assert_eq!(refusal(&outcome).0, Class::Outage);
}

#[tokio::test]
async fn keys_that_are_none_are_no_browser() {
    let harness = Harness::new().await;
    let browser = harness.sink.subscription();
    for (p256dh, auth) in [("AAAA".to_owned(), browser.auth), (browser.p256dh, "AAAA".to_owned())] {
        let to = Address::WebPush { endpoint: browser.endpoint.clone(), p256dh, auth };
        let outcome = harness
            .send_message(
                ProviderKind::WebPush,
                &ProviderMessage { to, ..harness.message(ProviderKind::WebPush) },
            )
            .await;
        assert_eq!(refusal(&outcome).0, Class::InvalidRecipient);
    }
}
