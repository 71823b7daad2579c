//! IAM, as far as the template writes it: a function may call what its statements allow.
//!
//! Enforced under every function that runs in process, so that a missing permission fails a test
//! and not a deployment; what was used is remembered, so that a needless one can be found too.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request};
use parking_lot::Mutex;
use serde_json::Value;
use template::{Effect, Statement};

use crate::services::{Service, operation_of, phone_number, service_of};
use crate::websocket::{Address, address_of};

/// An action on a resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// Like `dynamodb:PutItem`.
    pub action: String,
    /// The resource's ARN.
    pub resource: String,
}

/// What one function may do, and what it did.
#[derive(Debug, Clone)]
pub struct Policy {
    statements: Arc<Vec<Statement>>,
    used: Arc<Mutex<BTreeSet<Use>>>,
}

impl Policy {
    /// The policy with these statements.
    pub fn new(statements: Vec<Statement>) -> Self {
        Self { statements: Arc::new(statements), used: Arc::default() }
    }

    /// Everything that was done so far.
    pub fn used(&self) -> BTreeSet<Use> {
        self.used.lock().clone()
    }

    /// The first thing about a request that is not allowed, if there is one.
    pub(crate) fn denies(&self, request: &Request<Bytes>) -> Option<Use> {
        for wanted in uses_of(request) {
            if self.forbids(&wanted) {
                return Some(wanted);
            }
            let allowing = self.statements.iter().filter(|statement| {
                statement.effect == Effect::Allow && statement.actions.contains(&wanted.action)
            });
            let mut resources = allowing.flat_map(|statement| &statement.resources);
            let Some(resource) = resources.find(|stated| covers(stated, &wanted.resource)) else {
                return Some(wanted);
            };
            let used = Use { resource: resource.clone(), ..wanted };
            self.used.lock().insert(used);
        }
        None
    }

    /// Whether a statement forbids it, whatever others allow.
    fn forbids(&self, wanted: &Use) -> bool {
        let mut denying = self.statements.iter().filter(|statement| {
            statement.effect == Effect::Deny && statement.actions.contains(&wanted.action)
        });
        denying.any(|statement| statement.resources.iter().any(|it| covers(it, &wanted.resource)))
    }
}

/// The actions that a request needs, by the rules of each service.
fn uses_of(request: &Request<Bytes>) -> Vec<Use> {
    let operation = operation_of(request);
    match service_of(request) {
        Service::DynamoDb => {
            let body: Value = serde_json::from_slice(request.body()).unwrap_or_default();
            dynamodb(operation, &body)
        }
        Service::Sqs => {
            let body: Value = serde_json::from_slice(request.body()).unwrap_or_default();
            let url = body["QueueUrl"].as_str().unwrap_or_default();
            let name = url.rsplit('/').next().unwrap_or_default();
            vec![Use {
                action: format!("sqs:{}", operation.trim_end_matches("Batch")),
                resource: queues::queue_arn(name),
            }]
        }
        Service::Sns => {
            let form = form_urlencoded::parse(request.body());
            let topic = form.into_iter().find(|(name, _)| name == "TopicArn");
            // A telephone has no ARN; IAM knows it by its number.
            let resource = topic.map(|(_, arn)| arn.into_owned()).or_else(|| phone_number(request));
            vec![Use {
                action: format!("sns:{}", operation.trim_end_matches("Batch")),
                resource: resource.unwrap_or_default(),
            }]
        }
        Service::Ses => ses(operation, request),
        Service::Connections => connections(request).into_iter().collect(),
        Service::S3 => vec![s3(request)],
    }
}

/// A resource as a statement names it: a `*` in it stands for anything.
fn covers(stated: &str, wanted: &str) -> bool {
    let mut parts = stated.split('*');
    let Some(rest) = parts.next().and_then(|start| wanted.strip_prefix(start)) else {
        return false;
    };
    let Some(end) = parts.next_back() else { return rest.is_empty() };
    let mut rest = rest;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(end)
}

