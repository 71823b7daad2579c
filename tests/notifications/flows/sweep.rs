//! What a lost message or a lost sender left behind goes on by itself.

use domain::notifications::{AttemptOutcome, Priority, ProviderName, Status};
use notifications::store::{AttemptClaim, ClaimOutcome};

use super::World;

#[tokio::test(start_paused = true)]
async fn a_delivery_without_a_message_is_found() {
    let (world, ada) = World::with_ada().await;
    let mut ids = Vec::new();
    for priority in Priority::ALL {
        let mut draft = world.draft(&ada);
        draft.priority = priority;
        ids.push(world.accept(&draft, &["email"]).await[0].id.clone());
    }
    for (seconds, delivered) in [(20, 0), (15, 1), (30, 2), (600, 3)] {
        world.lab.advance_seconds(seconds);
        world.lab.sweep().await;
        world.lab.settle_doubled().await;
        assert_eq!(world.providers.sends().len(), delivered, "{seconds}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_due_in_hours_comes_out_of_its_bucket_in_time_and_not_before() {
    let (world, ada) = World::with_ada().await;
    let mut draft = world.draft(&ada);
    let at = world.now() + std::time::Duration::from_secs(2 * 3_600 + 17);
    draft.send_at = Some(at);
    let id = world.send(&draft, &["email"]).await.remove(0);
    world.lab.settle_doubled().await;
    for _ in 0..130 {
        world.lab.advance_seconds(60);
        world.lab.sweep().await;
        world.lab.settle_doubled().await;
    }
    assert_eq!(world.status(&id).await, Status::Delivered);
    let late = world.providers.sends()[0].at.as_millisecond() - at.as_millisecond();
    assert!((0..=61_000).contains(&late), "{late} ms");
}

#[tokio::test(start_paused = true)]
async fn an_attempt_whose_sender_is_lost_is_repeated_or_not_known() {
    let (world, ada) = World::with_ada().await;
    let deliveries = world.accept(&world.draft(&ada), &["email", "sms"]).await;
    let recipient = world.store.recipient(&ada).await.unwrap();
    for delivery in &deliveries {
        let claim = AttemptClaim {
            delivery,
            recipient: &recipient,
            address: &recipient.contacts.address(&delivery.id.endpoint).unwrap(),
            by: "crashed",
            provider: &ProviderName::parse("mail").unwrap(),
            rendering: None,
        };
        let claimed = world.store.claim(claim, world.now(), &world.token()).await.unwrap();
        assert!(matches!(claimed, ClaimOutcome::Won(_)));
    }
    world.lab.advance_seconds(59);
    world.lab.sweep().await;
    world.lab.settle_doubled().await;
    assert!(world.providers.sends().is_empty());
    for _ in 0..3 {
        world.lab.advance_seconds(30);
        world.lab.sweep().await;
        world.lab.settle_doubled().await;
    }
    let mail = world.delivery(&deliveries[0].id).await;
    assert_eq!((mail.status, mail.uncertain, mail.attempt), (Status::Delivered, 1, 2));
    assert_eq!(mail.attempts[0].outcome, AttemptOutcome::Lost);
    let text = world.delivery(&deliveries[1].id).await;
    assert_eq!((text.status, text.attempt), (Status::Unknown, 1));
    assert_eq!(world.providers.sends().len(), 1);
}
