//! `GET /{code}`: redirects a visitor, and sends the click to a queue after the answer.
//!
//! Trigger: HTTP. Effect: one batch of clicks to the queue, after the answer. Guarantee: a route that
//! was read in the last four seconds costs no call to anything; any other costs one eventually
//! consistent read. An instance checks every five seconds whether its rules and firewall are current. A
//! click is in the queue before the environment can freeze, or stays pending for at most a second
//! under load. Absent: a write before the answer unless an admin set a quota for links, an address in
//! a message, a header with a control character.

mod admission;
mod click_buffer;
mod flush;
mod geo_ip;
mod link_lookup;
mod metrics;
mod openapi;
pub mod pages;
mod reply;
mod route_cache;
mod visitor_hash;

use std::sync::Arc;

use crate::store::Links;
use boundary::edge::{Edge, EdgeReply, EdgeResponse, HttpEvent};
use boundary::limits::Limiter;
use boundary::telemetry::{Log, Stopwatch, collect_metrics_sync};
use boundary::{Clock, Entropy, Host, Misconfigured};
use domain::links::{FlushPolicy, Route, route};
use domain::{Result, Timestamp};
use futures::future::BoxFuture;
use messaging::ClickQueue;
use store::capacity;

use click_buffer::{ClickBuffer, Visit};
use geo_ip::GeoIp;
use link_lookup::{LinkLookup, PublicHosts};
use metrics::RedirectMetrics;
use reply::{FollowedLink, Reply, Responder};
use route_cache::{CachedRoute, RouteCache};
use visitor_hash::DailySalt;

pub use openapi::{HEADING, document};

/// The state that requests share.
#[derive(Debug)]
pub struct State {
    links: Links,
    click_queue: ClickQueue,
    hosts: PublicHosts,
    cache: RouteCache,
    daily_salt: DailySalt,
    click_buffer: ClickBuffer,
    geo_ip: GeoIp,
    metrics: Arc<RedirectMetrics>,
    responder: Responder,
    flush_policy: FlushPolicy,
    behind_cloudfront: bool,
    limiter: Limiter,
    clock: Clock,
    entropy: Entropy,
    log: Log,
    stage: String,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Edge<State>, Misconfigured> {
    let vars = &host.vars;
    let max_delay =
        vars.parsed("CLICK_HOLD_MS", |ms| ms.parse().ok(), "a number of milliseconds")?;
    let table = vars.required(crate::store::TABLE.variable)?;
    let state = State {
        links: Links::new(host.aws.dynamodb(), table),
        click_queue: ClickQueue::new(host.aws.sqs(), vars.required("CLICKS_QUEUE")?),
        hosts: PublicHosts::from_vars(vars),
        cache: RouteCache::default(),
        daily_salt: DailySalt::new(host.entropy.clone()),
        click_buffer: ClickBuffer::default(),
        geo_ip: GeoIp::open(vars)?,
        metrics: Arc::default(),
        responder: Responder::new(),
        flush_policy: max_delay.map_or_else(FlushPolicy::default, FlushPolicy::max_delay_ms),
        behind_cloudfront: host.behind_cloudfront()?,
        limiter: Limiter::from_host(host)?,
        clock: host.clock.clone(),
        entropy: host.entropy.clone(),
        log: host.log.clone(),
        stage: vars.optional("STAGE").unwrap_or("local").to_owned(),
    };
    Ok(Edge::new(host, "redirect", state, answer, |state, phase| {
        Box::pin(flush::run_phase(state, phase))
    }))
}

/// An admitted request for a link.
struct Request {
    event: HttpEvent,
    lookup: LinkLookup,
    head: bool,
    now: Timestamp,
    stopwatch: Stopwatch,
}

fn answer(state: &State, event: HttpEvent) -> EdgeReply<'_> {
    let stopwatch = Stopwatch::start();
    let now = state.clock.now();
    state.metrics.record_request(now.as_millisecond());
    let caller = state.caller(&event);
    if state.needs_admission(&event, &caller, now) {
        return EdgeReply::Pending(Box::pin(
            state.answer_after_admission(event, caller, now, stopwatch),
        ));
    }
    let (refusal, measures) = collect_metrics_sync(|| state.firewall_refusal(&event, &caller, now));
    state.metrics.record_measures(&measures);
    match refusal {
        Some(problem) => EdgeReply::Ready(state.refuse(problem, &event, stopwatch)),
        None => follow(state, event, now, stopwatch),
    }
}

