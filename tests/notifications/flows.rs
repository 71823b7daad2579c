//! Notifications, from the row that accepts one to its provider. Every message is
//! delivered twice.

mod api;
mod crashes;
mod deliver;
mod outcomes;
mod providers;
mod queues;
mod sink;
mod sweep;
mod texts;
mod users;

use std::sync::atomic::{AtomicU64, Ordering};

use domain::Timestamp;
use domain::accounts::UserId;
use domain::notifications::{
    Address, Body, Category, Contacts, Delivery, DeliveryId, DeviceId, Endpoint, Notification,
    NotificationId, Preferences, Priority, Status,
};
use messaging::DueTopic;
use notifications::store::Notifications;
use notifications::store::{AcceptOutcome, Acceptance, SaveOutcome};
use serde_json::json;
use tests::scripted_providers::ScriptedProviders;
use tests::{Lab, Setup};

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// A cloud, its providers, and the table that tells what became of everything.
struct World {
    lab: Lab,
    providers: ScriptedProviders,
    store: Notifications,
    next: AtomicU64,
}

impl World {
    fn new() -> Self {
        Self::with(ScriptedProviders::new(), Setup::default())
    }

    async fn with_ada() -> (Self, UserId) {
        let world = Self::new();
        let ada = world.recipient("ada").await;
        (world, ada)
    }

    fn with(providers: ScriptedProviders, setup: Setup) -> Self {
        let lab = Lab::with(Setup { providers: Some(providers.clone()), ..setup });
        Self::of(lab, providers)
    }

    /// The same with other providers, or none.
    fn of(lab: Lab, providers: ScriptedProviders) -> Self {
        let store = Notifications::new(lab.aws().dynamodb(), lab.table("NotificationsTable"));
        Self { lab, providers, store, next: AtomicU64::new(1) }
    }

    fn now(&self) -> Timestamp {
        self.lab.now()
    }

    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    fn token(&self) -> String {
        format!("write-{}", self.number())
    }

    fn topic(&self) -> DueTopic {
        let topics = &self.lab.cloud.stack.topics;
        let topic = topics.iter().find(|topic| topic.logical_id == "NotificationsTopic").unwrap();
        DueTopic::new(self.lab.aws().sns(), &topic.arn)
    }

    /// A user with a mailbox, a telephone and a device.
    async fn recipient(&self, name: &str) -> UserId {
        let user = UserId::outside(name);
        let phone =
            u64::from(name.bytes().fold(7_u32, |sum, b| sum.wrapping_mul(31) ^ u32::from(b)));
        let contacts = Contacts {
            email: Some(format!("{name}@example.com")),
            phone: Some(format!("+1555{:07}", phone % 10_000_000)),
            devices: [(device(), Address::Fcm { token: format!("token-{name}") })].into(),
            version: 1,
        };
        let saved = self.store.save_contacts(&user, &contacts, &self.token()).await.unwrap();
        assert_eq!(saved, SaveOutcome::Saved);
        user
    }

    async fn change_preferences(&self, user: &UserId, change: impl FnOnce(&mut Preferences)) {
        let mut preferences = self.store.recipient(user).await.unwrap().preferences;
        change(&mut preferences);
        preferences.version += 1;
        let saved = self.store.save_preferences(user, &preferences, &self.token()).await.unwrap();
        assert_eq!(saved, SaveOutcome::Saved);
    }

    /// A notification for `user`, as it would be accepted now.
    fn draft(&self, user: &UserId) -> Notification {
        Notification {
            id: NotificationId::new(self.now(), self.number().to_be_bytes()),
            user: user.clone(),
            category: Category::parse("orders").unwrap(),
            priority: Priority::Normal,
            body: contents(),
            send_at: None,
            expires_at: None,
            collapse_key: None,
            tracked: false,
            created_by: UserId::outside("shop"),
            created_at: self.now(),
        }
    }

    /// Accepts a notification without publishing it.
    async fn accept(&self, draft: &Notification, endpoints: &[&str]) -> Vec<Delivery> {
        let endpoints = endpoints.iter().map(|endpoint| Endpoint::parse(endpoint).unwrap());
        let deliveries: Vec<_> = endpoints.map(|endpoint| Delivery::new(draft, endpoint)).collect();
        let accept = Acceptance { notification: draft, deliveries: &deliveries };
        let accepted = self.store.accept(accept, None, self.now(), &self.token()).await.unwrap();
        assert_eq!(accepted, AcceptOutcome::Created);
        deliveries
    }

    /// Accepts a notification and says that it is due.
    async fn send(&self, draft: &Notification, endpoints: &[&str]) -> Vec<DeliveryId> {
        let deliveries = self.accept(draft, endpoints).await;
        self.topic().publish_due(&deliveries, TRACE).await.unwrap();
        deliveries.into_iter().map(|delivery| delivery.id).collect()
    }

    /// One delivery of a plain notification.
    async fn send_one(&self, user: &UserId, endpoint: &str) -> DeliveryId {
        self.send(&self.draft(user), &[endpoint]).await.remove(0)
    }

    async fn delivery(&self, id: &DeliveryId) -> Delivery {
        self.store.delivery(id).await.unwrap().unwrap()
    }

    async fn status(&self, id: &DeliveryId) -> Status {
        self.delivery(id).await.status
    }

    /// Lets time pass, and hands over what is visible then.
    async fn pass(&self, seconds: i64) {
        self.lab.advance_seconds(seconds);
        self.lab.settle_doubled().await;
    }

    /// What is in a queue of the template.
    fn dead_letters(&self, logical_id: &str) -> Vec<::queues::Message> {
        let queues = &self.lab.cloud.stack.queues;
        let queue = queues.iter().find(|queue| queue.logical_id == logical_id).unwrap();
        self.lab.cloud.services.queues().receive(&queue.name, 100, Some(0)).unwrap()
    }
}

fn device() -> DeviceId {
    DeviceId::parse("phone").unwrap()
}

/// The caller's own words, for every channel.
fn contents() -> Body {
    let contents = json!({
        "email": { "subject": "Hi", "text": "Hi", "html": "<a href=\"https://shop.example/\">Hi</a>" },
        "sms": { "text": "Hi" },
        "push": { "title": "Hi", "body": "Hi" },
    });
    Body::Inline { contents: serde_json::from_value(contents).unwrap() }
}
