//! `GET /{code}`: sends a visitor on, and says afterwards that it did.
//!
//! Trigger: HTTP. Effect: one batch of clicks to the queue, after the answer. Guarantee: a route that
//! was read in the last four seconds costs no call to anything; any other costs one eventually
//! consistent read. A node reads every five seconds whether its rules and firewall are current. A
//! click is on its way before the environment can freeze, or held for at most a second under load.
//! Absent: a write before the answer unless someone set a quota for links, an address in a message, a
//! header with a control character.

mod asked;
mod cache;
mod document;
mod flush;
mod gate;
mod numbers;
mod outbox;
pub mod pages;
mod places;
mod reply;
mod visitors;

use std::sync::Arc;

use crate::store::Links;
use boundary::edge::{Edge, EdgeReply, EdgeResponse, HttpEvent};
use boundary::limits::Limiter;
use boundary::telemetry::{Log, Stopwatch, collect_metrics_sync};
use boundary::{Clock, Entropy, Host, Misconfigured};
use domain::links::{Hold, Route, route};
use domain::{Failure, Timestamp};
use futures::future::BoxFuture;
use messaging::Clicks;
use store::capacity;

use asked::{Asked, Hosts};
use cache::{Cache, Found};
use numbers::Numbers;
use outbox::{Outbox, Visit};
use places::Places;
use reply::{Followed, Replies, Reply};
use visitors::Visitors;

pub use document::{HEADING, document};

/// What requests share.
#[derive(Debug)]
pub struct State {
    links: Links,
    clicks: Clicks,
    hosts: Hosts,
    cache: Cache,
    visitors: Visitors,
    outbox: Outbox,
    places: Places,
    numbers: Arc<Numbers>,
    replies: Replies,
    hold: Hold,
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
    let hold = vars.parsed("CLICK_HOLD_MS", |ms| ms.parse().ok(), "a number of milliseconds")?;
    let table = vars.required(crate::store::TABLE.variable)?;
    let state = State {
        links: Links::new(host.aws.dynamodb(), table),
        clicks: Clicks::new(host.aws.sqs(), vars.required("CLICKS_QUEUE")?),
        hosts: Hosts::of(vars),
        cache: Cache::default(),
        visitors: Visitors::new(host.entropy.clone()),
        outbox: Outbox::default(),
        places: Places::of(vars)?,
        numbers: Arc::default(),
        replies: Replies::new(),
        hold: hold.map_or_else(Hold::default, Hold::up_to_ms),
        behind_cloudfront: host.behind_cloudfront()?,
        limiter: Limiter::from_host(host)?,
        clock: host.clock.clone(),
        entropy: host.entropy.clone(),
        log: host.log.clone(),
        stage: vars.optional("STAGE").unwrap_or("local").to_owned(),
    };
    Ok(Edge::new(host, "redirect", state, answer, |state, phase| Box::pin(flush::at(state, phase))))
}

/// A request that asks for a link.
struct Request {
    event: HttpEvent,
    asked: Asked,
    head: bool,
    now: Timestamp,
    stopwatch: Stopwatch,
}

fn answer(state: &State, event: HttpEvent) -> EdgeReply<'_> {
    let stopwatch = Stopwatch::start();
    let now = state.clock.now();
    state.numbers.arrived(now.as_millisecond());
    let caller = state.caller(&event);
    if state.must_wait(&event, &caller, now) {
        return EdgeReply::Pending(Box::pin(state.held_up(event, caller, now, stopwatch)));
    }
    let (refusal, measures) = collect_metrics_sync(|| state.turned_away(&event, &caller, now));
    state.numbers.measured(&measures);
    match refusal {
        Some(problem) => EdgeReply::Ready(state.turn_away(problem, &event, stopwatch)),
        None => follow(state, event, now, stopwatch),
    }
}

/// Answers a request that passed the gate.
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
            return EdgeReply::Ready(state.send_off(
                Replies::wrong_method(&event),
                false,
                stopwatch,
            ));
        }
    };
    let Some(asked) = Asked::of(&event, &state.hosts) else {
        return EdgeReply::Ready(state.send_off(state.replies.missing(&event), head, stopwatch));
    };
    let known = state.cache.get(&asked.key, now.as_millisecond());
    let request = Request { event, asked, head, now, stopwatch };
    match known {
        Some(found) if !state.needs_salt(found.as_deref(), now) => {
            state.numbers.looked_up(true);
            EdgeReply::Ready(state.reply(request, found.as_deref()))
        }
        known => EdgeReply::Pending(Box::pin(state.look_up(request, known))),
    }
}

