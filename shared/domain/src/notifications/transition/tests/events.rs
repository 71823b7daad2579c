//! Single events: claims, late words, retries, callbacks, replays.

use super::*;

#[test]
fn a_claim_that_expires_is_unknown_or_repeated_and_never_a_second_text_message() {
    for (channel, status) in [
        (Channel::Sms, Status::Unknown),
        (Channel::Email, Status::Pending),
        (Channel::Push, Status::Pending),
    ] {
        let sending = next(&accepted(channel), &claim(1), at(0));
        let check = Event::ClaimChecked { jitter: 0 };
        assert_eq!(transition(&sending, &check, at(CLAIM_SECONDS - 1)), Transition::Unchanged);
        let lost = next(&sending, &check, at(CLAIM_SECONDS));
        assert_eq!((lost.status, lost.uncertain, lost.tries), (status, 1, 1), "{channel:?}");
        assert_eq!(lost.attempts[0].outcome, AttemptOutcome::Lost);
    }
}

#[test]
fn a_claimant_recognises_its_own_claim_and_others_do_not() {
    let sending = next(&accepted(Channel::Sms), &claim(1), at(0));
    assert_eq!(transition(&sending, &claim(1), at(1)), Transition::Unchanged);
    let other = Event::Claimed {
        by: "you".to_owned(),
        attempt: 1,
        provider: provider(),
        rendering: None,
        to: None,
    };
    assert_eq!(
        transition(&sending, &other, at(1)),
        Transition::Illegal(IllegalTransition::WrongStatus(Status::Sending))
    );
}

#[test]
fn five_attempts_are_made_under_throttling_and_deferrals_use_up_none() {
    let mut delivery = accepted(Channel::Email);
    let mut now = at(0);
    for attempt in 1..=5 {
        for _ in 0..50 {
            let until = after_ms(now, 10);
            let reason = Reason::ProviderBusy { provider: provider() };
            delivery = next(&delivery, &Event::Deferred { until, reason }, now);
            now = until;
        }
        delivery = next(&delivery, &claim(attempt), now);
        delivery = next(&delivery, &refuse(attempt, Class::RateLimited), now);
        now = delivery.ready_at;
    }
    assert_eq!((delivery.status, delivery.tries, delivery.attempts.len()), (Status::Failed, 5, 5));
    assert_eq!(delivery.class, Some(Class::RateLimited));
    assert!(matches!(transition(&delivery, &claim(6), now), Transition::Illegal(_)));
}

#[test]
fn an_attempt_that_is_given_back_was_none_and_its_number_is_not_used_again() {
    let sending = next(&accepted(Channel::Sms), &claim(1), at(0));
    let release = Event::Released { attempt: 1, until: at(5), reason: Reason::DoNotDisturb };
    let pending = next(&sending, &release, at(1));
    assert_eq!((pending.status, pending.tries, pending.attempt), (Status::Pending, 0, 1));
    assert_eq!(
        transition(&pending, &claim(2), at(4)),
        Transition::Illegal(IllegalTransition::TooEarly)
    );
    let again = next(&pending, &claim(2), at(5));
    assert_eq!(
        transition(&again, &accept(1), at(6)),
        Transition::Unchanged,
        "that one was given back"
    );
}

#[test]
fn late_words_settle_what_was_uncertain() {
    let check = Event::ClaimChecked { jitter: 0 };
    let sms = next(&accepted(Channel::Sms), &claim(1), at(0));
    let lost = next(&sms, &check, at(60));
    let delivered = next(&lost, &accept(1), at(70));
    assert_eq!(
        (delivered.status, delivered.reference.as_deref()),
        (Status::Delivered, Some("ref-1"))
    );
    let retried = next(&lost, &refuse(1, Class::Outage), at(70));
    assert_eq!((retried.status, retried.uncertain), (Status::Pending, 0));
    assert_eq!(next(&lost, &refuse(1, Class::Content), at(70)).status, Status::Failed);

    let mail = next(&accepted(Channel::Email), &claim(1), at(0));
    let again = next(&next(&mail, &check, at(60)), &claim(2), at(70));
    let delivered = next(&again, &accept(1), at(71));
    assert_eq!(delivered.status, Status::Delivered);
    let closed = next(&delivered, &refuse(2, Class::Outage), at(72));
    assert_eq!(closed.status, Status::Delivered, "the newer attempt changes nothing any more");
    let resolved = next(&again, &refuse(1, Class::Outage), at(71));
    assert_eq!((resolved.status, resolved.uncertain), (Status::Sending, 0));
}

