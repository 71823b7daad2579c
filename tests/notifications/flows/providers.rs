//! Providers that fail or want less: what goes by them waits, uses up no attempt, or takes another way.

use domain::notifications::{Class, DeliveryId, Reason, Status};
use tests::Setup;
use tests::scripted_providers::{ScriptedOutcome, ScriptedProviders};

use super::World;

/// One text message for each of so many people.
async fn crowd(world: &World, endpoint: &str, count: usize) -> Vec<DeliveryId> {
    let mut ids = Vec::new();
    for n in 0..count {
        let user = world.recipient(&format!("user-{endpoint}-{n}")).await;
        ids.push(world.send_one(&user, endpoint).await);
    }
    ids
}

#[tokio::test(start_paused = true)]
async fn an_open_breaker_costs_no_attempt_and_nothing_is_given_up() {
    let world = World::new();
    world.providers.script_always("text", ScriptedOutcome::refuse(Class::Outage));
    crowd(&world, "sms", 12).await;
    world.lab.settle_doubled().await;
    let handed = world.providers.sends().len();
    let ada = world.recipient("ada").await;
    let id = world.send_one(&ada, "sms").await;
    world.lab.settle_doubled().await;
    assert_eq!(world.providers.sends().len(), handed, "it is not called");
    let delivery = world.delivery(&id).await;
    assert_eq!((delivery.status, delivery.attempt), (Status::Pending, 0));
    assert!(matches!(delivery.reason, Some(Reason::ProviderDown { .. })), "{:?}", delivery.reason);
    // It fails on; only trials are made.
    for _ in 0..20 {
        world.pass(30).await;
    }
    assert!(world.providers.sends().len() < handed + 20, "{}", world.providers.sends().len());
    world.providers.accept_all();
    for _ in 0..30 {
        world.pass(30).await;
    }
    let delivery = world.delivery(&id).await;
    assert_eq!(delivery.status, Status::Delivered, "{delivery:?}");
}

#[tokio::test(start_paused = true)]
async fn a_second_provider_of_the_channel_takes_over() {
    let world = World::new();
    world.providers.script_always("mail", ScriptedOutcome::refuse(Class::Outage));
    let ids = crowd(&world, "email", 15).await;
    world.lab.settle_doubled().await;
    for _ in 0..10 {
        world.pass(20).await;
    }
    for id in &ids {
        let delivery = world.delivery(id).await;
        assert_eq!(delivery.status, Status::Delivered);
        assert_eq!(delivery.attempts.last().unwrap().provider.as_str(), "mail-2");
    }
}

#[tokio::test(start_paused = true)]
async fn no_second_has_more_than_the_provider_takes() {
    let providers = ScriptedProviders::new();
    providers.rate("text", 20);
    let world = World::with(providers, Setup::default());
    let ids = crowd(&world, "sms", 60).await;
    world.lab.settle_doubled().await;
    for _ in 0..30 {
        world.pass(1).await;
    }
    for id in &ids {
        assert_eq!(world.status(id).await, Status::Delivered);
    }
    let times: Vec<i64> = world.providers.sends().iter().map(|it| it.at.as_millisecond()).collect();
    for start in &times {
        let within = times.iter().filter(|at| (*start..start + 1_000).contains(at)).count();
        assert!(within <= 21, "{within} in the second from {start}");
    }
}
