//! Webhooks and browsers: somebody else chooses the address.

use std::io::ErrorKind;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::notifications::{Address, Class, ProviderMessage, SendOutcome};
use serde_json::{Value, json};
use sink::{Message, Via};

use super::stage::{Stage, refusal};

fn header<'a>(message: &'a Message, name: &str) -> &'a str {
    let found = message.headers.iter().find(|(found, _)| found == name);
    found.map(|(_, value)| value.as_str()).unwrap_or_default()
}

#[tokio::test]
async fn a_webhook_says_who_what_and_when() {
    let stage = Stage::new().await;
    stage.send(Via::Webhook).await;
    let sent = stage.sink.sent(Via::Webhook).remove(0);
    assert_eq!(sent.to, "https://bob.sink.localhost/hook");
    assert_eq!(header(&sent, "webhook-id"), "n1.a1");
    assert_eq!(header(&sent, "content-type"), "application/json");
    let body: Value = serde_json::from_str(&sent.source).unwrap();
    assert_eq!(body["type"], "notification");
    assert_eq!(body["data"]["data"]["order"], "7");
    assert_eq!(body["data"]["link"], "https://shop.example/orders/7");
}

#[tokio::test]
async fn a_browser_reads_what_was_encrypted_for_it() {
    let stage = Stage::new().await;
    stage.send(Via::WebPush).await;
    let sent = stage.sink.sent(Via::WebPush).remove(0);
    assert_eq!((sent.title.as_str(), sent.text.as_str()), ("Your order", "It is on its way."));
    assert_eq!((header(&sent, "urgency"), header(&sent, "ttl")), ("high", "3600"));
    assert_eq!(header(&sent, "topic").len(), 32);
    let body: Value = serde_json::from_str(&sent.source).unwrap();
    assert_eq!(body["data"]["order"], "7");
    assert_eq!(body["tag"], header(&sent, "topic"));
}

#[tokio::test]
async fn every_secret_signs_while_receivers_change_over() {
    let fresh = format!("whsec_{}", STANDARD.encode([7; 32]));
    let stage = Stage::with(20_000, |settings| {
        let old = settings["webhook"]["secrets"][0].clone();
        settings["webhook"]["secrets"] = json!([fresh, old]);
    })
    .await;
    assert!(matches!(stage.send(Via::Webhook).await, SendOutcome::Accepted { .. }));
    let sent = stage.sink.sent(Via::Webhook).remove(0);
    assert_eq!(header(&sent, "webhook-signature").split(' ').count(), 2);
}

#[tokio::test]
async fn a_receiver_refuses_another_secret_and_a_push_service_another_key() {
    let other = format!("whsec_{}", STANDARD.encode([7; 32]));
    let stage = Stage::with(20_000, |settings| {
        settings["webhook"]["secrets"] = json!([other]);
        let mailto = settings["webPush"]["subject"].clone();
        settings["webPush"] = serde_json::from_str(OTHER_VAPID).unwrap();
        settings["webPush"]["subject"] = mailto;
    })
    .await;
    for via in [Via::Webhook, Via::WebPush] {
        let handed = stage.send(via).await;
        assert_eq!(refusal(&handed).0, Class::Outage, "{via:?}: {handed:?}");
    }
    assert!(stage.sink.messages().is_empty());
}

/// Made for this test: the raw halves of a key.
const OTHER_VAPID: &str = r#"{
    "publicKey": "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8",
    "privateKey": "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
}"#;

/// Ways to say "this machine", "this network" and "something other than the web".
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
async fn whoever_chooses_the_address_does_not_choose_what_is_called() {
    let canary = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    canary.set_nonblocking(true).unwrap();
    let port = canary.local_addr().unwrap().port().to_string();
    let stage = Stage::new().await;
    for url in FORBIDDEN {
        let url = url.replace("PORT", &port);
        let hook = Address::Webhook { url: url.clone() };
        let browser = stage.sink.subscription();
        let (p256dh, auth) = (browser.p256dh, browser.auth);
        let browser = Address::WebPush { endpoint: url.clone(), p256dh, auth };
        for (via, to) in [(Via::Webhook, hook), (Via::WebPush, browser)] {
            let handed =
                stage.send_message(via, &ProviderMessage { to, ..stage.parcel(via) }).await;
            assert_eq!(refusal(&handed).0, Class::InvalidRecipient, "{via:?} {url}: {handed:?}");
        }
    }
    assert_eq!(canary.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "somebody called");
    assert!(stage.sink.messages().is_empty());
}

#[tokio::test]
async fn a_name_that_nobody_knows_is_an_outage() {
    let stage = Stage::new().await;
    let to = Address::Webhook { url: "https://nobody.example/".to_owned() };
    let handed = stage
        .send_message(Via::Webhook, &ProviderMessage { to, ..stage.parcel(Via::Webhook) })
        .await;
    assert_eq!(refusal(&handed).0, Class::Outage);
}

#[tokio::test]
async fn keys_that_are_none_are_no_browser() {
    let stage = Stage::new().await;
    let browser = stage.sink.subscription();
    for (p256dh, auth) in [("AAAA".to_owned(), browser.auth), (browser.p256dh, "AAAA".to_owned())] {
        let to = Address::WebPush { endpoint: browser.endpoint.clone(), p256dh, auth };
        let handed = stage
            .send_message(Via::WebPush, &ProviderMessage { to, ..stage.parcel(Via::WebPush) })
            .await;
        assert_eq!(refusal(&handed).0, Class::InvalidRecipient);
    }
}
