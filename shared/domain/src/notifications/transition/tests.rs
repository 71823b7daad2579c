//! Every state meets every event, and whole lives stay sound.

mod events;
mod lives;

use super::*;
use crate::notifications::samples::{at, notification};
use crate::notifications::{
    CallbackKind, Channel, Class, Endpoint, Priority, SendOutcome, UserLimit,
};

pub(super) fn accepted(channel: Channel) -> Delivery {
    let endpoint = match channel {
        Channel::Email => Endpoint::Email,
        Channel::Sms => Endpoint::Sms,
        Channel::Push => Endpoint::parse("push-phone").unwrap(),
    };
    Delivery::new(&notification(Priority::Normal), endpoint)
}

fn provider() -> ProviderName {
    ProviderName::parse("ses").unwrap()
}

pub(super) fn claim(attempt: u32) -> Event {
    Event::Claimed { by: "me".to_owned(), attempt, provider: provider(), rendering: None, to: None }
}

pub(super) fn accept(attempt: u32) -> Event {
    let outcome = SendOutcome::Accepted { reference: Some(format!("ref-{attempt}")) };
    Event::Sent { attempt, outcome, jitter: 0 }
}

pub(super) fn refuse(attempt: u32, class: Class) -> Event {
    let outcome =
        SendOutcome::Refused { class, retry_after_seconds: None, reason: "no".to_owned() };
    Event::Sent { attempt, outcome, jitter: 0 }
}

pub(super) fn unsure(attempt: u32) -> Event {
    let outcome = SendOutcome::Unknown { reason: "the line was cut".to_owned() };
    Event::Sent { attempt, outcome, jitter: 0 }
}

fn called(kind: CallbackKind) -> Event {
    Event::CalledBack { kind, at: at(9) }
}

pub(super) fn next(delivery: &Delivery, event: &Event, now: Timestamp) -> Delivery {
    match transition(delivery, event, now) {
        Transition::Changed(next) => *next,
        other @ (Transition::Unchanged | Transition::Illegal(_)) => {
            panic!("{event:?} on {:?}: {other:?}", delivery.status)
        }
    }
}

fn events() -> Vec<(&'static str, Event)> {
    let limited = Reason::Limited { limit: UserLimit::Daily };
    let gone = Reason::AddressGone;
    let released = Event::Released { attempt: 1, until: at(20), reason: Reason::DoNotDisturb };
    vec![
        ("claim 1", claim(1)),
        ("claim 2", claim(2)),
        ("release", released),
        ("accept", accept(1)),
        ("outage", refuse(1, Class::Outage)),
        ("no such", refuse(1, Class::InvalidRecipient)),
        ("unsure", unsure(1)),
        ("stale", accept(7)),
        ("check", Event::ClaimChecked { jitter: 0 }),
        ("defer", Event::Deferred { until: at(60), reason: limited }),
        ("suppress", Event::Suppressed { reason: gone.clone() }),
        ("dead", Event::DeadLettered { class: Class::Content, reason: Reason::NoProvider }),
        ("withdraw", Event::Withdrawn { reason: Reason::Cancelled }),
        ("delivered", called(CallbackKind::Delivered)),
        ("hard", called(CallbackKind::Bounced { hard: true })),
        ("soft", called(CallbackKind::Bounced { hard: false })),
        ("spam", called(CallbackKind::Complained)),
        ("replay", Event::Replayed { replay: "r1".to_owned() }),
    ]
}

/// A delivery in each state, as it gets there within ten seconds; by SMS unless it says otherwise.
fn lives() -> Vec<(&'static str, Delivery)> {
    let pending = accepted(Channel::Sms);
    let sending = next(&pending, &claim(1), at(1));
    let withdrawn = next(&sending, &Event::Withdrawn { reason: Reason::Cancelled }, at(2));
    let delivered = next(&sending, &accept(1), at(2));
    let bounced = next(&delivered, &called(CallbackKind::Bounced { hard: true }), at(3));
    let suppressed = next(&pending, &Event::Suppressed { reason: Reason::AddressGone }, at(1));
    let cancelled = next(&pending, &Event::Withdrawn { reason: Reason::Cancelled }, at(1));
    let failed = next(&sending, &refuse(1, Class::InvalidRecipient), at(2));
    let unknown = next(&sending, &unsure(1), at(2));
    let mail = next(&accepted(Channel::Email), &claim(1), at(1));
    let again = next(&mail, &unsure(1), at(2));
    vec![
        ("pending", pending),
        ("sending", sending),
        ("sending, withdrawn", withdrawn),
        ("delivered", delivered),
        ("bounced", bounced),
        ("suppressed", suppressed),
        ("cancelled", cancelled),
        ("failed", failed),
        ("unknown", unknown),
        ("pending mail after unknown", again),
    ]
}

/// What comes of it: the first letters of a status, `=` for nothing to do, `x` for refused.
const TABLE: [(&str, &str); 10] = [
    //           c1 c2 rel acc out nos uns stl chk def sup dea wit del hrd sft spm rep
    ("pending", "sen x x x x x x x = pen sup fai can = = = = x"),
    ("sending", "= x pen del pen fai unk x = x x x sen del fai = del x"),
    ("sending, withdrawn", "= x can del can can unk x = x x x = del fai = del x"),
    ("delivered", "x x = = = = = x = x x x x = fai fai del x"),
    ("bounced", "x x = = = = = x = x x = x = = = = pen"),
    ("suppressed", "x x x x x x x x = x = x x = = = = x"),
    ("cancelled", "x x x x x x x x = x x x = = = = = x"),
    ("failed", "x x = = = = = x = x x = x = = = = pen"),
    ("unknown", "x x = = = = = x = x x x x del fai fai del x"),
    ("pending mail after unknown", "x sen = = = = = x = pen unk unk unk del fai = del x"),
];

#[test]
fn every_state_meets_every_event() {
    for ((name, delivery), (row, cells)) in lives().into_iter().zip(TABLE) {
        assert_eq!(name, row);
        let cells: Vec<&str> = cells.split_whitespace().collect();
        assert_eq!(cells.len(), events().len(), "{name}");
        for ((event_name, event), expected) in events().into_iter().zip(cells) {
            let step = transition(&delivery, &event, at(10));
            let found = match &step {
                Transition::Changed(next) => &next.status.name()[..3],
                Transition::Unchanged => "=",
                Transition::Illegal(_) => "x",
            };
            assert_eq!(found, expected, "{event_name} on {name}: {step:?}");
        }
    }
}

#[test]
fn what_happened_already_changes_nothing() {
    for (name, delivery) in lives() {
        for (event_name, event) in events() {
            let Transition::Changed(after) = transition(&delivery, &event, at(10)) else {
                continue;
            };
            let again = transition(&after, &event, at(10));
            let settled = matches!(&again, Transition::Unchanged | Transition::Illegal(_));
            assert!(settled, "{event_name} twice on {name}: {again:?}");
        }
    }
}
