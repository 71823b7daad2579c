//! What a template describes, as plain values.

pub(crate) mod api;
pub(crate) mod build;
pub(crate) mod events;
pub(crate) mod function;
pub(crate) mod gateway;
pub(crate) mod merge;
pub(crate) mod nested;
pub(crate) mod policies;
pub(crate) mod queue;
pub(crate) mod schedule;
pub(crate) mod storage;
pub(crate) mod table;
pub(crate) mod topic;
pub(crate) mod transform;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::declare::DeletionPolicy;
use crate::{
    Bucket, Function, HttpApi, LogGroup, Nested, Queue, Subscription, Table, Topic, WebSocketApi,
};

/// Everything a template describes, with every intrinsic evaluated, and after it everything that the
/// templates nested in it describe. Lists keep the order of the file; a resource whose condition is
/// false is in none of them.
#[derive(Debug, Clone, Default)]
pub struct Stack {
    /// What the stack is called.
    pub name: String,
    /// The value of every parameter of the template itself.
    pub parameters: BTreeMap<String, String>,
    /// `AWS::Serverless::Function`, globals included.
    pub functions: Vec<Function>,
    /// `AWS::DynamoDB::Table`.
    pub tables: Vec<Table>,
    /// `AWS::SQS::Queue`.
    pub queues: Vec<Queue>,
    /// `AWS::SNS::Topic`.
    pub topics: Vec<Topic>,
    /// `AWS::SNS::Subscription`, and those written inside a topic.
    pub subscriptions: Vec<Subscription>,
    /// `AWS::S3::Bucket`.
    pub buckets: Vec<Bucket>,
    /// `AWS::Serverless::HttpApi`, globals included, and `AWS::ApiGatewayV2::Api` for HTTP, with its
    /// stage.
    pub apis: Vec<HttpApi>,
    /// `AWS::ApiGatewayV2::Api` for WebSockets, with its routes and stages.
    pub websockets: Vec<WebSocketApi>,
    /// `AWS::Logs::LogGroup`.
    pub log_groups: Vec<LogGroup>,
    /// `AWS::Serverless::Application` and `AWS::CloudFormation::Stack`, each with what it describes
    /// by itself.
    pub nested: Vec<Nested>,
    /// The value of every output of the template itself.
    pub outputs: BTreeMap<String, String>,
    /// Every resource of any type, the ones above included.
    pub resources: Vec<Resource>,
}

/// A resource of any type.
#[derive(Debug, Clone)]
pub struct Resource {
    /// Its key in the `Resources` section.
    pub logical_id: String,
    /// Its type, such as `AWS::CloudWatch::Alarm`.
    pub kind: String,
    /// What it is called once it exists.
    pub name: String,
    /// The line of its key, in the template that declares it.
    pub line: usize,
    /// The condition it depends on, which is true.
    pub condition: Option<String>,
    /// The resources it names in `DependsOn`.
    pub depends_on: Vec<String>,
    /// What happens to its data when it leaves the stack.
    pub deletion_policy: DeletionPolicy,
    /// What happens to its data when an update replaces it.
    pub update_replace_policy: DeletionPolicy,
    /// Its properties, globals included and intrinsics evaluated.
    pub properties: Value,
}

impl Stack {
    /// The resource with this logical id.
    pub fn resource(&self, logical_id: &str) -> Option<&Resource> {
        self.resources.iter().find(|resource| resource.logical_id == logical_id)
    }

    /// The function with this logical id.
    pub fn function(&self, logical_id: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.logical_id == logical_id)
    }

    /// The queue with this ARN, as event sources, subscriptions and redrive policies name it.
    pub fn queue_by_arn(&self, arn: &str) -> Option<&Queue> {
        self.queues.iter().find(|queue| queue.arn == arn)
    }

    /// Every resource of one type.
    pub fn resources_of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Resource> {
        self.resources.iter().filter(move |resource| resource.kind == kind)
    }
}
