//! Notifications: what is shared by the tests of accepting, claiming, changing, listing and counting.

mod accepting;
mod changes;
mod claims;
mod costs;
mod counts;
mod lists;
mod logs;
mod providers;
mod recipients;
mod templates;

use domain::Timestamp;
use domain::accounts::UserId;
use domain::notifications::{
    Address, Body, Category, ChannelContents, Class, Contacts, Delivery, DeliveryId, DeviceId,
    Endpoint, Event, Locale, Notification, NotificationId, Preferences, Priority, ProviderName,
    Rendering, SendOutcome, SmsContent, TemplateId,
};
use notifications::store::Notifications;
use notifications::store::{
    AcceptOutcome, Acceptance, ApplyOutcome, AttemptClaim, ClaimOutcome, Recipient, SaveOutcome,
};
use tests::{Lab, at, token};

fn notifications(lab: &Lab) -> Notifications {
    Notifications::new(lab.aws().dynamodb(), lab.table("NotificationsTable"))
}

fn notifications_in_lab() -> (Lab, Notifications) {
    let lab = Lab::new();
    let store = notifications(&lab);
    (lab, store)
}

fn user(name: &str) -> UserId {
    UserId::outside(name)
}

fn id(n: u64) -> NotificationId {
    NotificationId::new(at(0), n.to_be_bytes())
}

fn endpoint(name: &str) -> Endpoint {
    Endpoint::parse(name).unwrap()
}

fn delivery_id(n: u64, name: &str) -> DeliveryId {
    DeliveryId { notification_id: id(n), endpoint: endpoint(name) }
}

fn provider() -> ProviderName {
    ProviderName::parse("ses").unwrap()
}

fn notification(n: u64, to: &str) -> Notification {
    let contents = ChannelContents {
        sms: Some(SmsContent { text: "Hi".to_owned() }),
        ..ChannelContents::default()
    };
    Notification {
        id: id(n),
        user: user(to),
        category: Category::parse("orders").unwrap(),
        priority: Priority::Normal,
        body: Body::Inline { contents },
        send_at: None,
        expires_at: None,
        collapse_key: None,
        tracked: false,
        created_by: user("shop"),
        created_at: at(0),
    }
}

fn deliveries(notification: &Notification, endpoints: &[&str]) -> Vec<Delivery> {
    endpoints.iter().map(|name| Delivery::new(notification, endpoint(name))).collect()
}

/// Writes a notification, and returns its first delivery.
async fn accept(
    store: &Notifications,
    notification: &Notification,
    endpoints: &[&str],
) -> Delivery {
    let deliveries = deliveries(notification, endpoints);
    let wanted = Acceptance { notification, deliveries: &deliveries };
    let now = notification.created_at;
    assert_eq!(store.accept(wanted, None, now, &token()).await.unwrap(), AcceptOutcome::Created);
    deliveries[0].clone()
}

/// A delivery to Ada's mailbox that is just accepted.
async fn pending(store: &Notifications, n: u64) -> Delivery {
    accept(store, &notification(n, "ada"), &["email"]).await
}

fn mailbox(name: &str) -> Address {
    Address::Email { address: format!("{name}@example.com") }
}

fn phone_of(token: &str) -> (DeviceId, Address) {
    (DeviceId::parse("phone").unwrap(), Address::Fcm { token: token.to_owned() })
}

fn contacts(version: u64) -> Contacts {
    Contacts {
        email: Some("ada@example.com".to_owned()),
        devices: [phone_of("one")].into(),
        version,
        ..Contacts::default()
    }
}

async fn save_contacts(store: &Notifications, version: u64) {
    let saved = store.save_contacts(&user("ada"), &contacts(version), &token()).await.unwrap();
    assert_eq!(saved, SaveOutcome::Saved);
}

async fn save_preferences(store: &Notifications, version: u64) -> Preferences {
    let preferences = Preferences { version, ..Preferences::default() };
    let saved = store.save_preferences(&user("ada"), &preferences, &token()).await.unwrap();
    assert_eq!(saved, SaveOutcome::Saved);
    preferences
}

fn rendering(variant: Option<&str>) -> Rendering {
    Rendering {
        template: TemplateId::parse("welcome").unwrap(),
        version: 3,
        variant: variant.map(str::to_owned),
        wanted: None,
        locale: Locale::parse("en").unwrap(),
    }
}

/// Claims a delivery for `by`, as decided by `recipient`.
async fn claim(
    store: &Notifications,
    delivery: &Delivery,
    recipient: &Recipient,
    by: &str,
) -> ClaimOutcome {
    let claim = AttemptClaim {
        delivery,
        recipient,
        address: &mailbox("ada"),
        by,
        provider: &provider(),
        rendering: None,
    };
    store.claim(claim, at(1), &token()).await.unwrap()
}

/// A delivery with a claimed attempt.
async fn sending(store: &Notifications, n: u64) -> Delivery {
    let delivery = pending(store, n).await;
    let recipient = store.recipient(&user("ada")).await.unwrap();
    let came = claim(store, &delivery, &recipient, "me").await;
    let ClaimOutcome::Won(delivery) = came else { panic!("{came:?}") };
    *delivery
}

fn accepted_as(reference: &str) -> SendOutcome {
    SendOutcome::Accepted { reference: Some(reference.to_owned()) }
}

fn refused(class: Class) -> SendOutcome {
    SendOutcome::Refused { class, retry_after_seconds: None, reason: "no".to_owned() }
}

/// The delivery after an event that must change it.
async fn apply_event(
    store: &Notifications,
    id: &DeliveryId,
    event: Event,
    now: Timestamp,
) -> Delivery {
    let came = store.apply(id, &event, now, token).await.unwrap();
    let ApplyOutcome::Changed { after, .. } = came else { panic!("{event:?}: {came:?}") };
    *after
}

/// A dead letter of that class.
async fn dead(
    store: &Notifications,
    n: u64,
    endpoint: &str,
    class: Class,
    now: Timestamp,
) -> Delivery {
    let delivery = accept(store, &notification(n, "ada"), &[endpoint]).await;
    let reason = domain::notifications::Reason::GivenUp { attempt: 0, class };
    apply_event(store, &delivery.id, Event::DeadLettered { class, reason }, now).await
}
