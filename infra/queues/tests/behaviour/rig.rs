//! Queues in memory with a clock to move, and requests as SDKs make them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bytes::Bytes;
use http::{Request, StatusCode};
use queues::{Attributes, Clock, Message, Queues};
use serde_json::{Value, json};

/// The moment at which every test begins.
pub(crate) const START: i64 = 1_700_000_000_000;

/// Queues, and the hand on their clock.
pub(crate) struct Rig {
    pub(crate) queues: Queues,
    pub(crate) time: Arc<AtomicI64>,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::seeded(1)
    }

    pub(crate) fn with_queue(name: &str, attributes: &[(&str, &str)]) -> Self {
        let rig = Self::new();
        rig.queue(name, attributes);
        rig
    }

    pub(crate) fn seeded(seed: u64) -> Self {
        let (clock, time) = clock();
        Self { queues: Queues::memory_seeded(clock, seed).unwrap(), time }
    }

    /// Moves the clock and wakes waiting consumers.
    pub(crate) fn pass(&self, seconds: i64) {
        self.time.fetch_add(seconds * 1_000, Ordering::SeqCst);
        self.queues.clock_moved();
    }

    /// Creates a queue.
    pub(crate) fn queue(&self, name: &str, attributes: &[(&str, &str)]) {
        self.queues.create_queue(name, &map(attributes)).unwrap();
    }

    /// The bodies of what can be received.
    pub(crate) fn bodies(&self, queue: &str) -> Vec<String> {
        bodies(&self.queues.receive(queue, 100, None).unwrap())
    }

    /// Makes an SQS request.
    pub(crate) async fn sqs(&self, action: &str, body: Value) -> Result<Value, Refusal> {
        let request = Request::post("/")
            .header("x-amz-target", format!("AmazonSQS.{action}"))
            .body(Bytes::from(body.to_string()))
            .unwrap();
        let response = self.queues.handle(request).await;
        let header = response.headers().get("x-amzn-query-error");
        let query_error = header.map(|value| value.to_str().unwrap().to_owned());
        let body: Value = serde_json::from_slice(response.body()).unwrap();
        if response.status() == StatusCode::OK {
            return Ok(body);
        }
        let code = body["__type"].as_str().unwrap().rsplit('#').next().unwrap().to_owned();
        Err(Refusal { status: response.status(), code, query_error })
    }

    /// Makes an SNS request, and gives the status and the XML.
    pub(crate) async fn sns(&self, action: &str, params: &[(&str, &str)]) -> (StatusCode, String) {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("Action", action).extend_pairs(params);
        let request = Request::post("/").body(Bytes::from(form.finish())).unwrap();
        let response = self.queues.handle(request).await;
        (response.status(), String::from_utf8(response.body().to_vec()).unwrap())
    }
}

/// An SQS request that was refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) code: String,
    pub(crate) query_error: Option<String>,
}

/// A clock that begins at [`START`], and the hand that moves it.
pub(crate) fn clock() -> (Clock, Arc<AtomicI64>) {
    let time = Arc::new(AtomicI64::new(START));
    let hand = Arc::clone(&time);
    (Arc::new(move || time.load(Ordering::SeqCst)), hand)
}

pub(crate) fn map(pairs: &[(&str, &str)]) -> Attributes {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

pub(crate) fn bodies(messages: &[Message]) -> Vec<String> {
    messages.iter().map(|message| message.body.clone()).collect()
}

/// A redrive policy to this queue after so many receives.
pub(crate) fn redrive(target: &str, max: u32) -> String {
    json!({"deadLetterTargetArn": queues::queue_arn(target), "maxReceiveCount": max}).to_string()
}

/// The system attributes of the only message that can be received.
pub(crate) fn only(mut messages: Vec<Message>) -> (Message, BTreeMap<String, String>) {
    assert_eq!(messages.len(), 1, "{messages:?}");
    let message = messages.remove(0);
    let attributes = message.attributes.clone();
    (message, attributes)
}
