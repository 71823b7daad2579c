//! The actions on topics themselves.

use super::{Params, xml};
use crate::engine::Queues;
use crate::error::{Code, Refused, Result, refuse};
use crate::names;
use crate::settings::Attributes;

/// How many a list shows at a time.
const PAGE: usize = 100;

/// What can be set on a topic. All of it is kept and shown; none of it changes anything here.
const SETTABLE: [&str; 7] = [
    "DeliveryPolicy",
    "DisplayName",
    "KmsMasterKeyId",
    "Policy",
    "SignatureVersion",
    "TracingConfig",
    "DataProtectionPolicy",
];

pub(super) fn create(engine: &Queues, params: &Params) -> Result<String> {
    let (name, attributes) = (params.required("Name")?, params.attributes());
    attributes.keys().try_for_each(|attribute| check(attribute))?;
    engine.transact("create a topic", |tx| {
        match tx.find_topic(name)? {
            None => tx.put_topic(name, &attributes)?,
            Some(present) => {
                if attributes.iter().any(|(key, value)| present.get(key) != Some(value)) {
                    let message = "Invalid parameter: Attributes Reason: Topic already exists with \
                                   different attributes";
                    return Ok(refuse(Code::InvalidTopicParameter, message)?);
                }
            }
        }
        Ok(xml::element("TopicArn", &names::topic_arn(name)))
    })
}

fn check(attribute: &str) -> Result<(), Refused> {
    if matches!(attribute, "FifoTopic" | "ContentBasedDeduplication" | "FifoThroughputScope") {
        let message = "Invalid parameter: Attributes Reason: FIFO topics are not offered here.";
        return refuse(Code::InvalidTopicParameter, message);
    }
    if SETTABLE.contains(&attribute) || attribute.contains("Feedback") {
        return Ok(());
    }
    let message = format!("Invalid parameter: Attributes Reason: Unknown attribute {attribute}");
    refuse(Code::InvalidTopicParameter, message)
}

/// Deleting a topic that is gone is a success, as in SNS.
pub(super) fn delete(engine: &Queues, params: &Params) -> Result<String> {
    let arn = params.required("TopicArn")?;
    let Some(name) = names::topic_in_arn(arn) else {
        return Ok(refuse(Code::InvalidTopicParameter, "Invalid parameter: TopicArn")?);
    };
    engine.transact("delete a topic", |tx| tx.delete_topic(name))?;
    Ok(String::new())
}

pub(super) fn list(engine: &Queues, params: &Params) -> Result<String> {
    let (page, token) = page(engine.topic_arns()?, |arn| arn, params);
    let members = page.iter().map(|arn| xml::element("TopicArn", arn));
    Ok(xml::list("Topics", members) + &token)
}

/// One page of a list, and the element that leads to the next. The token is the key after which
/// the next page starts.
pub(super) fn page<T>(
    mut all: Vec<T>,
    key: impl Fn(&T) -> &String,
    params: &Params,
) -> (Vec<T>, String) {
    all.sort_by(|a, b| key(a).cmp(key(b)));
    if let Some(after) = params.text("NextToken") {
        all.retain(|one| key(one).as_str() > after);
    }
    let more = all.len() > PAGE;
    all.truncate(PAGE);
    let token = match all.last() {
        Some(last) if more => xml::element("NextToken", key(last)),
        _ => String::new(),
    };
    (all, token)
}

pub(super) fn attributes(engine: &Queues, params: &Params) -> Result<String> {
    let arn = params.required("TopicArn")?;
    engine.transact("read topic attributes", |tx| {
        let (name, mut attributes) = tx.topic(arn)?;
        let confirmed = tx.subscriptions(Some(name))?.len().to_string();
        let computed = [
            ("TopicArn", arn),
            ("Owner", names::ACCOUNT),
            ("SubscriptionsConfirmed", &confirmed),
            ("SubscriptionsPending", "0"),
            ("SubscriptionsDeleted", "0"),
        ];
        attributes.extend(computed.map(|(key, value)| (key.to_owned(), value.to_owned())));
        attributes.entry("DisplayName".into()).or_default();
        Ok(xml::map("Attributes", &attributes))
    })
}

pub(super) fn set_attribute(engine: &Queues, params: &Params) -> Result<String> {
    let (arn, key) = (params.required("TopicArn")?, params.required("AttributeName")?);
    check(key)?;
    engine.transact("set a topic attribute", |tx| {
        let (name, mut attributes): (_, Attributes) = tx.topic(arn)?;
        attributes.insert(key.into(), params.text("AttributeValue").unwrap_or_default().into());
        tx.put_topic(name, &attributes)?;
        Ok(String::new())
    })
}
