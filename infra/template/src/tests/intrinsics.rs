//! Every intrinsic, in every form it has.

use serde_json::{Value, json};

use super::parse;

const CONTEXT: &str = r#"
Transform: AWS::Serverless-2016-10-31
Parameters:
  Stage: { Type: String, Default: prod }
  Days: { Type: Number, Default: 30 }
  Zones: { Type: CommaDelimitedList, Default: "a, b,c" }
Mappings:
  Sizes:
    prod: { memory: 512, zones: [x, y] }
    dev: { memory: 128 }
Conditions:
  IsProd: !Equals [!Ref Stage, prod]
  IsDev: !Not [!Condition IsProd]
Resources:
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{ AttributeName: pk, AttributeType: S }]
      KeySchema: [{ AttributeName: pk, KeyType: HASH }]
      StreamSpecification: { StreamViewType: KEYS_ONLY }
  Named:
    Type: AWS::SQS::Queue
    Properties: { QueueName: !Sub "${Stage}-work" }
  Queue: { Type: AWS::SQS::Queue }
  Fifo: { Type: AWS::SQS::Queue, Properties: { FifoQueue: true } }
  Topic: { Type: AWS::SNS::Topic }
  Bucket: { Type: AWS::S3::Bucket }
  Logs: { Type: AWS::Logs::LogGroup }
  Api: { Type: AWS::Serverless::HttpApi }
  Role: { Type: AWS::IAM::Role }
  Code: { Type: AWS::Serverless::Function, Properties: { CodeUri: target/lambda/code } }
  Probe:
    Type: Custom::Probe
    Properties: { Value: VALUE }
"#;

/// What `expression` evaluates to; null, if to nothing.
fn evaluate(expression: &str) -> Value {
    let text = CONTEXT.replace("VALUE", expression);
    let stack = parse(&text, &[]).unwrap_or_else(|error| panic!("{expression}: {error}"));
    stack.resource("Probe").unwrap().properties["Value"].clone()
}

#[track_caller]
fn check(cases: &[(&str, Value)]) {
    for (expression, expected) in cases {
        assert_eq!(evaluate(expression), *expected, "{expression}");
    }
}

#[test]
fn plain_values_stay_what_they_are() {
    check(&[
        ("text", json!("text")),
        ("\"30\"", json!("30")),
        ("30", json!(30)),
        ("-1.5", json!(-1.5)),
        ("000000000000", json!("000000000000")),
        ("2012-10-17", json!("2012-10-17")),
        ("true", json!(true)),
        ("\"true\"", json!("true")),
        ("!!str 30", json!("30")),
        ("[1, [two], { three: 3 }]", json!([1, ["two"], { "three": 3 }])),
    ]);
}

#[test]
fn ref_gives_parameters_with_their_types() {
    check(&[
        ("!Ref Stage", json!("prod")),
        ("{ Ref: Stage }", json!("prod")),
        ("!Ref Days", json!(30)),
        ("!Ref Zones", json!(["a", "b", "c"])),
    ]);
}

#[test]
fn ref_gives_pseudo_parameters_and_no_value_removes() {
    check(&[
        ("!Ref AWS::Region", json!("us-east-1")),
        ("!Ref AWS::AccountId", json!("000000000000")),
        ("!Ref AWS::StackName", json!("test")),
        ("!Ref AWS::Partition", json!("aws")),
        ("!Ref AWS::URLSuffix", json!("amazonaws.com")),
        ("!Ref AWS::NoValue", Value::Null),
        ("[a, !Ref AWS::NoValue, b]", json!(["a", "b"])),
        ("{ a: 1, b: !Ref AWS::NoValue }", json!({ "a": 1 })),
    ]);
}

#[test]
fn ref_gives_each_resource_its_own_kind_of_name() {
    check(&[
        ("!Ref Table", json!("test-Table")),
        ("!Ref Queue", json!("http://sqs.us-east-1.localhost/000000000000/test-Queue")),
        ("!Ref Named", json!("http://sqs.us-east-1.localhost/000000000000/prod-work")),
        ("!Ref Fifo", json!("http://sqs.us-east-1.localhost/000000000000/test-Fifo.fifo")),
        ("!Ref Topic", json!("arn:aws:sns:us-east-1:000000000000:test-Topic")),
        ("!Ref Bucket", json!("test-bucket")),
        ("!Ref Logs", json!("test-Logs")),
        ("!Ref Api", json!("test-api")),
        ("!Ref Code", json!("test-Code")),
        ("!Ref Role", json!("test-Role")),
    ]);
}

#[test]
fn get_att_takes_a_dotted_string_or_a_list() {
    let arn = json!("arn:aws:sqs:us-east-1:000000000000:test-Queue");
    check(&[
        ("!GetAtt Queue.Arn", arn.clone()),
        ("!GetAtt [Queue, Arn]", arn.clone()),
        ("{ \"Fn::GetAtt\": Queue.Arn }", arn.clone()),
        ("{ \"Fn::GetAtt\": [Queue, Arn] }", arn),
    ]);
}

