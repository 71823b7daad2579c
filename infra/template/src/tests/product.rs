//! The templates that ship.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{Billing, DeletionPolicy, Expression, Projection, RouteKey, Stack, Tracing};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn product() -> Stack {
    let path = root().join("template.yaml");
    crate::load(&path, &BTreeMap::new()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn it_has_the_resources_it_should() {
    let stack = product();
    let mut text = std::fs::read_to_string(root().join("template.yaml")).unwrap();
    for nested in &stack.nested {
        text += &std::fs::read_to_string(&nested.file).unwrap();
    }
    let declared = |kind: &str| text.matches(&format!("    Type: {kind}\n")).count();
    for (kind, read) in [
        ("AWS::Serverless::Function", stack.functions.len()),
        ("AWS::DynamoDB::Table", stack.tables.len()),
        ("AWS::SQS::Queue", stack.queues.len()),
        ("AWS::SQS::QueuePolicy", stack.resources_of("AWS::SQS::QueuePolicy").count()),
        // The alarms' own is only there with an address to send them to.
        ("AWS::SNS::Topic", stack.topics.len() + 1),
        ("AWS::SNS::Subscription", stack.subscriptions.len()),
        ("AWS::ApiGatewayV2::Api", stack.apis.len() + stack.websockets.len()),
        ("AWS::Logs::LogGroup", stack.log_groups.len()),
        ("AWS::Serverless::Application", stack.nested.len()),
    ] {
        assert_eq!(declared(kind), read, "{kind}");
        assert!(read > 0, "{kind}");
    }
    assert_eq!(stack.name, "switchyard-local");
    assert_eq!(stack.parameters["Stage"], "prod");
}

#[test]
fn functions_have_their_globals_and_their_own() {
    let stack = product();
    let ids = stack.function("Ids").unwrap();
    assert_eq!((ids.name.as_str(), ids.binary.as_str()), ("switchyard-local-Ids", "ids"));
    assert_eq!((ids.memory_mb, ids.timeout_seconds, ids.tracing), (256, 10, Tracing::Active));
    assert_eq!(ids.architectures, ["arm64"]);
    assert_eq!(ids.environment["STAGE"], "prod");
    assert_eq!(ids.environment["IDS_TABLE"], "switchyard-local-IdsTable");
    assert_eq!(ids.policies.len(), 5);
    let keys: Vec<String> = ids.routes.iter().map(|route| route.key.to_string()).collect();
    assert_eq!(keys, ["ANY /api/v1/ids", "ANY /api/v1/ids/{proxy+}"]);
}

#[test]
fn every_route_leads_to_the_one_api_and_one_takes_what_is_left() {
    let stack = product();
    let routes = || stack.functions.iter().flat_map(|function| &function.routes);
    assert!(routes().all(|route| route.api_id == stack.apis[0].id));
    assert_eq!(routes().filter(|route| route.key == RouteKey::Default).count(), 1);
    assert_eq!(stack.apis[0].stage, "$default");
    let cors = stack.apis[0].cors.as_ref().unwrap();
    assert_eq!((cors.allow_origins.len(), cors.max_age_seconds), (1, Some(600)));
}

#[test]
fn queues_lead_to_their_functions_and_dead_letters() {
    let stack = product();
    let events = &stack.function("TendKeys").unwrap().queue_events;
    let references = &events[0];
    assert_eq!(
        (references.batch_size, references.window_seconds, references.max_concurrency),
        (100, 5, Some(2))
    );
    assert!(events.iter().all(|event| event.report_batch_item_failures && event.enabled));
    for event in events {
        let queue = stack.queue_by_arn(&event.queue_arn).unwrap();
        let redrive = queue.redrive.as_ref().unwrap();
        assert_eq!(redrive.max_receive_count, 5);
        assert!(stack.queue_by_arn(&redrive.target_arn).is_some());
    }
    let subscription = &stack.subscriptions[0];
    assert!(subscription.raw && subscription.filter_policy.is_some());
    assert_eq!(subscription.topic_arn, stack.topics[0].arn);
    assert!(stack.queue_by_arn(&subscription.endpoint).is_some());
}

#[test]
fn tables_outlive_the_stack() {
    let stack = product();
    for table in &stack.tables {
        assert_eq!(table.deletion_policy, DeletionPolicy::Retain);
        assert_eq!(table.billing, Billing::OnDemand);
        assert!(table.point_in_time_recovery && table.encrypted);
    }
    let accounts = &stack.tables[1];
    assert_eq!(accounts.ttl_attribute.as_deref(), Some("expires"));
    assert_eq!(accounts.indexes[0].projection, Projection::All);
    assert_eq!(accounts.indexes[0].key.range.as_deref(), Some("gsi1sk"));
}

#[test]
fn the_sweep_runs_every_five_minutes() {
    let stack = product();
    let schedule = &stack.function("SweepAccounts").unwrap().schedules[0];
    assert_eq!(schedule.expression, Expression::Rate(Duration::from_mins(5)));
    assert!(schedule.enabled);
}

#[test]
fn a_nested_template_gets_its_parameters() {
    let stack = product();
    let nested = &stack.nested[0];
    assert!(nested.file.ends_with("infra/links.yaml"));
    assert_eq!(nested.parameters["Switch"], "on");
    assert_eq!(nested.parameters["ApiId"], stack.apis[0].id);
    assert_eq!(nested.parameters["AccountsTable"], "switchyard-local-AccountsTable");
    let arn = "arn:aws:sqs:us-east-1:000000000000:switchyard-local-KeyUsesQueue";
    assert_eq!(nested.parameters["KeyUsesQueueArn"], arn);
}

#[test]
fn outputs_are_evaluated() {
    let url = "https://switchyard-local-api.execute-api.us-east-1.amazonaws.com";
    assert_eq!(product().outputs["Url"], url);
}
