//! What lost messages and lost senders left behind, with the sweep itself struck.

use domain::accounts::UserId;
use domain::notifications::{AttemptOutcome, Channel, Delivery, ProviderName, Status};
use local::faults::Fault;
use notifications::store::{AttemptClaim, ClaimOutcome};
use serde_json::json;

use super::{Scene, contents, strike_all};

#[test]
fn no_call_of_the_sweep_can_fail_in_a_way_that_lasts() {
    strike_all("look for what was left behind", 40, strike_sweep);
}

/// Two senders were lost, a message was, and something comes out of its bucket.
async fn strike_sweep(nth: u64, fault: Fault) -> bool {
    let scene = Scene::new(&["ada"]).await;
    let mut body = contents("ada");
    body["channels"] = json!(["email", "sms"]);
    let claimed = scene.accept(&body).await;
    body["channels"] = json!(["push"]);
    scene.accept(&body).await;
    for name in ["EmailNormalQueue", "SmsNormalQueue", "PushNormalQueue"] {
        scene.lab.cloud.services.queues().purge(&scene.lab.queue(name)).unwrap();
    }
    lose_senders(&scene, &claimed).await;
    body["channels"] = json!(["email"]);
    body["sendAt"] = json!("2026-03-01T12:15:10Z");
    let later = scene.accept(&body).await;
    scene.lab.advance_seconds(60);
    scene.store.save_swept_until(scene.now()).await.unwrap();
    scene.lab.advance_seconds(61);
    scene.strike(nth, fault);
    scene.lab.run_schedule("SweepNotifications").await;
    let struck = scene.lab.stop_faults();
    let context = format!("sweep, call {nth}, {fault:?}");
    let deliveries = scene.check(&context).await;
    assert_eq!(deliveries.len(), 4, "{context}");
    for delivery in &deliveries {
        let context = format!("{context}: {delivery:?}");
        let lost = delivery.attempts.first().is_some_and(|it| it.outcome == AttemptOutcome::Lost);
        assert_eq!(lost, delivery.id.notification_id.as_str() == claimed, "{context}");
        let end = match delivery.channel() {
            Channel::Sms => Status::Unknown,
            Channel::Email | Channel::Push => Status::Delivered,
        };
        assert_eq!(delivery.status, end, "{context}");
    }
    let handed = scene.providers.sends();
    assert_eq!(handed.len(), 3, "{context}");
    let late = handed.iter().find(|it| it.message.key.starts_with(&later)).unwrap();
    assert!(late.at.as_second() >= 1_772_366_400 + 910, "{context}: {late:?}");
    struck
}

/// Claims the deliveries of a notification, as an instance that then crashes.
async fn lose_senders(scene: &Scene, notification: &str) {
    let recipient = scene.store.recipient(&UserId::outside("ada")).await.unwrap();
    let of = |it: &&Delivery| it.id.notification_id.as_str() == notification;
    for delivery in scene.deliveries().await.iter().filter(of) {
        let claim = AttemptClaim {
            delivery,
            recipient: &recipient,
            address: &recipient.contacts.address(&delivery.id.endpoint).unwrap(),
            by: "crashed",
            provider: &ProviderName::parse("mail").unwrap(),
            rendering: None,
        };
        let key = delivery.id.key();
        let token = &key[key.len().saturating_sub(36)..];
        let claimed = scene.store.claim(claim, scene.now(), token).await.unwrap();
        assert!(matches!(claimed, ClaimOutcome::Won(_)), "{claimed:?}");
    }
}
