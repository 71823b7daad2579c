//! What a resource is called once it exists: its physical name, what `Ref` gives, and what
//! `Fn::GetAtt` gives, all as they look in an account that is only local.

/// The region everything local pretends to be in.
pub const REGION: &str = "us-east-1";

/// The account everything local pretends to belong to.
pub const ACCOUNT: &str = "000000000000";

/// Pseudo parameters that have a value; `AWS::NoValue` is the absence of one.
pub(crate) fn pseudo_parameter(name: &str, stack_name: &str) -> Option<String> {
    let value = match name {
        "AWS::Region" => REGION.to_owned(),
        "AWS::AccountId" => ACCOUNT.to_owned(),
        "AWS::Partition" => "aws".to_owned(),
        "AWS::URLSuffix" => "amazonaws.com".to_owned(),
        "AWS::StackName" => stack_name.to_owned(),
        "AWS::StackId" => arn("cloudformation", &format!("stack/{stack_name}/local")),
        _ => return None,
    };
    Some(value)
}

/// The names above, for suggestions.
pub(crate) const PSEUDO_PARAMETERS: [&str; 7] = [
    "AWS::Region",
    "AWS::AccountId",
    "AWS::Partition",
    "AWS::URLSuffix",
    "AWS::StackName",
    "AWS::StackId",
    "AWS::NoValue",
];

/// The property in which a template may choose the physical name.
pub(crate) fn name_property(kind: &str) -> Option<&'static str> {
    match kind {
        "AWS::Serverless::Function" | "AWS::Lambda::Function" => Some("FunctionName"),
        "AWS::DynamoDB::Table" => Some("TableName"),
        "AWS::SQS::Queue" => Some("QueueName"),
        "AWS::SNS::Topic" => Some("TopicName"),
        "AWS::S3::Bucket" => Some("BucketName"),
        "AWS::Logs::LogGroup" => Some("LogGroupName"),
        "AWS::ApiGatewayV2::Stage" => Some("StageName"),
        _ => None,
    }
}

/// The property that makes a queue or a topic a FIFO one, whose name must say so.
pub(crate) fn fifo_property(kind: &str) -> Option<&'static str> {
    match kind {
        "AWS::SQS::Queue" => Some("FifoQueue"),
        "AWS::SNS::Topic" => Some("FifoTopic"),
        _ => None,
    }
}

/// The physical name of a resource whose template leaves it open.
pub(crate) fn default_name(kind: &str, stack_name: &str, logical_id: &str, fifo: bool) -> String {
    let name = format!("{stack_name}-{logical_id}");
    match kind {
        // They end up in host names, which have no capitals.
        "AWS::S3::Bucket" | "AWS::Serverless::HttpApi" | "AWS::ApiGatewayV2::Api" => {
            name.to_lowercase()
        }
        _ if fifo => name + ".fifo",
        _ => name,
    }
}

/// What `Ref` gives.
pub(crate) fn reference(kind: &str, name: &str) -> String {
    match kind {
        "AWS::SQS::Queue" => queue_url(name),
        "AWS::SNS::Topic" => arn("sns", name),
        _ => name.to_owned(),
    }
}

/// Every attribute `Fn::GetAtt` gives. Types that nothing here models have an ARN of the usual
/// shape and no other attribute.
pub(crate) fn attributes(kind: &str, name: &str) -> Vec<(&'static str, String)> {
    match kind {
        "AWS::Serverless::Function" | "AWS::Lambda::Function" => {
            vec![("Arn", arn("lambda", &format!("function:{name}")))]
        }
        "AWS::DynamoDB::Table" => {
            let table = arn("dynamodb", &format!("table/{name}"));
            let stream = format!("{table}/stream/2020-01-01T00:00:00.000");
            vec![("Arn", table), (STREAM_ARN, stream)]
        }
        "AWS::SQS::Queue" => vec![
            ("Arn", arn("sqs", name)),
            ("QueueName", name.to_owned()),
            ("QueueUrl", queue_url(name)),
        ],
        "AWS::SNS::Topic" => {
            vec![("TopicArn", arn("sns", name)), ("TopicName", name.to_owned())]
        }
        "AWS::S3::Bucket" => vec![
            ("Arn", format!("arn:aws:s3:::{name}")),
            ("DomainName", format!("{name}.s3.amazonaws.com")),
            ("RegionalDomainName", format!("{name}.s3.{REGION}.amazonaws.com")),
        ],
        "AWS::Logs::LogGroup" => vec![("Arn", arn("logs", &format!("log-group:{name}:*")))],
        "AWS::Serverless::HttpApi" | "AWS::ApiGatewayV2::Api" => vec![
            ("ApiId", name.to_owned()),
            (API_ENDPOINT, format!("https://{name}.execute-api.{REGION}.amazonaws.com")),
        ],
        "AWS::IAM::Role" => vec![("Arn", format!("arn:aws:iam::{ACCOUNT}:role/{name}"))],
        other => vec![("Arn", arn(&service(other), name))],
    }
}

/// The service in a type's name, such as `cloudwatch` in `AWS::CloudWatch::Alarm`.
fn service(kind: &str) -> String {
    kind.split("::").nth(1).unwrap_or_default().to_lowercase()
}

/// The attribute that is modelled only for HTTP APIs.
pub(crate) const API_ENDPOINT: &str = "ApiEndpoint";

/// The attribute that exists only for tables with a stream.
pub(crate) const STREAM_ARN: &str = "StreamArn";

pub(crate) fn arn(service: &str, rest: &str) -> String {
    format!("arn:aws:{service}:{REGION}:{ACCOUNT}:{rest}")
}

fn queue_url(name: &str) -> String {
    format!("http://sqs.{REGION}.localhost/{ACCOUNT}/{name}")
}
