//! A private local cloud for each test, with a clock that moves and, if wanted, a plan of faults.

pub mod callbacks;
mod openapi_conformance;
pub mod scripted_providers;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use boundary::Aws;
use boundary::telemetry::Log;
use bytes::Bytes;
use domain::Timestamp;
use domain::accounts::SecretHash;
use egress::Network;
use http::{HeaderMap, Method, Request, StatusCode};
use local::connector::Connector;
use local::faults::Faults;
use local::{Cloud, MovableClock, Options, network};
use parking_lot::Mutex;
use queues::NewMessage;
use scripted_providers::ScriptedProviders;
use serde_json::Value;
use sink::Sink;

/// The secret of the bootstrap admin in every test; sample events use it too.
pub const ROOT_SECRET: &str = "LocalSampleSecret00000000000000000000000000";

pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// What holds, or which invariant does not.
pub type Result<T = (), E = String> = std::result::Result<T, E>;

/// A cloud under test.
#[derive(Debug, Clone)]
pub struct Lab {
    pub cloud: Cloud,
    pub clock: MovableClock,
    lines: Arc<Mutex<Vec<String>>>,
}

/// A response, read to its end.
#[derive(Debug, Clone)]
pub struct Response {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Its body as JSON; `Null` if it is none.
    pub body: Value,
    /// Its body as it came.
    pub bytes: Bytes,
}

impl Response {
    /// A header as text; empty if it is not there.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The response itself, which has this status.
    ///
    /// # Panics
    /// When it has another, which fails the test.
    #[track_caller]
    #[expect(clippy::return_self_not_must_use, reason = "the status may be all that matters")]
    pub fn assert_status(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }

    /// Whether it says what became of the request: no server's error, and no other try at work.
    pub fn is_definite(&self) -> bool {
        !self.status.is_server_error() && self.text("type") != "/docs#in-progress"
    }

    /// A member of the body as text; empty if it is not there.
    pub fn text(&self, member: &str) -> &str {
        self.body[member].as_str().unwrap_or_default()
    }
}

/// The settings of a [`Lab`].
#[derive(Debug)]
pub struct Setup {
    /// Makes everything random repeatable.
    pub seed: u64,
    /// What goes wrong.
    pub faults: Arc<Faults>,
    /// How wrong each instance's clock may be.
    pub skew_ms: u64,
    /// The internet outside; by default nothing resolves or connects.
    pub network: Network,
    /// The providers of notifications; the template's unless set.
    pub providers: Option<ScriptedProviders>,
    /// Where real providers send to: over sockets, but for mails by SES and text messages.
    pub sink: Option<Sink>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            seed: 1,
            faults: Faults::none(),
            skew_ms: 0,
            network: network::offline(),
            providers: None,
            sink: None,
        }
    }
}

impl Lab {
    /// A cloud in which nothing goes wrong. Needs a tokio runtime with paused time.
    pub fn new() -> Self {
        Self::with(Setup::default())
    }

    /// The same with one member, ada, and her key.
    pub async fn with_member() -> (Self, String) {
        let lab = Self::new();
        let key = lab.user("ada", &["member"]).await;
        (lab, key)
    }

    /// A cloud with these settings.
    ///
    /// # Panics
    /// When the template can't be started from, which fails the test.
    pub fn with(setup: Setup) -> Self {
        Self::with_parameters(setup, &[])
    }

    /// The same, with other values for some of the template's parameters.
    ///
    /// # Panics
    /// When the template can't be started from, which fails the test.
    pub fn with_parameters(setup: Setup, others: &[(&str, &str)]) -> Self {
        // The SDK draws the jitter of its retries from this thread's generator.
        fastrand::seed(setup.seed);
        let clock = MovableClock::starting_at(at(0));
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let mut options = Options::new(&root().join("template.yaml"));
        options.network = setup.network;
        options.parameters = parameters();
        if let Some(sink) = setup.sink {
            options.use_sink(sink);
        }
        let others = others.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        options.parameters.extend(others);
        options.clock = Some(clock.clone());
        options.seed = Some(setup.seed);
        options.skew_ms = setup.skew_ms;
        options.faults = setup.faults;
        options.providers = setup.providers.as_ref().map(ScriptedProviders::providers);
        options.log = Log::new(move |line| {
            kept.lock().push(line.to_owned());
        });
        match Cloud::start(options) {
            Ok(cloud) => Self { cloud, clock, lines },
            Err(error) => panic!("{error}"),
        }
    }

