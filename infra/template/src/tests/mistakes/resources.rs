//! Mistakes in the properties of functions, tables, queues, topics and nested stacks.

use super::{check, check_property};

#[test]
fn functions_are_checked() {
    check_property(
        "AWS::Serverless::Function",
        &[
            ("Timeout: 3", "3:3: Resources.It.Properties: missing required property `CodeUri`"),
            (
                "{ CodeUri: a, Timeout: ten }",
                "6:30: Resources.It.Properties.Timeout: expected a whole number, found `ten`",
            ),
            (
                "{ CodeUri: a, Timeout: 1000 }",
                "6:30: Resources.It.Properties.Timeout: expected a number from 1 to 900, found \
                 `1000`",
            ),
            (
                "{ CodeUri: a, Timout: 10 }",
                "6:21: Resources.It.Properties.Timout: unknown property (did you mean `Timeout`?)",
            ),
            (
                "{ CodeUri: a, MemorySize: 64 }",
                "6:33: Resources.It.Properties.MemorySize: expected a number from 128 to 10240, \
                 found `64`",
            ),
            (
                "{ CodeUri: / }",
                "6:18: Resources.It.Properties.CodeUri: expected a path that ends in the name of \
                 a binary, found `/`",
            ),
            (
                "{ CodeUri: a, Architectures: [arm64, x86_64] }",
                "6:36: Resources.It.Properties.Architectures: Lambda takes one architecture, \
                 found 2",
            ),
            (
                "{ CodeUri: a, Architectures: [arm] }",
                "6:37: Resources.It.Properties.Architectures[0]: expected one of arm64, x86_64, \
                 found `arm`",
            ),
            (
                "{ CodeUri: a, Environment: { Variables: { A: [b] } } }",
                "6:52: Resources.It.Properties.Environment.Variables.A: expected a string, found \
                 a list",
            ),
            (
                "{ CodeUri: a, Tracing: On }",
                "6:30: Resources.It.Properties.Tracing: expected one of Active, PassThrough, \
                 Disabled, found `On`",
            ),
        ],
    );
}

#[test]
fn policies_are_checked() {
    check_property(
        "AWS::Serverless::Function",
        &[
            (
                "{ CodeUri: a, Policies: { Statement: [{ Effect: Allow, Action: b }] } }",
                "6:45: Resources.It.Properties.Policies.Statement[0]: missing required property \
                 `Resource`",
            ),
            (
                "{ CodeUri: a, Policies: [{ Statement: { Effect: Maybe } }] }",
                "6:55: Resources.It.Properties.Policies[0].Statement.Effect: expected one of \
                 Allow, Deny, found `Maybe`",
            ),
            (
                "{ CodeUri: a, Policies: [{ Statment: [] }] }",
                "6:34: Resources.It.Properties.Policies[0].Statment: unknown property (did you \
                 mean `Statement`?)",
            ),
            (
                "{ CodeUri: a, Policies: [[b]] }",
                "6:32: Resources.It.Properties.Policies[0]: expected a string, found a list",
            ),
        ],
    );
}

#[test]
fn tables_are_checked() {
    check_property(
        "AWS::DynamoDB::Table",
        &[
            (
                "KeySchema: []",
                "3:3: Resources.It.Properties: missing required property `AttributeDefinitions`",
            ),
            (
                "{ AttributeDefinitions: [], KeySchema: [{ AttributeName: sk, KeyType: HASH }] }",
                "6:64: Resources.It.Properties.KeySchema[0].AttributeName: `sk` is not in \
                 AttributeDefinitions",
            ),
            (
                "{ AttributeDefinitions: [{ AttributeName: a, AttributeType: S }], KeySchema: [] }",
                "6:84: Resources.It.Properties.KeySchema: a key needs a HASH attribute",
            ),
            (
                "{ AttributeDefinitions: [{ AttributeName: a, AttributeType: X }], KeySchema: [] }",
                "6:67: Resources.It.Properties.AttributeDefinitions[0].AttributeType: expected \
                 one of S, N, B, found `X`",
            ),
        ],
    );
}

