//! Lists: a delivery is on the one of its status, and on no other.

use domain::Timestamp;
use domain::notifications::due::DueBucket;
use domain::notifications::{
    Channel, Class, DeadLetterFilter, Delivery, Event, Notification, Reason,
};
use notifications::store::ListedDelivery;
use notifications::store::Notifications;

use super::{
    accept, accepted_as, apply_event, at, dead, notification, notifications_in_lab, pending,
    sending, token,
};

/// Each list by turns, all of its pages.
async fn on_lists(store: &Notifications, before: Timestamp, claimed: bool) -> Vec<ListedDelivery> {
    let mut found = Vec::new();
    for list in 0..Notifications::LISTS {
        let mut after: Option<String> = None;
        loop {
            let page = if claimed {
                store.sending(list, before, 2, after.as_deref()).await.unwrap()
            } else {
                store.pending(list, before, 2, after.as_deref()).await.unwrap()
            };
            assert!(page.items.len() <= 2);
            assert!(page.items.is_sorted_by_key(|listed| listed.at));
            found.extend(page.items);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
    }
    found.sort_by(|a, b| a.id.cmp(&b.id));
    found
}

async fn in_bucket(store: &Notifications, delivery: &Delivery) -> Vec<ListedDelivery> {
    let bucket = DueBucket::for_delivery(delivery.ready_at, &delivery.id);
    store.due(&bucket, 10, None).await.unwrap().items
}

#[tokio::test(start_paused = true)]
async fn a_delivery_is_listed_by_what_it_waits_for() {
    let (_lab, store) = notifications_in_lab();
    let mut ids = Vec::new();
    for n in 0..40 {
        ids.push(pending(&store, n).await.id);
    }
    assert!(on_lists(&store, at(0), false).await.is_empty(), "none is late yet");
    let late = on_lists(&store, at(1), false).await;
    assert_eq!(late.iter().map(|listed| listed.id.clone()).collect::<Vec<_>>(), ids);
    assert_eq!((late[0].at, late[0].class), (at(0), None));
    let claimed = sending(&store, 50).await;
    assert_eq!(on_lists(&store, at(60), false).await.len(), 40);
    assert!(on_lists(&store, at(1), true).await.is_empty());
    let silent = on_lists(&store, at(2), true).await;
    assert_eq!((silent.len(), &silent[0].id, silent[0].at), (1, &claimed.id, at(1)));
    store.record(&claimed, &accepted_as("m"), 0, at(3), token).await.unwrap();
    assert!(on_lists(&store, at(60), true).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_long_is_in_its_bucket_until_it_is_released() {
    let (_lab, store) = notifications_in_lab();
    let later = Notification { send_at: Some(at(3_600)), ..notification(1, "ada") };
    let delivery = accept(&store, &later, &["email"]).await;
    assert!(on_lists(&store, at(9_000), false).await.is_empty());
    let listed = in_bucket(&store, &delivery).await;
    assert_eq!((listed.len(), &listed[0].id, listed[0].at), (1, &delivery.id, at(3_600)));
    for _ in 0..2 {
        store.move_to_pending(&listed[0]).await.unwrap();
        assert!(in_bucket(&store, &delivery).await.is_empty());
        assert_eq!(on_lists(&store, at(3_601), false).await, listed);
        assert_eq!(store.delivery(&delivery.id).await.unwrap().as_ref(), Some(&delivery));
    }
}

#[tokio::test(start_paused = true)]
async fn what_has_moved_meanwhile_is_not_released() {
    let (_lab, store) = notifications_in_lab();
    let later = Notification { send_at: Some(at(3_600)), ..notification(1, "ada") };
    let delivery = accept(&store, &later, &["email"]).await;
    let seen = in_bucket(&store, &delivery).await.remove(0);
    // Another time of the same minute, and one of another.
    for until in [3_630, 7_200] {
        let event = Event::Deferred { until: at(until), reason: Reason::DoNotDisturb };
        let moved = apply_event(&store, &delivery.id, event, at(10)).await;
        store.move_to_pending(&seen).await.unwrap();
        let found = in_bucket(&store, &moved).await;
        assert_eq!((found.len(), found[0].at), (1, at(until)));
    }
    assert!(in_bucket(&store, &delivery).await.is_empty());
    let gone =
        apply_event(&store, &delivery.id, Event::Withdrawn { reason: Reason::Cancelled }, at(11))
            .await;
    assert!(in_bucket(&store, &gone).await.is_empty());
    store.move_to_pending(&seen).await.unwrap();
    assert!(on_lists(&store, at(9_000), false).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_delay_of_a_quarter_of_an_hour_is_no_bucket() {
    let (_lab, store) = notifications_in_lab();
    let delivery = pending(&store, 1).await;
    for (until, bucket) in [(900, false), (901, true), (300, false)] {
        let event = Event::Deferred { until: at(until), reason: Reason::DoNotDisturb };
        let waits = apply_event(&store, &delivery.id, event, at(0)).await;
        assert_eq!(in_bucket(&store, &waits).await.len(), usize::from(bucket), "{until}");
        let listed = on_lists(&store, at(until + 1), false).await;
        assert_eq!(listed.len(), usize::from(!bucket), "{until}");
    }
}

async fn dead_letters(store: &Notifications, filter: &DeadLetterFilter, limit: usize) -> Vec<i64> {
    let (mut seconds, mut after) = (Vec::new(), None::<String>);
    loop {
        let page = store.dead_letters(filter, limit, after.as_deref()).await.unwrap();
        assert!(page.items.len() <= limit);
        let failed = page.items.iter().map(|dead_letter| dead_letter.failed_at);
        seconds.extend(failed.map(|failed_at| failed_at.as_second() - at(0).as_second()));
        after = page.next;
        if after.is_none() {
            return seconds;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn dead_letters_come_newest_first_by_channel_and_class() {
    let (_lab, store) = notifications_in_lab();
    let endpoints = ["email", "sms", "push-phone"];
    for n in 0..30_u8 {
        let class = [Class::Outage, Class::Content][usize::from(n % 2)];
        dead(&store, n.into(), endpoints[usize::from(n % 3)], class, at(n.into())).await;
    }
    let expected = |wanted: fn(&i64) -> bool| (0..30).rev().filter(wanted).collect::<Vec<i64>>();
    let filter = |channel, class| DeadLetterFilter { channel, class };
    for limit in [1, 4, 100] {
        let all = dead_letters(&store, &filter(None, None), limit).await;
        assert_eq!(all, expected(|_| true), "{limit}");
        let sms = dead_letters(&store, &filter(Some(Channel::Sms), None), limit).await;
        assert_eq!(sms, expected(|n| n % 3 == 1), "{limit}");
        let content = dead_letters(&store, &filter(None, Some(Class::Content)), limit).await;
        assert_eq!(content, expected(|n| n % 2 == 1), "{limit}");
        let both = filter(Some(Channel::Email), Some(Class::Outage));
        assert_eq!(dead_letters(&store, &both, limit).await, expected(|n| n % 6 == 0), "{limit}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_replayed_is_no_letter_any_more() {
    let (_lab, store) = notifications_in_lab();
    let dead_letter = dead(&store, 1, "sms", Class::Outage, at(5)).await;
    let filter = DeadLetterFilter::default();
    let found = store.dead_letters(&filter, 10, None).await.unwrap().items;
    assert_eq!((found.len(), &found[0].id, found[0].class), (1, &dead_letter.id, Class::Outage));
    let replayed = Event::Replayed { replay: "one".to_owned() };
    apply_event(&store, &dead_letter.id, replayed, at(6)).await;
    assert!(store.dead_letters(&filter, 10, None).await.unwrap().items.is_empty());
    assert_eq!(on_lists(&store, at(7), false).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn walks_go_on_where_they_stopped() {
    let (_lab, store) = notifications_in_lab();
    assert_eq!(store.swept_until().await.unwrap(), None);
    for (until, expected) in [(60, 60), (30, 60), (90, 90)] {
        store.save_swept_until(at(until)).await.unwrap();
        assert_eq!(store.swept_until().await.unwrap(), Some(at(expected)));
    }
    assert_eq!(store.pending_position(1).await.unwrap(), None);
    store.save_pending_position(1, Some("here")).await.unwrap();
    assert_eq!(store.pending_position(1).await.unwrap().as_deref(), Some("here"));
    assert_eq!(store.pending_position(2).await.unwrap(), None);
    store.save_pending_position(1, None).await.unwrap();
    assert_eq!(store.pending_position(1).await.unwrap(), None);
}
