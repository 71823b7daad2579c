//! DynamoDB, SQS, SNS, S3, the connections of WebSocket APIs and, where there is a sink, SES and text
//! messages behind one function: an HTTP request in, its response out.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use dynoxide::Database;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use parking_lot::Mutex;
use queues::Queues;
use sink::Sink;
use template::Stack;

use crate::buckets::Buckets;
use crate::dynamodb::{self, ClientRequestTokens};
use crate::websocket::{Connections, connection_address};

/// The credentials that the local cloud accepts; S3 checks signatures with them.
pub const ACCESS_KEY: &str = "local";
/// The secret that goes with [`ACCESS_KEY`].
pub const SECRET_KEY: &str = "local-secret";

/// The services, set up as the template says.
#[derive(Clone)]
pub struct Services {
    db: Database,
    tokens: Arc<Mutex<ClientRequestTokens>>,
    clock_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
    queues: Queues,
    s3: s3s::service::S3Service,
    buckets: Option<Buckets>,
    s3_writes: Arc<tokio::sync::Mutex<()>>,
    sink: Option<Sink>,
    connections: Connections,
}

impl std::fmt::Debug for Services {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Services").finish_non_exhaustive()
    }
}

/// Which service a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// JSON 1.0 with `X-Amz-Target: DynamoDB_…`.
    DynamoDb,
    /// JSON 1.0 with `X-Amz-Target: AmazonSQS.…`.
    Sqs,
    /// A form with `Action=…`.
    Sns,
    /// JSON under `/v2/email`.
    Ses,
    /// Anything under `/{stage}/@connections`.
    Connections,
    S3,
}

impl Services {
    /// Opens the services in `folder`, or in memory, and creates what the stack names.
    pub fn open(
        stack: &Stack,
        folder: Option<&Path>,
        clock_ms: &Arc<dyn Fn() -> i64 + Send + Sync>,
        seed: Option<u64>,
    ) -> Result<Self, String> {
        let queues = match (folder, seed) {
            (Some(folder), _) => Queues::open(&folder.join("queues.sqlite"), Arc::clone(clock_ms)),
            (None, Some(seed)) => Queues::memory_seeded(Arc::clone(clock_ms), seed),
            (None, None) => Queues::memory(Arc::clone(clock_ms)),
        };
        let (s3, buckets) = if let Some(folder) = folder {
            (open_s3(stack, &folder.join("s3"))?, None)
        } else {
            let names = stack.buckets.iter().map(|bucket| bucket.name.clone()).collect();
            let buckets = Buckets::new(names);
            (s3_service(buckets.clone()), Some(buckets))
        };
        let services = Self {
            db: dynamodb::open(folder, Arc::clone(clock_ms))?,
            tokens: Arc::default(),
            clock_ms: Arc::clone(clock_ms),
            queues: queues.map_err(|failure| failure.to_string())?,
            s3,
            buckets,
            s3_writes: Arc::default(),
            sink: None,
            connections: Connections::new(Arc::clone(clock_ms)),
        };
        services.create(stack)?;
        Ok(services)
    }

    /// The same, with mails for SES and text messages for SNS sent to `sink`.
    #[must_use]
    pub fn with_sink(mut self, sink: Option<Sink>) -> Self {
        self.sink = sink;
        self
    }

    /// The queues, for the pump and for tests.
    pub const fn queues(&self) -> &Queues {
        &self.queues
    }

    /// The connections of WebSocket APIs.
    pub const fn connections(&self) -> &Connections {
        &self.connections
    }

    /// The database, for the sweep of expired rows and for tests.
    pub const fn database(&self) -> &Database {
        &self.db
    }

    /// The buckets of a cloud that keeps nothing, for tests.
    pub const fn buckets(&self) -> Option<&Buckets> {
        self.buckets.as_ref()
    }

    fn create(&self, stack: &Stack) -> Result<(), String> {
        for table in &stack.tables {
            dynamodb::create(&self.db, table)?;
        }
        // Dead-letter queues first: a queue's redrive policy must lead somewhere.
        let (plain, redriving): (Vec<_>, Vec<_>) =
            stack.queues.iter().partition(|queue| queue.redrive.is_none());
        for queue in plain.into_iter().chain(redriving) {
            let made = self.queues.create_queue(&queue.name, &queue.attributes);
            made.map_err(|error| format!("queue {}: {error}", queue.logical_id))?;
        }
        for topic in &stack.topics {
            let made = self.queues.create_topic(&topic.name);
            made.map_err(|error| format!("topic {}: {error}", topic.logical_id))?;
        }
        for subscription in &stack.subscriptions {
            let mut attributes = queues::Attributes::new();
            attributes.insert("RawMessageDelivery".to_owned(), subscription.raw.to_string());
            if let Some(policy) = &subscription.filter_policy {
                attributes.insert("FilterPolicy".to_owned(), policy.to_string());
                let scope = match subscription.filter_scope {
                    template::FilterScope::MessageAttributes => "MessageAttributes",
                    template::FilterScope::MessageBody => "MessageBody",
                };
                attributes.insert("FilterPolicyScope".to_owned(), scope.to_owned());
            }
            let made =
                self.queues.subscribe(&subscription.topic_arn, &subscription.endpoint, &attributes);
            made.map_err(|error| format!("subscription {}: {error}", subscription.logical_id))?;
        }
        Ok(())
    }

