//! Queue functions: each message on its own, partial failures reported, nothing lost.
//!
//! A message is acknowledged only if its handler said `Ok`, or if it could never be read and now
//! lies in the dead letters with the reason. Whatever else happens, a panic included, that message
//! and no other comes back. Where a consumer takes several at once, those of one group (on fair queues:
//! of one person) still follow one another.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use aws_lambda_events::event::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsMessage};
use domain::{Failure, Timestamp};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryFutureExt, future, stream};
use messaging::{DeadLetters, TRACEPARENT};
use serde_json::json;
use store::capacity;

use crate::telemetry::{Fields, Log, Report, Stopwatch, Trace, measured, trace_of};
use crate::{Clock, Entropy, Host, Misconfigured};

/// Time that is kept for a message and for answering, unless a consumer says how much it needs.
const MARGIN_MS: u64 = 2_000;

/// The attribute that fair queues name a message's group with.
const GROUP: &str = "MessageGroupId";

/// One message, as its handler sees it.
#[derive(Debug)]
pub struct Message {
    /// The body, still to be read.
    pub body: String,
    /// How often it was delivered, this time included.
    pub receive_count: u32,
    /// The group it belongs to, if it has one.
    pub group: Option<String>,
    /// When it was sent, if the queue says so.
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

type Outcome<'a> = BoxFuture<'a, Result<(), Unhandled>>;

type Handler<S> = for<'a> fn(&'a S, &'a Message) -> Outcome<'a>;

type Boxed<S> = Box<dyn for<'a> Fn(&'a S, &'a Message) -> Outcome<'a> + Send + Sync>;

/// A handler of messages that were read.
type Typed<S, M> = for<'a> fn(&'a S, M, &'a Message) -> BoxFuture<'a, Result<(), Failure>>;

type First<S> = for<'a> fn(&'a S, &'a [Message]) -> BoxFuture<'a, Result<(), Failure>>;

/// A function that consumes queues.
pub struct Consumer<S> {
    shared: Arc<Shared<S>>,
}

struct Shared<S> {
    name: &'static str,
    state: S,
    handler: Boxed<S>,
    first: Option<First<S>>,
    dead_letters: DeadLetters,
    /// Those of some queues, by the end of the queue's ARN.
    letters: Vec<(String, DeadLetters)>,
    at_once: usize,
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

    /// The same for messages of one kind, which are read here: what can't be goes to the dead letters.
    pub fn of<M: domain::Message + 'static>(
        host: &Host,
        name: &'static str,
        dead_letters: &str,
        state: S,
        handler: Typed<S, M>,
    ) -> Result<Self, Misconfigured> {
        let read: Boxed<S> =
            Box::new(move |state, message| match serde_json::from_str(&message.body) {
                Ok(said) => handler(state, said, message).map_err(Unhandled::Failure).boxed(),
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
        handler: Boxed<S>,
    ) -> Result<Self, Misconfigured> {
        let dead_letters = DeadLetters::new(host.aws.sqs(), host.vars.required(dead_letters)?);
        Ok(Self {
            shared: Arc::new(Shared {
                name,
                state,
                handler,
                first: None,
                dead_letters,
                letters: Vec::new(),
                at_once: 1,
                margin_ms: MARGIN_MS,
                clock: host.clock.clone(),
                entropy: host.entropy.clone(),
                log: host.log.clone(),
                stage: host.vars.optional("STAGE").unwrap_or("local").to_owned(),
            }),
        })
    }

    /// Does something with all messages of a batch together before any of them is handled. If that
    /// fails, all of them come back.
    #[must_use]
    pub fn first(mut self, first: First<S>) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.first = Some(first);
        }
        self
    }

    /// Takes up to so many messages at once, and begins none that has less than `margin_ms` left.
    #[must_use]
    pub fn at_once(mut self, at_once: usize, margin_ms: u64) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            (shared.at_once, shared.margin_ms) = (at_once.max(1), margin_ms);
        }
        self
    }

    /// Unreadable messages of some queues, which are named with their dead letters, go there.
    #[must_use]
    pub fn with_dead_letters(mut self, letters: Vec<(String, DeadLetters)>) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.letters = letters;
        }
        self
    }

    /// Handles a batch and names the messages that must come back: those that failed, and those
    /// that there was no time for before `deadline_ms` (0 for none).
    pub async fn handle(&self, event: SqsEvent, deadline_ms: u64) -> SqsBatchResponse {
        let ready = self.shared.prepare(&event.records).await;
        let groups = grouped(event.records);
        let handled = stream::iter(groups)
            .map(|group| self.shared.take_all(group, ready, deadline_ms))
            .buffered(self.shared.at_once);
        let failed: Vec<Vec<String>> = handled.collect().await;
        let mut response = SqsBatchResponse::default();
        response.batch_item_failures = failed.into_iter().flatten().map(failure).collect();
        response
    }
}

