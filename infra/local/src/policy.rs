//! IAM, as far as the template writes it: a function may call what its statements allow.
//!
//! Enforced under every function that runs in process, so that a missing permission fails a test
//! and not a deployment; what was used is remembered, so that a needless one can be found too.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{Method, Request};
use serde_json::Value;
use template::{Effect, Statement};

use crate::services::{Service, operation_of, service_of};

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
        self.used.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The first thing about a request that is not allowed, if there is one.
    pub(crate) fn denies(&self, request: &Request<Bytes>) -> Option<Use> {
        for wanted in uses_of(request) {
            let allowing = self.statements.iter().filter(|statement| {
                statement.effect == Effect::Allow && statement.actions.contains(&wanted.action)
            });
            let mut resources = allowing.flat_map(|statement| &statement.resources);
            let Some(resource) = resources.find(|stated| covers(stated, &wanted.resource)) else {
                return Some(wanted);
            };
            let used = Use { resource: resource.clone(), ..wanted };
            self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(used);
        }
        None
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
            vec![Use {
                action: format!("sns:{}", operation.trim_end_matches("Batch")),
                resource: topic.map_or_else(String::new, |(_, arn)| arn.into_owned()),
            }]
        }
        Service::S3 => vec![s3(request)],
    }
}

/// A resource as a statement names it; objects of a bucket end in a `*`.
fn covers(stated: &str, wanted: &str) -> bool {
    match stated.strip_suffix('*') {
        Some(start) => wanted.starts_with(start),
        None => stated == wanted,
    }
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
