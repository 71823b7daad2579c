//! A topic of one type of message.

use std::marker::PhantomData;

use aws_sdk_sns::types::MessageAttributeValue;
use domain::{Failure, Message, Result};

use crate::TRACEPARENT;
use crate::send::{BuildError, group_id};

/// Where messages of type `M` are published.
#[derive(Debug, Clone)]
pub struct Topic<M> {
    client: aws_sdk_sns::Client,
    arn: String,
    messages: PhantomData<fn(M)>,
}

impl<M: Message> Topic<M> {
    /// Publishes to `arn`.
    pub fn new(client: aws_sdk_sns::Client, arn: impl Into<String>) -> Self {
        Self { client, arn: arn.into(), messages: PhantomData }
    }

    /// Publishes a message; subscriptions filter by its attributes.
    pub async fn publish(&self, message: &M, traceparent: &str) -> Result {
        let failed = |e: BuildError| e.within(M::SEND_ACTION);
        let body = serde_json::to_string(message).map_err(|e| failed(BuildError::new(e)))?;
        let mut request = self.client.publish().topic_arn(&self.arn).message(body);
        request = request.set_message_group_id(message.group().and_then(|name| group_id(&name)));
        let mut attributes = message.attributes();
        attributes.push((TRACEPARENT, traceparent.to_owned()));
        for (name, value) in attributes {
            let value = MessageAttributeValue::builder().data_type("String").string_value(value);
            let value = value.build().map_err(|e| failed(BuildError::new(e)))?;
            request = request.message_attributes(name, value);
        }
        request.send().await.map_err(|cause| Failure::new(M::SEND_ACTION, cause))?;
        Ok(())
    }
}