impl State {
    async fn look_up(&self, request: Request, known: Option<Found>) -> EdgeResponse {
        self.numbers.looked_up(known.is_some());
        let found = if let Some(found) = known {
            Ok(found)
        } else {
            let load = || self.load(&request.asked);
            let now_ms = request.now.as_millisecond();
            self.cache.read(&request.asked.key, now_ms, load).await
        };
        match found {
            Ok(found) => {
                if self.needs_salt(found.as_deref(), request.now) {
                    self.learn_salt(request.now).await;
                }
                self.reply(request, found.as_deref())
            }
            Err(failure) => {
                self.numbers.broke(failure.chain());
                let reply = self.replies.unavailable(&request.event);
                self.send_off(reply, request.head, request.stopwatch)
            }
        }
    }

    /// Reads a route, and notes what that cost whoever waits for it.
    fn load(&self, asked: &Asked) -> BoxFuture<'static, Result<Option<Route>, Failure>> {
        let (links, numbers) = (self.links.clone(), Arc::clone(&self.numbers));
        let (domain, code) = (asked.domain().to_owned(), asked.code().to_owned());
        Box::pin(async move {
            let (found, capacity) = Box::pin(capacity::metered(links.route(&domain, &code))).await;
            numbers.spent(capacity);
            found
        })
    }

    /// Whether a visitor's way can't be told without asking for the day's salt.
    fn needs_salt(&self, route: Option<&Route>, now: Timestamp) -> bool {
        route.is_some_and(|route| !route.ways.is_empty()) && self.visitors.salt(now).is_none()
    }

    async fn learn_salt(&self, now: Timestamp) -> [u8; 32] {
        let learning = self.visitors.learn(&self.links, now);
        let ((salt, failure), capacity) = Box::pin(capacity::metered(learning)).await;
        self.numbers.spent(capacity);
        if let Some(failure) = failure {
            self.numbers.broke(failure.chain());
        }
        salt
    }

    fn reply(&self, request: Request, found: Option<&Route>) -> EdgeResponse {
        let Request { event, asked, head, now, stopwatch } = request;
        let lot = found.filter(|route| !route.ways.is_empty()).map_or(0, |_| {
            let salt = self.visitors.salt(now).unwrap_or_default();
            let agent = event.headers.user_agent.as_deref().unwrap_or_default();
            route::lot(asked.code(), visitors::hash(&salt, self.address(&event), agent))
        });
        let reply = self.replies.about(found, &event, &asked, lot, now);
        if let Some(Followed { variant, limited }) = reply.click {
            self.outbox.note(self.visit(event, &asked, now, head, variant, limited));
        }
        self.send_off(reply, head, stopwatch)
    }

    fn visit(
        &self,
        event: HttpEvent,
        asked: &Asked,
        at: Timestamp,
        head: bool,
        variant: Option<u8>,
        limited: bool,
    ) -> Visit {
        let address = self.address(&event).to_owned();
        let country = event.headers.cloudfront_viewer_country;
        Visit {
            domain: asked.domain().to_owned(),
            code: asked.code().to_owned(),
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

    /// Who visits. The content network's word counts only where one is configured: anyone can send
    /// its headers.
    fn address<'a>(&self, event: &'a HttpEvent) -> &'a str {
        let viewer = event.headers.cloudfront_viewer_address.as_deref();
        let viewer = viewer.filter(|_| self.behind_cloudfront);
        match viewer.and_then(|viewer| viewer.rsplit_once(':')) {
            Some((address, _)) => address,
            None => event.source_ip(),
        }
    }

    /// Counts an answer and lets it go.
    fn send_off(&self, reply: Reply, head: bool, stopwatch: Stopwatch) -> EdgeResponse {
        self.numbers.answered(reply.outcome, stopwatch.milliseconds());
        if head { reply.answer.without_body() } else { reply.answer }
    }
}