/// Messages that follow one another: those of a group, or one that has none. In the order of their
/// first.
fn grouped(records: Vec<SqsMessage>) -> Vec<Vec<SqsMessage>> {
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
    /// Handles messages one after the other; the ids of those that must come back.
    async fn take_all(
        &self,
        records: Vec<SqsMessage>,
        ready: bool,
        deadline_ms: u64,
    ) -> Vec<String> {
        let mut failed = Vec::new();
        for record in records {
            let id = record.message_id.clone().unwrap_or_default();
            let late = !ready || self.is_late(deadline_ms);
            if late || !self.take(record).await {
                failed.push(id);
            }
        }
        failed
    }

    /// A message begun now might be cut off, and everything before it would come back with it.
    fn is_late(&self, deadline_ms: u64) -> bool {
        let now = u64::try_from(self.clock.now().as_millisecond()).unwrap_or(0);
        deadline_ms > 0 && now + self.margin_ms > deadline_ms
    }

    /// True when the messages may be handled.
    async fn prepare(&self, records: &[SqsMessage]) -> bool {
        let Some(first) = self.first else { return true };
        let messages: Vec<Message> = records.iter().map(|record| self.read(record)).collect();
        let work = AssertUnwindSafe(first(&self.state, &messages)).catch_unwind();
        let fault = match work.await {
            Ok(Ok(())) => return true,
            Ok(Err(failure)) => failure.chain(),
            Err(_) => "the handler panicked".to_owned(),
        };
        let trace = Trace::new(&self.entropy);
        self.log.warn(self.clock.now(), &trace, &format!("{} comes back: {fault}", self.name));
        false
    }

    /// True when the message is done with.
    async fn take(&self, record: SqsMessage) -> bool {
        let stopwatch = Stopwatch::start();
        let message = self.read(&record);
        let work = AssertUnwindSafe((self.handler)(&self.state, &message)).catch_unwind();
        let ((outcome, capacity), measures) = measured(capacity::metered(work)).await;
        let (done, outcome, fault) = match outcome {
            Ok(Ok(())) => (true, "done", None),
            Ok(Err(Unhandled::Unreadable(reason))) => {
                let kept = self.bury(&record, &reason).await;
                let fault = kept.as_ref().err().map_or(reason, Failure::chain);
                (kept.is_ok(), "dead-lettered", Some(fault))
            }
            Ok(Err(Unhandled::Failure(failure))) => (false, "retry", Some(failure.chain())),
            Err(_) => (false, "retry", Some("the handler panicked".to_owned())),
        };
        let mut fields = Fields::new();
        fields.insert("message_id".to_owned(), json!(record.message_id));
        fields.insert("outcome".to_owned(), json!(outcome));
        fields.insert("receives".to_owned(), json!(message.receive_count));
        self.log.report(&Report {
            at: message.now,
            milliseconds: stopwatch.milliseconds(),
            stage: &self.stage,
            operation: self.name,
            message: format!("{} {outcome}", self.name),
            trace: &message.trace,
            capacity,
            fault: fault.as_deref(),
            fields,
            measures,
        });
        done
    }

    fn read(&self, record: &SqsMessage) -> Message {
        let handed = record
            .message_attributes
            .get(TRACEPARENT)
            .and_then(|attribute| attribute.string_value.as_deref());
        let receive_count = record
            .attributes
            .get("ApproximateReceiveCount")
            .and_then(|count| count.parse().ok())
            .unwrap_or(1);
        Message {
            body: record.body.clone().unwrap_or_default(),
            receive_count,
            group: record.attributes.get(GROUP).cloned(),
            sent_at: record
                .attributes
                .get("SentTimestamp")
                .and_then(|ms| Timestamp::from_millisecond(ms.parse().ok()?).ok()),
            now: self.clock.now(),
            trace: trace_of(handed, &self.entropy),
        }
    }

    async fn bury(&self, record: &SqsMessage, reason: &str) -> Result<(), Failure> {
        let body = record.body.as_deref().filter(|body| !body.is_empty()).unwrap_or("(empty)");
        let id = record.message_id.as_deref().unwrap_or_default();
        let source = record.event_source_arn.as_deref().unwrap_or_default();
        let named = self.letters.iter().find(|(queue, _)| source.ends_with(queue.as_str()));
        let letters = named.map_or(&self.dead_letters, |(_, letters)| letters);
        letters.send(body, reason, id, source).await
    }
}
