//! Opening, trials, closing; and rows that many nodes write.

use proptest::prelude::*;

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_772_323_200 + seconds).unwrap()
}

fn seen(answered: u32, failed: u32) -> CallCounts {
    CallCounts { answered, failed }
}

fn opened() -> Breaker {
    Breaker::default().with_calls(seen(0, 10), at(0))
}

#[test]
fn it_opens_when_more_than_half_of_enough_calls_fail() {
    for (answered, failed, opens) in
        [(0, 9, false), (0, 10, true), (5, 5, false), (5, 6, true), (1_000, 999, false)]
    {
        let breaker = Breaker::default().with_calls(seen(answered, failed), at(0));
        assert_eq!(breaker.state(at(0)) != BreakerState::Closed, opens, "{answered} {failed}");
    }
}

#[test]
fn what_was_more_than_a_minute_ago_does_not_count() {
    let breaker = Breaker::default().with_calls(seen(0, 9), at(0)).with_calls(seen(0, 9), at(61));
    assert_eq!(breaker.state(at(61)), BreakerState::Closed);
    assert_ne!(breaker.with_calls(seen(0, 1), at(70)).state(at(70)), BreakerState::Closed);
}

#[test]
fn few_are_let_through_after_its_time_and_close_it() {
    let breaker = opened();
    assert_eq!(breaker.state(at(9)), BreakerState::Open { until: at(10) });
    assert_eq!(breaker.begin_trial(at(9)), None);
    let mut trying = breaker;
    for _ in 0..TRIALS {
        assert_eq!(trying.state(at(10)), BreakerState::HalfOpen);
        trying = trying.begin_trial(at(10)).unwrap();
    }
    assert!(matches!(trying.state(at(10)), BreakerState::Open { .. }), "no more than these");
    for _ in 0..TRIALS {
        assert_ne!(trying.state(at(11)), BreakerState::Closed);
        trying = trying.with_calls(seen(1, 0), at(11));
    }
    assert_eq!(trying.state(at(11)), BreakerState::Closed);
    assert_eq!((trying.opened, trying.counts.len()), (0, 0));
}

#[test]
fn failing_again_doubles_the_time_up_to_five_minutes() {
    let mut breaker = opened();
    let mut now = 0;
    for expected in [10, 20, 40, 80, 160, 300, 300] {
        let BreakerState::Open { until } = breaker.state(at(now)) else { panic!("{now}") };
        assert_eq!(until, at(now + expected));
        now += expected;
        breaker = breaker.begin_trial(at(now)).unwrap().with_calls(seen(0, 1), at(now));
    }
}

#[test]
fn trials_that_were_never_recorded_are_begun_anew() {
    let mut breaker = opened();
    for _ in 0..TRIALS {
        breaker = breaker.begin_trial(at(10)).unwrap();
    }
    assert_eq!(breaker.state(at(69)), BreakerState::Open { until: at(70) });
    let anew = breaker.begin_trial(at(70)).unwrap();
    assert_eq!((anew.trials, anew.state(at(70))), (1, BreakerState::HalfOpen));
}

#[test]
fn words_that_come_while_it_is_open_change_nothing() {
    let breaker = opened();
    let after = breaker.with_calls(seen(100, 100), at(5));
    assert_eq!(Breaker { version: breaker.version, ..after }, breaker);
}

#[test]
fn a_provider_that_says_no_to_a_recipient_works() {
    let mut counts = CallCounts::default();
    for class in Class::ALL {
        counts.add(&SendOutcome::Refused {
            class,
            retry_after_seconds: None,
            reason: String::new(),
        });
    }
    counts.add(&SendOutcome::Accepted { reference: None });
    counts.add(&SendOutcome::Unknown { reason: String::new() });
    assert_eq!(counts, seen(5, 3));
}

proptest! {
    #[test]
    fn rows_stay_small_and_never_open_for_ever(
        contents in proptest::collection::vec((0_u32..20, 0_u32..20, -5_i64..30), 0..60),
    ) {
        let mut breaker = Breaker::default();
        let mut now = 0;
        for (answered, failed, later) in contents {
            now = (now + later).max(0);
            breaker = breaker.begin_trial(at(now)).unwrap_or(breaker);
            breaker = breaker.with_calls(seen(answered, failed), at(now));
            prop_assert!(breaker.counts.len() <= 7);
            prop_assert!(serde_json::to_string(&breaker).unwrap().len() < 600);
        }
        let open = matches!(breaker.state(at(now + 400)), BreakerState::Open { .. });
        prop_assert!(!open);
    }
}
