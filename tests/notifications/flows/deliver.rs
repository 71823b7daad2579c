//! What is due goes out once, in the channel and by the queue that it belongs to.

use domain::notifications::{AttemptOutcome, Priority, Status};
use tests::Lab;
use tests::scripted_providers::ScriptedProviders;

use super::{World, device};

#[tokio::test(start_paused = true)]
async fn each_way_is_taken_once_however_often_the_message_comes() {
    let (world, ada) = World::with_ada().await;
    let ids = world.send(&world.draft(&ada), &["email", "sms", "push-phone"]).await;
    world.lab.settle_doubled().await;
    let handed = world.providers.sends();
    assert_eq!(handed.len(), 3, "{handed:?}");
    for (id, provider) in ids.iter().zip(["mail", "text", "push"]) {
        let delivery = world.delivery(id).await;
        assert_eq!(delivery.status, Status::Delivered);
        assert_eq!(delivery.attempts[0].outcome, AttemptOutcome::Accepted);
        assert_eq!(delivery.reference.as_deref(), Some(&*format!("{provider}:{}", id.key())));
        let message = &handed.iter().find(|it| it.provider == provider).unwrap().message;
        assert_eq!(message.key, id.key());
        assert_eq!(
            Some(message.to.clone()),
            world.store.recipient(&ada).await.unwrap().contacts.address(&id.endpoint)
        );
    }
    assert_eq!(ids[2].endpoint.name(), format!("push-{}", device().as_str()));
    world.pass(400).await;
    assert_eq!(world.providers.sends().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn many_at_once_are_each_sent_once_and_none_is_lost() {
    let world = World::new();
    let mut ids = Vec::new();
    for n in 0..25 {
        let user = world.recipient(&format!("user-{n}")).await;
        for priority in Priority::ALL {
            let mut draft = world.draft(&user);
            draft.priority = priority;
            ids.extend(world.send(&draft, &["email", "push-phone"]).await);
        }
    }
    world.lab.settle_doubled().await;
    for id in &ids {
        assert_eq!(world.status(id).await, Status::Delivered);
    }
    let arrivals = world.providers.deliveries();
    assert_eq!(arrivals.len(), ids.len());
    assert!(arrivals.values().all(|times| *times == 1));
}

#[tokio::test(start_paused = true)]
async fn a_message_before_its_time_waits_for_it() {
    let (world, ada) = World::with_ada().await;
    let mut draft = world.draft(&ada);
    draft.send_at = Some(world.now() + std::time::Duration::from_mins(2));
    let id = world.send(&draft, &["email"]).await.remove(0);
    world.lab.settle_doubled().await;
    world.pass(110).await;
    assert!(world.providers.sends().is_empty());
    world.pass(11).await;
    assert_eq!(world.status(&id).await, Status::Delivered);
    assert_eq!(world.providers.sends().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_has_expired_or_has_no_provider_ends_with_the_reason() {
    let (world, ada) = World::with_ada().await;
    let mut draft = world.draft(&ada);
    draft.expires_at = Some(world.now() + std::time::Duration::from_secs(5));
    let expired = world.send(&draft, &["email"]).await.remove(0);
    world.pass(6).await;
    assert_eq!(world.status(&expired).await, Status::Suppressed);
    assert!(world.providers.sends().is_empty());

    let lonely = World::of(Lab::new(), ScriptedProviders::new());
    let bob = lonely.recipient("bob").await;
    let id = lonely.send_one(&bob, "sms").await;
    lonely.lab.settle_doubled().await;
    assert_eq!(lonely.status(&id).await, Status::Failed);
    assert_eq!(lonely.dead_letters("SmsNormalDeadLetters").len(), 1);
}
