//! Event source mappings: from a queue to its function, as Lambda's pollers do it.
//!
//! A batch is received, filtered, handed over, and what the function did not name as failed is
//! deleted. What it did name, or everything if the invocation failed, becomes visible again by
//! itself and reaches the dead letters by the queue's own count.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use queues::{Message, Queues};
use serde_json::{Map, Value, json};
use template::{QueueEvent, Stack};

use crate::faults::{Fault, Faults};
use crate::functions::Functions;

/// Batches in flight for one mapping when the template does not say.
const CONCURRENCY: u64 = 5;

#[derive(Debug, Clone)]
pub struct Mapping {
    /// The function's logical id.
    pub function: String,
    /// The queue's name.
    pub queue: String,
    event: QueueEvent,
}

/// What became of one batch.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    /// How many messages there were.
    pub received: usize,
    /// How many of them will come back.
    pub failed: usize,
    /// Each message's id, and whether it will come back.
    pub messages: Vec<(String, bool)>,
    /// Why the whole invocation failed, if it did.
    pub error: Option<String>,
}

/// Hears of each batch that was handed over.
pub type Report = Arc<dyn Fn(&Mapping, &Turn, Duration) + Send + Sync>;

/// All mappings of a stack.
#[derive(Clone)]
pub struct Pump {
    mappings: Arc<Vec<Mapping>>,
    queues: Queues,
    functions: Functions,
    faults: Arc<Faults>,
    now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
}

impl std::fmt::Debug for Pump {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.mappings.iter()).finish()
    }
}

impl Pump {
    /// The mappings of `stack`.
    pub fn new(
        stack: &Stack,
        queues: Queues,
        functions: Functions,
        faults: Arc<Faults>,
        now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
    ) -> Result<Self, String> {
        let mut mappings = Vec::new();
        for function in &stack.functions {
            for event in function.queue_events.iter().filter(|event| event.enabled) {
                let queue = stack.queue_by_arn(&event.queue_arn).ok_or_else(|| {
                    format!("{}: there is no queue {}", function.logical_id, event.queue_arn)
                })?;
                mappings.push(Mapping {
                    function: function.logical_id.clone(),
                    queue: queue.name.clone(),
                    event: event.clone(),
                });
            }
        }
        Ok(Self { mappings: Arc::new(mappings), queues, functions, faults, now_ms })
    }

    pub fn mappings(&self) -> &[Mapping] {
        &self.mappings
    }

    /// Runs every mapping in the background until the runtime ends.
    pub fn start(&self, report: &Report) {
        for index in 0..self.mappings.len() {
            let workers = self.mappings[index].event.max_concurrency.unwrap_or(CONCURRENCY);
            for _ in 0..workers {
                let (pump, report) = (self.clone(), Arc::clone(report));
                tokio::spawn(async move { pump.work(index, &report).await });
            }
        }
    }

    async fn work(&self, index: usize, report: &Report) {
        let mapping = &self.mappings[index];
        let mut arrivals = self.queues.arrivals();
        loop {
            arrivals.borrow_and_update();
            if mapping.event.window_seconds > 0 && self.is_waiting(mapping) {
                self.gather(mapping).await;
            }
            let started = tokio::time::Instant::now();
            let turn = self.turn(mapping).await;
            if turn.received > 0 || turn.error.is_some() {
                report(mapping, &turn, started.elapsed());
            }
            if turn.received == 0 {
                // Delays and visibility run out without a bell, so look again when one does.
                let next = self.queues.next_visible_at(&mapping.queue).ok().flatten();
                let pause = next.map_or(1_000, |at| (at - (self.now_ms)()).clamp(10, 1_000));
                let pause = Duration::from_millis(u64::try_from(pause).unwrap_or(1_000));
                let _ = tokio::time::timeout(pause, arrivals.changed()).await;
            }
        }
    }

    fn is_waiting(&self, mapping: &Mapping) -> bool {
        self.queues.depth(&mapping.queue).is_ok_and(|depth| depth.visible > 0)
    }

    /// Waits for a batch to fill up, at most for the mapping's window.
    async fn gather(&self, mapping: &Mapping) {
        let window = Duration::from_secs(mapping.event.window_seconds);
        let deadline = tokio::time::Instant::now() + window;
        let mut arrivals = self.queues.arrivals();
        loop {
            arrivals.borrow_and_update();
            let waiting = self.queues.depth(&mapping.queue).map_or(0, |depth| depth.visible);
            if u64::try_from(waiting).unwrap_or(u64::MAX) >= mapping.event.batch_size {
                return;
            }
            if tokio::time::timeout_at(deadline, arrivals.changed()).await.is_err() {
                return;
            }
        }
    }

