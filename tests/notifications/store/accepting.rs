//! Accepting: everything or nothing, and once for each call.

use domain::notifications::{Body, Notification, NotificationId, TemplateId};
use futures::future::join_all;
use local::faults::Fault;
use notifications::store::{AcceptOutcome, Acceptance, BatchAccepted};
use store::idempotency::{Claim, IdempotentRequest, StoredResponse};

use super::{accept, at, deliveries, id, notification, notifications_in_lab, token, user};

fn request(fingerprint: u8) -> IdempotentRequest<'static> {
    IdempotentRequest {
        caller: "shop",
        operation: "notify",
        key: "key",
        fingerprint: [fingerprint; 32],
        claimant: "other",
        deadline: at(30),
    }
}

fn answer(body: &str) -> StoredResponse {
    StoredResponse { status: 202, location: None, etag: None, body: body.as_bytes().to_vec() }
}

#[tokio::test(start_paused = true)]
async fn what_was_accepted_is_found_with_all_its_deliveries() {
    let (_lab, store) = notifications_in_lab();
    let full = Notification {
        body: Body::Template {
            id: TemplateId::parse("welcome").unwrap(),
            version: 2,
            data: r#"{"name":"Ada"}"#.to_owned(),
        },
        send_at: Some(at(5_000)),
        expires_at: Some(at(9_000)),
        collapse_key: Some("k".to_owned()),
        tracked: true,
        ..notification(1, "ada")
    };
    accept(&store, &full, &["sms", "email", "push-phone"]).await;
    let told = store.find(&full.id).await.unwrap().unwrap();
    let mut expected = deliveries(&full, &["sms", "email", "push-phone"]);
    expected.sort_by(|a, b| a.id.cmp(&b.id));
    assert_eq!((told.notification, told.deliveries), (full, expected));
    assert_eq!(store.find(&id(2)).await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn the_second_with_a_key_gets_the_answer_of_the_first() {
    let (_lab, store) = notifications_in_lab();
    let attempt = async |n: u64, fingerprint: u8| {
        let new = notification(n, "ada");
        let wanted = Acceptance { notification: &new, deliveries: &deliveries(&new, &["email"]) };
        let (request, answer) = (request(fingerprint), answer(&n.to_string()));
        store.accept(wanted, Some((&request, &answer)), at(0), &token()).await.unwrap()
    };
    assert_eq!(attempt(1, 0).await, AcceptOutcome::Created);
    assert_eq!(attempt(2, 0).await, AcceptOutcome::Repeated(Claim::Answered(answer("1"))));
    assert_eq!(attempt(3, 7).await, AcceptOutcome::Repeated(Claim::Mismatch));
    for n in [2, 3] {
        assert_eq!(store.find(&id(n)).await.unwrap(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_hundred_calls_with_one_key_make_one_notification_and_get_one_answer() {
    let (_lab, store) = notifications_in_lab();
    let calls = (0..100).map(async |n| {
        let new = notification(n, "ada");
        let wanted = Acceptance { notification: &new, deliveries: &deliveries(&new, &["email"]) };
        let (request, answer) = (request(0), answer(&n.to_string()));
        store.accept(wanted, Some((&request, &answer)), at(0), &token()).await.unwrap()
    });
    let came = join_all(calls).await;
    let winners: Vec<usize> = (0..100).filter(|n| came[*n] == AcceptOutcome::Created).collect();
    assert_eq!(winners.len(), 1);
    let told = AcceptOutcome::Repeated(Claim::Answered(answer(&winners[0].to_string())));
    assert_eq!(came.iter().filter(|came| **came == told).count(), 99);
    assert_eq!(store.log(&user("ada"), 10, None).await.unwrap().items.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn one_that_is_there_stays_as_it_is() {
    let (_lab, store) = notifications_in_lab();
    accept(&store, &notification(1, "ada"), &["email"]).await;
    let again = notification(1, "bob");
    let wanted = Acceptance { notification: &again, deliveries: &deliveries(&again, &["sms"]) };
    assert_eq!(store.accept(wanted, None, at(9), &token()).await.unwrap(), AcceptOutcome::Existing);
    let told = store.find(&id(1)).await.unwrap().unwrap();
    assert_eq!((told.notification.user, told.deliveries.len()), (user("ada"), 1));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_was_lost_is_recognised() {
    let (lab, store) = notifications_in_lab();
    let new = notification(1, "ada");
    let wanted = Acceptance { notification: &new, deliveries: &deliveries(&new, &["email"]) };
    let (request, answer) = (request(0), answer("1"));
    lab.cloud.faults.inject(0, Fault::CommitThenTimeout);
    let came = store.accept(wanted, Some((&request, &answer)), at(0), &token()).await.unwrap();
    assert_eq!(came, AcceptOutcome::Created);
    assert!(!lab.cloud.faults.is_pending());
}

fn many(count: u64, created_by: &str) -> Vec<Notification> {
    (0..count)
        .map(|n| {
            let to = format!("user-{n}");
            let id = NotificationId::derived(&user("shop"), "key", &user(&to));
            Notification { id, created_by: user(created_by), ..notification(n, &to) }
        })
        .collect()
}

async fn accept_many(
    store: &notifications::store::Notifications,
    notifications: &[Notification],
    endpoints: &[&str],
) -> BatchAccepted {
    let all: Vec<_> = notifications.iter().map(|new| deliveries(new, endpoints)).collect();
    let wanted: Vec<Acceptance<'_>> = notifications
        .iter()
        .zip(&all)
        .map(|(notification, deliveries)| Acceptance { notification, deliveries })
        .collect();
    store.accept_batch(&wanted, at(0), token).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_repeat_for_many_writes_what_is_missing_and_nothing_else() {
    let (_lab, store) = notifications_in_lab();
    let wanted = many(90, "first");
    let ids: Vec<NotificationId> = wanted.iter().map(|new| new.id.clone()).collect();
    // The call was cut off after some of them.
    let some = accept_many(&store, &wanted[20..55], &["email", "sms"]).await;
    assert_eq!((some.created, some.existing), (ids[20..55].to_vec(), vec![]));
    // The second time, people have other addresses, and parts have other borders.
    let all = accept_many(&store, &many(90, "second"), &["email", "sms", "push-phone"]).await;
    assert_eq!(all.created, [&ids[..20], &ids[55..]].concat());
    assert_eq!(all.existing, ids[20..55]);
    let third = accept_many(&store, &wanted, &["email"]).await;
    assert_eq!((third.created, third.existing), (vec![], ids.clone()));
    for (n, id) in ids.iter().enumerate() {
        let told = store.find(id).await.unwrap().unwrap();
        let resumed = !(20..55).contains(&n);
        let by = if resumed { "second" } else { "first" };
        assert_eq!(told.notification.created_by, user(by), "{n}");
        assert_eq!(told.deliveries.len(), if resumed { 3 } else { 2 }, "{n}");
    }
}

#[tokio::test(start_paused = true)]
async fn long_texts_for_many_are_written_in_smaller_parts() {
    let (lab, store) = notifications_in_lab();
    let template = TemplateId::parse("long").unwrap();
    let data = format!(r#"{{"a":"{}"}}"#, "x".repeat(300_000));
    let body = Body::Template { id: template, version: 1, data };
    let wanted: Vec<Notification> = many(14, "shop")
        .into_iter()
        .map(|new| Notification { body: body.clone(), ..new })
        .collect();
    lab.record_calls();
    assert_eq!(accept_many(&store, &wanted, &["email"]).await.created.len(), 14);
    assert_eq!(lab.count_calls_to("NotificationsTable"), 2);
}
