//! The properties that the modelled types have. A property outside its list is reported: it would
//! fail a deployment, or worse, be ignored.

pub(crate) mod gateway;

pub(crate) const TEMPLATE: &[&str] = &[
    "AWSTemplateFormatVersion",
    "Transform",
    "Description",
    "Metadata",
    "Parameters",
    "Mappings",
    "Conditions",
    "Globals",
    "Resources",
    "Outputs",
];

pub(crate) const RESOURCE: &[&str] = &[
    "Type",
    "Properties",
    "Condition",
    "DependsOn",
    "DeletionPolicy",
    "UpdateReplacePolicy",
    "CreationPolicy",
    "UpdatePolicy",
    "Metadata",
    "Connectors",
];

/// Types that become more than a [`crate::Resource`]. `AWS::ApiGatewayV2::Stage` is absent: too little
/// tells it from the stage of a REST API, which would be taken for a misspelling.
pub(crate) const MODELLED_TYPES: &[&str] = &[
    "AWS::ApiGatewayV2::Api",
    "AWS::ApiGatewayV2::Integration",
    "AWS::ApiGatewayV2::Route",
    "AWS::Serverless::Function",
    "AWS::Serverless::HttpApi",
    "AWS::Serverless::Application",
    "AWS::CloudFormation::Stack",
    "AWS::DynamoDB::Table",
    "AWS::SQS::Queue",
    "AWS::SNS::Topic",
    "AWS::SNS::Subscription",
    "AWS::S3::Bucket",
    "AWS::Logs::LogGroup",
];

pub(crate) const GLOBAL_FUNCTION: &[&str] = &[
    "Architectures",
    "AssumeRolePolicyDocument",
    "AutoPublishAlias",
    "AutoPublishAliasAllProperties",
    "AutoPublishCodeSha256",
    "CodeSigningConfigArn",
    "CodeUri",
    "DeadLetterQueue",
    "DeploymentPreference",
    "Description",
    "Environment",
    "EphemeralStorage",
    "EventInvokeConfig",
    "FileSystemConfigs",
    "Handler",
    "KmsKeyArn",
    "Layers",
    "LoggingConfig",
    "MemorySize",
    "PermissionsBoundary",
    "PropagateTags",
    "ProvisionedConcurrencyConfig",
    "PublishToLatestPublished",
    "RecursiveLoop",
    "ReservedConcurrentExecutions",
    "RolePath",
    "Runtime",
    "RuntimeManagementConfig",
    "SnapStart",
    "SourceKMSKeyArn",
    "Tags",
    "Timeout",
    "Tracing",
    "VpcConfig",
];

/// What a function has beyond [`GLOBAL_FUNCTION`].
pub(crate) const OWN_FUNCTION: &[&str] = &[
    "Events",
    "FunctionName",
    "FunctionUrlConfig",
    "ImageConfig",
    "ImageUri",
    "InlineCode",
    "PackageType",
    "Policies",
    "Role",
    "VersionDeletionPolicy",
    "VersionDescription",
];

pub(crate) const HTTP_API_EVENT: &[&str] = &[
    "ApiId",
    "Auth",
    "Method",
    "Path",
    "PayloadFormatVersion",
    "RouteSettings",
    "TimeoutInMillis",
];

pub(crate) const SQS_EVENT: &[&str] = &[
    "BatchSize",
    "Enabled",
    "FilterCriteria",
    "FunctionResponseTypes",
    "KmsKeyArn",
    "MaximumBatchingWindowInSeconds",
    "MetricsConfig",
    "ProvisionedPollerConfig",
    "Queue",
    "ScalingConfig",
];

pub(crate) const SNS_EVENT: &[&str] =
    &["FilterPolicy", "FilterPolicyScope", "RedrivePolicy", "Region", "SqsSubscription", "Topic"];

pub(crate) const SCHEDULE_EVENT: &[&str] = &[
    "DeadLetterConfig",
    "Description",
    "Enabled",
    "Input",
    "Name",
    "RetryPolicy",
    "RoleArn",
    "Schedule",
    "State",
];

pub(crate) const SCHEDULE_V2_EVENT: &[&str] = &[
    "DeadLetterConfig",
    "Description",
    "EndDate",
    "FlexibleTimeWindow",
    "GroupName",
    "Input",
    "KmsKeyArn",
    "Name",
    "OmitName",
    "PermissionsBoundary",
    "RetryPolicy",
    "RoleArn",
    "ScheduleExpression",
    "ScheduleExpressionTimezone",
    "StartDate",
    "State",
];

pub(crate) const TABLE: &[&str] = &[
    "AttributeDefinitions",
    "BillingMode",
    "ContributorInsightsSpecification",
    "DeletionProtectionEnabled",
    "GlobalSecondaryIndexes",
    "ImportSourceSpecification",
    "KeySchema",
    "KinesisStreamSpecification",
    "LocalSecondaryIndexes",
    "OnDemandThroughput",
    "PointInTimeRecoverySpecification",
    "ProvisionedThroughput",
    "ResourcePolicy",
    "SSESpecification",
    "StreamSpecification",
    "TableClass",
    "TableName",
    "Tags",
    "TimeToLiveSpecification",
    "WarmThroughput",
];

pub(crate) const TOPIC: &[&str] = &[
    "ArchivePolicy",
    "ContentBasedDeduplication",
    "DataProtectionPolicy",
    "DeliveryStatusLogging",
    "DisplayName",
    "FifoThroughputScope",
    "FifoTopic",
    "KmsMasterKeyId",
    "SignatureVersion",
    "Subscription",
    "Tags",
    "TopicName",
    "TracingConfig",
];

pub(crate) const SUBSCRIPTION: &[&str] = &[
    "DeliveryPolicy",
    "Endpoint",
    "FilterPolicy",
    "FilterPolicyScope",
    "Protocol",
    "RawMessageDelivery",
    "RedrivePolicy",
    "Region",
    "ReplayPolicy",
    "SubscriptionRoleArn",
    "TopicArn",
];

pub(crate) const LOG_GROUP: &[&str] = &[
    "DataProtectionPolicy",
    "DeletionProtectionEnabled",
    "FieldIndexPolicies",
    "KmsKeyId",
    "LogGroupClass",
    "LogGroupName",
    "ResourcePolicyDocument",
    "RetentionInDays",
    "Tags",
];
