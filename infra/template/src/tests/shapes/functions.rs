//! What becomes of functions: globals, policies, events.

use std::time::Duration;

use serde_json::json;

use crate::tests::stack;
use crate::{Effect, Expression, FilterScope};

fn sam(rest: &str) -> crate::Stack {
    stack(&format!("Transform: AWS::Serverless-2016-10-31\n{rest}"))
}

#[test]
fn globals_merge_maps_join_lists_and_yield_to_the_function() {
    let stack = sam(r"
Globals:
  Function:
    Timeout: 10
    MemorySize: 256
    Layers: [a]
    Environment: { Variables: { A: global, B: global } }
Resources:
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: target/lambda/f/
      Timeout: 20
      Layers: [b]
      Environment: { Variables: { B: own, C: 3 } }
");
    let function = stack.function("F").unwrap();
    assert_eq!((function.timeout_seconds, function.memory_mb), (20, 256));
    let environment: Vec<_> = function.environment.iter().collect();
    let text = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let expected = [text("A", "global"), text("B", "own"), text("C", "3")];
    assert_eq!(environment, expected.iter().map(|(k, v)| (k, v)).collect::<Vec<_>>());
    assert_eq!(stack.resource("F").unwrap().properties["Layers"], json!(["a", "b"]));
}

#[test]
fn policies_may_be_documents_templates_or_managed() {
    let stack = sam(r"
Resources:
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: f
      Policies:
        - AWSXRayDaemonWriteAccess
        - SQSSendMessagePolicy: { QueueName: q }
        - Statement:
            Effect: Deny
            Action: s3:*
            Resource: ['*', arn]
            Condition: { Bool: { aws:SecureTransport: false } }
");
    let function = stack.function("F").unwrap();
    assert_eq!(function.managed_policies, ["AWSXRayDaemonWriteAccess"]);
    assert_eq!(function.policy_templates[0].name, "SQSSendMessagePolicy");
    assert_eq!(function.policy_templates[0].parameters, json!({ "QueueName": "q" }));
    let statement = &function.policies[0];
    assert_eq!((statement.effect, statement.line), (Effect::Deny, 12));
    assert_eq!((statement.actions.len(), statement.resources.len()), (1, 2));
    assert!(statement.condition.is_some());
}

#[test]
fn schedules_and_topics_invoke_functions() {
    let stack = sam(r#"
Resources:
  T: { Type: AWS::SNS::Topic }
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: f
      ReservedConcurrentExecutions: 1
      Events:
        Daily: { Type: Schedule, Properties: { Schedule: cron(0 6 * * ? *), Input: "{}" } }
        Off: { Type: Schedule, Properties: { Schedule: rate(1 hour), Enabled: false } }
        New:
          Type: ScheduleV2
          Properties:
            ScheduleExpression: rate(2 days)
            ScheduleExpressionTimezone: Europe/Berlin
            State: DISABLED
        Told:
          Type: SNS
          Properties:
            Topic: !Ref T
            FilterPolicy: { kind: [a] }
            FilterPolicyScope: MessageBody
            RedrivePolicy: { deadLetterTargetArn: dead }
"#);
    let function = stack.function("F").unwrap();
    assert_eq!(function.reserved_concurrency, Some(1));
    let [daily, off, new] = function.schedules.as_slice() else { panic!("three schedules") };
    assert_eq!(daily.expression, Expression::Cron("0 6 * * ? *".to_owned()));
    assert_eq!((daily.input.as_deref(), daily.enabled, daily.line), (Some("{}"), true, 11));
    assert_eq!(off.expression, Expression::Rate(Duration::from_hours(1)));
    assert!(!off.enabled && !new.enabled);
    assert_eq!(new.expression, Expression::Rate(Duration::from_hours(48)));
    assert_eq!(new.timezone.as_deref(), Some("Europe/Berlin"));
    let topic_event = &function.topic_events[0];
    assert_eq!(topic_event.topic_arn, stack.topics[0].arn);
    assert_eq!(topic_event.filter_policy, Some(json!({ "kind": ["a"] })));
    assert_eq!(topic_event.filter_scope, FilterScope::MessageBody);
    assert_eq!(topic_event.dead_letter_arn.as_deref(), Some("dead"));
}

#[test]
fn queue_events_have_defaults_and_filters() {
    let stack = sam(r#"
Resources:
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: f
      Events:
        Plain: { Type: SQS, Properties: { Queue: a } }
        Off:
          Type: SQS
          Properties:
            Queue: b
            Enabled: false
            FilterCriteria: { Filters: [{ Pattern: '{"body":{"a":[1]}}' }] }
"#);
    let [plain, off] = stack.functions[0].queue_events.as_slice() else { panic!("two events") };
    assert_eq!((plain.batch_size, plain.window_seconds, plain.max_concurrency), (10, 0, None));
    assert!(plain.enabled && !plain.report_batch_item_failures && plain.filters.is_empty());
    assert!(!off.enabled);
    assert_eq!(off.filters, [json!({ "body": { "a": [1] } })]);
}

#[test]
fn a_queue_may_be_named_after_the_function_it_invokes() {
    let stack = sam(r"
Resources:
  Q: { Type: AWS::SQS::Queue, Properties: { QueueName: !Sub '${F}-work' } }
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: f
      Events:
        Q: { Type: SQS, Properties: { Queue: !GetAtt Q.Arn } }
");
    assert_eq!(stack.queues[0].name, "test-F-work");
}
