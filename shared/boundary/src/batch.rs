//! Queue functions: each message on its own, partial failures reported, nothing lost.
//!
//! A message is acknowledged only if its handler returned `Ok`, or if it can never be read and is in the
//! dead letters with the reason. After any other outcome, a panic included, SQS delivers that message and no
//! other again. Where a consumer takes several at once, those of one group (on fair queues: of one user)
//! still follow one another.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use aws_lambda_events::event::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsMessage};
use domain::{Failure, Result, Timestamp};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryFutureExt, future, stream};
use messaging::{DeadLetters, TRACEPARENT};
use serde_json::json;
use store::capacity;

use crate::telemetry::{InvocationReport, Log, LogFields, Stopwatch, Trace, collect_metrics};
use crate::{Clock, Entropy, Host, Misconfigured};

/// Time that is kept for a message and the response, unless a consumer asks for more.
const MARGIN_MS: u64 = 2_000;

/// The attribute that fair queues name a message's group with.
const GROUP: &str = "MessageGroupId";

/// One message, as its handler sees it.
#[derive(Debug)]
pub struct ReceivedMessage {
    /// The body, still to be read.
    pub body: String,
    /// How often it was delivered, this time included.
    pub receive_count: u32,
    /// The group it belongs to, if it has one.
    pub group: Option<String>,
    /// When it was sent, if the event has it.
    pub sent_at: Option<Timestamp>,
    /// When this delivery began.
    pub now: Timestamp,
    /// The trace it belongs to.
    pub trace: Trace,
}

/// Why a message was not handled.
#[derive(Debug)]
pub enum Unhandled {
    /// It can't be read and never will be: to the dead letters, with this reason.
    Unreadable(String),
    /// Machinery broke: deliver it again.
    Failure(Failure),
}

impl From<Failure> for Unhandled {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

type HandlerFuture<'a> = BoxFuture<'a, Result<(), Unhandled>>;

type Handler<S> = for<'a> fn(&'a S, &'a ReceivedMessage) -> HandlerFuture<'a>;

type BoxedHandler<S> =
    Box<dyn for<'a> Fn(&'a S, &'a ReceivedMessage) -> HandlerFuture<'a> + Send + Sync>;

/// A handler of decoded messages.
type TypedHandler<S, M> = for<'a> fn(&'a S, M, &'a ReceivedMessage) -> BoxFuture<'a, Result>;

type BeforeBatch<S> = for<'a> fn(&'a S, &'a [ReceivedMessage]) -> BoxFuture<'a, Result>;

/// A function that consumes queues.
pub struct Consumer<S> {
    shared: Arc<Shared<S>>,
}

struct Shared<S> {
    name: &'static str,
    state: S,
    handler: BoxedHandler<S>,
    before_batch: Option<BeforeBatch<S>>,
    dead_letters: DeadLetters,
    /// Those of some queues, by the end of the queue's ARN.
    dead_letters_by_queue: Vec<(String, DeadLetters)>,
    concurrency: usize,
    margin_ms: u64,
    clock: Clock,
    entropy: Entropy,
    log: Log,
    stage: String,
}

impl<S> Clone for Consumer<S> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<S> fmt::Debug for Consumer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer").field("name", &self.shared.name).finish_non_exhaustive()
    }
}

