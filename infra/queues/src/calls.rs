//! The typed calls: what the local cloud uses to set queues up and to feed functions from them.

use crate::engine::Queues;
use crate::error::Result;
use crate::fanout::Publication;
use crate::message::{Message, NewMessage};
use crate::names;
use crate::settings::Attributes;
use crate::store::messages::{QueueDepth, ReceiptStatus};
use crate::store::queues::Creation;

/// How a queue is addressed by SDKs and by other resources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueAddress {
    /// The URL that SDKs use.
    pub url: String,
    /// The ARN that policies and subscriptions use.
    pub arn: String,
}

impl QueueAddress {
    fn new(name: &str) -> Self {
        Self { url: names::queue_url(name), arn: names::queue_arn(name) }
    }
}

impl Queues {
    /// Makes sure that there is such a queue with exactly these attributes. Messages in a queue
    /// that exists already stay. A dead letter queue must be created before the queues it serves.
    pub fn create_queue(&self, name: &str, attributes: &Attributes) -> Result<QueueAddress> {
        self.transact("create a queue", |tx| {
            if tx.create_queue(name, attributes)? != Creation::Created {
                let queue = tx.queue(name)?;
                if queue.attributes != *attributes {
                    tx.replace_attributes(&queue, attributes)?;
                }
            }
            Ok(QueueAddress::new(name))
        })
    }

    /// Makes sure that there is such a topic and gives its ARN.
    pub fn create_topic(&self, name: &str) -> Result<String> {
        self.transact("create a topic", |tx| {
            if tx.find_topic(name)?.is_none() {
                tx.put_topic(name, &Attributes::new())?;
            }
            Ok(names::topic_arn(name))
        })
    }

    /// Makes sure that the queue with this ARN is subscribed with exactly these attributes, and
    /// gives the subscription's ARN.
    pub fn subscribe(
        &self,
        topic_arn: &str,
        queue_arn: &str,
        attributes: &Attributes,
    ) -> Result<String> {
        self.transact("subscribe a queue", |tx| {
            let (topic, _) = tx.topic(topic_arn)?;
            crate::sns::subscriptions::check(attributes)?;
            crate::sns::subscriptions::check_endpoint(queue_arn)?;
            match tx.find_subscription(topic, queue_arn)? {
                None => tx.add_subscription(topic, queue_arn, attributes),
                Some(present) => {
                    tx.replace_subscription_attributes(&present.arn, attributes)?;
                    Ok(present.arn)
                }
            }
        })
    }

    /// Sends a message and gives its id.
    pub fn send(&self, queue: &str, message: &NewMessage) -> Result<String> {
        self.transact("send a message", |tx| {
            let queue = tx.queue(queue)?;
            message.check(queue.settings.max_message_size)?;
            tx.enqueue(&queue, message)
        })
    }

    /// Publishes to every subscriber that wants it, in one transaction, and gives the message id.
    pub fn publish(&self, topic_arn: &str, publication: &Publication) -> Result<String> {
        self.transact("publish a message", |tx| tx.publish(topic_arn, publication))
    }

    /// Receives up to `max` messages without waiting, and hides them for so many seconds or for
    /// the queue's own visibility timeout.
    pub fn receive(
        &self,
        queue: &str,
        max: usize,
        visibility: Option<u32>,
    ) -> Result<Vec<Message>> {
        self.transact("receive messages", |tx| {
            let queue = tx.queue(queue)?;
            let hidden_ms =
                visibility.map_or(queue.settings.visibility_ms, |s| i64::from(s) * 1_000);
            tx.receive(&queue, max, hidden_ms)
        })
    }

    /// Deletes a message that was received. A handle that is no longer the newest deletes nothing.
    pub fn delete(&self, queue: &str, receipt_handle: &str) -> Result<ReceiptStatus> {
        self.transact("delete a message", |tx| tx.delete_message(&tx.queue(queue)?, receipt_handle))
    }

    /// Makes a message in flight visible so many seconds from now.
    pub fn change_visibility(
        &self,
        queue: &str,
        receipt_handle: &str,
        seconds: u32,
    ) -> Result<ReceiptStatus> {
        self.transact("change a visibility timeout", |tx| {
            tx.hide_message(&tx.queue(queue)?, receipt_handle, i64::from(seconds) * 1_000)
        })
    }

    /// The earliest moment at which a message is or becomes visible; in the past when one is
    /// visible already.
    pub fn next_visible_at(&self, queue: &str) -> Result<Option<i64>> {
        self.transact("look for the next message", |tx| tx.next_visible_at(&tx.queue(queue)?))
    }

    /// How many messages the queue holds.
    pub fn depth(&self, queue: &str) -> Result<QueueDepth> {
        self.transact("count messages", |tx| tx.depth(&tx.queue(queue)?))
    }

    /// Removes every message of the queue.
    pub fn purge(&self, queue: &str) -> Result {
        self.transact("purge a queue", |tx| tx.purge(&tx.queue(queue)?))
    }

    /// Removes the queue and its messages.
    pub fn delete_queue(&self, queue: &str) -> Result {
        self.transact("delete a queue", |tx| tx.delete_queue(&tx.queue(queue)?))
    }

    /// The names of all queues, in order.
    pub fn queue_names(&self) -> Result<Vec<String>> {
        self.transact("list queues", |tx| {
            Ok(tx.queues()?.into_iter().map(|queue| queue.name).collect())
        })
    }

    /// The ARNs of all topics, in order.
    pub fn topic_arns(&self) -> Result<Vec<String>> {
        self.transact("list topics", |tx| {
            Ok(tx.topic_names()?.iter().map(|name| names::topic_arn(name)).collect())
        })
    }
}