    /// Receives one batch, if there is any, and hands it over.
    pub async fn turn(&self, mapping: &Mapping) -> Turn {
        let most = usize::try_from(mapping.event.batch_size).unwrap_or(10);
        let mut batch = match self.queues.receive(&mapping.queue, most, None) {
            Ok(batch) => batch,
            Err(error) => {
                return Turn { error: Some(error.to_string()), ..Turn::default() };
            }
        };
        batch.retain(|message| self.is_wanted(mapping, message));
        batch.retain(|message| !self.is_delayed(mapping, message));
        if batch.is_empty() {
            return Turn::default();
        }
        if self.faults.delivery(Fault::ReorderedBatch) {
            batch.reverse();
        }
        if self.faults.delivery(Fault::DoubledMessage) {
            // The first delivery's outcome is not looked at: the second one is the one that counts.
            let _ = self.hand_over(mapping, &batch).await;
        }
        let outcome = self.hand_over(mapping, &batch).await;
        let failed = match &outcome {
            Ok(failed) => failed.clone(),
            Err(_) => batch.iter().map(|message| message.id.clone()).collect(),
        };
        for message in batch.iter().filter(|message| !failed.contains(&message.id)) {
            if !self.faults.delivery(Fault::LostAcknowledgement) {
                let _ = self.queues.delete(&mapping.queue, &message.receipt_handle);
            }
        }
        let messages = batch.iter().map(|m| (m.id.clone(), failed.contains(&m.id))).collect();
        Turn { received: batch.len(), failed: failed.len(), messages, error: outcome.err() }
    }

    /// Messages that no filter wants are deleted unseen, as Lambda does.
    fn is_wanted(&self, mapping: &Mapping, message: &Message) -> bool {
        let filters = &mapping.event.filters;
        let body: Value =
            serde_json::from_str(&message.body).unwrap_or_else(|_| json!(message.body));
        let record = json!({ "body": body, "messageAttributes": attributes_of(message) });
        let wanted = filters.is_empty()
            || filters.iter().any(|filter| queues::filter::matches_body(filter, &record));
        if !wanted {
            let _ = self.queues.delete(&mapping.queue, &message.receipt_handle);
        }
        wanted
    }

    fn is_delayed(&self, mapping: &Mapping, message: &Message) -> bool {
        let delayed = self.faults.delivery(Fault::DelayedMessage);
        if delayed {
            let seconds = u32::try_from(self.faults.below(120)).unwrap_or(1);
            let _ = self.queues.change_visibility(&mapping.queue, &message.receipt_handle, seconds);
        }
        delayed
    }

    /// The ids of the messages that must come back.
    async fn hand_over(
        &self,
        mapping: &Mapping,
        batch: &[Message],
    ) -> Result<BTreeSet<String>, String> {
        let records: Vec<Value> = batch.iter().map(|message| record(mapping, message)).collect();
        let event = json!({ "Records": records }).to_string().into_bytes();
        let answer = self.functions.invoke(&mapping.function, event).await?;
        if !mapping.event.report_batch_item_failures {
            return Ok(BTreeSet::new());
        }
        let answer: Value = serde_json::from_slice(&answer)
            .map_err(|error| format!("the answer is not JSON: {error}"))?;
        let failures = answer["batchItemFailures"].as_array().cloned().unwrap_or_default();
        let failed: Option<BTreeSet<String>> = failures
            .iter()
            .map(|failure| failure["itemIdentifier"].as_str().map(str::to_owned))
            .collect();
        // Lambda takes an id that is missing or unknown as a failure of the whole batch.
        let Some(failed) = failed else {
            return Err("batchItemFailures has an entry without an itemIdentifier".to_owned());
        };
        if failed.iter().all(|id| batch.iter().any(|message| message.id == *id)) {
            Ok(failed)
        } else {
            Err("batchItemFailures names a message that is not in the batch".to_owned())
        }
    }
}

fn record(mapping: &Mapping, message: &Message) -> Value {
    json!({
        "messageId": message.id,
        "receiptHandle": message.receipt_handle,
        "body": message.body,
        "attributes": message.attributes,
        "messageAttributes": attributes_of(message),
        "md5OfBody": message.md5,
        "eventSource": "aws:sqs",
        "eventSourceARN": mapping.event.queue_arn,
        "awsRegion": template::REGION,
    })
}

fn attributes_of(message: &Message) -> Map<String, Value> {
    message
        .message_attributes
        .iter()
        .map(|(name, value)| {
            let mut attribute = json!({
                "dataType": value.data_type,
                "stringListValues": [],
                "binaryListValues": [],
            });
            if let Some(text) = &value.string_value {
                attribute["stringValue"] = json!(text);
            }
            if let Some(bytes) = &value.binary_value {
                attribute["binaryValue"] = json!(STANDARD.encode(bytes));
            }
            (name.clone(), attribute)
        })
        .collect()
}
