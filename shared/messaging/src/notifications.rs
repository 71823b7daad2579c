//! The messages of notifications: through a topic that leads to nine queues, or straight to one of them
//! with a delay.
//!
//! A message names its user as its group, so that a user who gets many at once does not delay others
//! (fair queues). Absent: anything that a receiver trusts; the row is the truth.

use std::collections::BTreeMap;

use aws_sdk_sns::types::{
    BatchResultErrorEntry as Unpublished, MessageAttributeValue as TopicValue,
    PublishBatchRequestEntry,
};
use aws_sdk_sqs::types::{
    BatchResultErrorEntry as Unsent, MessageAttributeValue as QueueValue,
    SendMessageBatchRequestEntry,
};
use domain::accounts::UserId;
use domain::notifications::{Channel, Delivery, DeliveryMessage, Priority};
use domain::{Failure, Result};

use crate::send::{BuildError, MAX_BATCH, group_id, reject_failed};
use crate::{DeadLetters, TRACEPARENT};

/// Queues, one for each channel and priority.
const QUEUES: usize = Channel::ALL.len() * Priority::ALL.len();

/// The topic that leads what may be due to the queue of its channel and priority.
#[derive(Debug, Clone)]
pub struct DueTopic {
    client: aws_sdk_sns::Client,
    topic_arn: String,
}

impl DueTopic {
    /// Publishes to `topic_arn`.
    pub fn new(client: aws_sdk_sns::Client, topic_arn: impl Into<String>) -> Self {
        Self { client, topic_arn: topic_arn.into() }
    }

    /// Publishes that deliveries may be due now: ten in a call. The sweep repeats those whose message was
    /// lost.
    pub async fn publish_due(
        &self,
        deliveries: impl IntoIterator<Item = &Delivery>,
        traceparent: &str,
    ) -> Result {
        let messages = deliveries.into_iter().map(|delivery| RoutedMessage {
            message: DeliveryMessage::delivery_due(delivery),
            user: &delivery.user,
            channel: delivery.channel(),
            priority: delivery.priority,
        });
        let messages: Vec<RoutedMessage<'_>> = messages.collect();
        for batch in messages.chunks(MAX_BATCH) {
            self.publish(batch, traceparent, "publish due deliveries").await?;
        }
        Ok(())
    }

    /// Publishes that a user has opted out of something, by the most urgent queue.
    pub async fn publish_preferences_narrowed(&self, user: &UserId, traceparent: &str) -> Result {
        let messages = RoutedMessage {
            message: DeliveryMessage::preferences_narrowed(user.clone()),
            user,
            channel: Channel::Push,
            priority: Priority::Critical,
        };
        self.publish(&[messages], traceparent, "publish narrowed preferences").await
    }

    async fn publish(
        &self,
        messages: &[RoutedMessage<'_>],
        traceparent: &str,
        action: &'static str,
    ) -> Result {
        let entries = (0..).zip(messages).map(|(n, messages)| messages.entry(n, traceparent));
        let entries: Vec<_> = entries.collect::<Result<_, _>>().map_err(|e| e.within(action))?;
        let published = self
            .client
            .publish_batch()
            .topic_arn(&self.topic_arn)
            .set_publish_batch_request_entries(Some(entries))
            .send()
            .await
            .map_err(|cause| Failure::new(action, cause))?;
        reject_failed(published.failed().iter().map(Unpublished::code), action)
    }
}

/// A message, and what leads it to its queue.
struct RoutedMessage<'a> {
    message: DeliveryMessage,
    user: &'a UserId,
    channel: Channel,
    priority: Priority,
}

impl RoutedMessage<'_> {
    fn entry(&self, n: u32, traceparent: &str) -> Result<PublishBatchRequestEntry, BuildError> {
        let mut entry = PublishBatchRequestEntry::builder()
            .id(n.to_string())
            .message(serde_json::to_string(&self.message).map_err(BuildError::new)?)
            .set_message_group_id(group_id(self.user.as_str()));
        for (name, value) in [
            ("channel", self.channel.name()),
            ("priority", self.priority.name()),
            (TRACEPARENT, traceparent),
        ] {
            let value = TopicValue::builder().data_type("String").string_value(value).build();
            entry = entry.message_attributes(name, value.map_err(BuildError::new)?);
        }
        entry.build().map_err(BuildError::new)
    }
}

/// The queues of each channel and priority, for what is due a little later.
#[derive(Debug, Clone)]
pub struct DeliveryQueues {
    client: aws_sdk_sqs::Client,
    urls: Vec<String>,
}

