//! The local cloud as a whole, assembled from the template.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use boundary::telemetry::Log;
use boundary::{Aws, Clock, Entropy, FunctionFactory, Host, Providers, Vars};
use bytes::Bytes;
use domain::{SplitMix64, Timestamp};
use egress::Network;
use http::{Request, Response};
use parking_lot::Mutex;
use sink::Sink;
use template::Stack;
use tokio::net::TcpListener;

use crate::clock::MovableClock;
use crate::connector::Connector;
use crate::faults::Faults;
use crate::functions::{Functions, HostFactory, Runner};
use crate::gateway::{BODY_CAP, Gateway, Handled};
use crate::network;
use crate::pump::Pump;
use crate::remote::RemoteFunctions;
use crate::schedule::Schedules;
use crate::server;
use crate::services::{ACCESS_KEY, SECRET_KEY, Services};
use crate::websocket::WebSockets;

/// The settings of a local cloud.
#[derive(Debug)]
pub struct Options {
    /// The template it reads.
    pub template: PathBuf,
    /// Values for the template's parameters.
    pub parameters: BTreeMap<String, String>,
    /// Where data is kept; `None` keeps it in memory.
    pub folder: Option<PathBuf>,
    /// A clock that a test moves; `None` for the machine's.
    pub clock: Option<MovableClock>,
    /// Makes everything random repeatable.
    pub seed: Option<u64>,
    /// Each new instance of a function has a clock that is wrong by up to so many milliseconds.
    pub skew_ms: u64,
    /// What goes wrong.
    pub faults: Arc<Faults>,
    /// Where functions log.
    pub log: Log,
    /// Run functions behind `cargo lambda watch` at this address.
    pub remote: Option<RemoteFunctions>,
    /// Functions that the template names and the product does not have, for tests of this cloud.
    pub functions: BTreeMap<String, FunctionFactory>,
    /// The internet outside.
    pub network: Network,
    /// Where [`Cloud::serve`] will listen, so that links to objects lead there.
    pub url: Option<String>,
    /// Receives mails, text messages and calls of providers; set by [`Options::use_sink`].
    pub sink: Option<Sink>,
    /// Providers of notifications, instead of those that the template's settings name.
    pub providers: Option<Providers>,
}

impl Options {
    /// In memory, on the machine's clock, with nothing going wrong, logs dropped and no way out.
    pub fn new(template: &Path) -> Self {
        Self {
            template: template.to_owned(),
            parameters: BTreeMap::new(),
            folder: None,
            clock: None,
            seed: None,
            skew_ms: 0,
            faults: Faults::none(),
            log: Log::new(|_| {}),
            remote: None,
            functions: BTreeMap::new(),
            network: network::offline(),
            url: None,
            sink: None,
            providers: None,
        }
    }

    /// Sends to `sink` instead of to providers: by their settings, by the names of their servers, and by
    /// the local SES and SNS.
    pub fn use_sink(&mut self, sink: Sink) {
        self.parameters.insert("ProviderSettings".to_owned(), sink.settings().to_string());
        self.parameters.insert("CallbackSecrets".to_owned(), sink.callback_secrets());
        self.network = sink.network(self.network.clone());
        self.sink = Some(sink);
    }
}

/// Called after each request with its method and path, its outcome and its duration.
pub type RequestReporter = Arc<dyn Fn(&str, &str, &Handled, Duration) + Send + Sync>;

/// A running local cloud.
#[derive(Debug, Clone)]
pub struct Cloud {
    /// What the template says.
    pub stack: Arc<Stack>,
    /// DynamoDB, SQS, SNS and S3.
    pub services: Services,
    pub functions: Functions,
    /// The HTTP API.
    pub gateway: Gateway,
    /// The WebSocket APIs.
    pub sockets: WebSockets,
    /// Queues to functions.
    pub pump: Pump,
    /// What runs by the clock.
    pub schedules: Schedules,
    /// What goes wrong.
    pub faults: Arc<Faults>,
    /// What was sent, if that is kept.
    pub sink: Option<Sink>,
    clock: Clock,
}

