//! IAM, as far as the template writes it: a function may call what its statements allow.
//!
//! Enforced under every function that runs in process, so that a missing permission fails a test
//! and not a deployment; permissions in use are recorded, so that a needless one can be found too.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request};
use parking_lot::Mutex;
use serde_json::Value;
use template::{Effect, Statement};

use crate::services::{Service, operation_of, phone_number, service_of};
use crate::websocket::{ConnectionAddress, connection_address};

/// An action on a resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Permission {
    /// Like `dynamodb:PutItem`.
    pub action: String,
    /// The resource's ARN.
    pub resource: String,
}

/// What one function may do, and what it did.
#[derive(Debug, Clone)]
pub struct RolePolicy {
    statements: Arc<Vec<Statement>>,
    used: Arc<Mutex<BTreeSet<Permission>>>,
}

impl RolePolicy {
    /// The policy with these statements.
    pub fn new(statements: Vec<Statement>) -> Self {
        Self { statements: Arc::new(statements), used: Arc::default() }
    }

    /// Everything that was done so far.
    pub fn used(&self) -> BTreeSet<Permission> {
        self.used.lock().clone()
    }

    /// The first thing about a request that is not allowed, if there is one.
    pub(crate) fn first_denied(&self, request: &Request<Bytes>) -> Option<Permission> {
        for required in required_permissions(request) {
            if self.is_denied(&required) {
                return Some(required);
            }
            let allowing = self.statements.iter().filter(|statement| {
                statement.effect == Effect::Allow && statement.actions.contains(&required.action)
            });
            let mut resources = allowing.flat_map(|statement| &statement.resources);
            let Some(resource) = resources.find(|stated| arn_matches(stated, &required.resource))
            else {
                return Some(required);
            };
            let used = Permission { resource: resource.clone(), ..required };
            self.used.lock().insert(used);
        }
        None
    }

    /// Whether a statement denies it, which overrides those that allow it.
    fn is_denied(&self, required: &Permission) -> bool {
        let mut denying = self.statements.iter().filter(|statement| {
            statement.effect == Effect::Deny && statement.actions.contains(&required.action)
        });
        denying.any(|statement| {
            statement.resources.iter().any(|it| arn_matches(it, &required.resource))
        })
    }
}

/// The actions that a request needs, by the rules of each service.
fn required_permissions(request: &Request<Bytes>) -> Vec<Permission> {
    let operation = operation_of(request);
    match service_of(request) {
        Service::DynamoDb => {
            let body: Value = serde_json::from_slice(request.body()).unwrap_or_default();
            dynamodb_permissions(operation, &body)
        }
        Service::Sqs => {
            let body: Value = serde_json::from_slice(request.body()).unwrap_or_default();
            let url = body["QueueUrl"].as_str().unwrap_or_default();
            let name = url.rsplit('/').next().unwrap_or_default();
            vec![Permission {
                action: format!("sqs:{}", operation.trim_end_matches("Batch")),
                resource: queues::queue_arn(name),
            }]
        }
        Service::Sns => {
            let form = form_urlencoded::parse(request.body());
            let topic = form.into_iter().find(|(name, _)| name == "TopicArn");
            // A telephone has no ARN; IAM knows it by its number.
            let resource = topic.map(|(_, arn)| arn.into_owned()).or_else(|| phone_number(request));
            vec![Permission {
                action: format!("sns:{}", operation.trim_end_matches("Batch")),
                resource: resource.unwrap_or_default(),
            }]
        }
        Service::Ses => ses_permissions(operation, request),
        Service::Connections => connection_permission(request).into_iter().collect(),
        Service::S3 => vec![s3_permission(request)],
    }
}

/// A resource as a statement names it: a `*` in it stands for anything.
fn arn_matches(stated: &str, required: &str) -> bool {
    let mut parts = stated.split('*');
    let Some(rest) = parts.next().and_then(|start| required.strip_prefix(start)) else {
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

/// Sending a mail needs permission for the sender's identity and for the configuration set.
fn ses_permissions(operation: &str, request: &Request<Bytes>) -> Vec<Permission> {
    let body: Value = serde_json::from_slice(request.body()).unwrap_or_default();
    let from = body["FromEmailAddress"].as_str().unwrap_or_default();
    let domain = from.rsplit('@').next().unwrap_or_default().trim_end_matches('>');
    let named = |kind: &str, name: &str| Permission {
        action: format!("ses:{operation}"),
        resource: format!("arn:aws:ses:{}:{}:{kind}/{name}", template::REGION, template::ACCOUNT),
    };
    let set = body["ConfigurationSetName"].as_str().map(|set| named("configuration-set", set));
    [named("identity", domain)].into_iter().chain(set).collect()
}

/// What reaching a connection needs; the API is in the name of the host.
fn connection_permission(request: &Request<Bytes>) -> Option<Permission> {
    let ConnectionAddress { api, stage, connection } = connection_address(request)?;
    let resource = format!(
        "arn:aws:execute-api:{}:{}:{}/{stage}/{}/@connections/{connection}",
        template::REGION,
        template::ACCOUNT,
        api.unwrap_or_default(),
        request.method(),
    );
    Some(Permission { action: "execute-api:ManageConnections".to_owned(), resource })
}

/// What a request for an object needs; the path is the bucket and the key.
fn s3_permission(request: &Request<Bytes>) -> Permission {
    let action = match *request.method() {
        Method::PUT => "s3:PutObject",
        Method::DELETE => "s3:DeleteObject",
        _ => "s3:GetObject",
    };
    let path = request.uri().path().trim_start_matches('/');
    Permission { action: action.to_owned(), resource: format!("arn:aws:s3:::{path}") }
}

fn dynamodb_permissions(operation: &str, body: &Value) -> Vec<Permission> {
    let arn = |name: &str| {
        format!("arn:aws:dynamodb:{}:{}:table/{name}", template::REGION, template::ACCOUNT)
    };
    let table = |request: &Value| arn(request["TableName"].as_str().unwrap_or_default());
    // Batches name their tables as keys.
    if let Some(tables) = body["RequestItems"].as_object() {
        let action = format!("dynamodb:{operation}");
        return tables
            .keys()
            .map(|name| Permission { action: action.clone(), resource: arn(name) })
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
                Permission { action, resource: table(request) }
            })
            .collect();
    }
    let index = body["IndexName"].as_str().map(|name| format!("/index/{name}"));
    vec![Permission {
        action: format!("dynamodb:{operation}"),
        resource: table(body) + &index.unwrap_or_default(),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything_and_nothing_else_does() {
        for (stated, required, does) in [
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
            assert_eq!(arn_matches(stated, required), does, "{stated} {required}");
        }
    }
}
