//! A sink, and every provider configured to send there.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use aws_credential_types::Credentials;
use aws_smithy_async::rt::sleep::{SharedAsyncSleep, TokioSleep};
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use domain::Timestamp;
use domain::notifications::{Address, Channel, Class, Content, ProviderMessage, SendOutcome};
use egress::{Network, NetworkError};
use serde_json::{Value, json};
use sink::{ProviderKind, Sink, SinkOptions};

use crate::{Provider, ProviderClients, ProviderSettings, from_settings};

/// A device token of Apple's.
pub(super) const DEVICE: &str = "ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12";

pub(super) const MAILBOX: &str = "bob.private@example.com";
pub(super) const NUMBER: &str = "+15551234567";

pub(super) struct Harness {
    pub(super) sink: Sink,
    providers: Vec<Arc<dyn Provider>>,
}

pub(super) fn now() -> Timestamp {
    "2026-08-01T12:00:00Z".parse().unwrap()
}

/// A network without names.
pub(super) fn closed_network() -> Network {
    Network::system().with_resolver(|_| {
        Box::pin(async { Err(NetworkError::new("resolve a name", "no network")) })
    })
}

impl Harness {
    pub(super) async fn new() -> Self {
        Self::with(20_000, |_| {}).await
    }

    pub(super) async fn with_short_timeout() -> Self {
        Self::with(1_500, |_| {}).await
    }

    pub(super) async fn with(timeout_ms: u64, change: impl FnOnce(&mut Value)) -> Self {
        let sink = Sink::start(SinkOptions { now: Arc::new(now), ..SinkOptions::default() })
            .await
            .unwrap();
        let mut settings = sink.settings();
        for provider in settings.as_object_mut().unwrap().values_mut() {
            provider["timeoutMs"] = json!(timeout_ms);
        }
        change(&mut settings);
        let providers = configured(&sink, &settings, sink.http());
        Self { sink, providers }
    }

    /// Providers whose AWS endpoint is closed.
    pub(super) async fn without_aws() -> Self {
        let harness = Self::new().await;
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let providers = configured(&harness.sink, &harness.sink.settings(), closed);
        Self { providers, ..harness }
    }

    pub(super) fn provider(&self, via: ProviderKind) -> &dyn Provider {
        let name = if via == ProviderKind::Sms { "sns" } else { via.name() };
        &**self.providers.iter().find(|provider| provider.name() == name).unwrap()
    }

    /// Sends something by `via`.
    pub(super) async fn send(&self, via: ProviderKind) -> SendOutcome {
        self.send_message(via, &self.message(via)).await
    }

    pub(super) async fn send_message(
        &self,
        via: ProviderKind,
        message: &ProviderMessage,
    ) -> SendOutcome {
        self.provider(via).send(message, now()).await
    }

    /// Something for `via`.
    pub(super) fn message(&self, via: ProviderKind) -> ProviderMessage {
        let to = match via {
            ProviderKind::Smtp | ProviderKind::Ses => {
                Address::Email { address: MAILBOX.to_owned() }
            }
            ProviderKind::Sms => Address::Phone { number: NUMBER.to_owned() },
            ProviderKind::WebPush => {
                let browser = self.sink.subscription();
                let (endpoint, p256dh, auth) = (browser.endpoint, browser.p256dh, browser.auth);
                Address::WebPush { endpoint, p256dh, auth }
            }
            ProviderKind::Fcm => Address::Fcm { token: "device-token-of-bob".to_owned() },
            ProviderKind::Apns => Address::Apns { token: DEVICE.to_owned() },
            ProviderKind::Webhook => {
                Address::Webhook { url: "https://bob.sink.localhost/hook".to_owned() }
            }
        };
        let content = match to.channel() {
            Channel::Email => Content::Email {
                subject: "Your order".to_owned(),
                text: "It is on its way.\n.\nBye".to_owned(),
                html: Some("<p>It is on its <b>way</b>.</p>".to_owned()),
            },
            Channel::Sms => Content::Sms { text: "It is on its way.".to_owned() },
            Channel::Push => Content::Push {
                title: "Your order".to_owned(),
                body: "It is on its way.".to_owned(),
                link: Some("https://shop.example/orders/7".to_owned()),
                data: BTreeMap::from([("order".to_owned(), "7".to_owned())]),
            },
        };
        ProviderMessage {
            key: "n1.a1".to_owned(),
            to,
            content,
            collapse_key: Some("order 7".to_owned()),
            urgent: true,
            expires_at: Some("2026-08-01T13:00:00Z".parse().unwrap()),
            unsubscribe: Some("https://api.example/unsubscribe?token=t".to_owned()),
        }
    }
}

fn configured(sink: &Sink, settings: &Value, aws: SocketAddr) -> Vec<Arc<dyn Provider>> {
    let http = aws_smithy_http_client::Builder::new().build_http();
    let endpoint = format!("http://{aws}");
    let credentials = Credentials::new("key", "secret", None, None, "tests");
    let ses = rest::Client::new(rest::Config {
        service: rest::Service::Ses,
        endpoint: endpoint.clone(),
        region: "eu-west-1".to_owned(),
        credentials: credentials.clone(),
        http_client: http.clone(),
        retries: RetryConfig::disabled(),
        timeouts: TimeoutConfig::disabled(),
    });
    let sns = aws_sdk_sns::Config::builder()
        .behavior_version(aws_sdk_sns::config::BehaviorVersion::latest())
        .region(aws_sdk_sns::config::Region::new("eu-west-1"))
        .credentials_provider(credentials)
        .http_client(http)
        .sleep_impl(SharedAsyncSleep::new(TokioSleep::new()))
        .endpoint_url(&endpoint);
    let sns = aws_sdk_sns::Client::from_conf(sns.build());
    let clients = ProviderClients { network: sink.network(closed_network()), ses, sns };
    from_settings(ProviderSettings::parse(&settings.to_string()).unwrap(), clients).unwrap()
}

/// The class and the wait of a refusal; fails otherwise.
pub(super) fn refusal(outcome: &SendOutcome) -> (Class, Option<u32>) {
    let SendOutcome::Refused { class, retry_after_seconds, .. } = outcome else {
        panic!("{outcome:?} is no refusal")
    };
    (*class, *retry_after_seconds)
}

pub(super) fn reason(outcome: &SendOutcome) -> &str {
    match outcome {
        SendOutcome::Refused { reason, .. } | SendOutcome::Unknown { reason } => reason,
        SendOutcome::Accepted { .. } => panic!("no reason"),
    }
}