    /// What the clock of the lab says.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.cloud.now_ms()).unwrap_or_default()
    }

    /// Everything that was logged so far.
    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().clone()
    }

    /// Moves the clock, and wakes what waits for a message to become visible.
    pub fn advance_seconds(&self, seconds: i64) {
        self.clock.advance_ms(seconds * 1000);
        self.cloud.services.queues().clock_moved();
    }

    /// A request that is not sent yet.
    pub fn call(&self, method: Method, path: &str) -> RequestBuilder<'_> {
        RequestBuilder {
            lab: self,
            method,
            path: path.to_owned(),
            source: IpAddr::V4(Ipv4Addr::LOCALHOST),
            headers: Vec::new(),
            body: Bytes::new(),
        }
    }

    /// A GET by the bootstrap admin.
    pub async fn get(&self, path: &str) -> Response {
        self.call(Method::GET, path).by(&root_key()).send().await
    }

    /// A POST by the bootstrap admin.
    pub async fn post(&self, path: &str, body: &Value) -> Response {
        self.call(Method::POST, path).by(&root_key()).json(body).send().await
    }

    /// Creates an account with those roles and a key for it; returns the key.
    ///
    /// # Panics
    /// When the account can't be created, which fails the test.
    pub async fn user(&self, user_id: &str, roles: &[&str]) -> String {
        let body = serde_json::json!({ "userId": user_id, "name": user_id, "roles": roles });
        assert_eq!(self.post("/api/v1/accounts", &body).await.status, 201);
        let path = format!("/api/v1/accounts/{user_id}/keys");
        self.post(&path, &serde_json::json!({})).await.text("key").to_owned()
    }

    /// Clients that no policy holds back, for tests of the store itself.
    ///
    /// # Panics
    /// Never: the local cloud's credentials are always there.
    pub fn aws(&self) -> Aws {
        self.aws_under(&self.cloud.faults)
    }

    /// The same clients under a plan of faults of their own; with none, looking changes nothing.
    ///
    /// # Panics
    /// Never: the local cloud's credentials are always there.
    pub fn aws_under(&self, faults: &Arc<Faults>) -> Aws {
        let client = Connector::client(self.cloud.services.clone(), Arc::clone(faults), None);
        match Aws::through(client, &local::cloud::lambda_environment().into_iter().collect()) {
            Ok(aws) => aws,
            Err(error) => panic!("{error}"),
        }
    }

    /// The physical name of a queue.
    ///
    /// # Panics
    /// When the template has no such queue, which fails the test.
    pub fn queue(&self, logical_id: &str) -> String {
        let mut queues = self.cloud.stack.queues.iter();
        match queues.find(|queue| queue.logical_id == logical_id) {
            Some(queue) => queue.name.clone(),
            None => panic!("no queue {logical_id}"),
        }
    }

    /// The physical name of a table.
    pub fn table(&self, logical_id: &str) -> String {
        let tables = &self.cloud.stack.tables;
        let table = tables.iter().find(|table| table.logical_id == logical_id);
        table.map_or_else(String::new, |table| table.name.clone())
    }

    /// Records every call to a service from now on, for [`Lab::count_calls_to`].
    pub fn record_calls(&self) {
        self.cloud.faults.record(|_| true);
    }

    /// How many of the recorded calls name a table.
    pub fn count_calls_to(&self, logical_id: &str) -> usize {
        let named = format!("\"TableName\":\"{}\"", self.table(logical_id));
        let calls = self.cloud.faults.recorded().into_iter();
        calls.filter(|call| String::from_utf8_lossy(&call.body).contains(&named)).count()
    }

    /// Runs every schedule once. The sweeps of notifications and of the feed are left out while their tables
    /// are empty: they read many lists, and thousands of tests have nothing in them.
    pub async fn sweep(&self) {
        let mut skipped = Vec::new();
        for (table, sweep) in
            [("NotificationsTable", "SweepNotifications"), ("FeedTable", "SweepFeed")]
        {
            if self.is_empty(table).await {
                skipped.push(sweep);
            }
        }
        for entry in self.cloud.schedules.entries() {
            if skipped.contains(&entry.function.as_str()) {
                continue;
            }
            // A run that fails leaves its work to the next one.
            let _ = self.cloud.schedules.run(entry, self.cloud.now_ms()).await;
        }
    }

    /// Runs the schedule of one function.
    pub async fn run_schedule(&self, function: &str) {
        let schedules = &self.cloud.schedules;
        for entry in schedules.entries().iter().filter(|entry| entry.function == function) {
            // A run that fails leaves its work to the next one.
            let _ = schedules.run(entry, self.cloud.now_ms()).await;
        }
    }

    /// Nothing goes wrong any more; whether the injected fault had struck.
    pub fn stop_faults(&self) -> bool {
        let struck = !self.cloud.faults.is_pending();
        self.cloud.faults.stop();
        struck
    }

    /// Hands over everything that is visible, each message that waits now twice.
    ///
    /// # Panics
    /// When a queue refuses, which fails the test.
    pub async fn settle_doubled(&self) {
        let queues = self.cloud.services.queues();
        for mapping in self.cloud.pump.mappings() {
            for message in
                queues.receive(&mapping.queue, 1000, None).unwrap_or_else(|e| panic!("{e}"))
            {
                let copy = NewMessage {
                    attributes: message.message_attributes.clone(),
                    group: message.attributes.get("MessageGroupId").cloned(),
                    ..NewMessage::text(message.body)
                };
                let twice =
                    queues.send(&mapping.queue, &copy).and(queues.send(&mapping.queue, &copy));
                let gone = queues.delete(&mapping.queue, &message.receipt_handle);
                assert!(twice.is_ok() && gone.is_ok(), "{} takes no copies", mapping.queue);
            }
        }
        self.cloud.settle().await;
    }

    /// Whether a table has no row; asked of the store itself, past the plan of faults.
    async fn is_empty(&self, logical_id: &str) -> bool {
        let body = serde_json::json!({ "TableName": self.table(logical_id), "Limit": 1 });
        let request = Request::post("/").header("x-amz-target", "DynamoDB_20120810.Scan");
        let Ok(request) = request.body(Bytes::from(body.to_string())) else { return false };
        let answer = self.cloud.services.handle(request).await;
        let answer: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
        answer["Count"] == 0
    }

    /// Lets everything that is on its way arrive: messages, retries, schedules, dead letters.
    pub async fn run_until_idle(&self) {
        for _ in 0..8 {
            self.advance_seconds(66);
            self.sweep().await;
            self.cloud.settle().await;
        }
    }
}

