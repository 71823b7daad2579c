//! Receiving messages, with the long poll that waits for them.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout};

use super::messages::within;
use crate::digest;
use crate::engine::Queues;
use crate::error::Result;
use crate::message::Message;
use crate::names::queue_in_url;

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Receive {
    queue_url: String,
    max_number_of_messages: Option<i64>,
    visibility_timeout: Option<i64>,
    wait_time_seconds: Option<i64>,
    attribute_names: Vec<String>,
    message_system_attribute_names: Vec<String>,
    message_attribute_names: Vec<String>,
}

/// Waits for a message until the caller's wait time is over. Arrivals are subscribed to before the
/// first look, so that none falls between looking and waiting.
pub(super) async fn receive(engine: &Queues, request: Receive) -> Result<Value> {
    let mut arrivals = engine.arrivals();
    let name = queue_in_url(&request.queue_url)?;
    let wait_time = request.wait_time(engine, name)?;
    let deadline = Instant::now() + wait_time;
    loop {
        let (messages, next) = request.take(engine, name)?;
        let left = deadline.saturating_duration_since(Instant::now());
        if !messages.is_empty() || left.is_zero() {
            return Ok(request.show(messages));
        }
        // A delay or a visibility timeout that runs out is no arrival. A clock that tests hold
        // still makes this look again in vain, so the pause is never shorter than this.
        let pause = next.map_or(left, |at| {
            let ms = u64::try_from(at - engine.now()).unwrap_or(0).max(5);
            left.min(Duration::from_millis(ms))
        });
        // Woken or not, the next thing to do is to look again. The sender lives in the engine, so
        // the channel cannot be closed.
        let _ = timeout(pause, arrivals.changed()).await;
    }
}

impl Receive {
    fn wait_time(&self, engine: &Queues, name: &str) -> Result<Duration> {
        let seconds = match self.wait_time_seconds {
            Some(seconds) => within("WaitTimeSeconds", seconds, 0, 20)?,
            None => engine.transact("read a queue's wait time", |tx| {
                Ok(tx.queue(name)?.settings.wait_seconds)
            })?,
        };
        Ok(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
    }

    /// The messages that can be had now, and, when there are none, when there may be.
    fn take(&self, engine: &Queues, name: &str) -> Result<(Vec<Message>, Option<i64>)> {
        let max = self.max_number_of_messages.unwrap_or(1);
        let max = within("MaxNumberOfMessages", max, 1, 10)?;
        let hidden = self.visibility_timeout;
        let hidden = hidden.map(|s| within("VisibilityTimeout", s, 0, 43_200)).transpose()?;
        engine.transact("receive messages", |tx| {
            let queue = tx.queue(name)?;
            let hidden_ms = hidden.map_or(queue.settings.visibility_ms, |s| s * 1_000);
            let messages = tx.receive(&queue, usize::try_from(max).unwrap_or(1), hidden_ms)?;
            let next = if messages.is_empty() { tx.next_visible_at(&queue)? } else { None };
            Ok((messages, next))
        })
    }

    fn show(&self, messages: Vec<Message>) -> Value {
        if messages.is_empty() {
            return json!({});
        }
        let messages: Vec<Value> = messages.into_iter().map(|one| self.show_one(one)).collect();
        json!({"Messages": messages})
    }

    /// The message with the attributes that were asked for, and no others.
    fn show_one(&self, mut message: Message) -> Value {
        let wanted = |name: &String| {
            let mut names = self.attribute_names.iter().chain(&self.message_system_attribute_names);
            names.any(|wanted| wanted == "All" || wanted == name)
        };
        message.attributes.retain(|name, _| wanted(name));
        let wanted = &self.message_attribute_names;
        message
            .message_attributes
            .retain(|name, _| wanted.iter().any(|pattern| selects(pattern, name)));
        let mut shown = Map::new();
        if let Some(md5) = digest::of_attributes(&message.message_attributes) {
            shown.insert("MD5OfMessageAttributes".into(), json!(md5));
            shown.insert("MessageAttributes".into(), json!(message.message_attributes));
        }
        if !message.attributes.is_empty() {
            shown.insert("Attributes".into(), json!(message.attributes));
        }
        shown.insert("MessageId".into(), json!(message.id));
        shown.insert("ReceiptHandle".into(), json!(message.receipt_handle));
        shown.insert("MD5OfBody".into(), json!(message.md5));
        shown.insert("Body".into(), json!(message.body));
        Value::Object(shown)
    }
}

/// Whether a pattern such as `All`, `order` or `order.*` selects the attribute of this name.
fn selects(pattern: &str, name: &str) -> bool {
    pattern == "All"
        || pattern.strip_suffix(".*").map_or(pattern == name, |start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_asked_for_by_name_prefix_or_all() {
        for (pattern, name, expected) in [
            ("All", "order.id", true),
            (".*", "order.id", true),
            ("order.*", "order.id", true),
            ("order.id", "order.id", true),
            ("order", "order.id", false),
            ("id.*", "order.id", false),
        ] {
            assert_eq!(selects(pattern, name), expected, "{pattern} {name}");
        }
    }
}
