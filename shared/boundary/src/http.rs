//! HTTP: routes inside a function, from an API Gateway event to an answer.
//!
//! The path of a request: the firewall (403) → find the operation by path and method (404, 405) → who
//! is calling (401) → do their quotas let them, whatever was found so far (429) → may they (403) → is
//! the body small enough (413) → the handler → problem+json for whatever went wrong → headers that
//! every answer carries → one log line. A handler sees none of that.

mod builder;
mod cursor;
mod problem;
mod request;
mod response;

use std::fmt;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use http::{HeaderMap, HeaderValue, Method, header};
use lambda_http::RequestExt;
use serde_json::json;
use store::tally;

use crate::identity::Identity;
use crate::limits::{Caller, Limiter, Meter};
use crate::telemetry::{self, Log, Report, Stopwatch, measured, trace_of};
use crate::{Clock, Entropy};

use domain::accounts::{Principal, Role};
use domain::limits::firewall::Asked;
use domain::limits::headers::Fields;

pub use builder::Builder;
pub use cursor::Cursor;
pub use problem::{Error, KINDS, Kind, Problem, sentence};
pub use request::{Request, parse_json, parse_query};
pub use response::Response;

/// What a handler returns.
pub type Answer = Result<Response, Error>;

type Handler<S> = for<'a> fn(&'a S, Request) -> BoxFuture<'a, Answer>;

/// Who may call an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anyone.
    Public,
    /// Anyone with a valid key; the handler decides what they may see.
    Key,
    /// Holders of a role, and admins.
    Role(Role),
    /// Anyone without a key; whoever sends one is held to it and to the role.
    Optional(Role),
}

/// One method on one path.
pub struct Operation<S> {
    /// The method; `GET` answers `HEAD` too.
    pub method: Method,
    /// The path, in the template's notation.
    pub path: &'static str,
    /// Its name in metrics and in the OpenAPI document.
    pub id: &'static str,
    /// Who may call it.
    pub access: Access,
    /// The largest body it takes.
    pub body_cap: usize,
    /// Whether the handler says how many units it takes, instead of one a request.
    metered: bool,
    handler: Handler<S>,
}

impl<S> fmt::Debug for Operation<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {:?}", self.method, self.path, self.access)
    }
}

/// A function's HTTP side: its operations over a state they share.
pub struct Api<S> {
    shared: Arc<Shared<S>>,
}

impl<S> Clone for Api<S> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<S> fmt::Debug for Api<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").field("operations", &self.shared.operations).finish_non_exhaustive()
    }
}

struct Shared<S> {
    state: S,
    operations: Vec<Operation<S>>,
    paths: matchit::Router<Vec<usize>>,
    unclaimed: Option<Handler<S>>,
    identity: Option<Identity>,
    limiter: Arc<Limiter>,
    behind_cloudfront: bool,
    clock: Clock,
    entropy: Entropy,
    log: Log,
    stage: String,
}

impl<S: Send + Sync + 'static> Api<S> {
    /// Every operation, for the OpenAPI document and the contract tests.
    pub fn operations(&self) -> &[Operation<S>] {
        &self.shared.operations
    }

    /// Reads the rules before the first request needs them, which also opens the connection to the
    /// store.
    pub async fn warm(&self) {
        self.shared.limiter.refresh(self.shared.clock.now()).await;
    }

    /// What is done once an answer is out.
    pub(crate) async fn tidy(&self) {
        self.shared.limiter.tidy().await;
    }

    /// What is done in the last half second of an environment.
    pub(crate) async fn close(&self) {
        self.shared.limiter.close().await;
    }

    /// Answers one request, whatever happens.
    pub async fn handle(&self, event: lambda_http::Request) -> http::Response<lambda_http::Body> {
        let shared = &self.shared;
        let stopwatch = Stopwatch::start();
        let now = shared.clock.now();
        let handed = ["traceparent", "x-amzn-trace-id"]
            .into_iter()
            .find_map(|name| event.headers().get(name)?.to_str().ok());
        let trace = trace_of(handed, &shared.entropy);
        let deadline = event.lambda_context_ref().map_or(0, |context| context.deadline);
        let mut request = Request::read(event, now, deadline, trace.clone());
        request.client = request.sender(shared.behind_cloudfront);
        let (method, path) = (request.method.clone(), request.path.clone());
        let conditions = request.conditions();

        let mut seen = Seen::default();
        let work = std::panic::AssertUnwindSafe(shared.answer(request, &mut seen)).catch_unwind();
        let ((outcome, tally), measures) = Box::pin(measured(tally::counted(work))).await;
        let answer = outcome.unwrap_or_else(|_| Err(Error::panicked()));
        let (mut response, fault) = match answer {
            Ok(response) => (response.honouring(&conditions), None),
            Err(error) => error.into_response(&path),
        };
        if method == Method::HEAD {
            response = response.without_body();
        }
        let message = format!("{method} {} {}", seen.path.unwrap_or("?"), response.status());
        let mut fields = telemetry::Fields::new();
        fields.insert("status".to_owned(), json!(response.status().as_u16()));
        if let Some(principal) = seen.principal {
            fields.insert("principal".to_owned(), json!(principal));
        }
        shared.log.report(&Report {
            at: now,
            milliseconds: stopwatch.milliseconds(),
            stage: &shared.stage,
            operation: seen.operation.unwrap_or("unclaimed"),
            message,
            trace: &trace,
            tally,
            fault: fault.as_deref(),
            fields,
            measures,
        });
        let mut response = response.into_http();
        if let Some(fields) = seen.meter.and_then(|meter| meter.admission().fields()) {
            announce(response.headers_mut(), fields);
        }
        if let Ok(value) = HeaderValue::try_from(trace.traceparent()) {
            response.headers_mut().insert("traceparent", value);
        }
        response
    }
}

