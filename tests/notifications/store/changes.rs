//! Changes: what the domain decides is written once, and what lost is decided again.

use aws_sdk_dynamodb::types::AttributeValue;
use domain::notifications::{
    AttemptOutcome, CallbackKind, Class, Event, IllegalTransition, ProviderName, Reason, Status,
};
use futures::future::join_all;
use local::faults::Fault;
use notifications::store::{ApplyOutcome, ClaimOutcome};
use tests::Lab;

use super::{
    accepted_as, apply_event, at, claim, dead, delivery_id, id, notifications_in_lab, pending,
    provider, refused, sending, token, user,
};

const DAY: i64 = 86_400;

/// An attribute of a row, as it is stored.
async fn attribute(lab: &Lab, pk: &str, sk: &str, name: &str) -> Option<AttributeValue> {
    let get = lab.aws().dynamodb().get_item().table_name(lab.table("NotificationsTable"));
    let get = get.key("pk", AttributeValue::S(pk.to_owned()));
    let found = get.key("sk", AttributeValue::S(sk.to_owned())).send().await.unwrap();
    found.item.and_then(|mut item| item.remove(name))
}

async fn expires(lab: &Lab, pk: &str, sk: &str) -> Option<i64> {
    let value = attribute(lab, pk, sk, "expires").await?;
    Some(value.as_n().unwrap().parse::<i64>().unwrap() - at(0).as_second())
}

#[tokio::test(start_paused = true)]
async fn a_result_is_written_with_what_leads_back_to_it() {
    let (lab, store) = notifications_in_lab();
    let claimed = sending(&store, 1).await;
    let done = store.record(&claimed, &accepted_as("m-1"), 0, at(2), token).await.unwrap();
    let ApplyOutcome::Changed { before, after } = done else { panic!("{done:?}") };
    assert_eq!((*before, after.status), (claimed.clone(), Status::Delivered));
    assert_eq!(store.delivery(&claimed.id).await.unwrap(), Some(*after.clone()));
    let found = store.delivery_by_reference(&provider(), "m-1").await.unwrap();
    assert_eq!(found.as_ref(), Some(&claimed.id));
    assert_eq!(expires(&lab, "ref#ses#m-1", "delivery").await, Some(2 + 30 * DAY));
    let pk = format!("n#{}", id(1).as_str());
    assert_eq!(expires(&lab, &pk, "delivery#email").await, Some(2 + 90 * DAY));
    // Repeating it changes nothing, from any version.
    let word = Event::Sent { attempt: 1, outcome: accepted_as("m-1"), jitter: 0 };
    let again = store.apply(&claimed.id, &word, at(3), token).await.unwrap();
    assert_eq!(again, ApplyOutcome::Unchanged(after.clone()));
    let again = store.record(&claimed, &accepted_as("m-1"), 0, at(3), token).await.unwrap();
    assert_eq!(again, ApplyOutcome::Unchanged(after));
}

