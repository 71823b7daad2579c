//! Each thing that a provider can say, and what becomes of the delivery.

use domain::notifications::{Class, DeadLetter, Reason, Remedy, Status, SuppressionReason};
use tests::scripted_providers::ScriptedOutcome;

use super::World;

/// Lets time pass until nothing is on its way any more.
async fn end(world: &World) {
    for _ in 0..12 {
        world.pass(60).await;
    }
}

#[tokio::test(start_paused = true)]
async fn each_kind_of_no_has_its_number_of_attempts_and_leaves_a_letter() {
    for (class, attempts) in [
        (Class::InvalidRecipient, 1),
        (Class::OptedOut, 1),
        (Class::Content, 1),
        (Class::Unrecognised, 2),
        (Class::RateLimited, 5),
        (Class::Outage, 5),
    ] {
        let (world, ada) = World::with_ada().await;
        world.providers.script_always("text", ScriptedOutcome::refuse(class));
        let id = world.send_one(&ada, "sms").await;
        world.lab.settle_doubled().await;
        end(&world).await;
        assert_eq!(world.providers.sends().len(), attempts, "{class:?}");
        let delivery = world.delivery(&id).await;
        assert_eq!((delivery.status, delivery.class), (Status::Failed, Some(class)));
        let dead_letters = world.dead_letters("SmsNormalDeadLetters");
        let dead_letter: DeadLetter = serde_json::from_str(&dead_letters[0].body).unwrap();
        assert_eq!(
            (dead_letters.len(), dead_letter.class, dead_letter.id),
            (1, class, id),
            "{class:?}"
        );
        assert!(!dead_letters[0].body.contains("+1555"), "a letter names no address");
    }
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_asks_for_time_gets_it() {
    let (world, ada) = World::with_ada().await;
    let later =
        ScriptedOutcome::Refuse { class: Class::RateLimited, retry_after_seconds: Some(120) };
    world.providers.script_next("text", [later]);
    let id = world.send_one(&ada, "sms").await;
    world.lab.settle_doubled().await;
    world.pass(119).await;
    assert_eq!(world.providers.sends().len(), 1);
    let delivery = world.delivery(&id).await;
    assert_eq!(delivery.reason, Some(Reason::Backoff { attempt: 1, class: Class::RateLimited }));
    world.pass(4).await;
    assert_eq!(world.status(&id).await, Status::Delivered);
    let handed = world.providers.sends();
    assert!(handed[1].at.as_second() - handed[0].at.as_second() >= 120);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_always_asks_for_time_is_asked_five_times_and_never_too_soon() {
    let (world, ada) = World::with_ada().await;
    let later =
        ScriptedOutcome::Refuse { class: Class::RateLimited, retry_after_seconds: Some(45) };
    world.providers.script_always("text", later);
    let id = world.send_one(&ada, "sms").await;
    world.lab.settle_doubled().await;
    for _ in 0..60 {
        world.pass(10).await;
    }
    let times: Vec<i64> = world.providers.sends().iter().map(|it| it.at.as_millisecond()).collect();
    assert_eq!(times.len(), 5, "{times:?}");
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= 45_000), "{times:?}");
    let delivery = world.delivery(&id).await;
    assert_eq!((delivery.status, delivery.tries), (Status::Failed, 5));
    assert_eq!(delivery.reason, Some(Reason::GivenUp { attempt: 5, class: Class::RateLimited }));
    assert_eq!(world.dead_letters("SmsNormalDeadLetters").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_dead_device_is_dropped_and_a_dead_address_gets_nothing_more() {
    let (world, ada) = World::with_ada().await;
    world.providers.script_always("push", ScriptedOutcome::refuse(Class::InvalidRecipient));
    world.providers.script_next("mail", [ScriptedOutcome::refuse(Class::InvalidRecipient)]);
    let ids = world.send(&world.draft(&ada), &["push-phone", "email"]).await;
    world.lab.settle_doubled().await;
    let recipient = world.store.recipient(&ada).await.unwrap();
    assert!(recipient.contacts.devices.is_empty());
    let mailbox = recipient.contacts.address(&ids[1].endpoint).unwrap();
    let suppression = world.store.suppression(&mailbox).await.unwrap().unwrap();
    assert_eq!(suppression.reason, SuppressionReason::Refused);
    let dead_letters = world.dead_letters("PushNormalDeadLetters");
    let dead_letter: DeadLetter = serde_json::from_str(&dead_letters[0].body).unwrap();
    assert_eq!(dead_letter.remedy, Remedy::DropDevice);

    let again = world.send(&world.draft(&ada), &["push-phone", "email"]).await;
    world.lab.settle_doubled().await;
    assert_eq!(world.providers.sends().len(), 2);
    for (id, reason) in again.iter().zip([
        Reason::AddressGone,
        Reason::AddressSuppressed { reason: SuppressionReason::Refused },
    ]) {
        let delivery = world.delivery(id).await;
        assert_eq!((delivery.status, delivery.reason), (Status::Suppressed, Some(reason)));
    }
}

#[tokio::test(start_paused = true)]
async fn what_may_have_arrived_is_repeated_only_where_that_does_no_harm() {
    for act in [ScriptedOutcome::Hang, ScriptedOutcome::AcceptThenDisconnect] {
        let (world, ada) = World::with_ada().await;
        for provider in ["mail", "text", "push"] {
            world.providers.script_next(provider, [act.clone()]);
        }
        let ids = world.send(&world.draft(&ada), &["email", "push-phone", "sms"]).await;
        world.lab.settle_doubled().await;
        end(&world).await;
        for id in &ids[..2] {
            let delivery = world.delivery(id).await;
            assert_eq!((delivery.status, delivery.uncertain), (Status::Delivered, 1), "{act:?}");
        }
        let text = world.delivery(&ids[2]).await;
        assert_eq!((text.status, text.tries), (Status::Unknown, 1), "{act:?}");
        assert_eq!(world.providers.sends().len(), 5, "{act:?}");
    }
}
