//! Right templates, and what becomes of each kind of resource.

mod functions;

use std::path::Path;

use serde_json::json;

use super::stack;
use crate::{AttributeType, Billing, DeletionPolicy, IndexScope, Projection, StreamView};

#[test]
fn tables_have_keys_indexes_and_settings() {
    let stack = stack(
        r"
Resources:
  T:
    Type: AWS::DynamoDB::Table
    DeletionPolicy: RetainExceptOnCreate
    Properties:
      TableName: things
      ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 6 }
      AttributeDefinitions:
        - { AttributeName: pk, AttributeType: S }
        - { AttributeName: at, AttributeType: N }
      KeySchema: [{ AttributeName: pk, KeyType: HASH }]
      GlobalSecondaryIndexes:
        - IndexName: byTime
          KeySchema: [{ AttributeName: at, KeyType: HASH }]
          Projection: { ProjectionType: INCLUDE, NonKeyAttributes: [a] }
      LocalSecondaryIndexes:
        - IndexName: local
          KeySchema: [{ AttributeName: pk, KeyType: HASH }, { AttributeName: at, KeyType: RANGE }]
          Projection: { ProjectionType: KEYS_ONLY }
      TimeToLiveSpecification: { AttributeName: gone, Enabled: false }
      StreamSpecification: { StreamViewType: NEW_AND_OLD_IMAGES }
",
    );
    let table = &stack.tables[0];
    assert_eq!((table.name.as_str(), table.line), ("things", 3));
    assert_eq!(table.arn, "arn:aws:dynamodb:us-east-1:000000000000:table/things");
    assert_eq!(table.attributes[1].kind, AttributeType::Number);
    assert_eq!((table.key.hash.as_str(), table.key.range.as_deref()), ("pk", None));
    let [global, local] = table.indexes.as_slice() else { panic!("two indexes") };
    assert_eq!((global.scope, local.scope), (IndexScope::Global, IndexScope::Local));
    assert_eq!(global.projection, Projection::Include(vec!["a".to_owned()]));
    assert_eq!(local.projection, Projection::KeysOnly);
    assert_eq!(table.ttl_attribute, None);
    assert_eq!(table.stream, Some(StreamView::NewAndOldImages));
    assert_eq!(table.billing, Billing::Provisioned { read: 5, write: 6 });
    assert_eq!(table.deletion_policy, DeletionPolicy::RetainExceptOnCreate);
    assert!(!table.point_in_time_recovery && !table.encrypted && !table.deletion_protection);
}

#[test]
fn queues_carry_what_create_queue_takes() {
    let stack = stack(
        r"
Resources:
  Dead: { Type: AWS::SQS::Queue }
  Q:
    Type: AWS::SQS::Queue
    Properties:
      FifoQueue: true
      DelaySeconds: 5
      RedrivePolicy: { deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 3 }
",
    );
    let [dead, queue] = stack.queues.as_slice() else { panic!("two queues") };
    assert_eq!((dead.visibility_seconds, dead.retention_seconds), (30, 345_600));
    assert!(dead.attributes.is_empty());
    assert_eq!((queue.name.as_str(), queue.fifo, queue.delay_seconds), ("test-Q.fifo", true, 5));
    assert_eq!(queue.redrive.as_ref().unwrap().target_arn, dead.arn);
    let keys: Vec<_> = queue.attributes.keys().collect();
    assert_eq!(keys, ["DelaySeconds", "FifoQueue", "RedrivePolicy"]);
    let redrive: serde_json::Value =
        serde_json::from_str(&queue.attributes["RedrivePolicy"]).unwrap();
    assert_eq!(redrive, json!({ "deadLetterTargetArn": dead.arn, "maxReceiveCount": 3 }));
}

#[test]
fn topics_buckets_and_nested_stacks_are_read() {
    let text = r"
Resources:
  T:
    Type: AWS::SNS::Topic
    Properties: { Subscription: [{ Protocol: email, Endpoint: a@example.com }] }
  B:
    Type: AWS::S3::Bucket
    Properties: { VersioningConfiguration: { Status: Enabled } }
  N:
    Type: AWS::CloudFormation::Stack
    Properties: { TemplateURL: more.yaml, Parameters: { Zones: [a, b], Days: 3 } }
";
    let more = "Parameters: { Zones: { Type: String }, Days: { Type: String } }\nResources: {}\n";
    let files = |_: &Path| Ok(more.to_owned());
    let file = Path::new("dir/t.yaml");
    let stack = crate::parse_among(&files, "test", file, text, &[].into()).unwrap();
    assert_eq!(stack.subscriptions[0].topic_arn, stack.topics[0].arn);
    assert_eq!(stack.subscriptions[0].protocol, "email");
    assert!(stack.buckets[0].versioned);
    assert_eq!(stack.buckets[0].name, "test-b");
    let nested = &stack.nested[0];
    assert_eq!(
        (nested.location.as_str(), nested.file.as_path()),
        ("more.yaml", Path::new("dir/more.yaml"))
    );
    assert_eq!(
        (nested.parameters["Zones"].as_str(), nested.parameters["Days"].as_str()),
        ("a,b", "3")
    );
}
