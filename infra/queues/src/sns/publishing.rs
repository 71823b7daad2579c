//! The actions that publish, one message or up to ten.

use serde_json::Value;

use super::{Params, xml};
use crate::engine::Queues;
use crate::error::{Code, Error, Refused, Result, refuse};
use crate::fanout::Publication;
use crate::sqs::batches::check_ids;
use crate::wire::sns_name;

pub(super) fn publish(engine: &Queues, params: &Params) -> Result<String> {
    let arn = params.text("TopicArn").or(params.text("TargetArn"));
    let Some(arn) = arn else {
        let message = "Invalid parameter: TopicArn is required; phones and devices are not offered \
                       here";
        return Ok(refuse(Code::InvalidTopicParameter, message)?);
    };
    let id = engine.publish(arn, &read(params)?)?;
    Ok(xml::element("MessageId", &id))
}

/// Publishes every entry that can be published, all in one transaction.
pub(super) fn publish_batch(engine: &Queues, params: &Params) -> Result<String> {
    let arn = params.required("TopicArn")?;
    let entries = params.list("PublishBatchRequestEntries.member");
    let ids: Vec<&str> = entries.iter().map(|entry| entry.text("Id").unwrap_or_default()).collect();
    check_ids(&ids)?;
    engine.transact("publish a batch", |tx| {
        tx.topic(arn)?;
        let (mut successful, mut failed) = (Vec::new(), Vec::new());
        for (id, entry) in ids.iter().zip(&entries) {
            let published = read(entry).map_err(Error::from).and_then(|p| tx.publish(arn, &p));
            match published {
                Ok(message_id) => {
                    let message_id = xml::element("MessageId", &message_id);
                    successful.push(xml::element("Id", id) + &message_id);
                }
                Err(Error::Refused(refused)) => failed.push(show_refusal(id, &refused)),
                Err(failure @ Error::Failed(_)) => return Err(failure),
            }
        }
        Ok(xml::list("Successful", successful) + &xml::list("Failed", failed))
    })
}

fn show_refusal(id: &str, refused: &Refused) -> String {
    [
        ("Id", id),
        ("Code", sns_name(refused.code)),
        ("Message", &refused.message),
        ("SenderFault", "true"),
    ]
    .map(|(name, text)| xml::element(name, text))
    .concat()
}

fn read(params: &Params) -> Result<Publication, Refused> {
    if params.text("MessageDeduplicationId").is_some() {
        let message = "Invalid parameter: MessageDeduplicationId Reason: FIFO topics are not \
                       offered here";
        return refuse(Code::InvalidTopicParameter, message);
    }
    let message = params.text("Message").unwrap_or_default();
    let message = match params.text("MessageStructure") {
        Some("json") => for_queues(message)?,
        _ => message.to_owned(),
    };
    Ok(Publication {
        message,
        subject: params.text("Subject").map(Into::into),
        attributes: params.message_attributes()?,
        group: params.text("MessageGroupId").map(Into::into),
    })
}

/// Of a message with one text per protocol, the text for queues.
fn for_queues(message: &str) -> Result<String, Refused> {
    let texts: Option<Value> = serde_json::from_str(message).ok();
    let text = |key| texts.as_ref().and_then(|texts| texts.get(key)?.as_str());
    match (text("default"), text("sqs")) {
        (Some(_), Some(text)) | (Some(text), None) => Ok(text.to_owned()),
        (None, _) => {
            let message = "Invalid parameter: Message Structure - No default entry in JSON message \
                           body";
            refuse(Code::InvalidTopicParameter, message)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_per_protocol_gives_queues_theirs_or_the_default() {
        assert_eq!(for_queues(r#"{"default": "d", "sqs": "s"}"#).unwrap(), "s");
        assert_eq!(for_queues(r#"{"default": "d"}"#).unwrap(), "d");
        assert!(for_queues(r#"{"sqs": "s"}"#).is_err());
        assert!(for_queues("text").is_err());
    }
}
