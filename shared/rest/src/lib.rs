//! Signed REST calls to AWS, for services of which a handful of operations are used: S3, SES, the connections of
//! a WebSocket API.
//!
//! Their SDK crates take longer to build than all functions together, and S3's is a fifth of a zip that links it.
//! What makes an SDK dependable is not in those crates but in the runtime below, which this uses as they do: the
//! orchestrator with its standard retries, timeouts per attempt and per call, `SigV4`, one HTTP client for all.
//! Guarantee: the outcome is the SDK's own [`SdkError`], so that "never sent", "answered" and "unknown" are told
//! apart as with any SDK client. Absent: models, endpoint rules (the caller knows its endpoint), streaming (a body
//! is in memory).

mod error;
mod presign;
mod request;

use std::time::Duration;

use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_runtime::auth::SigV4OperationSigningConfig;
use aws_runtime::auth::sigv4::{SCHEME_ID, SigV4AuthScheme};
use aws_runtime::retries::classifiers::AwsErrorCodeClassifier;
use aws_smithy_async::rt::sleep::TokioSleep;
use aws_smithy_async::time::{SystemTimeSource, TimeSource};
use aws_smithy_runtime::client::identity::IdentityCache;
use aws_smithy_runtime::client::orchestrator::operation::Operation;
use aws_smithy_runtime::client::retries::classifiers::{
    HttpStatusCodeClassifier, TransientErrorClassifier,
};
use aws_smithy_runtime_api::client::auth::static_resolver::StaticAuthSchemeOptionResolver;
use aws_smithy_runtime_api::client::auth::{
    AuthSchemeOptionResolverParams, SharedAuthScheme, SharedAuthSchemeOptionResolver,
};
use aws_smithy_runtime_api::client::behavior_version::BehaviorVersion;
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use aws_smithy_runtime_api::client::identity::SharedIdentityResolver;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponentsBuilder;
use aws_smithy_runtime_api::client::runtime_plugin::StaticRuntimePlugin;
use aws_smithy_types::config_bag::Layer;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use aws_types::SigningName;
use aws_types::region::{Region, SigningRegion};

pub use error::ServiceError;
pub use request::{Request, Response};

/// How a call ends that does not end well.
pub type CallError = SdkError<ServiceError, HttpResponse>;

/// A service that signs requests differently from the others has a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// Paths are signed as they are sent, and the body's digest is a header.
    S3,
    Ses,
    /// `execute-api`: the connections of a WebSocket API.
    Connections,
}

impl Service {
    const fn signing_name(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::Ses => "ses",
            Self::Connections => "execute-api",
        }
    }
}

/// What a client is made from.
#[derive(Debug, Clone)]
pub struct Config {
    pub service: Service,
    /// Where requests go: scheme and authority, and a path that every request's path is appended to.
    pub endpoint: String,
    pub region: String,
    pub credentials: Credentials,
    pub http_client: SharedHttpClient,
    pub retries: RetryConfig,
    pub timeouts: TimeoutConfig,
}

/// A client of one service at one endpoint.
#[derive(Debug, Clone)]
pub struct Client {
    config: Config,
    operation: Operation<Request, Response, ServiceError>,
}

impl Client {
    pub fn new(config: Config) -> Self {
        let operation = operation(&config);
        Self { config, operation }
    }

    /// The same client, with retries and timeouts of its own.
    #[must_use]
    pub fn with(&self, retries: RetryConfig, timeouts: TimeoutConfig) -> Self {
        Self::new(Config { retries, timeouts, ..self.config.clone() })
    }

    /// Sends a request; an answer of 400 and above is a [`ServiceError`].
    pub async fn send(&self, request: Request) -> Result<Response, CallError> {
        self.operation.invoke(request).await
    }

    /// A URL with which the holder can send this request for as long as `lifetime`. Its headers are signed, so they
    /// have to be sent as they are; its body is not.
    pub fn presign(
        &self,
        request: &Request,
        lifetime: Duration,
    ) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        presign::presign(&self.config, request, lifetime, SystemTimeSource::new().now())
    }
}

fn operation(config: &Config) -> Operation<Request, Response, ServiceError> {
    let mut signing = SigV4OperationSigningConfig {
        region: Some(SigningRegion::from(Region::new(config.region.clone()))),
        name: Some(SigningName::from(config.service.signing_name())),
        ..SigV4OperationSigningConfig::default()
    };
    if config.service == Service::S3 {
        signing.signing_options.double_uri_encode = false;
        signing.signing_options.normalize_uri_path = false;
        signing.signing_options.content_sha256_header = true;
    }
    let mut layer = Layer::new("signing");
    layer.store_put(signing);
    layer.store_put(AuthSchemeOptionResolverParams::new(()));
    let credentials = SharedCredentialsProvider::new(config.credentials.clone());
    let components = RuntimeComponentsBuilder::new("signing")
        .with_auth_scheme(SharedAuthScheme::new(SigV4AuthScheme::new()))
        .with_auth_scheme_option_resolver(Some(SharedAuthSchemeOptionResolver::new(
            StaticAuthSchemeOptionResolver::new(vec![SCHEME_ID]),
        )))
        .with_identity_cache(Some(IdentityCache::no_cache()))
        .with_identity_resolver(SCHEME_ID, SharedIdentityResolver::new(credentials));
    Operation::builder()
        .service_name(config.service.signing_name())
        .operation_name("send")
        .behavior_version(BehaviorVersion::latest())
        .http_client(config.http_client.clone())
        .endpoint_url(&config.endpoint)
        .sleep_impl(TokioSleep::new())
        .time_source(SystemTimeSource::new())
        .standard_retry(&config.retries)
        .retry_classifier(TransientErrorClassifier::<ServiceError>::new())
        .retry_classifier(AwsErrorCodeClassifier::<ServiceError>::new())
        .retry_classifier(HttpStatusCodeClassifier::default())
        .timeout_config(config.timeouts.clone())
        .runtime_plugin(
            StaticRuntimePlugin::new()
                .with_config(layer.freeze())
                .with_runtime_components(components),
        )
        .serializer(request::serialize)
        .deserializer(request::deserialize)
        .build()
}

#[cfg(test)]
mod tests;
