//! Deliveries: struck anywhere between the message and its acknowledgement, whatever the provider says.

use domain::Timestamp;
use domain::accounts::UserId;
use domain::notifications::{
    Because, Channel, Class, Delivery, OptOut, ProviderName, Seen, Status, Suppression, Why,
};
use local::faults::Fault;
use messaging::DueTopic;
use notifications::store::Saved;
use serde_json::json;
use tests::scripted_providers::{ScriptedOutcome, ScriptedProviders};

use super::{Scene, is_death, sweep, words};

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// What is on its way, and what is in its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Case {
    /// The provider takes it.
    Taken,
    /// It takes only so many a second.
    Slow,
    /// It says no once.
    Refused,
    /// It says no for good.
    GivenUp,
    /// It says that nobody is there.
    NobodyThere,
    /// It takes it, and nobody hears of that.
    Unheard,
    /// It has failed, and is being tried.
    Trial,
    /// The person is not to be disturbed for a while.
    Quiet,
    /// Nothing goes to the address any more.
    Suppressed,
    /// Nobody wants it any more.
    OptedOut,
}

#[test]
fn no_call_of_a_delivery_can_fail_in_a_way_that_loses_or_doubles_it_unseen() {
    for (channel, least) in [(Channel::Email, 7), (Channel::Sms, 7), (Channel::Push, 7)] {
        let name = format!("deliver by {}", channel.name());
        sweep(&name, least, |nth, fault| strike(channel, Case::Taken, nth, fault));
    }
    sweep("deliver at a rate", 9, |nth, fault| strike(Channel::Sms, Case::Slow, nth, fault));
}

#[test]
fn no_call_after_an_answer_that_nobody_heard_can_fail_in_a_way_that_doubles_it_unseen() {
    for channel in [Channel::Email, Channel::Sms] {
        let name = format!("unheard by {}", channel.name());
        sweep(&name, 7, |nth, fault| strike(channel, Case::Unheard, nth, fault));
    }
    sweep("a trial", 8, |nth, fault| strike(Channel::Sms, Case::Trial, nth, fault));
}

#[test]
fn no_call_after_a_refusal_can_fail_in_a_way_that_loses_the_letter() {
    sweep("refused once", 8, |nth, fault| strike(Channel::Email, Case::Refused, nth, fault));
    for channel in [Channel::Email, Channel::Sms] {
        let name = format!("given up by {}", channel.name());
        sweep(&name, 8, |nth, fault| strike(channel, Case::GivenUp, nth, fault));
    }
    sweep("nobody there", 10, |nth, fault| strike(Channel::Push, Case::NobodyThere, nth, fault));
}

#[test]
fn no_call_of_what_is_held_or_stopped_can_fail_in_a_way_that_lasts() {
    sweep("deferred", 4, |nth, fault| strike(Channel::Email, Case::Quiet, nth, fault));
    sweep("suppressed", 5, |nth, fault| strike(Channel::Email, Case::Suppressed, nth, fault));
    sweep("opted out", 3, |nth, fault| strike(Channel::Email, Case::OptedOut, nth, fault));
    sweep("withdrawn", 4, strike_withdrawal);
}

/// Sets the scene, strikes the turn that sends it, and looks how it ends.
async fn strike(channel: Channel, case: Case, nth: u64, fault: Fault) -> bool {
    let providers = ScriptedProviders::new();
    if case == Case::Slow {
        providers.rate("text", 20);
    }
    let scene = Scene::with(providers, &["ada"]).await;
    prepare(&scene, channel, case).await;
    let mut body = words("ada");
    body["channels"] = json!([channel.name()]);
    scene.accept(&body).await;
    if case == Case::OptedOut {
        opt_out(&scene, channel).await;
    }
    scene.strike(nth, fault);
    scene.turn(queue_of(channel)).await;
    let struck = scene.stop();
    let context = format!("{case:?} by {}, call {nth}, {fault:?}", channel.name());
    let deliveries = scene.check(&context).await;
    let [delivery] = deliveries.as_slice() else { panic!("{context}: {deliveries:?}") };
    let context = format!("{context}: {delivery:?}");
    assert!(ends(channel, case, is_death(fault)).contains(&delivery.status), "{context}");
    match case {
        Case::Quiet => {
            let at = scene.providers.sends()[0].at.as_second();
            assert!(at >= start().as_second() + 240, "{context}");
        }
        Case::Suppressed | Case::OptedOut => {
            assert!(scene.providers.sends().is_empty(), "{context}")
        }
        Case::Unheard => assert_ne!(delivery.uncertain, 0, "{context}"),
        Case::Taken | Case::Slow | Case::Trial => check_once(&scene, delivery, fault, &context),
        Case::Refused | Case::GivenUp | Case::NobodyThere => {}
    }
    struck
}

