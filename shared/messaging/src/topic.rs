//! A topic that tells of one kind of thing.

use std::marker::PhantomData;

use aws_sdk_sns::types::MessageAttributeValue;
use domain::{Failure, Message};

use crate::TRACEPARENT;
use crate::sending::{Unbuilt, group};

/// Where messages of the kind `M` are published.
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
    pub async fn publish(&self, message: &M, traceparent: &str) -> Result<(), Failure> {
        let failed = |e: Unbuilt| e.within(M::SENDING);
        let body = serde_json::to_string(message).map_err(|e| failed(Unbuilt::new(e)))?;
        let mut request = self.client.publish().topic_arn(&self.arn).message(body);
        request = request.set_message_group_id(message.group().and_then(|name| group(&name)));
        let mut attributes = message.attributes();
        attributes.push((TRACEPARENT, traceparent.to_owned()));
        for (name, value) in attributes {
            let value = MessageAttributeValue::builder().data_type("String").string_value(value);
            let value = value.build().map_err(|e| failed(Unbuilt::new(e)))?;
            request = request.message_attributes(name, value);
        }
        request.send().await.map_err(|cause| Failure::new(M::SENDING, cause))?;
        Ok(())
    }
}
