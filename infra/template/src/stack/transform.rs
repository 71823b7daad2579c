//! How many resources CloudFormation counts in a template: SAM makes several of one.

use serde_json::{Map, Value};

use crate::{Resource, Stack};

impl Stack {
    /// The resources that the template itself declares, without those of templates nested in it.
    pub fn own_resources(&self) -> impl Iterator<Item = &Resource> {
        self.resources.iter().filter(|resource| {
            let id = &resource.logical_id;
            !self.nested.iter().any(|nested| nested.stack.resource(id).is_some())
        })
    }

    /// How many resources CloudFormation gets after SAM transformed the template itself, without
    /// templates nested in it. Resources whose condition is false are not counted.
    ///
    /// What SAM makes of `Connectors`, `DeploymentPreference` and the `Auth` of APIs is left out.
    pub fn resources_after_transform(&self) -> usize {
        self.own_resources().map(|resource| 1 + made_for(resource)).sum()
    }
}

/// How many resources SAM makes beside the one that is written.
fn made_for(resource: &Resource) -> usize {
    let properties = &resource.properties;
    match resource.kind.as_str() {
        "AWS::Serverless::Function" => function(properties),
        // The stage; and for a domain its name, the mapping to it and its record.
        "AWS::Serverless::HttpApi" => {
            let domain = &properties["Domain"];
            1 + 2 * usize::from(domain.is_object()) + usize::from(domain["Route53"].is_object())
        }
        _ => 0,
    }
}

fn function(properties: &Value) -> usize {
    let has = |key: &str| usize::from(!properties[key].is_null());
    let role = 1 - has("Role");
    // A version and the alias that points at it.
    let alias = 2 * has("AutoPublishAlias");
    let url = &properties["FunctionUrlConfig"];
    // Everyone may call a URL without authorization, which takes two permissions.
    let url = has("FunctionUrlConfig") + 2 * usize::from(url["AuthType"] == "NONE");
    let events = properties["Events"].as_object();
    role + alias + url + has("EventInvokeConfig") + events.map_or(0, made_of)
}

fn made_of(events: &Map<String, Value>) -> usize {
    let made = |event: &Value| match event["Type"].as_str() {
        // A permission (the route is in the API), or an event source mapping.
        Some("HttpApi" | "SQS") => 1,
        // A subscription and a permission.
        Some("SNS") => 2,
        // A rule and a permission, and a queue with its policy if SAM is to make one.
        Some("Schedule") => 2 + dead_letters(event),
        // A schedule and, unless it is given, its role.
        Some("ScheduleV2") => {
            1 + usize::from(event["Properties"]["RoleArn"].is_null()) + dead_letters(event)
        }
        _ => 0,
    };
    events.values().map(made).sum()
}

fn dead_letters(event: &Value) -> usize {
    2 * usize::from(event["Properties"]["DeadLetterConfig"]["Type"] == "SQS")
}