#[test]
fn get_att_knows_the_attributes_of_each_type() {
    let table = "arn:aws:dynamodb:us-east-1:000000000000:table/test-Table";
    let url = "http://sqs.us-east-1.localhost/000000000000/test-Queue";
    check(&[
        ("!GetAtt Table.Arn", json!(table)),
        ("!GetAtt Table.StreamArn", json!(format!("{table}/stream/2020-01-01T00:00:00.000"))),
        ("!GetAtt Queue.QueueName", json!("test-Queue")),
        ("!GetAtt Queue.QueueUrl", json!(url)),
        ("!GetAtt Topic.TopicArn", json!("arn:aws:sns:us-east-1:000000000000:test-Topic")),
        ("!GetAtt Topic.TopicName", json!("test-Topic")),
        ("!GetAtt Bucket.Arn", json!("arn:aws:s3:::test-bucket")),
        ("!GetAtt Logs.Arn", json!("arn:aws:logs:us-east-1:000000000000:log-group:test-Logs:*")),
        ("!GetAtt Code.Arn", json!("arn:aws:lambda:us-east-1:000000000000:function:test-Code")),
        ("!GetAtt Api.ApiEndpoint", json!("https://test-api.execute-api.us-east-1.amazonaws.com")),
        ("!GetAtt Role.Arn", json!("arn:aws:iam::000000000000:role/test-Role")),
    ]);
}

#[test]
fn sub_fills_in_names_attributes_and_literals() {
    check(&[
        ("!Sub plain", json!("plain")),
        ("!Sub \"${Stage}-${AWS::Region}\"", json!("prod-us-east-1")),
        ("!Sub \"${Days} days\"", json!("30 days")),
        ("!Sub \"${Queue.QueueName}/x\"", json!("test-Queue/x")),
        ("!Sub \"${!Stage} is ${Stage}\"", json!("${Stage} is prod")),
        ("!Sub [\"${a}${Stage}\", { a: !Ref Days }]", json!("30prod")),
        ("!Sub [\"${Stage}\", { Stage: mine }]", json!("mine")),
        ("{ \"Fn::Sub\": \"a $ b ${Stage}\" }", json!("a $ b prod")),
    ]);
}

#[test]
fn lists_are_joined_split_and_selected_from() {
    check(&[
        ("!Join [\"-\", [a, !Ref Stage, 3]]", json!("a-prod-3")),
        ("{ \"Fn::Join\": [\"\", [a, b]] }", json!("ab")),
        ("!Join [\",\", !Ref Zones]", json!("a,b,c")),
        ("!Split [\",\", \"a,b\"]", json!(["a", "b"])),
        ("{ \"Fn::Split\": [\"::\", \"a::b\"] }", json!(["a", "b"])),
        ("!Select [1, [a, b]]", json!("b")),
        ("!Select [\"2\", !Ref Zones]", json!("c")),
        ("{ \"Fn::Select\": [0, { \"Fn::Split\": [\"-\", !Ref Stage] }] }", json!("prod")),
    ]);
}

#[test]
fn maps_are_looked_up_in() {
    check(&[
        ("!FindInMap [Sizes, prod, memory]", json!(512)),
        ("!FindInMap [Sizes, !Ref Stage, zones]", json!(["x", "y"])),
        ("{ \"Fn::FindInMap\": [Sizes, dev, memory] }", json!(128)),
    ]);
}

#[test]
fn if_takes_one_branch_and_leaves_the_other_alone() {
    check(&[
        ("!If [IsProd, yes, no]", json!("yes")),
        ("!If [IsDev, yes, no]", json!("no")),
        ("{ \"Fn::If\": [IsDev, !Ref Nowhere, { a: !Ref Stage }] }", json!({ "a": "prod" })),
        ("!If [IsDev, 1, !Ref AWS::NoValue]", Value::Null),
    ]);
}

#[test]
fn conditions_combine() {
    let cases = [
        ("!Equals [!Ref Stage, prod]", true),
        ("{ \"Fn::Equals\": [!Ref Days, \"30\"] }", true),
        ("!Equals [!Ref Stage, Prod]", false),
        ("!Not [!Equals [a, b]]", true),
        ("!And [!Equals [a, a], !Condition Other]", true),
        ("!And [!Equals [a, b], !Condition Other]", false),
        ("!Or [!Equals [a, b], { Condition: Other }]", true),
        ("{ \"Fn::Or\": [!Equals [a, b], !Equals [c, d]] }", false),
        ("!Equals [!FindInMap [Sizes, prod, memory], 512]", true),
        ("!Condition Other", true),
    ];
    for (condition, expected) in cases {
        let conditions = format!("Conditions:\n  It: {condition}\n  Other: !Equals [x, x]");
        let text =
            CONTEXT.replace("Conditions:", &conditions).replace("VALUE", "!If [It, true, false]");
        let stack = parse(&text, &[]).unwrap_or_else(|error| panic!("{condition}: {error}"));
        let value = &stack.resource("Probe").unwrap().properties["Value"];
        assert_eq!(*value, json!(expected), "{condition}");
    }
}

#[test]
fn a_resource_whose_condition_is_false_does_not_exist() {
    let text = CONTEXT.replace("VALUE", "1")
        + "  Spare: { Type: AWS::SQS::Queue, Condition: IsDev }\n"
        + "Outputs:\n"
        + "  Spare: { Condition: IsDev, Value: !Ref Spare }\n"
        + "  Stage: { Value: !Ref Stage }\n";
    let stack = parse(&text, &[]).unwrap();
    assert!(stack.resource("Spare").is_none());
    assert_eq!(stack.outputs.keys().collect::<Vec<_>>(), ["Stage"]);

    let stack = parse(&text, &[("Stage", "dev")]).unwrap();
    assert_eq!(stack.resource("Spare").unwrap().condition.as_deref(), Some("IsDev"));
    assert_eq!(stack.outputs.keys().collect::<Vec<_>>(), ["Spare", "Stage"]);
}
