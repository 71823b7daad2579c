//! SNS as its Query protocol has it: one function per action, from parameters to XML.

mod params;
mod publishing;
pub(crate) mod subscriptions;
mod topics;
pub(crate) mod xml;

pub(crate) use params::Params;

use crate::engine::Queues;
use crate::error::{Code, Result, refuse};

/// Does what the action asks for, and gives what goes inside the result element.
pub(crate) fn answer(engine: &Queues, params: &Params) -> Result<String> {
    match params.text("Action").unwrap_or_default() {
        "CreateTopic" => topics::create(engine, params),
        "DeleteTopic" => topics::delete(engine, params),
        "ListTopics" => topics::list(engine, params),
        "GetTopicAttributes" => topics::attributes(engine, params),
        "SetTopicAttributes" => topics::set_attribute(engine, params),
        "Subscribe" => subscriptions::subscribe(engine, params),
        "Unsubscribe" => subscriptions::unsubscribe(engine, params),
        "ListSubscriptions" | "ListSubscriptionsByTopic" => subscriptions::list(engine, params),
        "GetSubscriptionAttributes" => subscriptions::attributes(engine, params),
        "SetSubscriptionAttributes" => subscriptions::set_attribute(engine, params),
        "Publish" => publishing::publish(engine, params),
        "PublishBatch" => publishing::publish_batch(engine, params),
        action => {
            let message = format!("The action {action} is not offered here.");
            Ok(refuse(Code::InvalidAction, message)?)
        }
    }
}
