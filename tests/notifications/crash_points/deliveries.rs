//! Deliveries: struck anywhere between the message and its acknowledgement, with each outcome.

use domain::Timestamp;
use domain::accounts::UserId;
use domain::notifications::{
    CallCounts, Channel, Class, Delivery, OptOut, ProviderName, Reason, Status, Suppression,
    SuppressionReason,
};
use local::faults::Fault;
use messaging::DueTopic;
use notifications::store::SaveOutcome;
use serde_json::json;
use tests::scripted_providers::{ScriptedOutcome, ScriptedProviders};

use super::{Scene, contents, is_death, strike_all};

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// What is on its way, and what is in its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Case {
    Accepted,
    /// It takes only so many a second.
    RateLimited,
    Refused,
    GivenUp,
    InvalidRecipient,
    /// It takes it, and its answer is lost.
    AcceptedUnknown,
    /// It has failed, and is being tried.
    Trial,
    /// The person is not to be disturbed for a while.
    DoNotDisturb,
    /// Nothing goes to the address any more.
    Suppressed,
    OptedOut,
}

#[test]
fn no_call_of_a_delivery_can_fail_in_a_way_that_loses_or_doubles_it_unseen() {
    for (channel, least) in [(Channel::Email, 7), (Channel::Sms, 7), (Channel::Push, 7)] {
        let name = format!("deliver by {}", channel.name());
        strike_all(&name, least, |nth, fault| strike(channel, Case::Accepted, nth, fault));
    }
    strike_all("deliver at a rate", 9, |nth, fault| {
        strike(Channel::Sms, Case::RateLimited, nth, fault)
    });
}

#[test]
fn no_call_after_a_lost_answer_can_fail_in_a_way_that_doubles_it_unseen() {
    for channel in [Channel::Email, Channel::Sms] {
        let name = format!("unheard by {}", channel.name());
        strike_all(&name, 7, |nth, fault| strike(channel, Case::AcceptedUnknown, nth, fault));
    }
    strike_all("a trial", 8, |nth, fault| strike(Channel::Sms, Case::Trial, nth, fault));
}

#[test]
fn no_call_after_a_refusal_can_fail_in_a_way_that_loses_the_letter() {
    strike_all("refused once", 8, |nth, fault| strike(Channel::Email, Case::Refused, nth, fault));
    for channel in [Channel::Email, Channel::Sms] {
        let name = format!("given up by {}", channel.name());
        strike_all(&name, 8, |nth, fault| strike(channel, Case::GivenUp, nth, fault));
    }
    strike_all("invalid recipient", 10, |nth, fault| {
        strike(Channel::Push, Case::InvalidRecipient, nth, fault)
    });
}

#[test]
fn no_call_of_what_is_held_or_stopped_can_fail_in_a_way_that_lasts() {
    strike_all("deferred", 4, |nth, fault| strike(Channel::Email, Case::DoNotDisturb, nth, fault));
    strike_all("suppressed", 5, |nth, fault| strike(Channel::Email, Case::Suppressed, nth, fault));
    strike_all("opted out", 3, |nth, fault| strike(Channel::Email, Case::OptedOut, nth, fault));
    strike_all("withdrawn", 4, strike_withdrawal);
}

/// Sets the scene, strikes the turn that sends it, and looks how it ends.
async fn strike(channel: Channel, case: Case, nth: u64, fault: Fault) -> bool {
    let providers = ScriptedProviders::new();
    if case == Case::RateLimited {
        providers.rate("text", 20);
    }
    let scene = Scene::with(providers, &["ada"]).await;
    prepare(&scene, channel, case).await;
    let mut body = contents("ada");
    body["channels"] = json!([channel.name()]);
    scene.accept(&body).await;
    if case == Case::OptedOut {
        opt_out(&scene, channel).await;
    }
    scene.strike(nth, fault);
    scene.turn(queue_of(channel)).await;
    let struck = scene.lab.stop_faults();
    let context = format!("{case:?} by {}, call {nth}, {fault:?}", channel.name());
    let deliveries = scene.check(&context).await;
    let [delivery] = deliveries.as_slice() else { panic!("{context}: {deliveries:?}") };
    let context = format!("{context}: {delivery:?}");
    assert!(ends(channel, case, is_death(fault)).contains(&delivery.status), "{context}");
    match case {
        Case::DoNotDisturb => {
            let at = scene.providers.sends()[0].at.as_second();
            assert!(at >= start().as_second() + 240, "{context}");
        }
        Case::Suppressed | Case::OptedOut => {
            assert!(scene.providers.sends().is_empty(), "{context}");
        }
        Case::AcceptedUnknown => assert_ne!(delivery.uncertain, 0, "{context}"),
        Case::Accepted | Case::RateLimited | Case::Trial => {
            check_once(&scene, delivery, fault, &context);
        }
        Case::Refused | Case::GivenUp | Case::InvalidRecipient => {}
    }
    struck
}

/// Only a crash is a reason to send twice.
fn check_once(scene: &Scene, delivery: &Delivery, fault: Fault, context: &str) {
    if !is_death(fault) {
        let handed = scene.providers.sends().len();
        assert_eq!((handed, delivery.tries, delivery.uncertain), (1, 1, 0), "{context}");
    }
}

