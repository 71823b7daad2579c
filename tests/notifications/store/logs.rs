//! A user's log, and what waits for them.

use domain::notifications::{DeliveryId, Endpoint, Event, Notification, Reason};
use notifications::store::DeliverySnapshot;
use notifications::store::Notifications;

use super::{
    accept, apply_event, at, claim, deliveries, delivery_id, id, notification,
    notifications_in_lab, pending, save_contacts, save_preferences, user,
};

#[tokio::test(start_paused = true)]
async fn a_log_comes_newest_first_with_what_became_of_each() {
    let (_lab, store) = notifications_in_lab();
    let mut expected = Vec::new();
    for n in 0..7_u8 {
        // Ids say nothing about the order; and two are of the same moment.
        let created_at = at(i64::from(n / 2));
        let new = Notification { created_at, ..notification(u64::from(n) * 37 % 11, "ada") };
        accept(&store, &new, &["email", "push-phone"]).await;
        expected.push((created_at, new.id));
    }
    accept(&store, &notification(99, "bob"), &["email"]).await;
    expected.sort_by(|a, b| b.cmp(a));
    let (mut found, mut after) = (Vec::new(), None::<String>);
    loop {
        let page = store.log(&user("ada"), 3, after.as_deref()).await.unwrap();
        assert!(page.items.len() <= 3);
        assert!(page.items.iter().all(|told| told.deliveries.len() == 2));
        let told = page.items.into_iter().map(|told| told.notification);
        found.extend(told.map(|notification| (notification.created_at, notification.id)));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found, expected);
    assert!(store.log(&user("eve"), 3, None).await.unwrap().items.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_notification_that_goes_nowhere_is_in_the_log_too() {
    let (_lab, store) = notifications_in_lab();
    let new = notification(1, "ada");
    let wanted = notifications::store::Acceptance { notification: &new, deliveries: &[] };
    store.accept(wanted, None, at(0), "nowhere").await.unwrap();
    let log = store.log(&user("ada"), 3, None).await.unwrap();
    assert_eq!((&log.items[0].notification, log.items[0].deliveries.len()), (&new, 0));
}

async fn waiting(store: &Notifications, name: &str) -> Vec<DeliveryId> {
    let (mut found, mut after) = (Vec::new(), None::<String>);
    loop {
        let page = store.waiting_for(&user(name), 2, after.as_deref()).await.unwrap();
        found.extend(page.items);
        after = page.next;
        if after.is_none() {
            return found;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_delivery_waits_for_its_person_until_it_ends() {
    let (_lab, store) = notifications_in_lab();
    let far = Notification { send_at: Some(at(86_400)), ..notification(1, "ada") };
    accept(&store, &far, &["email", "sms"]).await;
    let near = pending(&store, 2).await;
    accept(&store, &notification(3, "bob"), &["email"]).await;
    let ids = [delivery_id(1, "email"), delivery_id(1, "sms"), near.id.clone()];
    assert_eq!(waiting(&store, "ada").await, ids);
    claim(&store, &near, &store.recipient(&user("ada")).await.unwrap(), "me").await;
    assert_eq!(waiting(&store, "ada").await, ids, "what is being sent may have to wait again");
    for ended in &ids[1..] {
        let reason = Reason::Cancelled;
        apply_event(&store, ended, Event::Withdrawn { reason }, at(2)).await;
    }
    assert_eq!(waiting(&store, "ada").await, [ids[0].clone(), ids[2].clone()]);
    assert_eq!(waiting(&store, "bob").await, [delivery_id(3, "email")]);
}

#[tokio::test(start_paused = true)]
async fn one_load_reads_everything_also_with_a_wrong_hint() {
    let (_lab, store) = notifications_in_lab();
    let new = notification(1, "ada");
    accept(&store, &new, &["email", "sms"]).await;
    save_preferences(&store, 1).await;
    save_contacts(&store, 1).await;
    let expected = DeliverySnapshot {
        delivery: deliveries(&new, &["sms"]).remove(0),
        notification: new,
        recipient: store.recipient(&user("ada")).await.unwrap(),
    };
    for hint in [None, Some(user("ada")), Some(user("bob"))] {
        let seen = store.load(&delivery_id(1, "sms"), hint.as_ref()).await.unwrap();
        assert_eq!(seen.as_ref(), Some(&expected), "{hint:?}");
    }
    let nowhere =
        DeliveryId { notification_id: id(1), endpoint: Endpoint::parse("push-x").unwrap() };
    assert_eq!(store.load(&nowhere, None).await.unwrap(), None);
    assert_eq!(store.load(&delivery_id(9, "sms"), Some(&user("ada"))).await.unwrap(), None);
}