#[test]
fn what_is_withdrawn_while_it_is_sent_is_not_tried_again() {
    let sending = next(&accepted(Channel::Email), &claim(1), at(0));
    let withdrawn = next(&sending, &Event::Withdrawn { reason: Reason::Cancelled }, at(1));
    let refused = next(&withdrawn, &refuse(1, Class::Outage), at(2));
    assert_eq!((refused.status, refused.reason), (Status::Cancelled, Some(Reason::Cancelled)));
    let perhaps = next(&withdrawn, &unsure(1), at(2));
    assert_eq!(perhaps.status, Status::Unknown, "although a mail could be repeated");
    assert_eq!(next(&withdrawn, &accept(1), at(2)).status, Status::Delivered);
}

#[test]
fn a_bounce_overrides_delivered_whichever_comes_first_and_a_complaint_does_not() {
    let sent = next(&next(&accepted(Channel::Email), &claim(1), at(0)), &accept(1), at(1));
    let bounced = next(&sent, &called(CallbackKind::Bounced { hard: true }), at(2));
    assert_eq!((bounced.status, bounced.class), (Status::Failed, Some(Class::InvalidRecipient)));
    assert_eq!(
        transition(&bounced, &called(CallbackKind::Delivered), at(3)),
        Transition::Unchanged
    );
    let complained = next(&sent, &called(CallbackKind::Complained), at(2));
    assert_eq!((complained.status, complained.complained_at), (Status::Delivered, Some(at(9))));
}

#[test]
fn a_callback_that_is_faster_than_the_answer_leaves_room_for_the_reference() {
    let sending = next(&accepted(Channel::Email), &claim(1), at(0));
    let arrived = next(&sending, &called(CallbackKind::Delivered), at(1));
    let named = next(&arrived, &accept(1), at(2));
    assert_eq!((named.status, named.reference.as_deref()), (Status::Delivered, Some("ref-1")));
}

#[test]
fn a_replay_counts_anew_keeps_what_was_tried_and_happens_once() {
    let sending = next(&accepted(Channel::Sms), &claim(1), at(0));
    let failed = next(&sending, &refuse(1, Class::Content), at(1));
    let replay = |name: &str| Event::Replayed { replay: name.to_owned() };
    let again = next(&failed, &replay("r1"), at(5));
    assert_eq!((again.status, again.tries, again.attempt), (Status::Pending, 0, 1));
    assert_eq!(again.attempts.len(), 1);
    assert_eq!(transition(&again, &replay("r1"), at(6)), Transition::Unchanged);
    let failed = next(&next(&again, &claim(2), at(6)), &refuse(2, Class::Content), at(7));
    assert_eq!(
        transition(&failed, &replay("r1"), at(8)),
        Transition::Unchanged,
        "moved once already"
    );
    assert_eq!(next(&failed, &replay("r2"), at(8)).status, Status::Pending);
}

#[test]
fn the_trail_is_bounded_and_so_are_words() {
    let mut delivery = accepted(Channel::Email);
    for attempt in 1..=40 {
        delivery = next(&delivery, &claim(attempt), at(0));
        let reason = "x".repeat(10_000);
        let outcome =
            SendOutcome::Refused { class: Class::Content, retry_after_seconds: None, reason };
        delivery = next(&delivery, &Event::Sent { attempt, outcome, jitter: 0 }, at(0));
        let replay = format!("r{attempt}");
        delivery = next(&delivery, &Event::Replayed { replay }, at(0));
    }
    assert_eq!(delivery.attempts.len(), Delivery::MAX_HISTORY_LENGTH);
    assert!(serde_json::to_string(&delivery).unwrap().len() < 10_000);
}