#[tokio::test(start_paused = true)]
async fn providers_names_are_their_own_and_our_key_is_known_without_looking() {
    let (_lab, store) = notifications_in_lab();
    let claimed = sending(&store, 1).await;
    let long = "x".repeat(5_000);
    store.record(&claimed, &accepted_as(&long), 0, at(2), token).await.unwrap();
    assert_eq!(
        store.delivery_by_reference(&provider(), &long).await.unwrap().as_ref(),
        Some(&claimed.id)
    );
    let other = ProviderName::parse("smtp").unwrap();
    assert_eq!(store.delivery_by_reference(&other, &long).await.unwrap(), None);
    assert_eq!(store.delivery_by_reference(&provider(), "unheard-of").await.unwrap(), None);
    let ours = store.delivery_by_reference(&other, &claimed.id.key()).await.unwrap();
    assert_eq!(ours.as_ref(), Some(&claimed.id));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_is_not_at_hand_is_refused_and_leads_nowhere() {
    let (_lab, store) = notifications_in_lab();
    let claimed = sending(&store, 1).await;
    let event = Event::Sent { attempt: 2, outcome: accepted_as("m-2"), jitter: 0 };
    let came = store.apply(&claimed.id, &event, at(2), token).await.unwrap();
    let stale = IllegalTransition::StaleAttempt { sent: 2, current: 1 };
    assert_eq!(came, ApplyOutcome::Illegal(stale, Box::new(claimed.clone())));
    assert_eq!(store.delivery_by_reference(&provider(), "m-2").await.unwrap(), None);
    assert_eq!(store.delivery(&claimed.id).await.unwrap(), Some(claimed));
    let unknown = store.apply(&delivery_id(9, "sms"), &event, at(2), token).await.unwrap();
    assert_eq!(unknown, ApplyOutcome::NotFound);
}

#[tokio::test(start_paused = true)]
async fn a_result_that_comes_after_an_opt_out_is_decided_by_both() {
    let (_lab, store) = notifications_in_lab();
    let claimed = sending(&store, 1).await;
    let withdrawn = Event::Withdrawn { reason: Reason::Cancelled };
    apply_event(&store, &claimed.id, withdrawn, at(2)).await;
    // The sender does not know of it.
    let came = store.record(&claimed, &refused(Class::Outage), 0, at(3), token).await.unwrap();
    let ApplyOutcome::Changed { after, .. } = came else { panic!("{came:?}") };
    assert_eq!((after.status, after.reason.clone()), (Status::Cancelled, Some(Reason::Cancelled)));
    assert_eq!(store.delivery(&claimed.id).await.unwrap(), Some(*after));
}

#[tokio::test(start_paused = true)]
async fn everything_that_happens_at_once_happens() {
    let (_lab, store) = notifications_in_lab();
    let delivery = pending(&store, 1).await;
    let events: Vec<Event> = (1..=5)
        .map(|minute| Event::Deferred { until: at(60 * minute), reason: Reason::DoNotDisturb })
        .collect();
    let applied = events.iter().map(|event| store.apply(&delivery.id, event, at(0), token));
    let changed = |came: &ApplyOutcome| matches!(came, ApplyOutcome::Changed { .. });
    for came in join_all(applied).await {
        assert!(changed(came.as_ref().unwrap()), "{came:?}");
    }
    let stored = store.delivery(&delivery.id).await.unwrap().unwrap();
    assert_eq!(stored.version, delivery.version + 5);
    let repeats = (0..5).map(|_| {
        store.apply(&delivery.id, &Event::Withdrawn { reason: Reason::Cancelled }, at(1), token)
    });
    let repeats = join_all(repeats).await;
    assert_eq!(repeats.iter().filter(|came| changed(came.as_ref().unwrap())).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_change_whose_answer_was_lost_is_recognised() {
    let (lab, store) = notifications_in_lab();
    let claimed = sending(&store, 1).await;
    lab.cloud.faults.inject(0, Fault::CommitThenTimeout);
    let came = store.record(&claimed, &accepted_as("m"), 0, at(2), token).await.unwrap();
    let ApplyOutcome::Changed { after, .. } = came else { panic!("{came:?}") };
    assert_eq!(after.attempts[0].outcome, AttemptOutcome::Accepted);
    assert_eq!(after.version, claimed.version + 1);
    assert!(!lab.cloud.faults.is_pending());
}

#[tokio::test(start_paused = true)]
async fn a_callback_is_heard_once() {
    let (_lab, store) = notifications_in_lab();
    let claimed = sending(&store, 1).await;
    store.record(&claimed, &accepted_as("m"), 0, at(2), token).await.unwrap();
    let bounced = Event::CalledBack { kind: CallbackKind::Bounced { hard: true }, at: at(5) };
    let after = apply_event(&store, &claimed.id, bounced.clone(), at(6)).await;
    assert_eq!((after.status, after.class), (Status::Failed, Some(Class::InvalidRecipient)));
    let again = store.apply(&claimed.id, &bounced, at(7), token).await.unwrap();
    assert_eq!(again, ApplyOutcome::Unchanged(Box::new(after)));
}

#[tokio::test(start_paused = true)]
async fn a_letter_is_replayed_once_and_its_notification_kept_for_it() {
    let (lab, store) = notifications_in_lab();
    let dead_letter = dead(&store, 1, "email", Class::Outage, at(5)).await;
    let pk = format!("n#{}", id(1).as_str());
    assert_eq!(expires(&lab, &pk, "notification").await, Some(120 * DAY));
    let replayed = Event::Replayed { replay: "one".to_owned() };
    let late = at(80 * DAY);
    let after = apply_event(&store, &dead_letter.id, replayed.clone(), late).await;
    assert_eq!(after.status, Status::Pending);
    assert_eq!(expires(&lab, &pk, "notification").await, Some(200 * DAY));
    assert_eq!(expires(&lab, &pk, "delivery#email").await, None);
    let again = store.apply(&dead_letter.id, &replayed, late, token).await.unwrap();
    assert_eq!(again, ApplyOutcome::Unchanged(Box::new(after.clone())));
    let recipient = store.recipient(&user("ada")).await.unwrap();
    let claimable = claim(&store, &after, &recipient, "me").await;
    assert_eq!(
        claimable,
        ClaimOutcome::Illegal(IllegalTransition::TooEarly),
        "its time has not come at second 1"
    );
}

#[tokio::test(start_paused = true)]
async fn a_letter_whose_notification_is_gone_is_not_replayed() {
    let (lab, store) = notifications_in_lab();
    let dead_letter = dead(&store, 1, "email", Class::Outage, at(5)).await;
    let delete = lab.aws().dynamodb().delete_item().table_name(lab.table("NotificationsTable"));
    let delete = delete.key("pk", AttributeValue::S(format!("n#{}", id(1).as_str())));
    delete.key("sk", AttributeValue::S("notification".to_owned())).send().await.unwrap();
    let replayed = Event::Replayed { replay: "one".to_owned() };
    let came = store.apply(&dead_letter.id, &replayed, at(6), token).await.unwrap();
    assert_eq!(came, ApplyOutcome::NotFound);
    assert_eq!(store.delivery(&dead_letter.id).await.unwrap(), Some(dead_letter));
}
