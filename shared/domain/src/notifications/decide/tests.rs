//! Each check, their order, and what passes them.

use proptest::prelude::*;

use super::*;
use crate::notifications::samples::{at, notification};
use crate::notifications::{
    Category, Channel, Day, DoNotDisturb, Endpoint, OptOut, SuppressionReason, TimeOfDay,
};

fn name(text: &str) -> ProviderName {
    ProviderName::parse(text).unwrap()
}

fn provider(text: &str, breaker: BreakerState, availability: Availability) -> ProviderState {
    ProviderState { name: name(text), breaker, availability }
}

fn category() -> Category {
    Category::parse("orders").unwrap()
}

/// A world in which one thing or another is in the way.
#[derive(Debug, Clone)]
struct World {
    notification: Notification,
    delivery: Delivery,
    preferences: Preferences,
    address_state: AddressState,
    verdict: LimitVerdict,
    providers: Vec<ProviderState>,
}

impl World {
    fn new(priority: Priority) -> Self {
        let notification = notification(priority);
        Self {
            delivery: Delivery::new(&notification, Endpoint::Email),
            notification,
            preferences: Preferences::default(),
            address_state: AddressState::Usable,
            verdict: LimitVerdict::Within,
            providers: vec![provider("ses", BreakerState::Closed, Availability::Free)],
        }
    }

    fn decide(&self, now: Timestamp) -> DeliveryDecision {
        let facts = Facts {
            notification: &self.notification,
            delivery: &self.delivery,
            preferences: &self.preferences,
            address_state: self.address_state.clone(),
            verdict: self.verdict.clone(),
            providers: &self.providers,
        };
        decide(&facts, now)
    }
}

type Change = fn(&mut World);

/// What can be in the way, in the order of the checks, and the rule that each leads to at second 10.
const OBSTACLES: [(&str, &str, Change); 13] = [
    ("expired", "suppress expired", |w| w.notification.expires_at = Some(at(10))),
    ("all off", "suppress opted-out", |w| w.preferences.enabled = false),
    ("channel off", "suppress opted-out", |w| {
        w.preferences.switch_off(&OptOut::Channel { channel: Channel::Email });
    }),
    ("category off", "suppress opted-out", |w| {
        let switch = OptOut::Category { category: category(), channel: Channel::Email };
        w.preferences.switch_off(&switch);
    }),
    ("gone", "suppress address-gone", |w| w.address_state = AddressState::Gone),
    ("bounced", "suppress address-suppressed", |w| {
        w.address_state = AddressState::Suppressed(SuppressionReason::Bounced);
    }),
    ("spent", "dead given-up", |w| w.delivery.tries = 5),
    ("later", "defer scheduled", |w| w.delivery.ready_at = at(11)),
    ("night", "defer quiet", |w| {
        let (start, end) = (TimeOfDay::parse("22:00").unwrap(), TimeOfDay::parse("07:00").unwrap());
        w.preferences.do_not_disturb = Some(DoNotDisturb { start, end, days: Day::ALL.to_vec() });
    }),
    ("limit", "defer limited", |w| {
        w.verdict = LimitVerdict::Exceeded { limit: UserLimit::Daily, until: at(500) };
    }),
    ("none", "dead no-provider", |w| w.providers.clear()),
    ("down", "defer provider-down", |w| {
        w.providers.iter_mut().for_each(|p| p.breaker = BreakerState::Open { until: at(30) });
    }),
    ("busy", "defer provider-busy", |w| {
        w.providers.iter_mut().for_each(|p| p.availability = Availability::At(at(12)));
    }),
];

fn told(decision: &DeliveryDecision) -> String {
    let rule = |reason: &Reason| {
        serde_json::to_value(reason).unwrap()["rule"].as_str().unwrap().to_owned()
    };
    match decision {
        DeliveryDecision::Send { .. } => "send".to_owned(),
        DeliveryDecision::Defer { reason, .. } => format!("defer {}", rule(reason)),
        DeliveryDecision::Suppress { reason } => format!("suppress {}", rule(reason)),
        DeliveryDecision::DeadLetter { reason, .. } => format!("dead {}", rule(reason)),
        DeliveryDecision::Ignore => "leave".to_owned(),
    }
}

const PASSED_BY_CRITICAL: [&str; 2] = ["night", "limit"];

