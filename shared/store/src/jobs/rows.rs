//! Jobs as rows.

use aws_sdk_dynamodb::types::AttributeValue;
use domain::Failure;
use domain::jobs::{Job, JobId, Priority, Record, Status, TypeName};
use serde::Serialize;

use crate::row::{Builder, Item, key, number, text};
use crate::schema::{EXPIRES, GSI1_PK, GSI1_SK, GSI2_PK, GSI2_SK, GSI3_PK, GSI3_SK, PK, SK};

/// How long what has ended, and its trail, are kept.
const KEPT_SECONDS: i64 = 90 * 86_400;

/// Over how many lists the index of everything is spread: a list takes 1,000 writes a second.
pub(super) const LISTS: u8 = 4;

pub(super) fn job_pk(id: &JobId) -> String {
    format!("job#{}", id.as_str())
}

pub(super) fn job_key(id: &JobId) -> Item {
    key(&job_pk(id), "job")
}

pub(super) fn payload_key(id: &JobId) -> Item {
    key(&job_pk(id), "payload")
}

pub(super) fn event_sk(version: u64) -> String {
    format!("event#{version:08}")
}

pub(super) fn child_sk(child: &JobId) -> String {
    format!("child#{}", child.as_str())
}

pub(super) fn licence_pk(kind: &TypeName, shard: u8) -> String {
    format!("licence#{}#{shard}", kind.as_str())
}

pub(super) fn holder_sk(id: &JobId) -> String {
    format!("holder#{}", id.as_str())
}

pub(super) fn owner_list(owner: &str) -> String {
    format!("owner#{owner}")
}

pub(super) fn everyones_list(list: u8) -> String {
    format!("jobs#{list}")
}

pub(super) fn queue_of(kind: &TypeName, priority: Priority) -> String {
    format!("queued#{}#{}", kind.as_str(), priority.name())
}

/// Sorts by time; whatever follows a time comes after everything before it.
pub(super) fn moment(at: domain::Timestamp) -> String {
    format!("{:013}", at.as_millisecond().max(0))
}

/// A job with its places in the indexes.
pub(super) fn job(job: &Job) -> Result<Item, Failure> {
    let mut item = plain(job)?;
    item.extend(job_key(&job.id));
    item.insert(GSI1_PK.to_owned(), text(owner_list(job.owner.as_str())));
    item.insert(GSI1_SK.to_owned(), text(job.id.as_str()));
    item.insert(GSI3_PK.to_owned(), text(everyones_list(job.id.lot(LISTS))));
    item.insert(GSI3_SK.to_owned(), text(job.id.as_str()));
    let lot = job.id.lot(LISTS);
    let work = match job.status {
        Status::Queued => Some((queue_of(&job.kind, job.priority), job.ready_at)),
        Status::Waiting => Some((format!("waiting#{lot}"), job.created_at)),
        Status::Completed | Status::Failed | Status::Cancelled if !job.settled => {
            Some((format!("ended#{lot}"), job.ended_at.unwrap_or(job.created_at)))
        }
        Status::Assigned
        | Status::Running
        | Status::Completed
        | Status::Failed
        | Status::Cancelled => None,
    };
    if let Some((list, at)) = work {
        item.insert(GSI2_PK.to_owned(), text(list));
        item.insert(GSI2_SK.to_owned(), text(format!("{}#{}", moment(at), job.id.as_str())));
    }
    if let Some(ended_at) = job.ended_at {
        item.insert(EXPIRES.to_owned(), number(ended_at.as_second() + KEPT_SECONDS));
    }
    Ok(item)
}

pub(super) fn record(id: &JobId, record: &Record) -> Result<Item, Failure> {
    let mut item = plain(record)?;
    item.extend(key(&job_pk(id), &event_sk(record.version)));
    item.insert(EXPIRES.to_owned(), number(record.at.as_second() + KEPT_SECONDS));
    Ok(item)
}

pub(super) fn payload(job: &Job, payload: &str) -> Item {
    let begins = job.ready_at.as_second();
    Builder::keyed(&job_pk(&job.id), "payload")
        .with("payload", text(payload))
        // A month more than its job: a row must not outlive what it is for, nor the other way round.
        .with(EXPIRES, number(begins + KEPT_SECONDS + 30 * 86_400))
        .build()
}

/// The attributes of a value, by their names in the domain.
fn plain(value: &impl Serialize) -> Result<Item, Failure> {
    let item: std::collections::HashMap<String, AttributeValue> =
        serde_dynamo::to_item(value).map_err(|cause| Failure::new("write a row", cause))?;
    Ok(item)
}

pub(super) fn read_job(item: &Item) -> Result<Job, Failure> {
    read(item)
}

pub(super) fn read_record(item: &Item) -> Result<Record, Failure> {
    read(item)
}

fn read<T: serde::de::DeserializeOwned>(item: &Item) -> Result<T, Failure> {
    serde_dynamo::from_item(item.clone()).map_err(|cause| Failure::new("read a stored row", cause))
}

/// The id in a row's key.
pub(super) fn id_of(item: &Item, attribute: &str, prefix: &str) -> Option<JobId> {
    let text = item.get(attribute)?.as_s().ok()?;
    JobId::parse(text.strip_prefix(prefix)?)
}

/// The job that a row of it names.
pub(super) fn own_id(item: &Item) -> Option<JobId> {
    id_of(item, PK, "job#")
}

/// The child that an edge names.
pub(super) fn child_of(item: &Item) -> Option<JobId> {
    id_of(item, SK, "child#")
}
