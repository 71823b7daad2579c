//! The actions on queues themselves.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::engine::{Queues, Tx};
use crate::error::{Code, Refused, Result, refuse};
use crate::names::{queue_arn, queue_in_url, queue_url};
use crate::settings::{self, Attributes};
use crate::store::queues::{Creation, Queue};

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Create {
    queue_name: String,
    attributes: Attributes,
    #[serde(rename = "tags")]
    tags: Attributes,
}

/// Names a queue by its URL and nothing else.
#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct ByUrl {
    queue_url: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct ByName {
    queue_name: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct List {
    queue_url: String,
    queue_name_prefix: String,
    max_results: Option<usize>,
    next_token: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct GetAttributes {
    queue_url: String,
    attribute_names: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct SetAttributes {
    queue_url: String,
    attributes: Attributes,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Tag {
    queue_url: String,
    tags: Attributes,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Untag {
    queue_url: String,
    tag_keys: Vec<String>,
}

pub(super) fn create(engine: &Queues, request: Create) -> Result<Value> {
    let Create { queue_name, attributes, tags } = request;
    engine.transact("create a queue", |tx| match tx.create_queue(&queue_name, &attributes)? {
        Creation::Differs(attribute) => {
            let message = format!(
                "A queue already exists with the same name and a different value for attribute \
                 {attribute}"
            );
            Ok(refuse(Code::QueueNameExists, message)?)
        }
        Creation::Created => {
            tx.replace_tags(&tx.queue(&queue_name)?, &tags)?;
            Ok(json!({"QueueUrl": queue_url(&queue_name)}))
        }
        Creation::Existed => Ok(json!({"QueueUrl": queue_url(&queue_name)})),
    })
}

pub(super) fn delete(engine: &Queues, request: &ByUrl) -> Result<Value> {
    engine.delete_queue(queue_in_url(&request.queue_url)?)?;
    Ok(json!({}))
}

pub(super) fn purge(engine: &Queues, request: &ByUrl) -> Result<Value> {
    engine.purge(queue_in_url(&request.queue_url)?)?;
    Ok(json!({}))
}

pub(super) fn url(engine: &Queues, request: &ByName) -> Result<Value> {
    engine.transact("find a queue", |tx| {
        Ok(json!({"QueueUrl": queue_url(&tx.queue(&request.queue_name)?.name)}))
    })
}

pub(super) fn list(engine: &Queues, request: &List) -> Result<Value> {
    let names = engine.queue_names()?.into_iter();
    page(
        names.filter(|name| name.starts_with(&request.queue_name_prefix)).collect(),
        "QueueUrls",
        request,
    )
}

pub(super) fn dead_letter_sources(engine: &Queues, request: &List) -> Result<Value> {
    let names = engine.transact("list dead letter sources", |tx| {
        let queue = tx.queue(queue_in_url(&request.queue_url)?)?;
        tx.dead_letter_sources(&queue.name)
    })?;
    page(names, "queueUrls", request)
}

/// One page of queue URLs. The token is the name after which the next page starts, so that queues
/// that come and go between two pages do no harm.
fn page(mut names: Vec<String>, key: &str, request: &List) -> Result<Value> {
    let max = request.max_results.unwrap_or(1_000);
    if !(1..=1_000).contains(&max) {
        let message = "Value for parameter MaxResults is invalid. Reason: Must be an integer from \
                       1 to 1000.";
        return Ok(refuse(Code::InvalidParameterValue, message)?);
    }
    if let Some(after) = &request.next_token {
        names.retain(|name| name > after);
    }
    let more = names.len() > max;
    names.truncate(max);
    let urls: Vec<String> = names.iter().map(|name| queue_url(name)).collect();
    let mut page = Map::from_iter([(key.to_owned(), json!(urls))]);
    if more && let Some(last) = names.last() {
        page.insert("NextToken".into(), json!(last));
    }
    Ok(Value::Object(page))
}

pub(super) fn attributes(engine: &Queues, request: &GetAttributes) -> Result<Value> {
    if let Some(unknown) = request.attribute_names.iter().find(|name| !settings::is_known(name)) {
        return Ok(refuse(Code::InvalidAttributeName, format!("Unknown Attribute {unknown}."))?);
    }
    engine.transact("read queue attributes", |tx| {
        let queue = tx.queue(queue_in_url(&request.queue_url)?)?;
        let all = request.attribute_names.iter().any(|name| name == "All");
        let mut attributes = all_attributes(tx, &queue)?;
        attributes.retain(|name, _| all || request.attribute_names.contains(name));
        Ok(if attributes.is_empty() { json!({}) } else { json!({"Attributes": attributes}) })
    })
}

fn all_attributes(tx: &Tx<'_>, queue: &Queue) -> Result<Attributes> {
    let depth = tx.depth(queue)?;
    let computed = [
        depth.visible.to_string(),
        depth.delayed.to_string(),
        depth.in_flight.to_string(),
        (queue.created_at / 1_000).to_string(),
        (queue.modified_at / 1_000).to_string(),
        queue_arn(&queue.name),
    ];
    let names = settings::COMPUTED.map(str::to_owned);
    let mut attributes = settings::effective(&queue.attributes);
    attributes.extend(names.into_iter().zip(computed));
    Ok(attributes)
}

pub(super) fn set_attributes(engine: &Queues, request: SetAttributes) -> Result<Value> {
    engine.transact("set queue attributes", |tx| {
        let queue = tx.queue(queue_in_url(&request.queue_url)?)?;
        let mut attributes = queue.attributes.clone();
        attributes.extend(request.attributes);
        tx.replace_attributes(&queue, &attributes)?;
        Ok(json!({}))
    })
}

pub(super) fn tag(engine: &Queues, request: Tag) -> Result<Value> {
    engine.transact("tag a queue", |tx| {
        let queue = tx.queue(queue_in_url(&request.queue_url)?)?;
        let mut tags = tx.tags(&queue)?;
        tags.extend(request.tags);
        if tags.len() > 50 {
            let message = "Too many tags added for queue. At most 50 are allowed.";
            return Err(Refused::new(Code::InvalidParameterValue, message).into());
        }
        tx.replace_tags(&queue, &tags)?;
        Ok(json!({}))
    })
}

pub(super) fn untag(engine: &Queues, request: &Untag) -> Result<Value> {
    engine.transact("untag a queue", |tx| {
        let queue = tx.queue(queue_in_url(&request.queue_url)?)?;
        let mut tags = tx.tags(&queue)?;
        tags.retain(|key, _| !request.tag_keys.contains(key));
        tx.replace_tags(&queue, &tags)?;
        Ok(json!({}))
    })
}

pub(super) fn tags(engine: &Queues, request: &ByUrl) -> Result<Value> {
    engine.transact("read the tags of a queue", |tx| {
        let tags = tx.tags(&tx.queue(queue_in_url(&request.queue_url)?)?)?;
        Ok(if tags.is_empty() { json!({}) } else { json!({"Tags": tags}) })
    })
}
