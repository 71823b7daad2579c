//! Push by FCM and by APNs: what arrives, and with which credentials.

use std::collections::BTreeMap;

use domain::Timestamp;
use domain::notifications::{Address, Class, Content, ProviderMessage, SendOutcome};
use serde_json::Value;
use sink::{Behaviour, ProviderKind, SinkMessage};

use super::harness::{DEVICE, Harness, now, refusal};

fn source(message: &SinkMessage) -> Value {
    serde_json::from_str(&message.source).unwrap()
}

#[tokio::test]
async fn fcm_gets_every_field() {
    let harness = Harness::new().await;
    harness.send(ProviderKind::Fcm).await;
    let sent = harness.sink.sent(ProviderKind::Fcm).remove(0);
    let message = &source(&sent)["message"];
    assert_eq!(message["token"], "device-token-of-bob");
    assert_eq!(message["notification"]["title"], "Your order");
    assert_eq!(message["data"]["order"], "7");
    assert_eq!(message["data"]["link"], "https://shop.example/orders/7");
    assert_eq!(message["android"]["priority"], "HIGH");
    assert_eq!(message["android"]["ttl"], "3600s");
    assert_eq!(message["android"]["collapse_key"].as_str().unwrap().len(), 32);
    assert_eq!(message["android"]["notification"]["tag"].as_str().unwrap().len(), 32);
}

#[tokio::test]
async fn apns_gets_every_field() {
    let harness = Harness::new().await;
    harness.send(ProviderKind::Apns).await;
    let sent = harness.sink.sent(ProviderKind::Apns).remove(0);
    assert_eq!(sent.to, DEVICE);
    assert_eq!(source(&sent)["aps"]["alert"]["title"], "Your order");
    assert_eq!(source(&sent)["link"], "https://shop.example/orders/7");
    assert_eq!(sent.header("apns-topic"), "localhost.sink.app");
    assert_eq!(sent.header("apns-push-type"), "alert");
    assert_eq!(sent.header("apns-priority"), "10");
    assert_eq!(sent.header("apns-expiration"), (now().as_second() + 3600).to_string());
    assert_eq!(sent.header("apns-collapse-id").len(), 32);
    assert_eq!(sent.header("apns-id").len(), 36);
}

#[tokio::test]
async fn a_repeat_has_the_same_names_and_another_message_has_others() {
    let harness = Harness::new().await;
    for (via, name) in [
        (ProviderKind::Apns, "apns-id"),
        (ProviderKind::Apns, "apns-collapse-id"),
        (ProviderKind::WebPush, "topic"),
    ] {
        harness.sink.clear();
        let plain = ProviderMessage { collapse_key: None, ..harness.message(via) };
        harness.send_message(via, &plain).await;
        harness.send_message(via, &plain).await;
        harness.send_message(via, &ProviderMessage { key: "n2".to_owned(), ..plain }).await;
        let sent = harness.sink.sent(via);
        let names: Vec<_> = sent.iter().map(|message| message.header(name)).collect();
        assert_eq!(names[1], names[2], "{name}");
        assert_ne!(names[0], names[1], "{name}");
    }
}

#[tokio::test]
async fn a_device_that_is_asleep_is_not_woken_for_what_can_wait() {
    let harness = Harness::new().await;
    for via in [ProviderKind::Apns, ProviderKind::Fcm, ProviderKind::WebPush] {
        let message = ProviderMessage { urgent: false, expires_at: None, ..harness.message(via) };
        harness.send_message(via, &message).await;
    }
    let four_weeks = 28 * 86_400;
    let apns = harness.sink.sent(ProviderKind::Apns).remove(0);
    assert_eq!(apns.header("apns-priority"), "5");
    assert_eq!(apns.header("apns-expiration"), (now().as_second() + four_weeks).to_string());
    let fcm = source(&harness.sink.sent(ProviderKind::Fcm).remove(0));
    assert_eq!(fcm["message"]["android"]["priority"], "NORMAL");
    assert_eq!(fcm["message"]["android"]["ttl"], format!("{four_weeks}s"));
    let web = harness.sink.sent(ProviderKind::WebPush).remove(0);
    assert_eq!((web.header("urgency"), web.header("ttl")), ("normal", "2419200"));
}

