//! The running sink: its messages, its scripted behaviours, and the network that leads to it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use crate::http::{Request, Response};
use domain::Timestamp;
use egress::Network;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

use crate::behaviour::BehaviourRules;
use crate::certificate_authority::CertificateAuthority;
use crate::credentials::Credentials;
use crate::message::ReceivedMessage;
use crate::message_log::MessageLog;
use crate::{Behaviour, BehaviourRule, ProviderKind, PushSubscription, SinkMessage, http, smtp};

/// Every name under it leads to the sink, through [`Sink::network`].
/// The names in the certificate, beside those of the options.
const OWN_NAMES: [&str; 4] = ["localhost", "127.0.0.1", "sink.localhost", "*.sink.localhost"];

const DOMAIN: &str = "sink.localhost";

/// What such names resolve to. It was part of a test network that ended in 2006 and leads nowhere;
/// the fetcher takes it for a public address, like a provider's.
const PLACEHOLDER_ADDRESS: IpAddr = IpAddr::V6(Ipv6Addr::new(0x3ffe, 0, 0, 0, 0, 0, 0, 0x51));

pub(crate) type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

#[derive(Clone)]
pub struct SinkOptions {
    /// How many messages are kept.
    pub capacity: usize,
    /// Where messages are written as well, as lines of JSON.
    pub file: Option<PathBuf>,
    /// 0 for a free port.
    pub smtp_port: u16,
    /// 0 for a free port.
    pub http_port: u16,
    /// Names that lead to the sink beside those under `sink.localhost`, such as a provider's own.
    pub names: Vec<String>,
    /// The clock that tokens are judged by.
    pub now: Now,
}

impl Default for SinkOptions {
    /// The last 500 messages in memory, on free ports, by the machine's clock.
    fn default() -> Self {
        let now: Now = Arc::new(Timestamp::now);
        Self { capacity: 500, file: None, smtp_port: 0, http_port: 0, names: Vec::new(), now }
    }
}

/// A running sink; a clone is the same one. It ends with its last clone.
#[derive(Clone, Debug)]
pub struct Sink {
    pub(crate) state: Arc<SinkState>,
    _running: Arc<Running>,
}

/// What connections share.
pub(crate) struct SinkState {
    pub(crate) messages: MessageLog,
    pub(crate) rules: BehaviourRules,
    pub(crate) credentials: Credentials,
    pub(crate) authority: CertificateAuthority,
    pub(crate) names: Vec<String>,
    pub(crate) smtp: SocketAddr,
    pub(crate) http: SocketAddr,
    /// What its names for messages begin with: a sink that is started again gives no name twice.
    started_at: Timestamp,
    now: Now,
}

#[derive(Debug)]
struct Running([AbortHandle; 2]);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.iter().for_each(AbortHandle::abort);
    }
}

impl Sink {
    /// Listens on the loopback.
    pub async fn start(options: SinkOptions) -> io::Result<Self> {
        let smtp = TcpListener::bind((Ipv4Addr::LOCALHOST, options.smtp_port)).await?;
        let http = TcpListener::bind((Ipv4Addr::LOCALHOST, options.http_port)).await?;
        let state = Arc::new(SinkState {
            messages: MessageLog::new(options.capacity, options.file),
            rules: BehaviourRules::default(),
            credentials: Credentials::new()?,
            authority: CertificateAuthority::new(
                OWN_NAMES.map(str::to_owned).into_iter().chain(options.names.clone()),
            )?,
            names: options.names,
            smtp: smtp.local_addr()?,
            http: http.local_addr()?,
            started_at: (options.now)(),
            now: options.now,
        });
        let running = Running([
            tokio::spawn(smtp::serve(smtp, Arc::clone(&state))).abort_handle(),
            tokio::spawn(http::serve(http, Arc::clone(&state))).abort_handle(),
        ]);
        Ok(Self { state, _running: Arc::new(running) })
    }

    /// The address of the SMTP server.
    pub fn smtp(&self) -> SocketAddr {
        self.state.smtp
    }

    /// The address of the HTTP server: HTTP/1.1 and HTTP/2, with TLS and without.
    pub fn http(&self) -> SocketAddr {
        self.state.http
    }

    /// What was sent, newest first.
    pub fn messages(&self) -> Vec<Arc<SinkMessage>> {
        self.state.messages.all()
    }

    /// What was sent by one provider, newest first.
    pub fn sent(&self, via: ProviderKind) -> Vec<Arc<SinkMessage>> {
        self.messages().into_iter().filter(|message| message.via == via).collect()
    }

    pub fn clear(&self) {
        self.state.messages.clear();
    }

    /// From now on, everything sent by `via` is treated like this.
    pub fn behave(&self, via: ProviderKind, behaviour: Behaviour) {
        self.state.rules.set(via, BehaviourRule { behaviour, times: None });
    }

    /// The next `times` messages sent by `via` are treated like this.
    pub fn behave_next(&self, via: ProviderKind, times: u32, behaviour: Behaviour) {
        let rule = if times == 0 {
            BehaviourRule::default()
        } else {
            BehaviourRule { behaviour, times: Some(times) }
        };
        self.state.rules.set(via, rule);
    }

    /// The scripted behaviour of `via`.
    pub fn behaviour_rule(&self, via: ProviderKind) -> BehaviourRule {
        self.state.rules.get(via)
    }

    /// Answers a request as its own server would, without a socket, for the emulated SES and SNS;
    /// `None` if the connection is to be closed.
    pub async fn answer(&self, request: Request) -> Option<Response> {
        http::respond(request, &self.state).await.ok()
    }

    /// A browser that reads what is pushed to it.
    pub fn subscription(&self) -> PushSubscription {
        self.state.credentials.subscription()
    }

    /// What the providers are configured with to send everything here.
    pub fn settings(&self) -> serde_json::Value {
        self.state.credentials.settings(self.state.smtp)
    }

    /// `network`, where the sink's names lead to the sink and have certificates that it trusts.
    pub fn network(&self, network: Network) -> Network {
        let (names, connect) = (network.clone(), network.clone());
        let (state, http) = (Arc::clone(&self.state), self.state.http);
        network
            .with_resolver(move |name| {
                let (names, ours) = (names.clone(), state.is_ours(&name));
                Box::pin(async move {
                    if ours { Ok(vec![PLACEHOLDER_ADDRESS]) } else { names.resolve(&name).await }
                })
            })
            .with_connect(move |address| {
                let connect = connect.clone();
                Box::pin(async move {
                    if address.ip() == PLACEHOLDER_ADDRESS {
                        TcpStream::connect(http).await
                    } else {
                        connect.connect(address).await
                    }
                })
            })
            .with_root_certificate(self.state.authority.root_certificate.clone())
    }
}

impl SinkState {
    pub(crate) fn now(&self) -> Timestamp {
        (self.now)()
    }

    pub(crate) fn store(&self, via: ProviderKind, received: ReceivedMessage) -> u64 {
        self.messages.push(received, self.now(), via)
    }

    /// The id that the provider's API answers with.
    pub(crate) fn reference(&self, id: u64) -> String {
        format!("sink-{:x}-{id}", self.started_at.as_millisecond())
    }

    fn is_ours(&self, name: &str) -> bool {
        let name = name.trim_end_matches('.');
        let under = name.strip_suffix(DOMAIN);
        under.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            || self.names.iter().any(|ours| ours == name)
    }
}

impl std::fmt::Debug for SinkState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SinkState")
            .field("smtp", &self.smtp)
            .field("http", &self.http)
            .finish_non_exhaustive()
    }
}
