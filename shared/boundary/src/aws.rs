//! AWS clients, set up slim: credentials from the environment, one TLS stack, nothing loaded lazily.
//!
//! `aws-config` is absent on purpose. Its chain of providers costs megabytes and milliseconds to
//! find what Lambda has already put into the environment and keeps fresh by replacing environments.

mod trust;

use std::time::Duration;

use aws_credential_types::Credentials;
use aws_sdk_dynamodb::config::{Region, SharedHttpClient, SharedInterceptor};
use aws_smithy_async::rt::sleep::{SharedAsyncSleep, TokioSleep};
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::tls::{Provider, TlsContext};
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use rest::Service;
use store::capacity::CapacityInterceptor;

use crate::{Misconfigured, Vars};

/// What every client is made from.
#[derive(Debug, Clone)]
pub struct Aws {
    http: SharedHttpClient,
    credentials: Credentials,
    region: Region,
    endpoints: Endpoints,
}

#[derive(Debug, Clone, Default)]
struct Endpoints {
    dynamodb: Option<String>,
    sqs: Option<String>,
    s3: Option<String>,
    sns: Option<String>,
    sesv2: Option<String>,
    connections: Option<String>,
}

/// Builds one service's client; the SDK's crates share names but no trait.
macro_rules! client {
    ($self:ident, $sdk:ident, $endpoint:expr $(, $configure:expr)?) => {{
        let mut config = $sdk::Config::builder()
            .behavior_version($sdk::config::BehaviorVersion::latest())
            .region($self.region.clone())
            .credentials_provider($self.credentials.clone())
            .http_client($self.http.clone())
            .sleep_impl(SharedAsyncSleep::new(TokioSleep::new()))
            .retry_config(retries())
            .timeout_config(timeouts());
        config.set_endpoint_url($endpoint.clone());
        $(let configure: fn(&mut $sdk::config::Builder) = $configure;
        configure(&mut config);)?
        $sdk::Client::from_conf(config.build())
    }};
}

impl Aws {
    /// AWS (or the endpoints that `AWS_ENDPOINT_URL*` name), over TLS with ring.
    pub fn from_vars(vars: &Vars) -> Result<Self, Misconfigured> {
        let tls = TlsContext::builder().with_trust_store(trust::trust_store(vars)).build();
        let tls = tls.map_err(|error| Misconfigured {
            name: "AWS_REGION".to_owned(),
            problem: format!("leaves no roots to trust: {error}"),
        })?;
        let http = aws_smithy_http_client::Builder::new()
            .tls_provider(Provider::Rustls(CryptoMode::Ring))
            .tls_context(tls)
            .build_https();
        Self::through(http, vars)
    }

    /// The same clients over another HTTP client: the local cloud's, which has no sockets.
    pub fn through(http: SharedHttpClient, vars: &Vars) -> Result<Self, Misconfigured> {
        let credentials = Credentials::new(
            vars.required("AWS_ACCESS_KEY_ID")?,
            vars.required("AWS_SECRET_ACCESS_KEY")?,
            vars.optional("AWS_SESSION_TOKEN").map(str::to_owned),
            None,
            "environment",
        );
        let endpoint = |service: &str| {
            vars.optional(&format!("AWS_ENDPOINT_URL_{service}"))
                .or_else(|| vars.optional("AWS_ENDPOINT_URL"))
                .map(str::to_owned)
        };
        Ok(Self {
            http,
            credentials,
            region: Region::new(vars.required("AWS_REGION")?.to_owned()),
            endpoints: Endpoints {
                dynamodb: endpoint("DYNAMODB"),
                sqs: endpoint("SQS"),
                s3: endpoint("S3"),
                sns: endpoint("SNS"),
                sesv2: endpoint("SESV2"),
                connections: endpoint("APIGATEWAYMANAGEMENTAPI"),
            },
        })
    }

    /// A DynamoDB client, which meters the capacity that its requests consume.
    pub fn dynamodb(&self) -> aws_sdk_dynamodb::Client {
        client!(self, aws_sdk_dynamodb, self.endpoints.dynamodb, |config| {
            config.push_interceptor(SharedInterceptor::permanent(CapacityInterceptor));
        })
    }

    /// A client of the S3 bucket `name`. Where an endpoint is configured it is an emulator, whose buckets have no
    /// names in DNS.
    pub fn bucket(&self, name: &str) -> rest::Client {
        let endpoint = match &self.endpoints.s3 {
            Some(emulator) => format!("{}/{name}", emulator.trim_end_matches('/')),
            None => self.host(&format!("{name}.s3")),
        };
        self.rest(Service::S3, endpoint)
    }

    /// An SQS client.
    pub fn sqs(&self) -> aws_sdk_sqs::Client {
        client!(self, aws_sdk_sqs, self.endpoints.sqs)
    }

    /// An SNS client.
    pub fn sns(&self) -> aws_sdk_sns::Client {
        client!(self, aws_sdk_sns, self.endpoints.sns)
    }

    /// An SES client.
    pub fn ses(&self) -> rest::Client {
        let endpoint = self.endpoints.sesv2.clone();
        self.rest(Service::Ses, endpoint.unwrap_or_else(|| self.host("email")))
    }

    /// A client for the connections of one stage of a WebSocket API, at `https://{api host}/{stage}`.
    /// Where an endpoint is configured it is an emulator, and only the stage is left of that.
    pub fn connections(&self, endpoint: &str) -> rest::Client {
        let emulator = self.endpoints.connections.as_deref();
        let endpoint = match (emulator, endpoint.splitn(4, '/').nth(3)) {
            (Some(emulator), Some(stage)) => format!("{}/{stage}", emulator.trim_end_matches('/')),
            (Some(emulator), None) => emulator.to_owned(),
            (None, _) => endpoint.to_owned(),
        };
        self.rest(Service::Connections, endpoint)
    }

    /// Where AWS answers for `prefix` in this region.
    fn host(&self, prefix: &str) -> String {
        let suffix = if self.region.as_ref().starts_with("cn-") { ".cn" } else { "" };
        format!("https://{prefix}.{}.amazonaws.com{suffix}", self.region)
    }

    fn rest(&self, service: Service, endpoint: String) -> rest::Client {
        rest::Client::new(rest::Config {
            service,
            endpoint,
            region: self.region.to_string(),
            credentials: self.credentials.clone(),
            http_client: self.http.clone(),
            retries: retries(),
            timeouts: timeouts(),
        })
    }
}

fn retries() -> RetryConfig {
    RetryConfig::standard().with_max_attempts(4)
}

/// A try that takes longer than this is worth repeating; the function's own timeout is 10 s.
fn timeouts() -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(1))
        .operation_attempt_timeout(Duration::from_secs(2))
        .operation_timeout(Duration::from_secs(8))
        .build()
}