    /// Answers one request.
    pub async fn handle(&self, request: Request<Bytes>) -> Response<Bytes> {
        match service_of(&request) {
            Service::DynamoDb => {
                let operation = operation_of(&request).to_owned();
                if operation != "TransactWriteItems" {
                    return dynamodb::handle(&self.db, &operation, request.body());
                }
                let mut tokens = self.tokens.lock();
                tokens.transact(&self.db, request.body(), (self.clock_ms)())
            }
            Service::Sns if phone_number(&request).is_some() => self.sink(request).await,
            Service::Ses => self.sink(request).await,
            Service::Sqs | Service::Sns => self.queues.handle(request).await,
            Service::Connections => self.connections.handle(&request),
            Service::S3 => self.s3(request).await,
        }
    }

    async fn sink(&self, request: Request<Bytes>) -> Response<Bytes> {
        let Some(sink) = &self.sink else {
            let mut response =
                Response::new(Bytes::from_static(b"{\"message\":\"there is no sink\"}"));
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            return response;
        };
        sink.answer(request).await.unwrap_or_else(|| {
            let mut response = Response::default();
            *response.status_mut() = StatusCode::BAD_GATEWAY;
            response.extensions_mut().insert(ConnectionDropped);
            response
        })
    }

    async fn s3(&self, request: Request<Bytes>) -> Response<Bytes> {
        let refuse = |status: StatusCode, text: String| {
            let mut response = Response::new(Bytes::from(text));
            *response.status_mut() = status;
            response
        };
        // s3s-fs looks before it writes, so two conditional puts could both win: one at a time.
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        let _turn = if reads { None } else { Some(self.s3_writes.lock().await) };
        match self.s3.call(request.map(s3s::Body::from)).await {
            Ok(response) => {
                let (parts, body) = response.into_parts();
                match body.collect().await {
                    Ok(body) => Response::from_parts(parts, body.to_bytes()),
                    Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
                }
            }
            Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, format!("{error:?}")),
        }
    }
}

fn open_s3(stack: &Stack, folder: &Path) -> Result<s3s::service::S3Service, String> {
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    for bucket in &stack.buckets {
        std::fs::create_dir_all(folder.join(&bucket.name)).map_err(|error| error.to_string())?;
    }
    let files = s3s_fs::FileSystem::new(folder).map_err(|error| format!("S3: {error:?}"))?;
    Ok(s3_service(files))
}

fn s3_service(s3: impl s3s::S3) -> s3s::service::S3Service {
    let mut builder = s3s::service::S3ServiceBuilder::new(s3);
    builder.set_auth(s3s::auth::SimpleAuth::from_single(ACCESS_KEY, SECRET_KEY));
    builder.build()
}

/// Marks an answer that does not arrive: the connector drops the connection instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionDropped;

/// The telephone that a request to SNS is for, if it is for one.
pub(crate) fn phone_number(request: &Request<Bytes>) -> Option<String> {
    let mut form = form_urlencoded::parse(request.body());
    form.find(|(name, _)| name == "PhoneNumber").map(|(_, number)| number.into_owned())
}

/// Which service a request is for.
pub fn service_of(request: &Request<Bytes>) -> Service {
    let target = request.headers().get("x-amz-target").and_then(|value| value.to_str().ok());
    match target {
        Some(target) if target.starts_with("AmazonSQS") => Service::Sqs,
        Some(_) => Service::DynamoDb,
        None => {
            let form = request.headers().get(header::CONTENT_TYPE).is_some_and(|kind| {
                kind.to_str()
                    .is_ok_and(|kind| kind.starts_with("application/x-www-form-urlencoded"))
            });
            match request.uri().path() {
                _ if form => Service::Sns,
                path if path.starts_with("/v2/email/") => Service::Ses,
                _ if connection_address(request).is_some() => Service::Connections,
                _ => Service::S3,
            }
        }
    }
}

/// The operation's name, as far as the headers or the form say it.
pub fn operation_of(request: &Request<Bytes>) -> &str {
    let target = request.headers().get("x-amz-target").and_then(|value| value.to_str().ok());
    if let Some((_, operation)) = target.and_then(|target| target.rsplit_once('.')) {
        return operation;
    }
    if request.uri().path() == "/v2/email/outbound-emails" {
        return "SendEmail";
    }
    if connection_address(request).is_some() {
        return match *request.method() {
            Method::POST => "PostToConnection",
            Method::DELETE => "DeleteConnection",
            _ => "GetConnection",
        };
    }
    let form = std::str::from_utf8(request.body()).unwrap_or_default();
    form.split('&').find_map(|pair| pair.strip_prefix("Action=")).unwrap_or("Object")
}