impl<S: Send + Sync + 'static> Consumer<S> {
    /// A consumer on `host`; unreadable messages go to the queue that the variable `dead_letters`
    /// names. Each function has a variable of its own, so that one environment can serve them all.
    pub fn new(
        host: &Host,
        name: &'static str,
        dead_letters: &str,
        state: S,
        handler: Handler<S>,
    ) -> Result<Self, Misconfigured> {
        Self::boxed(host, name, dead_letters, state, Box::new(handler))
    }

    /// A consumer of messages of type `M`, which are decoded here; what can't be goes to the dead letters.
    pub fn typed<M: domain::Message + 'static>(
        host: &Host,
        name: &'static str,
        dead_letters: &str,
        state: S,
        handler: TypedHandler<S, M>,
    ) -> Result<Self, Misconfigured> {
        let read: BoxedHandler<S> =
            Box::new(move |state, message| match serde_json::from_str(&message.body) {
                Ok(decoded) => handler(state, decoded, message).map_err(Unhandled::Failure).boxed(),
                Err(malformed) => {
                    let reason = malformed.to_string();
                    future::ready(Err(Unhandled::Unreadable(reason))).boxed()
                }
            });
        Self::boxed(host, name, dead_letters, state, read)
    }

    fn boxed(
        host: &Host,
        name: &'static str,
        dead_letters: &str,
        state: S,
        handler: BoxedHandler<S>,
    ) -> Result<Self, Misconfigured> {
        let dead_letters = DeadLetters::new(host.aws.sqs(), host.vars.required(dead_letters)?);
        Ok(Self {
            shared: Arc::new(Shared {
                name,
                state,
                handler,
                before_batch: None,
                dead_letters,
                dead_letters_by_queue: Vec::new(),
                concurrency: 1,
                margin_ms: MARGIN_MS,
                clock: host.clock.clone(),
                entropy: host.entropy.clone(),
                log: host.log.clone(),
                stage: host.vars.optional("STAGE").unwrap_or("local").to_owned(),
            }),
        })
    }

    /// Runs `before_batch` with all messages of a batch before any of them is handled. If it fails, all of them
    /// are delivered again.
    #[must_use]
    pub fn before_batch(mut self, before_batch: BeforeBatch<S>) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.before_batch = Some(before_batch);
        }
        self
    }

    /// Takes up to so many messages at once, and begins none that has less than `margin_ms` left.
    #[must_use]
    pub fn concurrency(mut self, concurrency: usize, margin_ms: u64) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            (shared.concurrency, shared.margin_ms) = (concurrency.max(1), margin_ms);
        }
        self
    }

    /// Unreadable messages of the queues in `by_queue` go to the dead letters named there.
    #[must_use]
    pub fn with_dead_letters(mut self, by_queue: Vec<(String, DeadLetters)>) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.dead_letters_by_queue = by_queue;
        }
        self
    }

    /// Handles a batch and names the messages that must be delivered again: those that failed, and those
    /// that there was no time for before `deadline_ms` (0 for none).
    pub async fn handle(&self, event: SqsEvent, deadline_ms: u64) -> SqsBatchResponse {
        let ready = self.shared.run_before_batch(&event.records).await;
        let groups = group_records(event.records);
        let handled = stream::iter(groups)
            .map(|group| self.shared.handle_group(group, ready, deadline_ms))
            .buffered(self.shared.concurrency);
        let failed: Vec<Vec<String>> = handled.collect().await;
        let mut response = SqsBatchResponse::default();
        response.batch_item_failures = failed.into_iter().flatten().map(failure).collect();
        response
    }
}

/// Messages that follow one another: those of a group, or one that has none; in the order of each group's first.
fn group_records(records: Vec<SqsMessage>) -> Vec<Vec<SqsMessage>> {
    let mut groups: Vec<Vec<SqsMessage>> = Vec::new();
    for record in records {
        let name = record.attributes.get(GROUP);
        let same = |group: &&mut Vec<SqsMessage>| {
            name.is_some() && group.first().and_then(|first| first.attributes.get(GROUP)) == name
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(record),
            None => groups.push(vec![record]),
        }
    }
    groups
}

fn failure(id: String) -> BatchItemFailure {
    let mut failure = BatchItemFailure::default();
    failure.item_identifier = id;
    failure
}

impl<S> Shared<S> {
    /// Handles messages one after the other; returns the ids of those that must be delivered again.
    async fn handle_group(
        &self,
        records: Vec<SqsMessage>,
        ready: bool,
        deadline_ms: u64,
    ) -> Vec<String> {
        let mut failed = Vec::new();
        for record in records {
            let id = record.message_id.clone().unwrap_or_default();
            let late = !ready || self.is_out_of_time(deadline_ms);
            if late || !self.handle_message(record).await {
                failed.push(id);
            }
        }
        failed
    }

