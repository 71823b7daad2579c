//! From a decision to an HTTP response.
//!
//! A redirect has `cache-control: no-store`, a 301 too: browsers keep a 301 for ever otherwise, so that
//! no edit, expiry or block would reach them, and no click be counted. It has no `referrer-policy`,
//! because the destination's owner wants referrers. Pages have the strictest
//! `content-security-policy` that shows them.

use boundary::edge::{EdgeResponse, HttpEvent};
use boundary::http::{Problem, prefers_html};
use domain::Timestamp;
use domain::links::target::Target;
use domain::links::user_agent::is_preview_bot;
use domain::links::{Decision, Route, decide};

use crate::redirect::link_lookup::LinkLookup;
use crate::redirect::metrics::Outcome;
use crate::redirect::pages::{self, LinkSummary};

/// Sent after a failure; the SDK's own retries are over by then.
const RETRY_AFTER_SECONDS: u32 = 2;

/// A response, and what to record about it.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) answer: EdgeResponse,
    pub(crate) outcome: Outcome,
    /// Set for a redirect, and for a crawler's card.
    pub(crate) click: Option<FollowedLink>,
}

/// The part of a click that the link decides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FollowedLink {
    /// The index of the chosen variant, if there are several.
    pub(crate) variant: Option<u8>,
    /// Whether the link has a maximum of clicks.
    pub(crate) limited: bool,
}

#[derive(Debug)]
pub(crate) struct Responder {
    policy: String,
}

impl Responder {
    pub(crate) fn new() -> Self {
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{}'; img-src 'self'; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'",
            pages::style_hash()
        );
        Self { policy }
    }

    /// The response for a link's route, or for an unknown link.
    pub(crate) fn for_route(
        &self,
        route: Option<&Route>,
        event: &HttpEvent,
        lookup: &LinkLookup,
        hash: u64,
        now: Timestamp,
    ) -> Reply {
        let Some(route) = route else { return self.not_found(event) };
        let limited = route.max_clicks.is_some();
        let followed = |variant| Some(FollowedLink { variant, limited });
        match decide(route, hash, &event.raw_query_string, now) {
            Decision::Redirect { location, .. } if lookup.preview => {
                let page = render(pages::preview, route, event, lookup, &location);
                Reply { answer: self.page(200, page), outcome: Outcome::Page, click: None }
            }
            Decision::Redirect { location, status, variant } => {
                let agent = event.headers.user_agent.as_deref().unwrap_or_default();
                if is_preview_bot(agent) {
                    let card = render(pages::card, route, event, lookup, &location);
                    let answer = self.page(200, card);
                    return Reply { answer, outcome: Outcome::Page, click: followed(variant) };
                }
                Reply {
                    answer: redirect(status, location.into_owned()),
                    outcome: Outcome::Redirect,
                    click: followed(variant),
                }
            }
            Decision::Fallback { location } => Reply {
                answer: redirect(302, location.to_owned()),
                outcome: Outcome::Redirect,
                click: followed(None).filter(|_| !lookup.preview),
            },
            Decision::Gone => {
                self.refuse(event, Outcome::Gone, Problem::gone("link"), pages::expired)
            }
            Decision::Blocked(reason) => {
                let problem = Problem::blocked("link", reason);
                self.refuse(event, Outcome::Blocked, problem, || pages::blocked(reason))
            }
            Decision::NotFound => self.not_found(event),
        }
    }

    pub(crate) fn not_found(&self, event: &HttpEvent) -> Reply {
        let code = event.raw_path.trim_start_matches('/');
        self.refuse(event, Outcome::NotFound, Problem::unknown("link"), || pages::not_found(code))
    }

    /// The route could not be read.
    pub(crate) fn unavailable(&self, event: &HttpEvent) -> Reply {
        let problem = Problem::unavailable("The link could not be looked up.", RETRY_AFTER_SECONDS);
        let mut reply = self.refuse(event, Outcome::Fault, problem, pages::unavailable);
        if reply.answer.get_header("retry-after").is_none() {
            reply.answer = reply.answer.header("retry-after", RETRY_AFTER_SECONDS.to_string());
        }
        reply
    }

    /// Neither `GET` nor `HEAD`.
    pub(crate) fn method_not_allowed(event: &HttpEvent) -> Reply {
        let problem = Problem::method_not_allowed(vec!["GET"]);
        let answer = EdgeResponse::problem(problem, &event.raw_path);
        Reply { answer, outcome: Outcome::NotFound, click: None }
    }

    /// Refused by the firewall or a quota.
    pub(crate) fn rejected(problem: Problem, event: &HttpEvent) -> Reply {
        let answer = EdgeResponse::problem(problem, &event.raw_path);
        Reply { answer, outcome: Outcome::Refused, click: None }
    }

    fn refuse(
        &self,
        event: &HttpEvent,
        outcome: Outcome,
        problem: Problem,
        page: impl FnOnce() -> String,
    ) -> Reply {
        let answer = if prefers_html(event.headers.accept.as_deref()) {
            self.page(problem.status(), page())
        } else {
            EdgeResponse::problem(problem, &event.raw_path)
        };
        Reply { answer, outcome, click: None }
    }

    fn page(&self, status: u16, html: String) -> EdgeResponse {
        EdgeResponse::new(status)
            .header("cache-control", "no-store")
            .header("content-security-policy", self.policy.clone())
            .header("referrer-policy", "no-referrer")
            .header("x-content-type-options", "nosniff")
            .body("text/html; charset=utf-8", html)
    }
}

fn redirect(status: u16, location: String) -> EdgeResponse {
    EdgeResponse::new(status).location(location).header("cache-control", "no-store")
}

/// The page of a link, under the URL by which it was requested.
fn render(
    page: fn(&LinkSummary<'_>) -> String,
    route: &Route,
    event: &HttpEvent,
    lookup: &LinkLookup,
    location: &str,
) -> String {
    let host = event.headers.host.as_deref().unwrap_or("localhost");
    let scheme = if is_this_machine(host) { "http" } else { "https" };
    let warnings: Vec<&str> = route.warnings.iter().map(String::as_str).collect();
    page(&LinkSummary {
        short_url: &format!("{scheme}://{host}/{}", lookup.code()),
        destination: location,
        host: Target::stored(location).host(),
        created: route.created_at,
        expires: route.expires_at,
        title: route.title.as_deref(),
        description: route.description.as_deref(),
        image: route.image.as_deref(),
        warnings: &warnings,
        destinations: route.variants.len().max(1),
    })
}

/// Hosts that have no certificate.
fn is_this_machine(host: &str) -> bool {
    ["localhost", "127.", "[::1]"].iter().any(|start| host.starts_with(start))
}
