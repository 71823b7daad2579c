//! The actions on up to ten messages at once: each entry succeeds or is refused on its own.

use serde::Deserialize;
use serde_json::{Value, json};

use super::messages::{self, ChangeVisibilityItem, DeleteItem, SendItem};
use crate::engine::{Queues, Tx};
use crate::error::{Code, Error, Refused, Result, refuse};
use crate::message::NewMessage;
use crate::names::{is_plain, queue_in_url};
use crate::store::queues::Queue;
use crate::wire::sqs_names;

/// What all messages of a batch may weigh together.
const MAX_SIZE: usize = 1_048_576;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Batch<T> {
    #[serde(default)]
    queue_url: String,
    #[serde(default = "Vec::new")]
    entries: Vec<Entry<T>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Entry<T> {
    #[serde(default)]
    id: String,
    #[serde(flatten)]
    item: T,
}

pub(super) fn send(engine: &Queues, batch: Batch<SendItem>) -> Result<Value> {
    let ids: Vec<&str> = batch.entries.iter().map(|entry| entry.id.as_str()).collect();
    check_ids(&ids)?;
    let Batch { queue_url, entries } = batch;
    let entries: Vec<_> =
        entries.into_iter().map(|entry| (entry.id, entry.item.into_message())).collect();
    let weight: usize = entries.iter().flat_map(|(_, message)| message).map(NewMessage::size).sum();
    if weight > MAX_SIZE {
        let message = format!(
            "Batch requests cannot be longer than {MAX_SIZE} bytes. You have sent {weight} bytes."
        );
        return Ok(refuse(Code::BatchRequestTooLong, message)?);
    }
    each(engine, "send a batch", &queue_url, entries, |tx, queue, message| {
        messages::send_one(tx, queue, &message?)
    })
}

pub(super) fn delete(engine: &Queues, batch: Batch<DeleteItem>) -> Result<Value> {
    let (queue_url, entries) = batch.checked()?;
    each(engine, "delete a batch", &queue_url, entries, |tx, queue, item| {
        messages::delete_one(tx, queue, &item)
    })
}

pub(super) fn change_visibility(
    engine: &Queues,
    batch: Batch<ChangeVisibilityItem>,
) -> Result<Value> {
    let (queue_url, entries) = batch.checked()?;
    each(engine, "change visibility timeouts", &queue_url, entries, |tx, queue, item| {
        messages::change_one(tx, queue, &item)
    })
}

impl<T> Batch<T> {
    fn checked(self) -> Result<(String, Vec<(String, T)>), Refused> {
        let ids: Vec<&str> = self.entries.iter().map(|entry| entry.id.as_str()).collect();
        check_ids(&ids)?;
        let entries = self.entries.into_iter().map(|entry| (entry.id, entry.item)).collect();
        Ok((self.queue_url, entries))
    }
}

/// Refuses a batch as a whole when its entries cannot be told apart or are too few or too many.
pub(crate) fn check_ids(ids: &[&str]) -> Result<(), Refused> {
    if ids.is_empty() {
        return refuse(Code::EmptyBatchRequest, "There should be at least one entry in the batch.");
    }
    if ids.len() > 10 {
        let message =
            format!("Maximum number of entries per request are 10. You have sent {}.", ids.len());
        return refuse(Code::TooManyEntriesInBatchRequest, message);
    }
    if ids.iter().any(|id| !is_plain(id, 80)) {
        let message = "A batch entry id can only contain alphanumeric characters, hyphens and \
                       underscores. It can be at most 80 letters long.";
        return refuse(Code::InvalidBatchEntryId, message);
    }
    match ids.iter().enumerate().find(|(at, id)| ids[..*at].contains(id)) {
        Some((_, id)) => refuse(Code::BatchEntryIdsNotDistinct, format!("Id {id} repeated.")),
        None => Ok(()),
    }
}

/// Does the same for every entry in one transaction. A refused entry has changed nothing and is
/// reported; a failure undoes the whole batch.
fn each<T>(
    engine: &Queues,
    action: &'static str,
    queue_url: &str,
    entries: Vec<(String, T)>,
    mut act: impl FnMut(&Tx<'_>, &Queue, T) -> Result<Value>,
) -> Result<Value> {
    engine.transact(action, |tx| {
        let queue = tx.queue(queue_in_url(queue_url)?)?;
        let (mut successful, mut failed) = (Vec::new(), Vec::new());
        for (id, item) in entries {
            match act(tx, &queue, item) {
                Ok(mut done) => {
                    done["Id"] = json!(id);
                    successful.push(done);
                }
                Err(Error::Refused(Refused { code, message })) => failed.push(json!({
                    "Id": id, "Code": sqs_names(code).1, "Message": message, "SenderFault": true,
                })),
                Err(failure @ Error::Failed(_)) => return Err(failure),
            }
        }
        Ok(json!({"Successful": successful, "Failed": failed}))
    })
}