impl Cloud {
    /// Reads the template and sets everything up; nothing runs in the background yet.
    pub fn start(options: Options) -> Result<Self, String> {
        let stack = template::load(&options.template, &options.parameters)
            .map_err(|error| error.to_string())?;
        let clock = options.clock.as_ref().map_or_else(Clock::system, MovableClock::clock);
        let now_ms = clock_function(&clock);
        let services = Services::open(&stack, options.folder.as_deref(), &now_ms, options.seed)?
            .with_sink(options.sink.clone());
        let runner = if let Some(remote) = options.remote {
            Runner::Remote(remote)
        } else {
            let parts = HostParts {
                services: services.clone(),
                faults: Arc::clone(&options.faults),
                clock: options.clock,
                seed: options.seed,
                skew_ms: options.skew_ms,
                log: options.log,
                network: options.network,
                providers: options.providers,
            };
            Runner::InProcess(host_factory(parts), Arc::new(options.functions))
        };
        let mut vars = lambda_environment();
        vars.extend(options.url.map(|url| ("AWS_ENDPOINT_URL_S3".to_owned(), url)));
        let page = options.sink.as_ref().map(|_| sink::page::MOUNT_PATH.to_owned());
        vars.extend(page.map(|page| ("SINK_URL".to_owned(), page)));
        let functions = Functions::new(&stack, runner, &vars, Arc::clone(&now_ms))?;
        Ok(Self {
            gateway: Gateway::new(&stack, functions.clone())?,
            sockets: WebSockets::new(&stack, functions.clone(), services.connections().clone()),
            pump: Pump::new(
                &stack,
                services.queues().clone(),
                functions.clone(),
                Arc::clone(&options.faults),
                now_ms,
            )?,
            schedules: Schedules::new(&stack, functions.clone())?,
            functions,
            services,
            faults: options.faults,
            sink: options.sink,
            clock,
            stack: Arc::new(stack),
        })
    }

    /// What the cloud's clock shows.
    pub fn now_ms(&self) -> i64 {
        self.clock.now().as_millisecond()
    }

    /// The clock as a function, for what runs in the background.
    pub fn clock_ms(&self) -> Arc<dyn Fn() -> i64 + Send + Sync> {
        clock_function(&self.clock)
    }

    /// Answers one request as the HTTP API would, without a socket.
    pub async fn request(&self, request: Request<Bytes>) -> Response<Bytes> {
        let source = IpAddr::V4(Ipv4Addr::LOCALHOST);
        self.gateway.handle(request, source, self.now_ms()).await.response
    }

    /// Delivers messages until none is visible. Work that functions still do after their answers is
    /// waited for first, because it may send some.
    pub async fn settle(&self) -> usize {
        self.functions.quiesce().await;
        let mut handled = 0;
        loop {
            let mut received = 0;
            for mapping in self.pump.mappings() {
                received += self.pump.poll(mapping).await.received;
            }
            if received == 0 {
                return handled;
            }
            handled += received;
        }
    }

    /// Serves the HTTP API and the WebSocket APIs on `listener` until the runtime ends.
    pub async fn serve(&self, listener: TcpListener, report: RequestReporter) {
        let cloud = self.clone();
        let handler: server::Handler = Arc::new(move |request, source| {
            let (cloud, report) = (cloud.clone(), Arc::clone(&report));
            Box::pin(async move {
                if is_presigned(&request) {
                    return cloud.services.handle(request).await;
                }
                if let Some(sink) = &cloud.sink
                    && is_under(sink::page::MOUNT_PATH, request.uri().path())
                {
                    if let Some(callback) =
                        sink::page::feedback_request(sink, sink::page::MOUNT_PATH, &request)
                    {
                        cloud.gateway.handle(callback, source, cloud.now_ms()).await;
                    }
                    return sink::page::respond(sink, sink::page::MOUNT_PATH, &request);
                }
                let started = tokio::time::Instant::now();
                let (method, path) =
                    (request.method().as_str().to_owned(), request.uri().path().to_owned());
                let handled = if cloud.sockets.handles(&request) {
                    cloud.sockets.accept(request, source).await
                } else {
                    cloud.gateway.handle(request, source, cloud.now_ms()).await
                };
                report(&method, &path, &handled, started.elapsed());
                handled.response
            })
        });
        tokio::select! {
            () = server::serve(listener, BODY_CAP, handler) => {}
            () = self.sockets.expire_idle() => {}
        }
    }
}

