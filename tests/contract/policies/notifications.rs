//! What the functions of notifications may do, done once.

use domain::Timestamp;
use domain::accounts::UserId;
use domain::notifications::{
    Address, Body, Category, Contacts, Delivery, DeliveryId, DeliveryMessage, DeviceId, Endpoint,
    Notification, NotificationId, Preferences, Priority, ProviderName,
};
use http::Method;
use messaging::DueTopic;
use notifications::store::Notifications;
use notifications::store::{Acceptance, AttemptClaim};
use serde_json::json;
use tests::Lab;

use crate::contract::stack;

/// A user who is notified by every channel, now and a little later, and then opts out of some.
pub(super) async fn notify(lab: &Lab) {
    let key = lab.user("shop", &["notifier"]).await;
    let send = |method: Method, path: &str, body: serde_json::Value| {
        lab.call(method, path).by(&key).json(&body).send()
    };
    let device = json!({ "kind": "fcm", "token": "t" });
    let contacts = json!({
        "email": "ann@example.org", "phone": "+34600123456", "devices": { "d": device },
    });
    send(Method::PUT, "/api/v1/users/ann/contacts", contacts).await.assert_status(200);
    let content = json!({
        "email": { "subject": "Hello", "text": "Hello" },
        "sms": { "text": "Hello" },
        "push": { "title": "Hello", "body": "Hello" },
    });
    for priority in ["critical", "normal", "low"] {
        for at in ["2026-03-01T11:00:00Z", "2026-03-01T12:12:00Z"] {
            let body = json!({
                "userId": "ann", "category": "orders", "priority": priority, "sendAt": at,
                "content": content,
            });
            send(Method::POST, "/api/v1/notifications", body).await.assert_status(202);
        }
    }
    let wrong = json!({ "userIds": ["ann", "bob"], "category": "", "idempotencyKey": "wrong" });
    assert_eq!(send(Method::POST, "/api/v1/notifications", wrong).await.status, 422);
    for path in ["/api/v1/users/ann/notifications", "/api/v1/dead-letters"] {
        assert_eq!(lab.call(Method::GET, path).by(&key).send().await.status, 200, "{path}");
    }
    send(Method::POST, "/api/v1/users/ann/notifications/read", json!({})).await.assert_status(200);
    let nothing = json!({ "enabled": false });
    send(Method::PUT, "/api/v1/users/ann/preferences", nothing).await.assert_status(200);
}

/// Notifications of every channel and priority: some before they are due, some whose message is lost, one
/// whose attempt is abandoned; a user who changes their preferences, and messages that can't be read.
pub(super) async fn deliver(lab: &Lab) {
    let store = Notifications::new(lab.aws().dynamodb(), lab.table("NotificationsTable"));
    let user = UserId::outside("ada");
    let device = (DeviceId::parse("phone").unwrap(), Address::Fcm { token: "token".to_owned() });
    let contacts = Contacts {
        email: Some("ada@example.com".to_owned()),
        phone: Some("+15551234567".to_owned()),
        devices: [device].into(),
        version: 1,
    };
    store.save_contacts(&user, &contacts, "contacts").await.unwrap();
    let topic = stack().topics.iter().find(|it| it.logical_id == "NotificationsTopic").unwrap();
    let topic = DueTopic::new(lab.aws().sns(), &topic.arn);
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let now = || lab.now();
    let mut n = 0;
    for told in [true, false] {
        for priority in Priority::ALL {
            n += 1;
            let mut new = notification(n, priority, &user, now());
            new.send_at = Some(now() + std::time::Duration::from_mins(1));
            let endpoints =
                ["email", "sms", "push-phone"].map(|endpoint| Endpoint::parse(endpoint).unwrap());
            let deliveries = endpoints.map(|endpoint| Delivery::new(&new, endpoint));
            let accept = Acceptance { notification: &new, deliveries: &deliveries };
            store.accept(accept, None, now(), &format!("accept-{n}")).await.unwrap();
            if told {
                topic.publish_due(&deliveries, trace).await.unwrap();
            }
        }
    }
    lab.cloud.settle().await;
    lab.advance_seconds(700);
    // A message that does not say whose it is.
    let anybody =
        DeliveryMessage::DeliveryDue { v: 1, notification_id: id(4), delivery: Endpoint::Email };
    let anybody = queues::NewMessage::text(serde_json::to_string(&anybody).unwrap());
    let queue = stack().queues.iter().find(|it| it.logical_id == "EmailCriticalQueue").unwrap();
    lab.cloud.services.queues().send(&queue.name, &anybody).unwrap();
    let lost = store
        .delivery(&DeliveryId { notification_id: id(1), endpoint: Endpoint::Sms })
        .await
        .unwrap();
    let (lost, recipient) = (lost.unwrap(), store.recipient(&user).await.unwrap());
    let claim = AttemptClaim {
        delivery: &lost,
        recipient: &recipient,
        address: &contacts.address(&Endpoint::Sms).unwrap(),
        by: "nobody",
        provider: &ProviderName::parse("sns").unwrap(),
        rendering: None,
    };
    store.claim(claim, now(), "claim").await.unwrap();
    lab.advance_seconds(61);
    lab.sweep().await;
    let off = Preferences { enabled: false, version: 1, ..Preferences::default() };
    lab.cloud.settle().await;
    store.save_preferences(&user, &off, "off").await.unwrap();
    topic.publish_preferences_narrowed(&user, trace).await.unwrap();
    for function in stack().functions.iter().filter(|it| it.logical_id == "Deliver") {
        for event in &function.queue_events {
            let queue = stack().queue_by_arn(&event.queue_arn).unwrap();
            let poison = queues::NewMessage::text("not json");
            lab.cloud.services.queues().send(&queue.name, &poison).unwrap();
        }
    }
    lab.cloud.settle().await;
}

fn id(n: u64) -> NotificationId {
    NotificationId::new(Timestamp::UNIX_EPOCH, n.to_be_bytes())
}

fn notification(n: u64, priority: Priority, user: &UserId, now: Timestamp) -> Notification {
    let contents = json!({
        "email": { "subject": "Hi", "text": "Hi" }, "sms": { "text": "Hi" },
        "push": { "title": "Hi", "body": "Hi" },
    });
    Notification {
        id: id(n),
        user: user.clone(),
        category: Category::parse("orders").unwrap(),
        priority,
        body: Body::Inline { contents: serde_json::from_value(contents).unwrap() },
        send_at: None,
        expires_at: None,
        collapse_key: None,
        tracked: false,
        created_by: user.clone(),
        created_at: now,
    }
}