/// What sending a mail needs: the right to send as somebody, and to use a configuration set.
fn ses(operation: &str, request: &Request<Bytes>) -> Vec<Use> {
    let body: Value = serde_json::from_slice(request.body()).unwrap_or_default();
    let from = body["FromEmailAddress"].as_str().unwrap_or_default();
    let domain = from.rsplit('@').next().unwrap_or_default().trim_end_matches('>');
    let named = |kind: &str, name: &str| Use {
        action: format!("ses:{operation}"),
        resource: format!("arn:aws:ses:{}:{}:{kind}/{name}", template::REGION, template::ACCOUNT),
    };
    let set = body["ConfigurationSetName"].as_str().map(|set| named("configuration-set", set));
    [named("identity", domain)].into_iter().chain(set).collect()
}

/// What reaching a connection needs; the API is in the name of the host.
fn connections(request: &Request<Bytes>) -> Option<Use> {
    let Address { api, stage, connection } = address_of(request)?;
    let resource = format!(
        "arn:aws:execute-api:{}:{}:{}/{stage}/{}/@connections/{connection}",
        template::REGION,
        template::ACCOUNT,
        api.unwrap_or_default(),
        request.method(),
    );
    Some(Use { action: "execute-api:ManageConnections".to_owned(), resource })
}

/// What a request for an object needs; the path is the bucket and the key.
fn s3(request: &Request<Bytes>) -> Use {
    let action = match *request.method() {
        Method::PUT => "s3:PutObject",
        Method::DELETE => "s3:DeleteObject",
        _ => "s3:GetObject",
    };
    let path = request.uri().path().trim_start_matches('/');
    Use { action: action.to_owned(), resource: format!("arn:aws:s3:::{path}") }
}

fn dynamodb(operation: &str, body: &Value) -> Vec<Use> {
    let arn = |name: &str| {
        format!("arn:aws:dynamodb:{}:{}:table/{name}", template::REGION, template::ACCOUNT)
    };
    let table = |request: &Value| arn(request["TableName"].as_str().unwrap_or_default());
    // Batches name their tables as keys.
    if let Some(tables) = body["RequestItems"].as_object() {
        let action = format!("dynamodb:{operation}");
        return tables
            .keys()
            .map(|name| Use { action: action.clone(), resource: arn(name) })
            .collect();
    }
    let items = body["TransactItems"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !items.is_empty() {
        return items
            .iter()
            .filter_map(|item| item.as_object()?.iter().find(|(_, request)| !request.is_null()))
            .map(|(kind, request)| {
                let action = match kind.as_str() {
                    "ConditionCheck" => "dynamodb:ConditionCheckItem".to_owned(),
                    kind => format!("dynamodb:{kind}Item"),
                };
                Use { action, resource: table(request) }
            })
            .collect();
    }
    let index = body["IndexName"].as_str().map(|name| format!("/index/{name}"));
    vec![Use {
        action: format!("dynamodb:{operation}"),
        resource: table(body) + &index.unwrap_or_default(),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything_and_nothing_else_does() {
        for (stated, wanted, does) in [
            ("arn:aws:sqs:r:1:q", "arn:aws:sqs:r:1:q", true),
            ("arn:aws:sqs:r:1:q", "arn:aws:sqs:r:1:q2", false),
            ("arn:aws:s3:::b/clicks/*", "arn:aws:s3:::b/clicks/1", true),
            ("arn:aws:s3:::b/clicks/*", "arn:aws:s3:::b/other/1", false),
            ("*", "+15551234567", true),
            ("arn:aws:sns:*:*:*", "arn:aws:sns:us-east-1:1:topic", true),
            ("arn:aws:sns:*:*:*", "+15551234567", false),
            ("a*b", "ab", true),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(covers(stated, wanted), does, "{stated} {wanted}");
        }
    }
}
