//! People: versions that follow each other, devices that are dropped, addresses that get nothing.

use std::collections::BTreeMap;

use domain::notifications::{
    Address, Category, ChangeSource, Channel, Contacts, Day, DoNotDisturb, OptOut, Preferences,
    Suppression, SuppressionReason, TimeOfDay, TimeZoneName,
};
use futures::future::join_all;
use local::faults::Fault;
use notifications::store::{DropOutcome, Recipient, SaveOutcome, SuppressOutcome};

use super::{
    at, contacts, mailbox, notifications_in_lab, phone_of, save_contacts, save_preferences, token,
    user,
};

#[tokio::test(start_paused = true)]
async fn what_a_person_says_is_read_back_as_they_said_it() {
    let (_lab, store) = notifications_in_lab();
    let ada = user("ada");
    assert_eq!(store.recipient(&ada).await.unwrap(), Recipient::default());
    let orders = Category::parse("orders").unwrap();
    let wanted = Preferences {
        time_zone: TimeZoneName::parse("Europe/Berlin").unwrap(),
        do_not_disturb: Some(DoNotDisturb {
            start: TimeOfDay::parse("22:00").unwrap(),
            end: TimeOfDay::parse("07:30").unwrap(),
            days: [Day::Mon, Day::Sun].into(),
        }),
        channels: BTreeMap::from([(Channel::Sms, false)]),
        categories: BTreeMap::from([(orders, BTreeMap::from([(Channel::Push, false)]))]),
        daily_caps: BTreeMap::from([(Channel::Email, 3)]),
        ..Preferences::default()
    };
    let wanted = Preferences::default().updated(wanted, ChangeSource::Preferences, at(1));
    assert_eq!(wanted.history.len(), 2);
    let saved = store.save_preferences(&ada, &wanted, &token()).await.unwrap();
    assert_eq!(saved, SaveOutcome::Saved);
    let reached = Contacts {
        phone: Some("+4930123456".to_owned()),
        devices: [
            phone_of("one"),
            (
                domain::notifications::DeviceId::parse("browser").unwrap(),
                Address::WebPush {
                    endpoint: "https://push.example/1".to_owned(),
                    p256dh: "key".to_owned(),
                    auth: "secret".to_owned(),
                },
            ),
        ]
        .into(),
        ..contacts(1)
    };
    assert_eq!(store.save_contacts(&ada, &reached, &token()).await.unwrap(), SaveOutcome::Saved);
    store.mark_read(&ada, at(3)).await.unwrap();
    let recipient = Recipient { preferences: wanted, contacts: reached };
    assert_eq!(store.recipient(&ada).await.unwrap(), recipient);
    assert_eq!(store.recipient(&user("bob")).await.unwrap(), Recipient::default());
}

#[tokio::test(start_paused = true)]
async fn a_version_follows_the_one_before_it_or_is_not_saved() {
    let (_lab, store) = notifications_in_lab();
    let ada = user("ada");
    let first = save_preferences(&store, 1).await;
    let other = Preferences { enabled: false, ..first.clone() };
    for version in [1, 3] {
        let late = Preferences { version, ..other.clone() };
        let came = store.save_preferences(&ada, &late, &token()).await.unwrap();
        assert_eq!(came, SaveOutcome::Conflict, "{version}");
    }
    assert_eq!(store.recipient(&ada).await.unwrap().preferences, first);
    let next = Preferences { version: 2, ..other };
    assert_eq!(store.save_preferences(&ada, &next, &token()).await.unwrap(), SaveOutcome::Saved);
    save_contacts(&store, 1).await;
    let none = Contacts { version: 1, ..Contacts::default() };
    assert_eq!(store.save_contacts(&ada, &none, &token()).await.unwrap(), SaveOutcome::Conflict);
    let recipient = Recipient { preferences: next, contacts: contacts(1) };
    assert_eq!(store.recipient(&ada).await.unwrap(), recipient);
}

