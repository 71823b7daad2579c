//! Push by Firebase and by Apple: what arrives, and who we say we are.

use std::collections::BTreeMap;

use domain::Timestamp;
use domain::notifications::{Address, Class, Content, ProviderMessage, SendOutcome};
use serde_json::Value;
use sink::{Behaviour, Message, Via};

use super::stage::{DEVICE, Stage, now, refusal};

fn source(message: &Message) -> Value {
    serde_json::from_str(&message.source).unwrap()
}

fn header<'a>(message: &'a Message, name: &str) -> &'a str {
    let found = message.headers.iter().find(|(found, _)| found == name);
    found.map(|(_, value)| value.as_str()).unwrap_or_default()
}

#[tokio::test]
async fn firebase_is_told_everything_that_matters() {
    let stage = Stage::new().await;
    stage.send(Via::Fcm).await;
    let sent = stage.sink.sent(Via::Fcm).remove(0);
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
async fn apple_is_told_everything_that_matters() {
    let stage = Stage::new().await;
    stage.send(Via::Apns).await;
    let sent = stage.sink.sent(Via::Apns).remove(0);
    assert_eq!(sent.to, DEVICE);
    assert_eq!(source(&sent)["aps"]["alert"]["title"], "Your order");
    assert_eq!(source(&sent)["link"], "https://shop.example/orders/7");
    assert_eq!(header(&sent, "apns-topic"), "localhost.sink.app");
    assert_eq!(header(&sent, "apns-push-type"), "alert");
    assert_eq!(header(&sent, "apns-priority"), "10");
    assert_eq!(header(&sent, "apns-expiration"), (now().as_second() + 3600).to_string());
    assert_eq!(header(&sent, "apns-collapse-id").len(), 32);
    assert_eq!(header(&sent, "apns-id").len(), 36);
}

#[tokio::test]
async fn a_repeat_has_the_same_names_and_another_parcel_has_others() {
    let stage = Stage::new().await;
    for (via, name) in
        [(Via::Apns, "apns-id"), (Via::Apns, "apns-collapse-id"), (Via::WebPush, "topic")]
    {
        stage.sink.clear();
        let plain = ProviderMessage { collapse_key: None, ..stage.parcel(via) };
        stage.send_message(via, &plain).await;
        stage.send_message(via, &plain).await;
        stage.send_message(via, &ProviderMessage { key: "n2".to_owned(), ..plain }).await;
        let sent = stage.sink.sent(via);
        let names: Vec<_> = sent.iter().map(|message| header(message, name)).collect();
        assert_eq!(names[1], names[2], "{name}");
        assert_ne!(names[0], names[1], "{name}");
    }
}

#[tokio::test]
async fn a_device_that_is_asleep_is_not_woken_for_what_can_wait() {
    let stage = Stage::new().await;
    for via in [Via::Apns, Via::Fcm, Via::WebPush] {
        let parcel = ProviderMessage { urgent: false, expires_at: None, ..stage.parcel(via) };
        stage.send_message(via, &parcel).await;
    }
    let four_weeks = 28 * 86_400;
    let apns = stage.sink.sent(Via::Apns).remove(0);
    assert_eq!(header(&apns, "apns-priority"), "5");
    assert_eq!(header(&apns, "apns-expiration"), (now().as_second() + four_weeks).to_string());
    let fcm = source(&stage.sink.sent(Via::Fcm).remove(0));
    assert_eq!(fcm["message"]["android"]["priority"], "NORMAL");
    assert_eq!(fcm["message"]["android"]["ttl"], format!("{four_weeks}s"));
    let web = stage.sink.sent(Via::WebPush).remove(0);
    assert_eq!((header(&web, "urgency"), header(&web, "ttl")), ("normal", "2419200"));
}

#[tokio::test]
async fn a_token_that_is_called_expired_is_replaced_once() {
    let stage = Stage::new().await;
    let expired = Behaviour::Fail { code: 403, said: "ExpiredProviderToken".to_owned() };
    stage.sink.behave_next(Via::Apns, 1, expired.clone());
    let handed = stage.send(Via::Apns).await;
    assert!(matches!(handed, SendOutcome::Accepted { .. }), "{handed:?}");
    stage.sink.behave_next(Via::Apns, 3, expired);
    let handed = stage.send(Via::Apns).await;
    assert_eq!(refusal(&handed).0, Class::Outage);
    assert_eq!(stage.sink.plan(Via::Apns).times, Some(1), "two tries, and no more");

    let unknown = Behaviour::Fail { code: 401, said: "UNAUTHENTICATED".to_owned() };
    stage.sink.behave_next(Via::Fcm, 1, unknown.clone());
    let handed = stage.send(Via::Fcm).await;
    assert!(matches!(handed, SendOutcome::Accepted { .. }), "{handed:?}");
    stage.sink.behave_next(Via::Fcm, 3, unknown);
    assert_eq!(refusal(&stage.send(Via::Fcm).await).0, Class::Outage);
    assert_eq!(stage.sink.plan(Via::Fcm).times, Some(1), "two tries, and no more");
}

#[tokio::test]
async fn a_token_is_made_anew_before_an_hour_is_over() {
    // The sink's clock stands still, and it refuses a token that is an hour old: a token made 59
    // minutes ago by the provider's clock must have been replaced by one made now.
    let stage = Stage::new().await;
    for minutes in [-59, -30, 0] {
        let at = Timestamp::from_second(now().as_second() + minutes * 60).unwrap();
        for via in [Via::Apns, Via::Fcm] {
            let handed = stage.provider(via).send(&stage.parcel(via), at).await;
            assert!(
                matches!(handed, SendOutcome::Accepted { .. }),
                "{via:?} {minutes}: {handed:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_stack_that_is_not_believed_has_an_outage() {
    let other = rcgen::KeyPair::generate().unwrap();
    let stage = Stage::with(20_000, |settings| {
        settings["apns"]["key"] = other.serialize_pem().into();
        settings["fcm"]["serviceAccount"]["client_email"] = "eve@sink.localhost".into();
    })
    .await;
    for via in [Via::Apns, Via::Fcm] {
        let handed = stage.send(via).await;
        assert_eq!(refusal(&handed).0, Class::Outage, "{via:?}: {handed:?}");
    }
    assert!(stage.sink.messages().is_empty());
}

#[tokio::test]
async fn a_device_token_leads_nowhere_else() {
    let stage = Stage::new().await;
    for token in ["", "../../token", "ab12/../x", "ab12?x=1", "ab 12", "ab12\r\nx: y", "zz"] {
        let to = Address::Apns { token: token.to_owned() };
        let handed =
            stage.send_message(Via::Apns, &ProviderMessage { to, ..stage.parcel(Via::Apns) }).await;
        assert_eq!(refusal(&handed).0, Class::InvalidRecipient, "{token:?}");
    }
    assert!(stage.sink.messages().is_empty());
}

#[tokio::test]
async fn what_is_too_large_is_refused_without_asking() {
    let stage = Stage::new().await;
    for via in [Via::Apns, Via::Fcm, Via::WebPush] {
        let parcel = stage.parcel(via);
        let content = Content::Push {
            title: "x".to_owned(),
            body: "x".repeat(4096),
            link: None,
            data: BTreeMap::default(),
        };
        let handed = stage.send_message(via, &ProviderMessage { content, ..parcel }).await;
        assert_eq!(refusal(&handed).0, Class::Content, "{via:?}");
    }
    assert!(stage.sink.messages().is_empty());
}
