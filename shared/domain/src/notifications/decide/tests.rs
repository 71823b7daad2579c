//! Each check, their order, and what passes them.

use proptest::prelude::*;

use super::*;
use crate::accounts::UserId;
use crate::notifications::{
    Because, Body, Category, Channel, Clock, Day, NotificationId, OptOut, Quiet, Way,
};

fn at(seconds: i64) -> Timestamp {
    // Midnight, UTC, of a Sunday.
    Timestamp::from_second(1_772_323_200 + seconds).unwrap()
}

fn name(text: &str) -> ProviderName {
    ProviderName::parse(text).unwrap()
}

fn provider(text: &str, gate: Gate, slot: Slot) -> ProviderState {
    ProviderState { name: name(text), gate, slot }
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
    standing: Standing,
    verdict: Verdict,
    providers: Vec<ProviderState>,
}

impl World {
    fn new(priority: Priority) -> Self {
        let notification = Notification {
            id: NotificationId::made_from(at(0), [1; 8]),
            user: UserId::outside("ada"),
            category: category(),
            priority,
            body: Body::Inline { words: crate::notifications::Words::default() },
            send_at: None,
            expires_at: None,
            collapse_key: None,
            tracked: false,
            created_by: UserId::outside("shop"),
            created_at: at(0),
        };
        Self {
            delivery: Delivery::accepted(&notification, Way::Email),
            notification,
            preferences: Preferences::default(),
            standing: Standing::Good,
            verdict: Verdict::Within,
            providers: vec![provider("ses", Gate::Closed, Slot::Free)],
        }
    }

    fn decide(&self, now: Timestamp) -> Decision {
        let facts = Facts {
            notification: &self.notification,
            delivery: &self.delivery,
            preferences: &self.preferences,
            standing: self.standing.clone(),
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
    ("gone", "suppress address-gone", |w| w.standing = Standing::Gone),
    ("bounced", "suppress address-suppressed", |w| {
        w.standing = Standing::Suppressed(Because::Bounced);
    }),
    ("spent", "dead given-up", |w| w.delivery.tries = 5),
    ("later", "defer scheduled", |w| w.delivery.ready_at = at(11)),
    ("night", "defer quiet", |w| {
        let (start, end) = (Clock::parse("22:00").unwrap(), Clock::parse("07:00").unwrap());
        w.preferences.do_not_disturb = Some(Quiet { start, end, days: Day::ALL.to_vec() });
    }),
    ("limit", "defer limited", |w| {
        w.verdict = Verdict::Beyond { limit: UserLimit::Daily, until: at(500) };
    }),
    ("nobody", "dead no-provider", |w| w.providers.clear()),
    ("down", "defer provider-down", |w| {
        w.providers.iter_mut().for_each(|p| p.gate = Gate::Open { until: at(30) });
    }),
    ("busy", "defer provider-busy", |w| {
        w.providers.iter_mut().for_each(|p| p.slot = Slot::At(at(12)));
    }),
];

fn told(decision: &Decision) -> String {
    let rule = |why: &Why| serde_json::to_value(why).unwrap()["rule"].as_str().unwrap().to_owned();
    match decision {
        Decision::Send { .. } => "send".to_owned(),
        Decision::Defer { why, .. } => format!("defer {}", rule(why)),
        Decision::Suppress { why } => format!("suppress {}", rule(why)),
        Decision::DeadLetter { why, .. } => format!("dead {}", rule(why)),
        Decision::Leave => "leave".to_owned(),
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
    world.providers.push(provider("smtp", Gate::Closed, Slot::Free));
    world.providers[0].slot = Slot::At(at(12));
    assert_eq!(told(&world.decide(at(10))), "defer provider-busy");
    world.providers[0].gate = Gate::Open { until: at(30) };
    let expected = Decision::Send { attempt: 1, provider: name("smtp"), trial: false };
    assert_eq!(world.decide(at(10)), expected);
    world.providers[1].gate = Gate::Open { until: at(20) };
    let why = Why::ProviderDown { provider: name("smtp") };
    assert_eq!(world.decide(at(10)), Decision::Defer { until: at(20), why });
    world.providers[0].gate = Gate::Trial;
    let expected = Decision::Send { attempt: 1, provider: name("ses"), trial: true };
    assert_eq!(world.decide(at(12)), expected);
}

#[test]
fn nothing_waits_beyond_its_expiry() {
    let mut world = World::new(Priority::Normal);
    world.notification.expires_at = Some(at(60));
    world.verdict = Verdict::Beyond { limit: UserLimit::Hourly, until: at(3_600) };
    let why = Why::Limited { limit: UserLimit::Hourly };
    assert_eq!(world.decide(at(10)), Decision::Defer { until: at(60), why });
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
        if let Decision::Defer { until, .. } = decision {
            prop_assert!(until > at(10), "nothing waits for what is over");
        }
    }
}

#[test]
fn every_reason_is_a_sentence_without_anybodys_address() {
    for (_, _, change) in OBSTACLES {
        let mut world = World::new(Priority::Normal);
        change(&mut world);
        let why = match world.decide(at(10)) {
            Decision::Defer { why, .. }
            | Decision::Suppress { why }
            | Decision::DeadLetter { why, .. } => why,
            Decision::Send { .. } | Decision::Leave => continue,
        };
        let sentence = why.to_string();
        assert!(sentence.len() > 10 && !sentence.contains('@'), "{sentence}");
        let json = serde_json::to_string(&why).unwrap();
        assert_eq!(serde_json::from_str::<Why>(&json).unwrap(), why);
    }
}