/// How it may end. A crash between a claim and its record leaves a doubt, and a doubt stays where
/// nothing was accepted afterwards.
fn ends(channel: Channel, case: Case, died: bool) -> Vec<Status> {
    let end = match case {
        Case::GivenUp | Case::InvalidRecipient => Status::Failed,
        Case::Suppressed | Case::OptedOut => Status::Suppressed,
        Case::AcceptedUnknown if channel == Channel::Sms => Status::Unknown,
        Case::Accepted
        | Case::RateLimited
        | Case::Refused
        | Case::AcceptedUnknown
        | Case::Trial
        | Case::DoNotDisturb => Status::Delivered,
    };
    let doubtful =
        channel == Channel::Sms || matches!(case, Case::GivenUp | Case::InvalidRecipient);
    if died && doubtful { vec![end, Status::Unknown] } else { vec![end] }
}

async fn prepare(scene: &Scene, channel: Channel, case: Case) {
    let provider = match channel {
        Channel::Email => "mail",
        Channel::Sms => "text",
        Channel::Push => "push",
    };
    let ada = UserId::outside("ada");
    match case {
        Case::Accepted | Case::RateLimited | Case::OptedOut => {}
        Case::Refused => {
            scene.providers.script_next(provider, [ScriptedOutcome::refuse(Class::Outage)]);
        }
        Case::GivenUp => {
            scene.providers.script_always(provider, ScriptedOutcome::refuse(Class::Content));
        }
        Case::InvalidRecipient => scene
            .providers
            .script_always(provider, ScriptedOutcome::refuse(Class::InvalidRecipient)),
        Case::AcceptedUnknown => {
            scene.providers.script_next(provider, [ScriptedOutcome::AcceptThenDisconnect]);
        }
        Case::Trial => {
            let name = ProviderName::parse(provider).unwrap();
            let seen = CallCounts { answered: 0, failed: 10 };
            let token = || "seen".to_owned();
            scene.store.record_calls(&name, seen, scene.now(), token).await.unwrap();
            scene.lab.advance_seconds(11);
        }
        Case::DoNotDisturb => {
            let mut preferences = scene.store.recipient(&ada).await.unwrap().preferences;
            let quiet = json!({ "start": "11:00", "end": "12:04" });
            preferences.do_not_disturb = Some(serde_json::from_value(quiet).unwrap());
            preferences.version += 1;
            let saved = scene.store.save_preferences(&ada, &preferences, "quiet").await.unwrap();
            assert_eq!(saved, SaveOutcome::Saved);
        }
        Case::Suppressed => {
            let contacts = scene.store.recipient(&ada).await.unwrap().contacts;
            let endpoint = contacts.endpoints(channel).into_iter().next().unwrap();
            let suppression = Suppression { reason: SuppressionReason::Bounced, at: scene.now() };
            let address = contacts.address(&endpoint).unwrap();
            scene.store.suppress(&address, &suppression).await.unwrap();
        }
    }
}

/// Switches a channel off without publishing it.
async fn opt_out(scene: &Scene, channel: Channel) {
    let ada = UserId::outside("ada");
    let mut preferences = scene.store.recipient(&ada).await.unwrap().preferences;
    preferences.switch_off(&OptOut::Channel { channel });
    preferences.version += 1;
    let saved = scene.store.save_preferences(&ada, &preferences, "off").await.unwrap();
    assert_eq!(saved, SaveOutcome::Saved);
}

/// What waits is taken back by the message that says that its person wants less.
async fn strike_withdrawal(nth: u64, fault: Fault) -> bool {
    let scene = Scene::new(&["ada"]).await;
    let mut body = contents("ada");
    body["sendAt"] = json!("2026-03-01T12:10:00Z");
    scene.accept(&body).await;
    opt_out(&scene, Channel::Email).await;
    let mut topics = scene.lab.cloud.stack.topics.iter();
    let topic = topics.find(|topic| topic.logical_id == "NotificationsTopic").unwrap();
    let topic = DueTopic::new(scene.lab.aws().sns(), &topic.arn);
    topic.publish_preferences_narrowed(&UserId::outside("ada"), TRACE).await.unwrap();
    scene.strike(nth, fault);
    scene.turn("PushCriticalQueue").await;
    let struck = scene.lab.stop_faults();
    let context = format!("withdraw, call {nth}, {fault:?}");
    for delivery in scene.check(&context).await {
        if delivery.channel() == Channel::Email {
            assert_eq!(delivery.status, Status::Cancelled, "{context}: {delivery:?}");
            assert!(matches!(delivery.reason, Some(Reason::OptedOut { .. })), "{context}");
        } else {
            assert_eq!(delivery.status, Status::Delivered, "{context}: {delivery:?}");
        }
    }
    struck
}

const fn queue_of(channel: Channel) -> &'static str {
    match channel {
        Channel::Email => "EmailNormalQueue",
        Channel::Sms => "SmsNormalQueue",
        Channel::Push => "PushNormalQueue",
    }
}

fn start() -> Timestamp {
    Timestamp::from_second(1_772_366_400).unwrap()
}
