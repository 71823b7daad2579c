//! HTTP: axum handlers, from an API Gateway event to a response.
//!
//! The path of a request: [`Api::handle`] makes an `http::Request` of the event → axum finds the operation by
//! path and method (404, 405) → `admission` lets it pass (403, 401, 429, 403, 413) → the handler's arguments are
//! read (400, 422) → the handler → problem+json for what went wrong → headers that every response carries →
//! one log line. A handler sees none of that.

mod accept;
mod admission;
mod call;
mod cursor;
mod extractors;
mod operation;
mod problem;
mod responses;

use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::json;
use store::capacity;
use tower::ServiceExt;

use crate::identity::Identity;
use crate::limits::Limiter;
use crate::telemetry::{self, InvocationReport, Log, Stopwatch, Trace, collect_metrics};
use crate::{Clock, Entropy, Host, Misconfigured};
use admission::Admission;
use call::RequestLogFields;

use domain::limits::headers::RateLimitHeaders;

pub use accept::prefers_html;
pub use axum::extract::State;
pub use call::{Call, IncomingRequest, parse_json, parse_query};
pub use cursor::Cursor;
pub use extractors::{Caller, IdempotencyKey, IfMatch, Json, Path, Query, Segment};
pub use operation::{Access, Operation, Operations, Routes};
pub use problem::{PROBLEM_TYPES, Problem, ProblemType, Result, sentence};
pub use responses::{
    Accepted, Created, NoContent, Repeatable, Storable, Text, Upserted, Versioned,
};

/// A function's HTTP side: a router, and what runs before and after its handlers.
#[derive(Clone)]
pub struct Api {
    shared: Arc<Shared>,
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").field("router", &self.shared.router).finish_non_exhaustive()
    }
}

struct Shared {
    router: Router,
    limiter: Arc<Limiter>,
    behind_cloudfront: bool,
    clock: Clock,
    entropy: Entropy,
    log: Log,
    stage: String,
}

impl Api {
    /// The API on `host`: the list of operations, over the state that their handlers share.
    pub fn new<S: Send + Sync + 'static>(
        host: &Host,
        state: S,
        operations: impl FnOnce(&mut Routes<S>),
    ) -> Result<Self, Misconfigured> {
        let limiter = Arc::new(Limiter::from_host(host)?);
        let admission = Arc::new(Admission::new(Arc::clone(&limiter), host.log.clone()));
        let mut routes = Routes::new(Arc::clone(&admission));
        operations(&mut routes);
        if routes.need_identity() {
            admission.set_identity(Identity::from_host(host)?);
        }
        Ok(Self {
            shared: Arc::new(Shared {
                router: routes.finish(Arc::new(state)),
                limiter,
                behind_cloudfront: host.behind_cloudfront()?,
                clock: host.clock.clone(),
                entropy: host.entropy.clone(),
                log: host.log.clone(),
                stage: host.vars.optional("STAGE").unwrap_or("local").to_owned(),
            }),
        })
    }
}

impl Api {
    /// Reads the rules before the first request needs them, which also opens the connection to the
    /// store.
    pub async fn warm(&self) {
        self.shared.limiter.refresh(self.shared.clock.now()).await;
    }

    /// Runs once a response is out.
    pub(crate) async fn after_response(&self) {
        self.shared.limiter.after_response().await;
    }

    /// Runs in the last half second of an environment.
    pub(crate) async fn shutdown(&self) {
        self.shared.limiter.shutdown().await;
    }

