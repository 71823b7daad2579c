//! The running sink: what it keeps, what it was told, and the way to it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use ::http::{Request, Response};
use bytes::Bytes;
use domain::Timestamp;
use outside::Network;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

use crate::authority::Authority;
use crate::behaviour::Plans;
use crate::credentials::Credentials;
use crate::kept::Kept;
use crate::message::Draft;
use crate::{Behaviour, Message, Plan, Subscription, Via, http, smtp};

/// Every name under it leads to the sink, through [`Sink::network`].
const DOMAIN: &str = "sink.localhost";

/// What such names resolve to. It was part of a test network that ended in 2006 and leads nowhere;
/// whoever judges addresses takes it for a public one, as it should for a provider's.
const STAND_IN: IpAddr = IpAddr::V6(Ipv6Addr::new(0x3ffe, 0, 0, 0, 0, 0, 0, 0x51));

/// Tells the time.
pub(crate) type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// How a sink is to be.
#[derive(Clone)]
pub struct Options {
    /// How many messages are kept.
    pub room: usize,
    /// Where each is written as well, a line of JSON for each.
    pub file: Option<PathBuf>,
    /// Where mails are taken; 0 for whichever port is free.
    pub smtp_port: u16,
    /// Where the others are; 0 for whichever port is free.
    pub http_port: u16,
    /// Names that lead to the sink beside those under `sink.localhost`, such as a provider's own.
    pub names: Vec<String>,
    /// The clock that tokens are judged by.
    pub now: Now,
}

impl Default for Options {
    /// The last 500 messages in memory, on free ports, by the machine's clock.
    fn default() -> Self {
        let now: Now = Arc::new(Timestamp::now);
        Self { room: 500, file: None, smtp_port: 0, http_port: 0, names: Vec::new(), now }
    }
}

/// A running sink; a clone is the same one. It ends with its last clone.
#[derive(Clone, Debug)]
pub struct Sink {
    pub(crate) desk: Arc<Desk>,
    _running: Arc<Running>,
}

/// What connections share.
pub(crate) struct Desk {
    pub(crate) kept: Kept,
    pub(crate) plans: Plans,
    pub(crate) credentials: Credentials,
    pub(crate) authority: Authority,
    pub(crate) names: Vec<String>,
    pub(crate) smtp: SocketAddr,
    pub(crate) http: SocketAddr,
    /// What its names for messages begin with: a sink that is started again gives no name twice.
    began: Timestamp,
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
    pub async fn start(options: Options) -> io::Result<Self> {
        let smtp = TcpListener::bind((Ipv4Addr::LOCALHOST, options.smtp_port)).await?;
        let http = TcpListener::bind((Ipv4Addr::LOCALHOST, options.http_port)).await?;
        let desk = Arc::new(Desk {
            kept: Kept::new(options.room, options.file),
            plans: Plans::default(),
            credentials: Credentials::new()?,
            authority: Authority::new(&options.names)?,
            names: options.names,
            smtp: smtp.local_addr()?,
            http: http.local_addr()?,
            began: (options.now)(),
            now: options.now,
        });
        let running = Running([
            tokio::spawn(smtp::serve(smtp, Arc::clone(&desk))).abort_handle(),
            tokio::spawn(http::serve(http, Arc::clone(&desk))).abort_handle(),
        ]);
        Ok(Self { desk, _running: Arc::new(running) })
    }

    /// Where mails are taken.
    pub fn smtp(&self) -> SocketAddr {
        self.desk.smtp
    }

    /// Where everything else is, over HTTP/1.1 and HTTP/2, with TLS and without.
    pub fn http(&self) -> SocketAddr {
        self.desk.http
    }

    /// What was sent, newest first.
    pub fn messages(&self) -> Vec<Arc<Message>> {
        self.desk.kept.all()
    }

    /// What was sent by one provider, newest first.
    pub fn sent(&self, via: Via) -> Vec<Arc<Message>> {
        self.messages().into_iter().filter(|message| message.via == via).collect()
    }

    /// Forgets what was sent.
    pub fn clear(&self) {
        self.desk.kept.clear();
    }

    /// From now on, everything sent by `via` is treated like this.
    pub fn behave(&self, via: Via, behaviour: Behaviour) {
        self.desk.plans.set(via, Plan { behaviour, times: None });
    }

    /// The next `times` messages sent by `via` are treated like this.
    pub fn behave_next(&self, via: Via, times: u32, behaviour: Behaviour) {
        let plan =
            if times == 0 { Plan::default() } else { Plan { behaviour, times: Some(times) } };
        self.desk.plans.set(via, plan);
    }

    /// What `via` was told.
    pub fn plan(&self, via: Via) -> Plan {
        self.desk.plans.get(via)
    }

    /// Answers a request as its own server would, without a socket, for whoever plays SES and SNS;
    /// `None` if the line is to be cut.
    pub async fn answer(&self, request: Request<Bytes>) -> Option<Response<Bytes>> {
        http::respond(request, &self.desk).await.ok()
    }

    /// A browser that reads what is pushed to it.
    pub fn subscription(&self) -> Subscription {
        self.desk.credentials.subscription()
    }

    /// What the providers are configured with to send everything here.
    pub fn settings(&self) -> serde_json::Value {
        self.desk.credentials.settings(self.desk.smtp)
    }

    /// `network`, where the sink's names lead to the sink and are vouched for.
    pub fn network(&self, network: Network) -> Network {
        let (names, connect) = (network.clone(), network.clone());
        let (desk, http) = (Arc::clone(&self.desk), self.desk.http);
        network
            .with_resolver(move |name| {
                let (names, ours) = (names.clone(), desk.is_ours(&name));
                Box::pin(async move {
                    if ours { Ok(vec![STAND_IN]) } else { names.resolve(&name).await }
                })
            })
            .with_connect(move |address| {
                let connect = connect.clone();
                Box::pin(async move {
                    if address.ip() == STAND_IN {
                        TcpStream::connect(http).await
                    } else {
                        connect.connect(address).await
                    }
                })
            })
            .with_root_certificate(self.desk.authority.der.clone())
    }
}

impl Desk {
    pub(crate) fn now(&self) -> Timestamp {
        (self.now)()
    }

    pub(crate) fn keep(&self, via: Via, draft: Draft) -> u64 {
        self.kept.keep(draft, self.now(), via)
    }

    /// What the sink calls a message when it accepts it.
    pub(crate) fn reference(&self, id: u64) -> String {
        format!("sink-{:x}-{id}", self.began.as_millisecond())
    }

    fn is_ours(&self, name: &str) -> bool {
        let name = name.trim_end_matches('.');
        let under = name.strip_suffix(DOMAIN);
        under.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            || self.names.iter().any(|ours| ours == name)
    }
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk")
            .field("smtp", &self.smtp)
            .field("http", &self.http)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options").field("room", &self.room).finish_non_exhaustive()
    }
}
