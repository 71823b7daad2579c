//! Letters and their remedies.

use super::*;
use crate::notifications::samples::{at, notification};
use crate::notifications::{
    CallbackKind, Event, ProviderName, SendOutcome, Transition, transition,
};

fn after(endpoint: &str, events: &[Event]) -> Delivery {
    let endpoint = Endpoint::parse(endpoint).unwrap();
    events.iter().fold(Delivery::new(&notification(Priority::Low), endpoint), |delivery, event| {
        match transition(&delivery, event, at(1)) {
            Transition::Changed(next) => *next,
            other @ (Transition::Unchanged | Transition::Illegal(_)) => {
                panic!("{event:?}: {other:?}")
            }
        }
    })
}

fn claim() -> Event {
    let provider = ProviderName::parse("ses").unwrap();
    Event::Claimed { by: "me".to_owned(), attempt: 1, provider, rendering: None, to: None }
}

fn handed(outcome: SendOutcome) -> Event {
    Event::Sent { attempt: 1, outcome, jitter: 0 }
}

fn refused(class: Class) -> Event {
    handed(SendOutcome::Refused { class, retry_after_seconds: None, reason: "550 no".to_owned() })
}

#[test]
fn a_letter_says_what_was_tried_and_what_can_be_done() {
    for (endpoint, class, remedy) in [
        ("push-d1", Class::InvalidRecipient, Remedy::DropDevice),
        ("email", Class::InvalidRecipient, Remedy::SuppressAddress(SuppressionReason::Refused)),
        ("sms", Class::OptedOut, Remedy::SuppressAddress(SuppressionReason::Complained)),
        ("email", Class::Content, Remedy::FixContent),
    ] {
        let failed = after(endpoint, &[claim(), refused(class)]);
        let dead_letter = DeadLetter::from_failed(&notification(Priority::Low), &failed).unwrap();
        assert_eq!((dead_letter.class, dead_letter.remedy), (class, remedy), "{endpoint}");
        assert_eq!(dead_letter.attempts[0].reason.as_deref(), Some("550 no"));
        let json = serde_json::to_string(&dead_letter).unwrap();
        assert_eq!(serde_json::from_str::<DeadLetter>(&json).unwrap(), dead_letter);
    }
    assert_eq!(Remedy::for_class(Class::RateLimited, &Endpoint::Sms), Remedy::SlowDown);
    assert_eq!(Remedy::for_class(Class::Outage, &Endpoint::Sms), Remedy::WaitAndReplay);
    assert!(
        Class::ALL
            .iter()
            .all(|class| Remedy::for_class(*class, &Endpoint::Sms).advice().len() > 10)
    );
}

#[test]
fn what_came_back_is_a_letter_and_what_has_not_failed_is_none() {
    let accepted = handed(SendOutcome::Accepted { reference: None });
    let bounce = Event::CalledBack { kind: CallbackKind::Bounced { hard: true }, at: at(1) };
    let bounced = after("email", &[claim(), accepted.clone(), bounce]);
    let dead_letter = DeadLetter::from_failed(&notification(Priority::Low), &bounced).unwrap();
    assert_eq!(dead_letter.remedy, Remedy::SuppressAddress(SuppressionReason::Bounced));
    for events in [vec![], vec![claim()], vec![claim(), accepted]] {
        assert_eq!(
            DeadLetter::from_failed(&notification(Priority::Low), &after("email", &events)),
            None
        );
    }
}

#[test]
fn letters_are_found_by_channel_and_class() {
    let failed = after("sms", &[claim(), refused(Class::Content)]);
    let dead_letter = DeadLetter::from_failed(&notification(Priority::Low), &failed).unwrap();
    let filter = |channel, class| DeadLetterFilter { channel, class };
    assert!(DeadLetterFilter::default().matches(&dead_letter));
    assert!(filter(Some(Channel::Sms), Some(Class::Content)).matches(&dead_letter));
    assert!(!filter(Some(Channel::Email), None).matches(&dead_letter));
    assert!(!filter(None, Some(Class::Outage)).matches(&dead_letter));
}