/// A link to an object carries its permission with it.
fn is_presigned<B>(request: &http::Request<B>) -> bool {
    request.uri().query().is_some_and(|query| query.contains("X-Amz-Signature="))
}

/// Whether a path is `at` or beneath it.
fn is_under(at: &str, path: &str) -> bool {
    path.strip_prefix(at).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What Lambda puts into every function's environment.
pub fn lambda_environment() -> BTreeMap<String, String> {
    [
        ("AWS_ACCESS_KEY_ID", ACCESS_KEY),
        ("AWS_SECRET_ACCESS_KEY", SECRET_KEY),
        ("AWS_REGION", template::REGION),
        // Buckets have no names of their own here, so they are part of the path.
        ("AWS_ENDPOINT_URL_S3", "http://s3.localhost"),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect()
}

struct HostParts {
    services: Services,
    faults: Arc<Faults>,
    clock: Option<MovableClock>,
    seed: Option<u64>,
    skew_ms: u64,
    log: Log,
    network: Network,
    providers: Option<Providers>,
}

/// Makes the host of each new instance.
fn host_factory(parts: HostParts) -> HostFactory {
    let dice = Arc::new(Mutex::new(SplitMix64::new(parts.seed.unwrap_or_default())));
    let entropy = if parts.seed.is_some() { seeded(Arc::clone(&dice)) } else { Entropy::system() };
    Arc::new(move |vars, policy| {
        let client =
            Connector::client(parts.services.clone(), Arc::clone(&parts.faults), Some(policy));
        let bound = parts.skew_ms * 2 + 1;
        let drawn = dice.lock().below(bound);
        let skew = i64::try_from(drawn).unwrap_or(0) - i64::try_from(parts.skew_ms).unwrap_or(0);
        let clock = match &parts.clock {
            Some(clock) => clock.skewed(Arc::new(AtomicI64::new(skew))),
            None => Clock::system(),
        };
        Host {
            aws: aws(&client, &vars),
            vars,
            clock,
            entropy: entropy.clone(),
            log: parts.log.for_instance(),
            network: parts.network.clone(),
            providers: parts.providers.clone(),
        }
    })
}

/// The credentials and the region are set by [`lambda_environment`], so there is nothing to be missing.
fn aws(client: &aws_sdk_dynamodb::config::SharedHttpClient, vars: &Vars) -> Aws {
    let fallback = || Aws::through(client.clone(), &lambda_environment().into_iter().collect());
    match Aws::through(client.clone(), vars).or_else(|_| fallback()) {
        Ok(aws) => aws,
        Err(error) => unreachable!("{error}"),
    }
}

fn seeded(dice: Arc<Mutex<SplitMix64>>) -> Entropy {
    Entropy::new(move |bytes| {
        let mut dice = dice.lock();
        for byte in bytes {
            *byte = dice.next().to_le_bytes()[0];
        }
    })
}

fn clock_function(clock: &Clock) -> Arc<dyn Fn() -> i64 + Send + Sync> {
    let clock = clock.clone();
    Arc::new(move || clock.now().as_millisecond())
}

/// Now, on the machine's clock.
pub fn machine_now() -> Timestamp {
    Clock::system().now()
}
