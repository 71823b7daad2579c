//! SQS as its JSON 1.0 protocol has it: one function per action, from parameters to a result.

pub(crate) mod batches;
mod messages;
mod moves;
mod queues;
mod receive;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::engine::Queues;
use crate::error::{Code, Refused, Result, refuse};

/// Does what the action asks for.
pub(crate) async fn answer(engine: &Queues, action: &str, body: &[u8]) -> Result<Value> {
    match action {
        "ReceiveMessage" => receive::receive(engine, read(body)?).await,
        "SendMessage" => messages::send(engine, read(body)?),
        "DeleteMessage" => messages::delete(engine, &read(body)?),
        "ChangeMessageVisibility" => messages::change_visibility(engine, &read(body)?),
        "SendMessageBatch" => batches::send(engine, read(body)?),
        "DeleteMessageBatch" => batches::delete(engine, read(body)?),
        "ChangeMessageVisibilityBatch" => batches::change_visibility(engine, read(body)?),
        "CreateQueue" => queues::create(engine, read(body)?),
        "DeleteQueue" => queues::delete(engine, &read(body)?),
        "GetQueueUrl" => queues::url(engine, &read(body)?),
        "ListQueues" => queues::list(engine, &read(body)?),
        "GetQueueAttributes" => queues::attributes(engine, &read(body)?),
        "SetQueueAttributes" => queues::set_attributes(engine, read(body)?),
        "PurgeQueue" => queues::purge(engine, &read(body)?),
        "ListDeadLetterSourceQueues" => queues::dead_letter_sources(engine, &read(body)?),
        "TagQueue" => queues::tag(engine, read(body)?),
        "UntagQueue" => queues::untag(engine, &read(body)?),
        "ListQueueTags" => queues::tags(engine, &read(body)?),
        "StartMessageMoveTask" => moves::start(engine, &read(body)?),
        "ListMessageMoveTasks" => moves::list(engine, &read(body)?),
        "CancelMessageMoveTask" => moves::cancel(&read(body)?),
        _ => Ok(refuse(Code::InvalidAction, format!("The action {action} is not offered here."))?),
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refused> {
    let body = if body.is_empty() { b"{}" } else { body };
    serde_json::from_slice(body)
        .map_err(|error| Refused::new(Code::SerializationException, error.to_string()))
}
