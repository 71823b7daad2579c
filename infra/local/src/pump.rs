//! Event source mappings: from a queue to its function, as Lambda's pollers do it.
//!
//! A batch is received and filtered, the function is invoked with it, and messages that it does not name
//! as failed are deleted. Those it names, or all if the invocation failed, become visible again by
//! themselves and reach the dead letters by the queue's own count.

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
const DEFAULT_CONCURRENCY: u64 = 5;

#[derive(Debug, Clone)]
pub struct EventSourceMapping {
    /// The function's logical id.
    pub function: String,
    /// The queue's name.
    pub queue: String,
    event: QueueEvent,
}

/// The outcome of one batch.
#[derive(Debug, Clone, Default)]
pub struct BatchOutcome {
    /// How many messages there were.
    pub received: usize,
    /// How many of them failed.
    pub failed: usize,
    /// Each message's id, and whether it failed.
    pub messages: Vec<(String, bool)>,
    /// Why the whole invocation failed, if it did.
    pub error: Option<String>,
}

/// Called after each batch.
pub type BatchReporter = Arc<dyn Fn(&EventSourceMapping, &BatchOutcome, Duration) + Send + Sync>;

/// All mappings of a stack.
#[derive(Clone)]
pub struct Pump {
    mappings: Arc<Vec<EventSourceMapping>>,
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
                mappings.push(EventSourceMapping {
                    function: function.logical_id.clone(),
                    queue: queue.name.clone(),
                    event: event.clone(),
                });
            }
        }
        Ok(Self { mappings: Arc::new(mappings), queues, functions, faults, now_ms })
    }

    pub fn mappings(&self) -> &[EventSourceMapping] {
        &self.mappings
    }

    /// Runs every mapping in the background until the runtime ends.
    pub fn start(&self, report: &BatchReporter) {
        for index in 0..self.mappings.len() {
            let workers = self.mappings[index].event.max_concurrency.unwrap_or(DEFAULT_CONCURRENCY);
            for _ in 0..workers {
                let (pump, report) = (self.clone(), Arc::clone(report));
                tokio::spawn(async move { pump.poll_forever(index, &report).await });
            }
        }
    }

    async fn poll_forever(&self, index: usize, report: &BatchReporter) {
        let mapping = &self.mappings[index];
        let mut arrivals = self.queues.arrivals();
        loop {
            arrivals.borrow_and_update();
            if mapping.event.window_seconds > 0 && self.has_visible_messages(mapping) {
                self.wait_for_window(mapping).await;
            }
            let started = tokio::time::Instant::now();
            let outcome = self.poll(mapping).await;
            if outcome.received > 0 || outcome.error.is_some() {
                report(mapping, &outcome, started.elapsed());
            }
            if outcome.received == 0 {
                // No arrival is announced when a delay or a visibility timeout ends.
                let next = self.queues.next_visible_at(&mapping.queue).ok().flatten();
                let pause = next.map_or(1_000, |at| (at - (self.now_ms)()).clamp(10, 1_000));
                let pause = Duration::from_millis(u64::try_from(pause).unwrap_or(1_000));
                let _ = tokio::time::timeout(pause, arrivals.changed()).await;
            }
        }
    }

    fn has_visible_messages(&self, mapping: &EventSourceMapping) -> bool {
        self.queues.depth(&mapping.queue).is_ok_and(|depth| depth.visible > 0)
    }

    /// Waits for a batch to fill up, at max for the mapping's window.
    async fn wait_for_window(&self, mapping: &EventSourceMapping) {
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

    /// Receives one batch, if there is any, and invokes the function with it.
    pub async fn poll(&self, mapping: &EventSourceMapping) -> BatchOutcome {
        let max = usize::try_from(mapping.event.batch_size).unwrap_or(10);
        let mut batch = match self.queues.receive(&mapping.queue, max, None) {
            Ok(batch) => batch,
            Err(error) => {
                return BatchOutcome { error: Some(error.to_string()), ..BatchOutcome::default() };
            }
        };
        batch.retain(|message| self.passes_filters(mapping, message));
        batch.retain(|message| !self.delay(mapping, message));
        if batch.is_empty() {
            return BatchOutcome::default();
        }
        if self.faults.hits_delivery(Fault::ReorderedBatch) {
            batch.reverse();
        }
        if self.faults.hits_delivery(Fault::DoubledMessage) {
            // The outcome of the first delivery is ignored: the second one counts.
            let _ = self.invoke(mapping, &batch).await;
        }
        let outcome = self.invoke(mapping, &batch).await;
        let failed = match &outcome {
            Ok(failed) => failed.clone(),
            Err(_) => batch.iter().map(|message| message.id.clone()).collect(),
        };
        for message in batch.iter().filter(|message| !failed.contains(&message.id)) {
            if !self.faults.hits_delivery(Fault::LostAcknowledgement) {
                let _ = self.queues.delete(&mapping.queue, &message.receipt_handle);
            }
        }
        let messages = batch.iter().map(|m| (m.id.clone(), failed.contains(&m.id))).collect();
        BatchOutcome { received: batch.len(), failed: failed.len(), messages, error: outcome.err() }
    }

    /// Messages that no filter matches are deleted without an invocation, as Lambda does.
    fn passes_filters(&self, mapping: &EventSourceMapping, message: &Message) -> bool {
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

    fn delay(&self, mapping: &EventSourceMapping, message: &Message) -> bool {
        let delayed = self.faults.hits_delivery(Fault::DelayedMessage);
        if delayed {
            let seconds = u32::try_from(self.faults.random_below(120)).unwrap_or(1);
            let _ = self.queues.change_visibility(&mapping.queue, &message.receipt_handle, seconds);
        }
        delayed
    }

    /// Invokes the function; returns the ids of the messages that failed.
    async fn invoke(
        &self,
        mapping: &EventSourceMapping,
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

fn record(mapping: &EventSourceMapping, message: &Message) -> Value {
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
