//! Publishing: one message becomes one delivery for every subscriber that wants it.
//!
//! All deliveries happen in the publisher's transaction, so that an acknowledged message has
//! reached every queue or its dead letters.

use serde_json::Value;

use crate::engine::Tx;
use crate::envelope;
use crate::error::{Code, Refused, Result, refuse};
use crate::filter::FilterPolicy;
use crate::message::{AttributeValue, MessageAttributes, NewMessage, check_attribute};
use crate::names;
use crate::store::queues::Queue;
use crate::store::subscriptions::Subscription;

/// SNS takes less than SQS does.
const MAX_SIZE: usize = 262_144;

/// A message that is about to be published.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Publication {
    /// The text itself.
    pub message: String,
    /// A line that goes with it in the envelope.
    pub subject: Option<String>,
    /// Attributes that subscriptions can filter by.
    pub attributes: MessageAttributes,
    /// The tenant it belongs to, handed on to the queues for fair receiving.
    pub group: Option<String>,
}

impl Publication {
    /// Refuses what SNS would refuse.
    pub(crate) fn check(&self) -> Result<(), Refused> {
        let wrong = if self.message.is_empty() {
            Some("Invalid parameter: Empty message")
        } else if self.as_raw().size() > MAX_SIZE {
            Some("Invalid parameter: Message too long")
        } else if self.subject.as_ref().is_some_and(|s| s.is_empty() || s.chars().count() > 100) {
            Some("Invalid parameter: Subject")
        } else {
            None
        };
        if let Some(message) = wrong {
            return refuse(Code::InvalidTopicParameter, message);
        }
        self.attributes.iter().try_for_each(|(name, value)| check_attribute(name, value))
    }

    fn as_raw(&self) -> NewMessage {
        NewMessage {
            body: self.message.clone(),
            attributes: self.attributes.clone(),
            group: self.group.clone(),
            ..NewMessage::default()
        }
    }
}

impl Tx<'_> {
    /// Delivers to every subscriber that wants the message, and gives its id.
    pub(crate) fn publish(&self, arn: &str, publication: &Publication) -> Result<String> {
        let (topic, _) = self.topic(arn)?;
        publication.check()?;
        let id = self.uuid()?;
        for subscription in self.subscriptions(Some(topic))? {
            if subscription.matches(publication)? {
                self.deliver(&subscription, publication, &id)?;
            }
        }
        Ok(id)
    }

    fn deliver(&self, subscription: &Subscription, publication: &Publication, id: &str) -> Result {
        let message = self.message_for(subscription, publication, id)?;
        let queue = match names::queue_in_arn(&subscription.endpoint) {
            Some(name) => self.find_queue(name)?,
            None => None,
        };
        match delivery_error(queue.as_ref(), &message) {
            None => {
                if let Some(queue) = &queue {
                    self.enqueue(queue, &message)?;
                }
                Ok(())
            }
            Some(reason) => self.send_to_dead_letters(subscription, message, reason),
        }
    }

    /// The message as this subscriber wants it: raw, or wrapped in the envelope.
    fn message_for(
        &self,
        subscription: &Subscription,
        publication: &Publication,
        id: &str,
    ) -> Result<NewMessage> {
        let raw = publication.as_raw();
        if subscription.is("RawMessageDelivery", "true") {
            return Ok(raw);
        }
        let topic_arn = names::topic_arn(&subscription.topic);
        let body = envelope::wrap(publication, (id, &topic_arn, &subscription.arn), self.now)?;
        Ok(NewMessage { body, attributes: MessageAttributes::new(), ..raw })
    }

    /// Puts what could not be delivered into the subscription's dead letter queue, if it has one;
    /// like SNS, drops it otherwise.
    fn send_to_dead_letters(
        &self,
        subscription: &Subscription,
        mut message: NewMessage,
        reason: &str,
    ) -> Result {
        let Some(target) = subscription.dead_letters()? else {
            return Ok(());
        };
        let Some(queue) = self.find_queue(&target)? else {
            return Ok(());
        };
        message.attributes.insert("ErrorCode".into(), AttributeValue::string(reason));
        self.enqueue(&queue, &message)?;
        Ok(())
    }
}

/// What stands between the message and the queue, as an error code.
fn delivery_error(queue: Option<&Queue>, message: &NewMessage) -> Option<&'static str> {
    match queue {
        None => Some("AWS.SimpleQueueService.NonExistentQueue"),
        Some(queue) if message.check(queue.settings.max_message_size).is_err() => {
            Some("InvalidParameterValue")
        }
        Some(_) => None,
    }
}

impl Subscription {
    fn is(&self, attribute: &str, value: &str) -> bool {
        self.attributes.get(attribute).is_some_and(|present| present == value)
    }

    /// Whether the filter policy lets the message through. A message that is not JSON never
    /// matches a policy for the body.
    fn matches(&self, publication: &Publication) -> Result<bool> {
        let Some(text) = self.attributes.get("FilterPolicy") else {
            return Ok(true);
        };
        let Ok(policy) = FilterPolicy::read(&serde_json::from_str(text)?) else {
            return Ok(false);
        };
        if !self.is("FilterPolicyScope", "MessageBody") {
            return Ok(policy.matches_attributes(&publication.attributes));
        }
        let body = serde_json::from_str::<Value>(&publication.message);
        Ok(body.is_ok_and(|body| policy.matches_body(&body)))
    }

    /// The queue for what cannot be delivered.
    fn dead_letters(&self) -> Result<Option<String>> {
        let Some(text) = self.attributes.get("RedrivePolicy") else {
            return Ok(None);
        };
        let policy: Value = serde_json::from_str(text)?;
        let arn = policy.get("deadLetterTargetArn").and_then(Value::as_str);
        Ok(arn.and_then(names::queue_in_arn).map(str::to_owned))
    }
}