#[tokio::test(start_paused = true)]
async fn a_save_whose_answer_was_lost_is_recognised() {
    let (lab, store) = notifications_in_lab();
    lab.cloud.faults.inject(0, Fault::CommitThenTimeout);
    save_contacts(&store, 1).await;
    assert!(!lab.cloud.faults.is_pending());
}

#[tokio::test(start_paused = true)]
async fn everyone_who_changes_preferences_at_once_is_heard() {
    let (_lab, store) = notifications_in_lab();
    let ada = user("ada");
    let switches: Vec<OptOut> = (0..5)
        .map(|n| OptOut::Category {
            category: Category::parse(&format!("c{n}")).unwrap(),
            channel: Channel::Email,
        })
        .collect();
    let off = |switch: &OptOut, before: &Preferences| {
        let mut wanted = before.clone();
        wanted.switch_off(switch);
        (wanted != *before).then(|| before.updated(wanted, ChangeSource::Unsubscribe, at(1)))
    };
    let changes = switches
        .iter()
        .map(|switch| store.change_preferences(&ada, move |before| off(switch, before), token));
    for came in join_all(changes).await {
        let (before, after) = came.unwrap().unwrap();
        assert_eq!(after.version, before.version + 1);
    }
    let preferences = store.recipient(&ada).await.unwrap().preferences;
    assert_eq!((preferences.version, preferences.history.len()), (5, 5));
    let again = store.change_preferences(&ada, |before| off(&switches[0], before), token).await;
    assert_eq!(again.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_device_is_dropped_if_it_is_still_at_that_address() {
    let (_lab, store) = notifications_in_lab();
    let ada = user("ada");
    save_contacts(&store, 1).await;
    let (phone, address) = phone_of("one");
    let (_, other) = phone_of("two");
    let kept = store.remove_device(&ada, &phone, &other, token).await.unwrap();
    assert_eq!(kept, DropOutcome::Kept);
    assert_eq!(store.recipient(&ada).await.unwrap().contacts, contacts(1));
    let after = Contacts { devices: BTreeMap::new(), ..contacts(2) };
    let dropped = store.remove_device(&ada, &phone, &address, token).await.unwrap();
    assert_eq!(dropped, DropOutcome::Dropped(after.clone()));
    assert_eq!(
        store.remove_device(&ada, &phone, &address, token).await.unwrap(),
        DropOutcome::Kept
    );
    assert_eq!(store.recipient(&ada).await.unwrap().contacts, after);
}

#[tokio::test(start_paused = true)]
async fn what_was_read_stays_read() {
    let (_lab, store) = notifications_in_lab();
    let ada = user("ada");
    assert_eq!(store.read_until(&ada).await.unwrap(), None);
    for (second, expected) in [(10, 10), (5, 10), (10, 10), (11, 11)] {
        store.mark_read(&ada, at(second)).await.unwrap();
        assert_eq!(store.read_until(&ada).await.unwrap(), Some(at(expected)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_better_reason_takes_the_place_of_a_weaker_one() {
    let (_lab, store) = notifications_in_lab();
    let box_of_ada = mailbox("ada");
    assert_eq!(store.suppression(&box_of_ada).await.unwrap(), None);
    for (second, reason, came, stands) in [
        (1, SuppressionReason::Refused, SuppressOutcome::Written, 1),
        (2, SuppressionReason::Refused, SuppressOutcome::Kept, 1),
        (3, SuppressionReason::Complained, SuppressOutcome::Written, 3),
        (4, SuppressionReason::Bounced, SuppressOutcome::Kept, 3),
    ] {
        let wanted = Suppression { reason, at: at(second) };
        assert_eq!(store.suppress(&box_of_ada, &wanted).await.unwrap(), came, "{second}");
        let stored = store.suppression(&mailbox("ADA")).await.unwrap().unwrap();
        assert_eq!(stored.at, at(stands), "{second}");
    }
    assert_eq!(store.suppression(&mailbox("bob")).await.unwrap(), None);
}