    /// Answers one request, also when the handler panics.
    pub async fn handle(&self, event: lambda_http::Request) -> http::Response<lambda_http::Body> {
        let shared = &self.shared;
        let stopwatch = Stopwatch::start();
        let now = shared.clock.now();
        let header = ["traceparent", "x-amzn-trace-id"]
            .into_iter()
            .find_map(|name| event.headers().get(name)?.to_str().ok());
        let trace = Trace::continue_or_start(header, &shared.entropy);
        let if_none_match = IfNoneMatch::from_event(&event);
        let request = call::from_event(event, now, trace.clone(), shared.behind_cloudfront);
        let method = request.method().clone();
        let incoming = request.extensions().get::<IncomingRequest>();
        let (path, request_log) =
            incoming.map(|it| (it.path.clone(), it.request_log.clone())).unwrap_or_default();

        let router = shared.router.clone();
        let work = std::panic::AssertUnwindSafe(router.oneshot(request)).catch_unwind();
        let ((outcome, capacity), metrics) =
            Box::pin(collect_metrics(capacity::metered(work))).await;
        let response = match outcome {
            Ok(Ok(response)) => response,
            Ok(Err(never)) => match never {},
            Err(_) => Problem::panicked().into_response(),
        };
        let (mut response, fault) = finish(response, &path).await;
        if_none_match.apply(&mut response);
        if method == Method::HEAD {
            *response.body_mut() = lambda_http::Body::Empty;
        }
        let RequestLogFields { path, operation, principal, meter } = request_log.take();
        let status = response.status();
        let message = format!("{method} {} {status}", path.unwrap_or("?"));
        let mut fields = telemetry::LogFields::new();
        fields.insert("status".to_owned(), json!(status.as_u16()));
        if let Some(principal) = principal {
            fields.insert("principal".to_owned(), json!(principal));
        }
        shared.log.report(&InvocationReport {
            at: now,
            milliseconds: stopwatch.milliseconds(),
            stage: &shared.stage,
            operation: operation.unwrap_or("unclaimed"),
            message,
            trace: &trace,
            capacity,
            fault: fault.as_deref(),
            fields,
            metrics,
        });
        let headers = response.headers_mut();
        if let Some(fields) = meter.and_then(|meter| meter.admission().headers()) {
            insert_rate_limits(headers, fields);
        }
        if let Ok(value) = HeaderValue::try_from(trace.traceparent()) {
            headers.insert("traceparent", value);
        }
        response
    }
}

/// The response as the gateway takes it, with the headers that every response carries; and for a failure the
/// text that belongs into the log.
async fn finish(
    mut response: Response,
    path: &str,
) -> (http::Response<lambda_http::Body>, Option<String>) {
    let (mut response, fault) = match response.extensions_mut().remove::<Problem>() {
        Some(problem) => {
            let fault = problem.fault().map(str::to_owned);
            (problem.render(path).map(lambda_http::Body::Text), fault)
        }
        None => collect_body(response).await,
    };
    let headers = response.headers_mut();
    // The gateway counts for itself, and a problem was written after axum had counted.
    headers.remove(header::CONTENT_LENGTH);
    for (name, value) in DEFAULT_HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    (response, fault)
}

async fn collect_body(response: Response) -> (http::Response<lambda_http::Body>, Option<String>) {
    let (parts, body) = response.into_parts();
    let encoded = parts.headers.contains_key(header::CONTENT_ENCODING);
    let bytes = match body.collect().await {
        Ok(collected) => collected.to_bytes(),
        Err(error) => {
            let problem = Problem::from(domain::Failure::new("read the answer", error));
            let fault = problem.fault().map(str::to_owned);
            return (problem.render("").map(lambda_http::Body::Text), fault);
        }
    };
    // What is text goes as text; the rest the gateway gets in base64.
    let body = match String::from_utf8(bytes.into()) {
        Ok(text) if text.is_empty() => lambda_http::Body::Empty,
        Ok(text) if !encoded => lambda_http::Body::Text(text),
        Ok(text) => lambda_http::Body::Binary(text.into_bytes()),
        Err(error) => lambda_http::Body::Binary(error.into_bytes()),
    };
    (http::Response::from_parts(parts, body), None)
}

/// The value of `If-None-Match`, kept while the router owns the request.
struct IfNoneMatch(Option<String>);

impl IfNoneMatch {
    fn from_event(event: &lambda_http::Request) -> Self {
        let readable = matches!(*event.method(), Method::GET | Method::HEAD);
        let wanted = event.headers().get(header::IF_NONE_MATCH).filter(|_| readable);
        Self(wanted.and_then(|value| value.to_str().ok()).map(str::to_owned))
    }

    /// 304 without a body when the caller has this very version already.
    fn apply(&self, response: &mut http::Response<lambda_http::Body>) {
        let etag = response.headers().get(header::ETAG).and_then(|value| value.to_str().ok());
        if let (Some(wanted), Some(etag)) = (&self.0, etag)
            && response.status() == StatusCode::OK
            && wanted.split(',').any(|tag| tag.trim().trim_start_matches("W/") == etag)
        {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            *response.body_mut() = lambda_http::Body::Empty;
        }
    }
}

/// Adds the headers that show the caller's quota.
fn insert_rate_limits(headers: &mut HeaderMap, fields: RateLimitHeaders) {
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

/// The headers that every response carries unless the handler chose others.
pub(crate) const DEFAULT_HEADERS: [(header::HeaderName, &str); 5] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    (header::STRICT_TRANSPORT_SECURITY, "max-age=31536000"),
];
