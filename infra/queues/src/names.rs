//! Queue URLs and the ARNs of queues and topics: how they are written and how they are read.

use crate::error::{Code, Refused, refuse};

/// The account that owns everything here.
pub const ACCOUNT: &str = "000000000000";
/// The region that everything here is in.
pub const REGION: &str = "us-east-1";

/// The URL under which SDKs address a queue.
pub fn queue_url(name: &str) -> String {
    format!("http://sqs.{REGION}.localhost/{ACCOUNT}/{name}")
}

/// The ARN of a queue.
pub fn queue_arn(name: &str) -> String {
    format!("arn:aws:sqs:{REGION}:{ACCOUNT}:{name}")
}

/// The ARN of a topic.
pub fn topic_arn(name: &str) -> String {
    format!("arn:aws:sns:{REGION}:{ACCOUNT}:{name}")
}

/// The queue that a URL names under any host: callers reach the cloud under several.
pub(crate) fn queue_in_url(url: &str) -> Result<&str, Refused> {
    match url.trim_end_matches('/').rsplit('/').next() {
        Some(name) if !name.is_empty() => Ok(name),
        _ => refuse(Code::MissingParameter, "The request must contain the parameter QueueUrl."),
    }
}

/// The queue that an ARN names, if it is the ARN of a queue.
pub(crate) fn queue_in_arn(arn: &str) -> Option<&str> {
    last_part(arn, "sqs")
}

/// The topic that an ARN names, if it is the ARN of a topic.
pub(crate) fn topic_in_arn(arn: &str) -> Option<&str> {
    last_part(arn, "sns")
}

fn last_part<'a>(arn: &'a str, service: &str) -> Option<&'a str> {
    let mut parts = arn.split(':');
    let is_arn = parts.next() == Some("arn") && parts.next().is_some();
    let is_service = parts.next() == Some(service);
    let name = parts.nth(2)?;
    (is_arn && is_service && parts.next().is_none() && !name.is_empty()).then_some(name)
}

/// Refuses a name that SQS would refuse, and FIFO queues, which are not offered here.
pub(crate) fn check_queue_name(name: &str) -> Result<(), Refused> {
    if is_fifo(name) {
        return refuse(Code::UnsupportedOperation, "FIFO queues are not offered here.");
    }
    if is_plain(name, 80) {
        return Ok(());
    }
    refuse(
        Code::InvalidParameterValue,
        "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length",
    )
}

/// Refuses a name that SNS would refuse, and FIFO topics, which are not offered here.
pub(crate) fn check_topic_name(name: &str) -> Result<(), Refused> {
    if is_fifo(name) {
        let message = "Invalid parameter: Name Reason: FIFO topics are not offered here.";
        return refuse(Code::InvalidTopicParameter, message);
    }
    if is_plain(name, 256) {
        return Ok(());
    }
    refuse(Code::InvalidTopicParameter, "Invalid parameter: Topic Name")
}

/// FIFO queues and topics must have this ending, and no others may.
fn is_fifo(name: &str) -> bool {
    name.strip_suffix(".fifo").is_some()
}

/// Letters, digits, hyphens and underscores only, and between one and `longest` of them.
pub(crate) fn is_plain(text: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_the_last_segment_of_any_url() {
        for url in ["http://h/0/jobs", "https://other:4566/0/jobs/", "jobs", &queue_url("jobs")] {
            assert_eq!(queue_in_url(url), Ok("jobs"), "{url}");
        }
        assert!(queue_in_url("").is_err());
    }

    #[test]
    fn an_arn_names_a_queue_only_when_it_is_a_queue_arn() {
        assert_eq!(queue_in_arn(&queue_arn("jobs")), Some("jobs"));
        for arn in [topic_arn("jobs").as_str(), "arn:aws:sqs:r:a", "arn:aws:sqs:r:a:", "jobs"] {
            assert_eq!(queue_in_arn(arn), None, "{arn}");
        }
        assert_eq!(topic_in_arn(&topic_arn("news")), Some("news"));
        assert_eq!(topic_in_arn(&format!("{}:sub", topic_arn("news"))), None);
    }

    #[test]
    fn names_that_aws_refuses_are_refused() {
        assert!(check_queue_name("jobs_1-a").is_ok());
        for name in ["", "a b", "a/b", &"x".repeat(81), "jobs.fifo"] {
            assert!(check_queue_name(name).is_err(), "{name}");
        }
        assert!(check_topic_name("news").is_ok());
        assert!(check_topic_name("news.fifo").is_err());
    }
}
