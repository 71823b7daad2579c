//! The properties of APIs: SAM's, and API Gateway's own.

pub(crate) const GLOBAL_HTTP_API: &[&str] = &[
    "AccessLogSettings",
    "Auth",
    "CorsConfiguration",
    "DefaultRouteSettings",
    "Domain",
    "FailOnWarnings",
    "PropagateTags",
    "RouteSettings",
    "StageVariables",
    "Tags",
];

/// What an API has beyond [`GLOBAL_HTTP_API`].
pub(crate) const OWN_HTTP_API: &[&str] = &[
    "DefinitionBody",
    "DefinitionUri",
    "Description",
    "DisableExecuteApiEndpoint",
    "Name",
    "StageName",
];

pub(crate) const CORS: &[&str] = &[
    "AllowCredentials",
    "AllowHeaders",
    "AllowMethods",
    "AllowOrigins",
    "ExposeHeaders",
    "MaxAge",
];

/// What an HTTP API of API Gateway has that the local cloud understands, or may ignore.
pub(crate) const HTTP_API: &[&str] = &[
    "CorsConfiguration",
    "Description",
    "DisableExecuteApiEndpoint",
    "FailOnWarnings",
    "IpAddressType",
    "Name",
    "ProtocolType",
    "RouteSelectionExpression",
    "Tags",
    "Version",
];

/// Other ways to give an HTTP API its routes.
pub(crate) const HTTP_API_REFUSED: &[&str] =
    &["BasePath", "Body", "BodyS3Location", "CredentialsArn", "RouteKey", "Target"];

pub(crate) const SOCKET_API: &[&str] = &[
    "ApiKeySelectionExpression",
    "Description",
    "DisableExecuteApiEndpoint",
    "IpAddressType",
    "Name",
    "ProtocolType",
    "RouteSelectionExpression",
    "Tags",
];

pub(crate) const ROUTE: &[&str] = &[
    "ApiId",
    "ApiKeyRequired",
    "AuthorizationScopes",
    "AuthorizationType",
    "AuthorizerId",
    "ModelSelectionExpression",
    "OperationName",
    "RequestModels",
    "RequestParameters",
    "RouteKey",
    "RouteResponseSelectionExpression",
    "Target",
];

/// What only routes of WebSocket APIs have.
pub(crate) const ROUTE_OF_SOCKETS: &[&str] = &[
    "ApiKeyRequired",
    "ModelSelectionExpression",
    "RequestModels",
    "RequestParameters",
    "RouteResponseSelectionExpression",
];

pub(crate) const INTEGRATION: &[&str] = &[
    "ApiId",
    "ConnectionId",
    "ConnectionType",
    "ContentHandlingStrategy",
    "CredentialsArn",
    "Description",
    "IntegrationMethod",
    "IntegrationSubtype",
    "IntegrationType",
    "IntegrationUri",
    "PassthroughBehavior",
    "PayloadFormatVersion",
    "RequestParameters",
    "RequestTemplates",
    "ResponseParameters",
    "TemplateSelectionExpression",
    "TimeoutInMillis",
    "TlsConfig",
];

/// What would change how an HTTP API reaches a function, or what passes between them.
pub(crate) const INTEGRATION_REFUSED: &[&str] = &[
    "ConnectionId",
    "ContentHandlingStrategy",
    "CredentialsArn",
    "IntegrationSubtype",
    "PassthroughBehavior",
    "RequestParameters",
    "RequestTemplates",
    "ResponseParameters",
    "TemplateSelectionExpression",
    "TlsConfig",
];

pub(crate) const STAGE: &[&str] = &[
    "AccessLogSettings",
    "AccessPolicyId",
    "ApiId",
    "AutoDeploy",
    "ClientCertificateId",
    "DefaultRouteSettings",
    "DeploymentId",
    "Description",
    "RouteSettings",
    "StageName",
    "StageVariables",
    "Tags",
];

pub(crate) const ROUTE_SETTINGS: &[&str] = &[
    "DataTraceEnabled",
    "DetailedMetricsEnabled",
    "LoggingLevel",
    "ThrottlingBurstLimit",
    "ThrottlingRateLimit",
];