impl Default for Lab {
    fn default() -> Self {
        Self::new()
    }
}

/// A request that is not sent yet.
#[derive(Debug, Clone)]
pub struct RequestBuilder<'a> {
    lab: &'a Lab,
    method: Method,
    path: String,
    source: IpAddr,
    headers: Vec<(String, String)>,
    body: Bytes,
}

impl RequestBuilder<'_> {
    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the client's address.
    #[must_use]
    pub const fn from_ip(mut self, source: IpAddr) -> Self {
        self.source = source;
        self
    }

    /// Authenticates with an API key.
    #[must_use]
    pub fn by(self, key: &str) -> Self {
        self.header("authorization", &format!("Bearer {key}"))
    }

    /// Adds a JSON body.
    #[must_use]
    pub fn json(mut self, body: &Value) -> Self {
        self.body = Bytes::from(body.to_string());
        self
    }

    /// Adds any body.
    #[must_use]
    pub fn bytes(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Sends it again and again, three seconds apart, until it has a definite answer.
    pub async fn send_until_answered(self) -> Response {
        loop {
            let answer = self.clone().send().await;
            if answer.is_definite() {
                return answer;
            }
            self.lab.advance_seconds(3);
        }
    }

    /// The same while much goes wrong; says whether the first try was in trouble. After twenty tries
    /// nothing goes wrong any more: from there on only a bug can keep the answer away.
    pub async fn send_until_definite(self) -> Result<(Response, bool)> {
        for attempt in 0..40 {
            if attempt == 20 {
                self.lab.cloud.faults.stop();
            }
            let answer = self.clone().send().await;
            if answer.is_definite() {
                return Ok((answer, attempt > 0));
            }
            self.lab.advance_seconds(3);
        }
        Err(format!("{self:?} never got a definite answer"))
    }

    /// Sends it through the gateway.
    ///
    /// # Panics
    /// When the path is not one, which fails the test.
    pub async fn send(self) -> Response {
        let mut request = Request::builder().method(&self.method).uri(&self.path);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let Ok(request) = request.body(self.body) else { panic!("{} is not a path", self.path) };
        let cloud = &self.lab.cloud;
        let handled = cloud.gateway.handle(request, self.source, cloud.now_ms()).await;
        let (parts, body) = handled.response.into_parts();
        openapi_conformance::check(&self.method, &self.path, parts.status, &body);
        Response {
            status: parts.status,
            headers: parts.headers,
            body: serde_json::from_slice(&body).unwrap_or(Value::Null),
            bytes: body,
        }
    }
}

/// The bootstrap admin's key.
pub fn root_key() -> String {
    format!("root.{ROOT_SECRET}")
}

/// The template's parameters in every test.
pub fn parameters() -> BTreeMap<String, String> {
    [
        ("Stage", "test".to_owned()),
        ("AdminKeyHash", SecretHash::of(ROOT_SECRET).to_hex()),
        ("PublicUrl", "https://sy.test".to_owned()),
        ("TokenKeys", format!("test:{}", STANDARD.encode([7; 32]))),
        // Unoptimised and with all the other tests, the store takes longer than the deployed one may.
        ("LimitsDeadlineMs", "5000".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// So many seconds after every test begins, which is at 2026-03-01T12:00:00Z.
///
/// # Panics
/// When there is no such moment, which fails the test.
pub fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_772_366_400 + second).unwrap_or_else(|error| panic!("{error}"))
}

/// A new name for a write.
pub fn token() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("write-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A call with a JSON body, without a key if `key` is empty.
pub async fn send(lab: &Lab, method: Method, path: &str, key: &str, body: &Value) -> Response {
    let call = lab.call(method, path);
    let call = if key.is_empty() { call } else { call.by(key) };
    if body.is_null() { call.send().await } else { call.json(body).send().await }
}

/// The answer is a 422 that names this field.
///
/// # Panics
/// When it is not, which fails the test.
pub fn assert_names(answer: &Response, field: &str) {
    assert_eq!(answer.status, 422, "{field}: {}", answer.body);
    assert_eq!(answer.header("content-type"), "application/problem+json");
    assert_eq!(answer.body["errors"][0]["field"], field, "{}", answer.body);
}
