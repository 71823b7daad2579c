//! Letters and their remedies.

use super::*;
use crate::notifications::samples::{at, notification};
use crate::notifications::{Event, Fate, ProviderName, SendOutcome, Step, transition};

fn after(way: &str, events: &[Event]) -> Delivery {
    let way = Way::parse(way).unwrap();
    events.iter().fold(Delivery::accepted(&notification(Priority::Low), way), |delivery, event| {
        match transition(&delivery, event, at(1)) {
            Step::Become(next) => *next,
            other @ (Step::Stay | Step::Refuse(_)) => panic!("{event:?}: {other:?}"),
        }
    })
}

fn claim() -> Event {
    let provider = ProviderName::parse("ses").unwrap();
    Event::Claimed { by: "me".to_owned(), attempt: 1, provider, rendering: None, to: None }
}

fn handed(handed: SendOutcome) -> Event {
    Event::Handed { attempt: 1, handed, jitter: 0 }
}

fn refused(class: Class) -> Event {
    handed(SendOutcome::Refused { class, retry_after_seconds: None, said: "550 no".to_owned() })
}

#[test]
fn a_letter_says_what_was_tried_and_what_can_be_done() {
    for (way, class, remedy) in [
        ("push-d1", Class::InvalidRecipient, Remedy::DropDevice),
        ("email", Class::InvalidRecipient, Remedy::SuppressAddress(Because::Refused)),
        ("sms", Class::OptedOut, Remedy::SuppressAddress(Because::Complained)),
        ("email", Class::Content, Remedy::FixContent),
    ] {
        let failed = after(way, &[claim(), refused(class)]);
        let letter = DeadLetter::of(&notification(Priority::Low), &failed).unwrap();
        assert_eq!((letter.class, letter.remedy), (class, remedy), "{way}");
        assert_eq!(letter.attempts[0].said.as_deref(), Some("550 no"));
        let json = serde_json::to_string(&letter).unwrap();
        assert_eq!(serde_json::from_str::<DeadLetter>(&json).unwrap(), letter);
    }
    assert_eq!(Remedy::of(Class::RateLimited, &Way::Sms), Remedy::SlowDown);
    assert_eq!(Remedy::of(Class::Outage, &Way::Sms), Remedy::WaitAndReplay);
    assert!(Class::ALL.iter().all(|class| Remedy::of(*class, &Way::Sms).advice().len() > 10));
}

#[test]
fn what_came_back_is_a_letter_and_what_has_not_failed_is_none() {
    let accepted = handed(SendOutcome::Accepted { reference: None });
    let bounce = Event::CalledBack { fate: Fate::Bounced { hard: true }, at: at(1) };
    let bounced = after("email", &[claim(), accepted.clone(), bounce]);
    let letter = DeadLetter::of(&notification(Priority::Low), &bounced).unwrap();
    assert_eq!(letter.remedy, Remedy::SuppressAddress(Because::Bounced));
    for events in [vec![], vec![claim()], vec![claim(), accepted]] {
        assert_eq!(DeadLetter::of(&notification(Priority::Low), &after("email", &events)), None);
    }
}

#[test]
fn letters_are_found_by_channel_and_class() {
    let failed = after("sms", &[claim(), refused(Class::Content)]);
    let letter = DeadLetter::of(&notification(Priority::Low), &failed).unwrap();
    let filter = |channel, class| LetterFilter { channel, class };
    assert!(LetterFilter::default().takes(&letter));
    assert!(filter(Some(Channel::Sms), Some(Class::Content)).takes(&letter));
    assert!(!filter(Some(Channel::Email), None).takes(&letter));
    assert!(!filter(None, Some(Class::Outage)).takes(&letter));
}
