//! The actions that move dead letters. A move is over by the time it is acknowledged, so there is
//! never one to cancel.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::engine::{Queues, Tx};
use crate::error::{Code, Refused, Result, refuse};
use crate::names::queue_in_arn;
use crate::store::moves::Move;
use crate::store::queues::Queue;

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Start {
    source_arn: String,
    destination_arn: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct List {
    source_arn: String,
    max_results: Option<i64>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Cancel {
    task_handle: String,
}

pub(super) fn start(engine: &Queues, request: &Start) -> Result<Value> {
    engine.transact("move messages", |tx| {
        let source = by_arn(tx, &request.source_arn)?;
        if tx.dead_letter_sources(&source.name)?.is_empty() {
            let message = "Source queue must be configured as a Dead Letter Queue.";
            return Ok(refuse(Code::InvalidParameterValue, message)?);
        }
        let destination =
            request.destination_arn.as_deref().map(|arn| by_arn(tx, arn)).transpose()?;
        let handle = tx.move_messages(&source, destination.as_ref())?;
        Ok(json!({"TaskHandle": handle}))
    })
}

fn by_arn(tx: &Tx<'_>, arn: &str) -> Result<Queue> {
    let queue = match queue_in_arn(arn) {
        Some(name) => tx.find_queue(name)?,
        None => None,
    };
    queue.ok_or_else(|| {
        let message = "The resource that you specified doesn't exist.";
        Refused::new(Code::ResourceNotFound, message).into()
    })
}

pub(super) fn list(engine: &Queues, request: &List) -> Result<Value> {
    engine.transact("list moves", |tx| {
        by_arn(tx, &request.source_arn)?;
        let moves = tx.moves(&request.source_arn, request.max_results.unwrap_or(1).clamp(1, 10))?;
        Ok(json!({"Results": moves.iter().map(show).collect::<Vec<_>>()}))
    })
}

fn show(task: &Move) -> Value {
    let mut shown = Map::new();
    shown.insert("SourceArn".into(), json!(task.source));
    shown.insert("StartedTimestamp".into(), json!(task.started_at));
    shown.insert("ApproximateNumberOfMessagesMoved".into(), json!(task.moved));
    shown.insert("ApproximateNumberOfMessagesToMove".into(), json!(task.found));
    if let Some(destination) = &task.destination {
        shown.insert("DestinationArn".into(), json!(destination));
    }
    if task.moved == task.found {
        shown.insert("Status".into(), json!("COMPLETED"));
    } else {
        shown.insert("Status".into(), json!("FAILED"));
        shown.insert("FailureReason".into(), json!("CouldNotDetermineMessageSource"));
    }
    Value::Object(shown)
}

pub(super) fn cancel(request: &Cancel) -> Result<Value> {
    let message = format!("No task with the handle \"{}\" is running.", request.task_handle);
    Ok(refuse(Code::ResourceNotFound, message)?)
}