/// Only a sender who died is a reason to speak to anybody twice.
fn check_once(scene: &Scene, delivery: &Delivery, fault: Fault, context: &str) {
    if !is_death(fault) {
        let handed = scene.providers.sends().len();
        assert_eq!((handed, delivery.tries, delivery.uncertain), (1, 1, 0), "{context}");
    }
}

/// How it may end. Whoever dies between a claim and its record leaves a doubt, and a doubt stays where
/// nothing was accepted afterwards.
fn ends(channel: Channel, case: Case, died: bool) -> Vec<Status> {
    let end = match case {
        Case::GivenUp | Case::NobodyThere => Status::Failed,
        Case::Suppressed | Case::OptedOut => Status::Suppressed,
        Case::Unheard if channel == Channel::Sms => Status::Unknown,
        Case::Taken | Case::Slow | Case::Refused | Case::Unheard | Case::Trial | Case::Quiet => {
            Status::Delivered
        }
    };
    let doubtful = channel == Channel::Sms || matches!(case, Case::GivenUp | Case::NobodyThere);
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
        Case::Taken | Case::Slow | Case::OptedOut => {}
        Case::Refused => {
            scene.providers.script_next(provider, [ScriptedOutcome::refuse(Class::Outage)])
        }
        Case::GivenUp => {
            scene.providers.script_always(provider, ScriptedOutcome::refuse(Class::Content))
        }
        Case::NobodyThere => scene
            .providers
            .script_always(provider, ScriptedOutcome::refuse(Class::InvalidRecipient)),
        Case::Unheard => {
            scene.providers.script_next(provider, [ScriptedOutcome::AcceptThenDisconnect])
        }
        Case::Trial => {
            let name = ProviderName::parse(provider).unwrap();
            let seen = Seen { fine: 0, failed: 10 };
            let token = || "seen".to_owned();
            scene.store.observe(&name, seen, scene.now(), token).await.unwrap();
            scene.lab.advance_seconds(11);
        }
        Case::Quiet => {
            let mut preferences = scene.store.person(&ada).await.unwrap().preferences;
            let quiet = json!({ "start": "11:00", "end": "12:04" });
            preferences.do_not_disturb = Some(serde_json::from_value(quiet).unwrap());
            preferences.version += 1;
            let saved = scene.store.save_preferences(&ada, &preferences, "quiet").await.unwrap();
            assert_eq!(saved, Saved::Saved);
        }
        Case::Suppressed => {
            let contacts = scene.store.person(&ada).await.unwrap().contacts;
            let way = contacts.ways(channel).into_iter().next().unwrap();
            let suppression = Suppression { because: Because::Bounced, at: scene.now() };
            let address = contacts.address(&way).unwrap();
            scene.store.suppress(&address, &suppression).await.unwrap();
        }
    }
}

/// Switches a channel off without telling anybody.
async fn opt_out(scene: &Scene, channel: Channel) {
    let ada = UserId::outside("ada");
    let mut preferences = scene.store.person(&ada).await.unwrap().preferences;
    preferences.switch_off(&OptOut::Channel { channel });
    preferences.version += 1;
    let saved = scene.store.save_preferences(&ada, &preferences, "off").await.unwrap();
    assert_eq!(saved, Saved::Saved);
}

/// What waits is taken back by the message that says that its person wants less.
async fn strike_withdrawal(nth: u64, fault: Fault) -> bool {
    let scene = Scene::of(&["ada"]).await;
    let mut body = words("ada");
    body["sendAt"] = json!("2026-03-01T12:10:00Z");
    scene.accept(&body).await;
    opt_out(&scene, Channel::Email).await;
    let mut topics = scene.lab.cloud.stack.topics.iter();
    let topic = topics.find(|topic| topic.logical_id == "NotificationsTopic").unwrap();
    let topic = DueTopic::new(scene.lab.aws().sns(), &topic.arn);
    topic.narrowed(&UserId::outside("ada"), TRACE).await.unwrap();
    scene.strike(nth, fault);
    scene.turn("PushCriticalQueue").await;
    let struck = scene.stop();
    let context = format!("withdraw, call {nth}, {fault:?}");
    for delivery in scene.check(&context).await {
        if delivery.channel() == Channel::Email {
            assert_eq!(delivery.status, Status::Cancelled, "{context}: {delivery:?}");
            assert!(matches!(delivery.why, Some(Why::OptedOut { .. })), "{context}");
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

/// When every test begins.
fn start() -> Timestamp {
    Timestamp::from_second(1_772_366_400).unwrap()
}
