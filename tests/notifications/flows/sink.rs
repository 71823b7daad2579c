//! The real providers of SES and SNS, whose calls end up in the sink.

use domain::notifications::Status;
use sink::{Behaviour, ProviderKind, Sink, SinkOptions};
use tests::scripted_providers::ScriptedProviders;
use tests::{Lab, Setup};

use super::World;

async fn world() -> (World, Sink) {
    let sink = Sink::start(SinkOptions::default()).await.unwrap();
    let lab = Lab::with(Setup { sink: Some(sink.clone()), ..Setup::default() });
    (World::of(lab, ScriptedProviders::new()), sink)
}

#[tokio::test(start_paused = true)]
async fn mails_and_text_messages_are_kept_with_what_people_would_read() {
    let (world, sink) = world().await;
    let ada = world.recipient("ada").await;
    let ids = world.send(&world.draft(&ada), &["email", "sms"]).await;
    world.lab.settle_doubled().await;
    for id in &ids {
        assert_eq!(world.status(id).await, Status::Delivered);
    }
    let mail = sink.sent(ProviderKind::Ses).remove(0);
    assert_eq!((mail.to.as_str(), mail.title.as_str()), ("ada@example.com", "Hi"));
    let unsubscribe = mail.headers.iter().find(|(name, _)| name == "List-Unsubscribe").unwrap();
    assert!(unsubscribe.1.contains("https://sy.test/unsubscribe?token="), "{unsubscribe:?}");
    assert_eq!(sink.sent(ProviderKind::Sms).remove(0).text, "Hi");
    assert_eq!(sink.messages().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_sink_that_misbehaves_is_met_as_a_provider_would_be() {
    let (world, sink) = world().await;
    let ada = world.recipient("ada").await;
    for behaviour in [Behaviour::AcceptThenCut, Behaviour::Hang] {
        sink.behave_next(ProviderKind::Sms, 1, behaviour.clone());
        let id = world.send_one(&ada, "sms").await;
        world.lab.settle_doubled().await;
        assert_eq!(world.status(&id).await, Status::Unknown, "{behaviour:?}");
    }
    sink.behave_next(ProviderKind::Sms, 1, Behaviour::Throttle { retry_after_seconds: 5 });
    let id = world.send_one(&ada, "sms").await;
    world.lab.settle_doubled().await;
    assert_eq!(world.status(&id).await, Status::Pending);
    world.pass(10).await;
    assert_eq!(world.status(&id).await, Status::Delivered);
}
