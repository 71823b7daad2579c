//! Watches notifications: drives what runs by itself, and looks at what is there.

use std::collections::BTreeSet;
use std::sync::Mutex;

use boundary::Aws;
use domain::notifications::DeliveryId;
use http::Method;
use local::faults::Faults;
use notifications::store::Notifications;
use serde_json::{Value, json};
use tests::scripted_providers::ScriptedProviders;
use tests::{Lab, RequestBuilder, Response, Result, root_key};

use super::sends::Mark;
use crate::items::{Item, text};

/// Looks at a lab without disturbing it.
pub(super) struct Harness {
    pub(super) lab: Lab,
    pub(super) providers: ScriptedProviders,
    /// Meets no faults, so that looking changes nothing.
    aws: Aws,
    marks: Mutex<Vec<Mark>>,
}

impl Harness {
    /// From now on, every write of a row and every message is kept, in one order.
    pub(super) fn over(lab: Lab, providers: ScriptedProviders) -> Self {
        lab.cloud.faults.record(|call| {
            let writes = ["PutItem", "TransactWriteItems"].contains(&call.operation.as_str());
            writes && contains(&call.body, b"otifications")
        });
        providers.count_calls(lab.cloud.faults.clone());
        let aws = lab.aws_under(&Faults::none());
        Self { lab, providers, aws, marks: Mutex::default() }
    }

    /// The sweep has just been here: its first visit ever looks at the last hour, which is empty.
    pub(super) async fn mark_swept(&self) {
        let store = Notifications::new(self.aws.dynamodb(), self.lab.table("NotificationsTable"));
        let now = self.lab.now();
        store.save_swept_until(now).await.unwrap();
    }

    pub(super) fn writes(&self) -> usize {
        self.lab.cloud.faults.recorded_count()
    }

    /// No function is running at this moment.
    pub(super) fn mark(&self) {
        let mark = Mark { writes: self.writes(), sends: self.providers.send_count() };
        self.marks.lock().unwrap().push(mark);
    }

    pub(super) fn marks(&self) -> Vec<Mark> {
        self.marks.lock().unwrap().clone()
    }

    pub(super) async fn rows(&self) -> Vec<Item> {
        let scan = self.aws.dynamodb().scan().table_name(self.lab.table("NotificationsTable"));
        scan.consistent_read(true).send().await.unwrap().items.unwrap_or_default()
    }

    /// Hands over every message that is visible now, one batch at a time.
    pub(super) async fn settle(&self) {
        let cloud = &self.lab.cloud;
        cloud.functions.quiesce().await;
        loop {
            let mut received = 0;
            for mapping in cloud.pump.mappings() {
                self.mark();
                received += cloud.pump.poll(mapping).await.received;
            }
            if received == 0 {
                return;
            }
        }
    }

    /// Every message that is visible now is there twice. Those of one group follow one another, so the
    /// copy is of none: both are worked on at the same time.
    pub(super) fn double(&self) {
        let queues = self.lab.cloud.services.queues();
        let ours = |mapping: &&local::pump::EventSourceMapping| mapping.function == "Deliver";
        for mapping in self.lab.cloud.pump.mappings().iter().filter(ours) {
            for message in queues.receive(&mapping.queue, 10, None).unwrap() {
                let group = message.attributes.get("MessageGroupId").cloned();
                for group in [group, None] {
                    let attributes = message.message_attributes.clone();
                    let text = queues::NewMessage::text(message.body.clone());
                    let copy = queues::NewMessage { attributes, group, ..text };
                    queues.send(&mapping.queue, &copy).unwrap();
                }
                queues.delete(&mapping.queue, &message.receipt_handle).unwrap();
            }
        }
    }

    /// A little time passes for everybody.
    pub(super) async fn pause(&self) {
        tokio::time::sleep(std::time::Duration::from_secs(3)).await;
        self.lab.cloud.services.queues().clock_moved();
    }

