//! The same for notifications: each call of each function between an acceptance and an end.
//!
//! Whichever call it was that went wrong, in the end everything that was accepted has ended, once; what
//! arrived twice went through a doubt that is counted; no text message did; what failed has its dead letter;
//! and nothing follows an opt-out that was answered.

mod callers;
mod deliveries;
mod invariants;
mod sweep;
mod users;

use domain::Timestamp;
use domain::accounts::UserId;
use domain::notifications::{Address, Channel, Contacts, Delivery, DeviceId};
use http::Method;
use local::faults::Fault;
use notifications::store::Notifications;
use notifications::store::SaveOutcome;
use queues::NewMessage;
use serde_json::{Value, json};
use tests::scripted_providers::ScriptedProviders;
use tests::{Lab, Response, Setup, callbacks, root_key};

use crate::faults::crash_points::sweep as strike_all;

const ALL: &str = "/api/v1/notifications";

/// Time passes so often at most before everything has to have ended.
const ROUNDS: usize = 16;

/// A cloud, its providers, and the table that tells what became of everything.
struct Scene {
    lab: Lab,
    providers: ScriptedProviders,
    store: Notifications,
    people: Vec<UserId>,
}

impl Scene {
    /// With a mailbox, a telephone and a device for each of these people.
    async fn new(people: &[&str]) -> Self {
        Self::with(ScriptedProviders::new(), people).await
    }

    async fn with(providers: ScriptedProviders, people: &[&str]) -> Self {
        let setup = Setup { providers: Some(providers.clone()), ..Setup::default() };
        let secrets = callbacks::secrets("mail");
        let lab = Lab::with_parameters(setup, &[("CallbackSecrets", &secrets)]);
        let store = Notifications::new(lab.aws().dynamodb(), lab.table("NotificationsTable"));
        let people = people.iter().map(|name| UserId::outside(name)).collect();
        let scene = Self { lab, providers, store, people };
        // The first sweep would look through an hour of buckets in which nothing can be.
        scene.store.save_swept_until(scene.now()).await.unwrap();
        for (n, user) in scene.people.iter().enumerate() {
            let device = DeviceId::parse("phone").unwrap();
            let contacts = Contacts {
                email: Some(format!("{}@example.org", user.as_str())),
                phone: Some(format!("+3460012345{n}")),
                devices: [(device, Address::Fcm { token: format!("token-{n}") })].into(),
                version: 1,
            };
            let saved = scene.store.save_contacts(user, &contacts, user.as_str()).await.unwrap();
            assert_eq!(saved, SaveOutcome::Saved);
        }
        scene
    }

    fn now(&self) -> Timestamp {
        self.lab.now()
    }

    /// Accepts a notification, and lets nothing but its messages come of it.
    async fn accept(&self, body: &Value) -> String {
        let made = self.lab.post(ALL, body).await;
        assert_eq!(made.status, 202, "{body}: {}", made.body);
        self.lab.cloud.functions.quiesce().await;
        made.body["notifications"][0]["notificationId"].as_str().unwrap().to_owned()
    }

    /// Everything from here on meets the fault, if it makes so many calls; from cold functions.
    fn strike(&self, nth: u64, fault: Fault) {
        self.lab.cloud.functions.go_cold();
        self.lab.cloud.faults.inject(nth, fault);
    }

    /// Repeats a call until it has an answer.
    async fn persist(&self, method: Method, path: &str, body: &Value) -> Response {
        let call = self.lab.call(method, path).by(&root_key()).header("idempotency-key", "once");
        let call = if body.is_null() { call } else { call.json(body) };
        call.send_until_answered().await
    }

    async fn turn(&self, logical_id: &str) {
        let name = self.lab.queue(logical_id);
        let mut mappings = self.lab.cloud.pump.mappings().iter();
        let mapping = mappings.find(|mapping| mapping.queue == name).unwrap();
        assert_ne!(self.lab.cloud.pump.poll(mapping).await.received, 0, "{logical_id}");
    }

    /// Hands over what is visible, with a copy of each message.
    async fn settle(&self) {
        let queues = self.lab.cloud.services.queues();
        let mappings = self.lab.cloud.pump.mappings().iter();
        for mapping in mappings.filter(|mapping| mapping.function == "Deliver") {
            for message in queues.receive(&mapping.queue, 1000, Some(0)).unwrap() {
                let copy = NewMessage {
                    attributes: message.message_attributes.clone(),
                    group: message.attributes.get("MessageGroupId").cloned(),
                    ..NewMessage::text(message.body)
                };
                queues.send(&mapping.queue, &copy).unwrap();
            }
        }
        self.lab.cloud.settle().await;
    }

    /// Lets time pass, with sweeps, until nothing is on its way.
    async fn rest(&self) {
        for round in 0..ROUNDS {
            self.settle().await;
            if !self.is_anything_on_its_way().await {
                return;
            }
            // What still waits after some minutes waits for its time.
            self.lab.advance_seconds(if round < 6 { 66 } else { 198 });
            self.lab.run_schedule("SweepNotifications").await;
        }
    }

    async fn is_anything_on_its_way(&self) -> bool {
        let queues = self.lab.cloud.services.queues();
        let waits = self.lab.cloud.pump.mappings().iter().any(|mapping| {
            let depth = queues.depth(&mapping.queue).unwrap();
            depth.visible + depth.in_flight + depth.delayed > 0
        });
        waits || self.deliveries().await.iter().any(|delivery| !delivery.status.is_final())
    }

    /// Every delivery that was ever accepted.
    async fn deliveries(&self) -> Vec<Delivery> {
        let mut all = Vec::new();
        for user in &self.people {
            let log = self.store.log(user, 50, None).await.unwrap();
            all.extend(log.items.into_iter().flat_map(|told| told.deliveries));
        }
        all
    }

    async fn delivery(&self, channel: Channel) -> Delivery {
        let mut all = self.deliveries().await.into_iter();
        all.find(|delivery| delivery.channel() == channel).unwrap()
    }
}

/// Whether a function died of it.
fn is_death(fault: Fault) -> bool {
    matches!(fault, Fault::CrashBefore | Fault::CrashAfter)
}

/// Words for every channel, for one person.
fn contents(user: &str) -> Value {
    json!({
        "userId": user,
        "category": "orders",
        "content": {
            "email": { "subject": "Hello", "text": "Your order is on its way." },
            "sms": { "text": "Your order is on its way." },
            "push": { "title": "Hello", "body": "Your order is on its way." },
        },
    })
}