/// What the log line wants to know of a request that a handler consumed.
#[derive(Default)]
struct Seen {
    path: Option<&'static str>,
    operation: Option<&'static str>,
    principal: Option<String>,
    meter: Option<Meter>,
}

impl<S> Shared<S> {
    async fn answer(&self, mut request: Request, seen: &mut Seen) -> Answer {
        if request.path != HEALTH {
            self.guard(&request).await?;
        }
        let found = self.find(&request);
        let Ok(Some((operation, params))) = found else {
            // Guessing has its quota, of paths and of methods.
            self.meter(&request, None, seen).charge(1).await?;
            return match (found, self.unclaimed) {
                (Err(wrong_method), _) => Err(wrong_method.into()),
                (Ok(_), Some(handler)) => handler(&self.state, request).await,
                (Ok(_), None) => Err(Problem::unknown_path(&request.path).into()),
            };
        };
        seen.path = Some(operation.path);
        seen.operation = Some(operation.id);
        request.params = params;
        let identified = self.identify(operation, &request).await;
        if let Ok(Some(principal)) = &identified {
            seen.principal = Some(principal.user_id.as_str().to_owned());
            request.principal = Some(principal.clone());
        }
        // Who can't say who they are is held to what strangers are: guessing has its quota too.
        let meter = self.meter(&request, Some(operation), seen);
        // An admin must be able to take back a rule that refuses everyone.
        let administers = operation.path.starts_with(ADMINISTRATION)
            && request.principal.as_ref().is_some_and(Principal::is_admin);
        if !(operation.metered || administers) || identified.is_err() {
            meter.charge(1).await?;
        }
        if let (Some(principal), Access::Role(role) | Access::Optional(role)) =
            (identified?, operation.access)
            && !principal.is_admin()
            && !principal.roles.contains(role)
        {
            return Err(Problem::role_missing(role).into());
        }
        if request.body.len() > operation.body_cap {
            return Err(Problem::too_large(operation.body_cap).into());
        }
        request.meter = Some(meter);
        (operation.handler)(&self.state, request).await
    }

    /// The firewall, as it is now.
    async fn guard(&self, request: &Request) -> Result<(), Problem> {
        self.limiter.refresh(request.now).await;
        let asked = Asked {
            ip: request.client,
            path: &request.path,
            method: request.method.as_str(),
            header: &|name| request.header(name),
        };
        match self.limiter.refusal(&asked, request.now) {
            Some(reason) => Err(Problem::firewalled(&reason)),
            None => Ok(()),
        }
    }

    /// Who is calling; nobody in particular where that is allowed.
    async fn identify(
        &self,
        operation: &Operation<S>,
        request: &Request,
    ) -> Result<Option<Principal>, Error> {
        let stranger = match operation.access {
            Access::Public => true,
            Access::Optional(_) => request.claims.is_none() && !request.has_credentials(),
            Access::Key | Access::Role(_) => false,
        };
        if stranger {
            return Ok(None);
        }
        let identity = self.identity.as_ref().ok_or_else(Problem::unauthenticated)?;
        identity.authenticate(request, &self.log).await.map(Some)
    }

    /// What the request is charged with.
    fn meter(&self, request: &Request, operation: Option<&Operation<S>>, seen: &mut Seen) -> Meter {
        let caller = Caller::of(request.principal.as_ref(), request.client);
        let method = request.method.as_str();
        let resource = operation.map_or("(no such path)", |operation| operation.path);
        let resource = format!("{method} {resource}");
        let meter = Meter::new(&self.limiter, caller, resource, &request.path, method);
        seen.meter = Some(meter.clone());
        meter
    }

    /// The operation for a request; 405 with `Allow` when only the method is wrong.
    #[expect(clippy::type_complexity, reason = "the pair is taken apart at the only call")]
    fn find(
        &self,
        request: &Request,
    ) -> Result<Option<(&Operation<S>, Vec<(String, String)>)>, Problem> {
        let Ok(found) = self.paths.at(&request.path) else { return Ok(None) };
        let wanted = if request.method == Method::HEAD { &Method::GET } else { &request.method };
        let here = || found.value.iter().map(|&index| &self.operations[index]);
        let Some(operation) = here().find(|operation| operation.method == *wanted) else {
            return Err(Problem::wrong_method(here().map(|operation| &operation.method)));
        };
        let params =
            found.params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Ok(Some((operation, params)))
    }
}

/// Where admins decide about limits themselves.
const ADMINISTRATION: &str = "/admin/";

/// Alive is alive, whatever the store says.
const HEALTH: &str = "/health";

/// Tells the caller how they stand.
fn announce(headers: &mut HeaderMap, fields: Fields) {
    for (name, value) in [
        ("ratelimit-policy", fields.policy),
        ("ratelimit", fields.current),
        ("x-ratelimit-limit", fields.limit.to_string()),
        ("x-ratelimit-remaining", fields.remaining.to_string()),
        ("x-ratelimit-reset", fields.reset.to_string()),
    ] {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    }
}

/// The headers that every answer carries unless the handler chose others.
pub(crate) const DEFAULT_HEADERS: [(header::HeaderName, &str); 5] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    (header::STRICT_TRANSPORT_SECURITY, "max-age=31536000"),
];