#[test]
fn each_obstacle_has_its_rule_and_critical_passes_the_persons_limits_and_nothing_else() {
    for priority in Priority::ALL {
        assert_eq!(told(&World::new(priority).decide(at(10))), "send");
        for (name, expected, change) in OBSTACLES {
            let mut world = World::new(priority);
            change(&mut world);
            let passes = priority == Priority::Critical && PASSED_BY_CRITICAL.contains(&name);
            let expected = if passes { "send" } else { expected };
            assert_eq!(told(&world.decide(at(10))), expected, "{name}, {priority:?}");
        }
    }
}

#[test]
fn what_is_not_pending_is_left_alone() {
    for status in Status::ALL {
        let mut world = World::new(Priority::Normal);
        world.delivery.status = status;
        let expected = if status == Status::Pending { "send" } else { "leave" };
        assert_eq!(told(&world.decide(at(10))), expected);
    }
}

#[test]
fn a_second_provider_takes_over_from_one_that_fails_and_not_from_one_that_is_busy() {
    let mut world = World::new(Priority::Normal);
    world.providers.push(provider("smtp", BreakerState::Closed, Availability::Free));
    world.providers[0].availability = Availability::At(at(12));
    assert_eq!(told(&world.decide(at(10))), "defer provider-busy");
    world.providers[0].breaker = BreakerState::Open { until: at(30) };
    let expected = DeliveryDecision::Send { attempt: 1, provider: name("smtp"), trial: false };
    assert_eq!(world.decide(at(10)), expected);
    world.providers[1].breaker = BreakerState::Open { until: at(20) };
    let reason = Reason::ProviderDown { provider: name("smtp") };
    assert_eq!(world.decide(at(10)), DeliveryDecision::Defer { until: at(20), reason });
    world.providers[0].breaker = BreakerState::HalfOpen;
    let expected = DeliveryDecision::Send { attempt: 1, provider: name("ses"), trial: true };
    assert_eq!(world.decide(at(12)), expected);
}

#[test]
fn nothing_waits_beyond_its_expiry() {
    let mut world = World::new(Priority::Normal);
    world.notification.expires_at = Some(at(60));
    world.verdict = LimitVerdict::Exceeded { limit: UserLimit::Hourly, until: at(3_600) };
    let reason = Reason::Limited { limit: UserLimit::Hourly };
    assert_eq!(world.decide(at(10)), DeliveryDecision::Defer { until: at(60), reason });
    assert_eq!(told(&world.decide(at(60))), "suppress expired");
}

proptest! {
    #[test]
    fn of_several_obstacles_the_first_decides(
        level in 0_usize..3,
        chosen in proptest::sample::subsequence((0..OBSTACLES.len()).collect::<Vec<_>>(), 0..6),
    ) {
        let priority = Priority::ALL[level];
        let mut world = World::new(priority);
        for index in chosen.iter().rev() {
            (OBSTACLES[*index].2)(&mut world);
        }
        let critical = priority == Priority::Critical;
        let first = chosen.iter().map(|index| OBSTACLES[*index]).find(|(name, _, _)| {
            !(critical && PASSED_BY_CRITICAL.contains(name))
        });
        let decision = world.decide(at(10));
        prop_assert_eq!(told(&decision), first.map_or("send", |(_, rule, _)| rule));
        if let DeliveryDecision::Defer { until, .. } = decision {
            prop_assert!(until > at(10), "nothing waits for what is over");
        }
    }
}

#[test]
fn every_reason_is_a_sentence_without_an_address() {
    for (_, _, change) in OBSTACLES {
        let mut world = World::new(Priority::Normal);
        change(&mut world);
        let reason = match world.decide(at(10)) {
            DeliveryDecision::Defer { reason, .. }
            | DeliveryDecision::Suppress { reason }
            | DeliveryDecision::DeadLetter { reason, .. } => reason,
            DeliveryDecision::Send { .. } | DeliveryDecision::Ignore => continue,
        };
        let sentence = reason.to_string();
        assert!(sentence.len() > 10 && !sentence.contains('@'), "{sentence}");
        let json = serde_json::to_string(&reason).unwrap();
        assert_eq!(serde_json::from_str::<Reason>(&json).unwrap(), reason);
    }
}