#[tokio::test]
async fn a_token_that_is_called_expired_is_replaced_once() {
    let harness = Harness::new().await;
    let expired = Behaviour::Fail { code: 403, reason: "ExpiredProviderToken".to_owned() };
    harness.sink.behave_next(ProviderKind::Apns, 1, expired.clone());
    let outcome = harness.send(ProviderKind::Apns).await;
    assert!(matches!(outcome, SendOutcome::Accepted { .. }), "{outcome:?}");
    harness.sink.behave_next(ProviderKind::Apns, 3, expired);
    let outcome = harness.send(ProviderKind::Apns).await;
    assert_eq!(refusal(&outcome).0, Class::Outage);
    assert_eq!(
        harness.sink.behaviour_rule(ProviderKind::Apns).times,
        Some(1),
        "two tries, and no more"
    );

    let unknown = Behaviour::Fail { code: 401, reason: "UNAUTHENTICATED".to_owned() };
    harness.sink.behave_next(ProviderKind::Fcm, 1, unknown.clone());
    let outcome = harness.send(ProviderKind::Fcm).await;
    assert!(matches!(outcome, SendOutcome::Accepted { .. }), "{outcome:?}");
    harness.sink.behave_next(ProviderKind::Fcm, 3, unknown);
    assert_eq!(refusal(&harness.send(ProviderKind::Fcm).await).0, Class::Outage);
    assert_eq!(
        harness.sink.behaviour_rule(ProviderKind::Fcm).times,
        Some(1),
        "two tries, and no more"
    );
}

#[tokio::test]
async fn a_token_is_made_anew_before_an_hour_is_over() {
    // The sink's clock stands still, and it refuses a token that is an hour old: a token made 59
    // minutes ago by the provider's clock must have been replaced by one made now.
    let harness = Harness::new().await;
    for minutes in [-59, -30, 0] {
        let at = Timestamp::from_second(now().as_second() + minutes * 60).unwrap();
        for via in [ProviderKind::Apns, ProviderKind::Fcm] {
            let outcome = harness.provider(via).send(&harness.message(via), at).await;
            assert!(
                matches!(outcome, SendOutcome::Accepted { .. }),
                "{via:?} {minutes}: {outcome:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_wrong_key_is_an_outage() {
    let other = rcgen::KeyPair::generate().unwrap();
    let harness = Harness::with(20_000, |settings| {
        settings["apns"]["key"] = other.serialize_pem().into();
        settings["fcm"]["serviceAccount"]["client_email"] = "eve@sink.localhost".into();
    })
    .await;
    for via in [ProviderKind::Apns, ProviderKind::Fcm] {
        let outcome = harness.send(via).await;
        assert_eq!(refusal(&outcome).0, Class::Outage, "{via:?}: {outcome:?}");
    }
    assert!(harness.sink.messages().is_empty());
}

#[tokio::test]
async fn a_device_token_leads_nowhere_else() {
    let harness = Harness::new().await;
    for token in ["", "../../token", "ab12/../x", "ab12?x=1", "ab 12", "ab12\r\nx: y", "zz"] {
        let to = Address::Apns { token: token.to_owned() };
        let outcome = harness
            .send_message(
                ProviderKind::Apns,
                &ProviderMessage { to, ..harness.message(ProviderKind::Apns) },
            )
            .await;
        assert_eq!(refusal(&outcome).0, Class::InvalidRecipient, "{token:?}");
    }
    assert!(harness.sink.messages().is_empty());
}

#[tokio::test]
async fn what_is_too_large_is_refused_without_asking() {
    let harness = Harness::new().await;
    for via in [ProviderKind::Apns, ProviderKind::Fcm, ProviderKind::WebPush] {
        let message = harness.message(via);
        let content = Content::Push {
            title: "x".to_owned(),
            body: "x".repeat(4096),
            link: None,
            data: BTreeMap::default(),
        };
        let outcome = harness.send_message(via, &ProviderMessage { content, ..message }).await;
        assert_eq!(refusal(&outcome).0, Class::Content, "{via:?}");
    }
    assert!(harness.sink.messages().is_empty());
}