impl DeliveryQueues {
    /// Sends to `urls`, separated by commas: by channel, and for each by priority, in the order of
    /// [`Channel::ALL`] and [`Priority::ALL`]; `None` if they are not as many.
    pub fn new(client: aws_sdk_sqs::Client, urls: &str) -> Option<Self> {
        Some(Self { client, urls: parse_urls(urls)? })
    }

    /// Sends a message for each delivery, delayed by so many seconds, at most 900: ten in a call.
    pub async fn send_due<'a>(
        &self,
        deliveries: impl IntoIterator<Item = (&'a Delivery, u32)>,
        traceparent: &str,
    ) -> Result {
        let mut by_queue: BTreeMap<usize, Vec<(&Delivery, u32)>> = BTreeMap::new();
        for (delivery, delay) in deliveries {
            let index = queue_index(delivery.channel(), delivery.priority);
            by_queue.entry(index).or_default().push((delivery, delay));
        }
        for (index, due) in by_queue {
            for batch in due.chunks(MAX_BATCH) {
                self.send(&self.urls[index], batch, traceparent).await?;
            }
        }
        Ok(())
    }

    async fn send(&self, queue: &str, batch: &[(&Delivery, u32)], traceparent: &str) -> Result {
        const ACTION: &str = "send messages for later deliveries";
        let entries =
            (0..).zip(batch).map(|(n, (delivery, delay))| entry(n, delivery, *delay, traceparent));
        let entries: Vec<_> = entries.collect::<Result<_, _>>().map_err(|e| e.within(ACTION))?;
        let sent = self
            .client
            .send_message_batch()
            .queue_url(queue)
            .set_entries(Some(entries))
            .send()
            .await
            .map_err(|cause| Failure::new(ACTION, cause))?;
        reject_failed(sent.failed().iter().map(Unsent::code), ACTION)
    }
}

fn entry(
    n: u32,
    delivery: &Delivery,
    delay: u32,
    traceparent: &str,
) -> Result<SendMessageBatchRequestEntry, BuildError> {
    let body =
        serde_json::to_string(&DeliveryMessage::delivery_due(delivery)).map_err(BuildError::new)?;
    let trace = QueueValue::builder().data_type("String").string_value(traceparent).build();
    SendMessageBatchRequestEntry::builder()
        .id(n.to_string())
        .message_body(body)
        .set_delay_seconds((delay > 0).then(|| i32::try_from(delay).unwrap_or(i32::MAX)))
        .set_message_group_id(group_id(delivery.user.as_str()))
        .message_attributes(TRACEPARENT, trace.map_err(BuildError::new)?)
        .build()
        .map_err(BuildError::new)
}

/// The dead letters of each of the queues.
#[derive(Debug, Clone)]
pub struct DeliveryDeadLetters {
    queues: Vec<DeadLetters>,
}

impl DeliveryDeadLetters {
    /// Sends to `urls`, in the order that [`DeliveryQueues::new`] wants too.
    pub fn new(client: &aws_sdk_sqs::Client, urls: &str) -> Option<Self> {
        let urls = parse_urls(urls)?.into_iter();
        Some(Self { queues: urls.map(|url| DeadLetters::new(client.clone(), url)).collect() })
    }

    /// Those of a channel and a priority.
    pub fn queue(&self, channel: Channel, priority: Priority) -> &DeadLetters {
        &self.queues[queue_index(channel, priority)]
    }

    /// Each of them, in their order.
    pub fn all(&self) -> impl Iterator<Item = &DeadLetters> {
        self.queues.iter()
    }
}

fn parse_urls(urls: &str) -> Option<Vec<String>> {
    let urls: Vec<String> = urls.split(',').map(|url| url.trim().to_owned()).collect();
    (urls.len() == QUEUES && urls.iter().all(|url| !url.is_empty())).then_some(urls)
}

const fn queue_index(channel: Channel, priority: Priority) -> usize {
    let channel = match channel {
        Channel::Email => 0,
        Channel::Sms => 1,
        Channel::Push => 2,
    };
    channel * Priority::ALL.len() + priority.level()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_channel_and_priority_has_a_place_of_its_own() {
        let places = Channel::ALL.into_iter().flat_map(|channel| {
            Priority::ALL.into_iter().map(move |priority| queue_index(channel, priority))
        });
        assert!(places.eq(0..QUEUES));
    }

    #[test]
    fn fewer_or_empty_addresses_are_no_nine_queues() {
        assert_eq!(parse_urls("a,b,c,d,e,f,g,h, i ").unwrap()[8], "i");
        for urls in ["", "a,b", "a,b,c,d,e,f,g,h,", "a,b,c,d,e,f,g,h,i,j"] {
            assert_eq!(parse_urls(urls), None, "{urls}");
        }
    }
}