    /// Whether a message begun now might be cut off, and those before it would be delivered again with it.
    fn is_out_of_time(&self, deadline_ms: u64) -> bool {
        let now = u64::try_from(self.clock.now().as_millisecond()).unwrap_or(0);
        deadline_ms > 0 && now + self.margin_ms > deadline_ms
    }

    /// True when the messages may be handled.
    async fn run_before_batch(&self, records: &[SqsMessage]) -> bool {
        let Some(before_batch) = self.before_batch else { return true };
        let messages: Vec<ReceivedMessage> =
            records.iter().map(|record| self.read(record)).collect();
        let work = AssertUnwindSafe(before_batch(&self.state, &messages)).catch_unwind();
        let fault = match work.await {
            Ok(Ok(())) => return true,
            Ok(Err(failure)) => failure.chain(),
            Err(_) => "the handler panicked".to_owned(),
        };
        let trace = Trace::new(&self.entropy);
        self.log.warn(self.clock.now(), &trace, &format!("{} comes back: {fault}", self.name));
        false
    }

    /// True when SQS may delete the message.
    async fn handle_message(&self, record: SqsMessage) -> bool {
        let stopwatch = Stopwatch::start();
        let message = self.read(&record);
        let work = AssertUnwindSafe((self.handler)(&self.state, &message)).catch_unwind();
        let ((outcome, capacity), metrics) = collect_metrics(capacity::metered(work)).await;
        let (done, outcome, fault) = match outcome {
            Ok(Ok(())) => (true, "done", None),
            Ok(Err(Unhandled::Unreadable(reason))) => {
                let sent = self.send_to_dead_letters(&record, &reason).await;
                let fault = sent.as_ref().err().map_or(reason, Failure::chain);
                (sent.is_ok(), "dead-lettered", Some(fault))
            }
            Ok(Err(Unhandled::Failure(failure))) => (false, "retry", Some(failure.chain())),
            Err(_) => (false, "retry", Some("the handler panicked".to_owned())),
        };
        let mut fields = LogFields::new();
        fields.insert("message_id".to_owned(), json!(record.message_id));
        fields.insert("outcome".to_owned(), json!(outcome));
        fields.insert("receives".to_owned(), json!(message.receive_count));
        self.log.report(&InvocationReport {
            at: message.now,
            milliseconds: stopwatch.milliseconds(),
            stage: &self.stage,
            operation: self.name,
            message: format!("{} {outcome}", self.name),
            trace: &message.trace,
            capacity,
            fault: fault.as_deref(),
            fields,
            metrics,
        });
        done
    }

    fn read(&self, record: &SqsMessage) -> ReceivedMessage {
        let traceparent = record
            .message_attributes
            .get(TRACEPARENT)
            .and_then(|attribute| attribute.string_value.as_deref());
        let receive_count = record
            .attributes
            .get("ApproximateReceiveCount")
            .and_then(|count| count.parse().ok())
            .unwrap_or(1);
        ReceivedMessage {
            body: record.body.clone().unwrap_or_default(),
            receive_count,
            group: record.attributes.get(GROUP).cloned(),
            sent_at: record
                .attributes
                .get("SentTimestamp")
                .and_then(|ms| Timestamp::from_millisecond(ms.parse().ok()?).ok()),
            now: self.clock.now(),
            trace: Trace::continue_or_start(traceparent, &self.entropy),
        }
    }

    async fn send_to_dead_letters(&self, record: &SqsMessage, reason: &str) -> Result {
        let body = record.body.as_deref().filter(|body| !body.is_empty()).unwrap_or("(empty)");
        let id = record.message_id.as_deref().unwrap_or_default();
        let source = record.event_source_arn.as_deref().unwrap_or_default();
        let mut by_queue = self.dead_letters_by_queue.iter();
        let own = by_queue.find(|(queue, _)| source.ends_with(queue.as_str()));
        let dead_letters = own.map_or(&self.dead_letters, |(_, dead_letters)| dead_letters);
        dead_letters.send(body, reason, id, source).await
    }
}