#[test]
fn the_attributes_of_a_table_are_those_of_its_keys() {
    check(&[
        (
            r"  T:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions:
        - { AttributeName: pk, AttributeType: S }
        - { AttributeName: sk, AttributeType: S }
      KeySchema: [{ AttributeName: pk, KeyType: HASH }]",
            "9:11: Resources.T.Properties.AttributeDefinitions[1]: `sk` is defined but part \
             of no key",
        ),
        (
            r"  T:
    Type: AWS::DynamoDB::Table
    Properties:
      AttributeDefinitions: [{ AttributeName: pk, AttributeType: S }]
      KeySchema: [{ AttributeName: pk, KeyType: HASH }]",
            "3:3: Resources.T.Properties: missing required property `ProvisionedThroughput`",
        ),
    ]);
}

#[test]
fn queues_are_checked() {
    check_property(
        "AWS::SQS::Queue",
        &[
            (
                "RedrivePolicy: { deadLetterTargetArn: a }",
                "6:7: Resources.It.Properties.RedrivePolicy: missing required property \
                 `maxReceiveCount`",
            ),
            (
                "RedrivePolicy: { deadLetterTargetArn: a, maxReceiveCount: 0 }",
                "6:65: Resources.It.Properties.RedrivePolicy.maxReceiveCount: expected a number \
                 from 1 to 1000, found `0`",
            ),
            (
                "{ FifoQueue: true, QueueName: q }",
                "6:37: Resources.It.Properties.QueueName: the names of FIFO queues, and no \
                 others, end in `.fifo`",
            ),
            (
                "QueueName: q.fifo",
                "6:18: Resources.It.Properties.QueueName: the names of FIFO queues, and no \
                 others, end in `.fifo`",
            ),
            (
                "VisibilityTimeout: 1 hour",
                "6:26: Resources.It.Properties.VisibilityTimeout: expected a whole number, found \
                 `1 hour`",
            ),
            (
                "VisibiltyTimeout: 60",
                "6:7: Resources.It.Properties.VisibiltyTimeout: unknown property (did you mean \
                 `VisibilityTimeout`?)",
            ),
            (
                "QueueName: [a]",
                "6:18: Resources.It.Properties.QueueName: expected a string, found a list",
            ),
        ],
    );
}

#[test]
fn subscriptions_are_checked() {
    check_property(
        "AWS::SNS::Subscription",
        &[
            (
                "{ TopicArn: a, Protocol: sqs }",
                "3:3: Resources.It.Properties: missing required property `Endpoint`",
            ),
            (
                "{ TopicArn: a, Protocol: sqs, Endpoint: b, RawMessageDelivery: yes }",
                "6:70: Resources.It.Properties.RawMessageDelivery: expected true or false, found \
                 `yes`",
            ),
            (
                "{ TopicArn: a, Protocol: sqs, Endpoint: b, FilterPolicy: [c] }",
                "6:64: Resources.It.Properties.FilterPolicy: expected a JSON document, found a \
                 list",
            ),
            (
                "{ TopicArn: a, Protocol: sqs, Endpoint: b, FilterPolicyScope: Body }",
                "6:69: Resources.It.Properties.FilterPolicyScope: expected one of \
                 MessageAttributes, MessageBody, found `Body`",
            ),
        ],
    );
}

#[test]
fn apis_are_checked() {
    check_property(
        "AWS::Serverless::HttpApi",
        &[
            (
                r#"CorsConfiguration: { AllowOrigin: ["*"] }"#,
                "6:28: Resources.It.Properties.CorsConfiguration.AllowOrigin: unknown property \
                 (did you mean `AllowOrigins`?)",
            ),
            (
                r#"CorsConfiguration: { AllowOrigins: "*" }"#,
                "6:42: Resources.It.Properties.CorsConfiguration.AllowOrigins: expected a list, \
                 found `*`",
            ),
        ],
    );
}

#[test]
fn nested_stacks_are_checked() {
    check_property(
        "AWS::Serverless::Application",
        &[
            (
                "Location: { ApplicationId: a }",
                "6:17: Resources.It.Properties.Location: expected the path of a template, found a \
                 map",
            ),
            (
                "Parameters: { A: b }",
                "3:3: Resources.It.Properties: missing required property `Location`",
            ),
            (
                "{ Location: a, Parameters: { A: { b: c } } }",
                "6:39: Resources.It.Properties.Parameters.A: expected a string, found a map",
            ),
        ],
    );
}