/// Answers an admitted request.
pub(crate) fn follow(
    state: &State,
    event: HttpEvent,
    now: Timestamp,
    stopwatch: Stopwatch,
) -> EdgeReply<'_> {
    let head = match event.method() {
        "GET" => false,
        "HEAD" => true,
        _ => {
            return EdgeReply::Ready(state.finish(
                Responder::method_not_allowed(&event),
                false,
                stopwatch,
            ));
        }
    };
    let Some(lookup) = LinkLookup::from_event(&event, &state.hosts) else {
        return EdgeReply::Ready(state.finish(state.responder.not_found(&event), head, stopwatch));
    };
    let cached = state.cache.get(&lookup.key, now.as_millisecond());
    let request = Request { event, lookup, head, now, stopwatch };
    match cached {
        Some(route) if !state.needs_salt(route.as_deref(), now) => {
            state.metrics.record_lookup(true);
            EdgeReply::Ready(state.answer_route(request, route.as_deref()))
        }
        cached => EdgeReply::Pending(Box::pin(state.answer_after_lookup(request, cached))),
    }
}

impl State {
    async fn answer_after_lookup(
        &self,
        request: Request,
        cached: Option<CachedRoute>,
    ) -> EdgeResponse {
        self.metrics.record_lookup(cached.is_some());
        let found = if let Some(route) = cached {
            Ok(route)
        } else {
            let load = || self.load_route(&request.lookup);
            let now_ms = request.now.as_millisecond();
            self.cache.get_or_load(&request.lookup.key, now_ms, load).await
        };
        match found {
            Ok(route) => {
                if self.needs_salt(route.as_deref(), request.now) {
                    self.load_salt(request.now).await;
                }
                self.answer_route(request, route.as_deref())
            }
            Err(failure) => {
                self.metrics.record_fault(failure.chain());
                let reply = self.responder.unavailable(&request.event);
                self.finish(reply, request.head, request.stopwatch)
            }
        }
    }

    /// Reads a route and records the capacity that it consumed.
    fn load_route(&self, lookup: &LinkLookup) -> BoxFuture<'static, Result<Option<Route>>> {
        let (links, metrics) = (self.links.clone(), Arc::clone(&self.metrics));
        let (domain, code) = (lookup.domain().to_owned(), lookup.code().to_owned());
        Box::pin(async move {
            let (found, capacity) = Box::pin(capacity::metered(links.route(&domain, &code))).await;
            metrics.record_capacity(capacity);
            found
        })
    }

    /// Whether a variant can't be chosen before the day's salt is read.
    fn needs_salt(&self, route: Option<&Route>, now: Timestamp) -> bool {
        route.is_some_and(|route| !route.variants.is_empty()) && self.daily_salt.get(now).is_none()
    }

    async fn load_salt(&self, now: Timestamp) -> [u8; 32] {
        let loading = self.daily_salt.load(&self.links, now);
        let ((salt, failure), capacity) = Box::pin(capacity::metered(loading)).await;
        self.metrics.record_capacity(capacity);
        if let Some(failure) = failure {
            self.metrics.record_fault(failure.chain());
        }
        salt
    }

    fn answer_route(&self, request: Request, route: Option<&Route>) -> EdgeResponse {
        let Request { event, lookup, head, now, stopwatch } = request;
        let hash = route.filter(|route| !route.variants.is_empty()).map_or(0, |_| {
            let salt = self.daily_salt.get(now).unwrap_or_default();
            let agent = event.headers.user_agent.as_deref().unwrap_or_default();
            route::stable_hash(
                lookup.code(),
                visitor_hash::hash(&salt, self.address(&event), agent),
            )
        });
        let reply = self.responder.for_route(route, &event, &lookup, hash, now);
        if let Some(FollowedLink { variant, limited }) = reply.click {
            self.click_buffer.add(self.visit(event, &lookup, now, head, variant, limited));
        }
        self.finish(reply, head, stopwatch)
    }

    fn visit(
        &self,
        event: HttpEvent,
        lookup: &LinkLookup,
        at: Timestamp,
        head: bool,
        variant: Option<u8>,
        limited: bool,
    ) -> Visit {
        let address = self.address(&event).to_owned();
        let country = event.headers.cloudfront_viewer_country;
        Visit {
            domain: lookup.domain().to_owned(),
            code: lookup.code().to_owned(),
            at,
            address,
            user_agent: event.headers.user_agent,
            referrer: event.headers.referer,
            country: country.filter(|_| self.behind_cloudfront),
            head,
            variant,
            limited,
        }
    }

    /// The visitor's IP address. `cloudfront-` headers count only where the stack says so:
    /// any client can send them.
    fn address<'a>(&self, event: &'a HttpEvent) -> &'a str {
        let viewer = event.headers.cloudfront_viewer_address.as_deref();
        let viewer = viewer.filter(|_| self.behind_cloudfront);
        match viewer.and_then(|viewer| viewer.rsplit_once(':')) {
            Some((address, _)) => address,
            None => event.source_ip(),
        }
    }

    /// Records an answer and strips its body if the request was a `HEAD`.
    fn finish(&self, reply: Reply, head: bool, stopwatch: Stopwatch) -> EdgeResponse {
        self.metrics.record_answer(reply.outcome, stopwatch.milliseconds());
        if head { reply.answer.without_body() } else { reply.answer }
    }
}