    /// A call by the bootstrap admin.
    pub(super) fn call(&self, method: Method, path: &str) -> RequestBuilder<'_> {
        self.lab.call(method, path).by(&root_key())
    }

    /// Repeats a call until it has a definite answer.
    pub(super) async fn persist<'a>(
        &'a self,
        call: impl Fn() -> RequestBuilder<'a>,
    ) -> Result<Response> {
        for attempt in 0..40 {
            if attempt == 20 {
                // Enough went wrong; from here on only a bug can keep the answer away.
                self.lab.cloud.faults.stop();
            }
            let answer = call().send().await;
            if answer.is_definite() {
                return Ok(answer);
            }
            self.pause().await;
        }
        Err(format!("{:?} never got a definite answer", call()))
    }

    /// Nothing goes wrong any more, and time passes until nothing is on its way; says what there is.
    pub(super) async fn rest(&self) -> Result<Vec<Item>> {
        for _ in 0..60 {
            let rows = self.rows().await;
            let now_ms = self.lab.cloud.now_ms();
            let next = rows.iter().filter_map(due_ms).min();
            let Some(next) = next else { return Ok(rows) };
            let seconds = (next - now_ms) / 1_000 + 11;
            self.lab.advance_seconds(seconds.clamp(31, 1_200));
            self.lab.run_schedule("SweepNotifications").await;
            self.settle().await;
        }
        Err("some deliveries never end".to_owned())
    }

    /// Every delivery that has a message in a dead-letter queue, where it raises the alarm.
    pub(super) fn alarms(&self) -> BTreeSet<String> {
        let queues = self.lab.cloud.services.queues();
        let dead = |queue: &&template::Queue| queue.logical_id.ends_with("DeadLetters");
        let mut alarms = BTreeSet::new();
        for queue in self.lab.cloud.stack.queues.iter().filter(dead) {
            let dead_letters = queues.receive(&queue.name, 1_000, None).unwrap();
            alarms.extend(dead_letters.iter().filter_map(|message| dead_letter(&message.body)));
        }
        alarms
    }

    /// Every dead letter that is listed.
    pub(super) async fn dead_letters(&self) -> Result<BTreeSet<String>> {
        let mut dead_letters = BTreeSet::new();
        let mut path = "/api/v1/dead-letters?limit=10".to_owned();
        for _ in 0..100 {
            let page = self.call(Method::GET, &path).send().await;
            for item in page.body["items"].as_array().into_iter().flatten() {
                dead_letters.extend(item["deliveryId"].as_str().map(str::to_owned));
            }
            let Some(cursor) = page.body["nextCursor"].as_str() else { return Ok(dead_letters) };
            path = format!("/api/v1/dead-letters?limit=10&cursor={cursor}");
        }
        Err("the list of dead letters has no end".to_owned())
    }
}

/// The delivery that a message in a dead-letter queue is about: one that was written, or a message that
/// came back too often.
fn dead_letter(body: &str) -> Option<String> {
    let dead_letter: Value = serde_json::from_str(body).ok()?;
    let message =
        json!({ "notificationId": dead_letter["notificationId"], "way": dead_letter["delivery"] });
    let id = dead_letter.get("id").cloned().unwrap_or(message);
    serde_json::from_value(id).ok().map(|id: DeliveryId| id.key())
}

/// When a delivery that has not ended is to be looked at.
fn due_ms(row: &Item) -> Option<i64> {
    if !text(row, "sk").starts_with("delivery#") {
        return None;
    }
    let instant = |name| text(row, name).parse::<domain::Timestamp>().ok();
    match text(row, "status") {
        "pending" => instant("ready_at").map(domain::Timestamp::as_millisecond),
        "sending" => instant("claimed_at").map(|at| at.as_millisecond() + 61_000),
        _ => None,
    }
}

fn contains(body: &[u8], part: &[u8]) -> bool {
    body.windows(part.len()).any(|window| window == part)
}
