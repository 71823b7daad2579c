//! The typed calls: what the local cloud uses to set queues up and to feed functions from them.

use crate::engine::Queues;
use crate::error::Error;
use crate::fanout::Publication;
use crate::message::{Message, NewMessage};
use crate::names;
use crate::settings::Attributes;
use crate::store::messages::{Depth, Hold};
use crate::store::queues::Creation;

/// How a queue is addressed by SDKs and by other resources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The URL that SDKs use.
    pub url: String,
    /// The ARN that policies and subscriptions use.
    pub arn: String,
}

impl Address {
    fn of(name: &str) -> Self {
        Self { url: names::queue_url(name), arn: names::queue_arn(name) }
    }
}

impl Queues {
    /// Makes sure that there is such a queue with exactly these attributes. Messages in a queue
    /// that exists already stay. A dead letter queue must be created before the queues it serves.
    pub fn create_queue(&self, name: &str, attributes: &Attributes) -> Result<Address, Error> {
        self.transact("create a queue", |work| {
            if work.create_queue(name, attributes)? != Creation::Created {
                let queue = work.queue(name)?;
                if queue.attributes != *attributes {
                    work.replace_attributes(&queue, attributes)?;
                }
            }
            Ok(Address::of(name))
        })
    }

    /// Makes sure that there is such a topic and gives its ARN.
    pub fn create_topic(&self, name: &str) -> Result<String, Error> {
        self.transact("create a topic", |work| {
            if work.find_topic(name)?.is_none() {
                work.put_topic(name, &Attributes::new())?;
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
    ) -> Result<String, Error> {
        self.transact("subscribe a queue", |work| {
            let (topic, _) = work.topic(topic_arn)?;
            crate::sns::subscriptions::check(attributes)?;
            crate::sns::subscriptions::check_endpoint(queue_arn)?;
            match work.find_subscription(topic, queue_arn)? {
                None => work.add_subscription(topic, queue_arn, attributes),
                Some(present) => {
                    work.replace_subscription_attributes(&present.arn, attributes)?;
                    Ok(present.arn)
                }
            }
        })
    }

    /// Sends a message and gives its id.
    pub fn send(&self, queue: &str, message: &NewMessage) -> Result<String, Error> {
        self.transact("send a message", |work| {
            let queue = work.queue(queue)?;
            message.check(queue.settings.largest)?;
            work.enqueue(&queue, message)
        })
    }

    /// Publishes to every subscriber that wants it, in one transaction, and gives the message id.
    pub fn publish(&self, topic_arn: &str, publication: &Publication) -> Result<String, Error> {
        self.transact("publish a message", |work| work.publish(topic_arn, publication))
    }

    /// Receives up to `most` messages without waiting, and hides them for so many seconds or for
    /// the queue's own visibility timeout.
    pub fn receive(
        &self,
        queue: &str,
        most: usize,
        visibility: Option<u32>,
    ) -> Result<Vec<Message>, Error> {
        self.transact("receive messages", |work| {
            let queue = work.queue(queue)?;
            let hidden_ms =
                visibility.map_or(queue.settings.visibility_ms, |s| i64::from(s) * 1_000);
            work.receive(&queue, most, hidden_ms)
        })
    }

    /// Deletes a message that was received. A handle that is no longer the newest deletes nothing.
    pub fn delete(&self, queue: &str, receipt_handle: &str) -> Result<Hold, Error> {
        self.transact("delete a message", |work| {
            work.delete_message(&work.queue(queue)?, receipt_handle)
        })
    }

    /// Makes a message in flight visible so many seconds from now.
    pub fn change_visibility(
        &self,
        queue: &str,
        receipt_handle: &str,
        seconds: u32,
    ) -> Result<Hold, Error> {
        self.transact("change a visibility timeout", |work| {
            work.hide_message(&work.queue(queue)?, receipt_handle, i64::from(seconds) * 1_000)
        })
    }

    /// The earliest moment at which a message is or becomes visible; in the past when one is
    /// visible already.
    pub fn next_visible_at(&self, queue: &str) -> Result<Option<i64>, Error> {
        self.transact("look for the next message", |work| work.next_visible_at(&work.queue(queue)?))
    }

    /// How many messages the queue holds.
    pub fn depth(&self, queue: &str) -> Result<Depth, Error> {
        self.transact("count messages", |work| work.depth(&work.queue(queue)?))
    }

    /// Removes every message of the queue.
    pub fn purge(&self, queue: &str) -> Result<(), Error> {
        self.transact("purge a queue", |work| work.purge(&work.queue(queue)?))
    }

    /// Removes the queue and its messages.
    pub fn delete_queue(&self, queue: &str) -> Result<(), Error> {
        self.transact("delete a queue", |work| work.delete_queue(&work.queue(queue)?))
    }

    /// The names of all queues, in order.
    pub fn queue_names(&self) -> Result<Vec<String>, Error> {
        self.transact("list queues", |work| {
            Ok(work.queues()?.into_iter().map(|queue| queue.name).collect())
        })
    }

    /// The ARNs of all topics, in order.
    pub fn topic_arns(&self) -> Result<Vec<String>, Error> {
        self.transact("list topics", |work| {
            Ok(work.topic_names()?.iter().map(|name| names::topic_arn(name)).collect())
        })
    }
}
