//! From a decision to an answer.
//!
//! A redirect says `cache-control: no-store`, a 301 too: browsers keep a 301 for ever unless told not
//! to, and then no edit, no expiry and no block would reach them, and no click be counted. It says
//! nothing about referrers, because the destination's owner wants them. Pages have the strictest
//! policy that shows them.

use boundary::edge::{EdgeResponse, HttpEvent};
use boundary::http::{Problem, prefers_html};
use domain::Timestamp;
use domain::links::agent::is_preview;
use domain::links::target::Target;
use domain::links::{Decision, Route, decide};

use crate::redirect::asked::Asked;
use crate::redirect::numbers::Outcome;
use crate::redirect::pages::{self, Preview};

/// When to ask again after a failure; the store's own retries are over by then.
const RETRY_SECONDS: u32 = 2;

/// An answer, and what it means.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) answer: EdgeResponse,
    pub(crate) outcome: Outcome,
    /// Set if someone was led on, or shown a card.
    pub(crate) click: Option<Followed>,
}

/// A link that was followed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Followed {
    /// Which way was chosen of several.
    pub(crate) variant: Option<u8>,
    /// Whether the link ends after a number of clicks.
    pub(crate) limited: bool,
}

#[derive(Debug)]
pub(crate) struct Replies {
    policy: String,
}

impl Replies {
    pub(crate) fn new() -> Self {
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{}'; img-src 'self'; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'",
            pages::style_hash()
        );
        Self { policy }
    }

    /// The answer about a link, or about there being none.
    pub(crate) fn about(
        &self,
        route: Option<&Route>,
        event: &HttpEvent,
        asked: &Asked,
        lot: u64,
        now: Timestamp,
    ) -> Reply {
        let Some(route) = route else { return self.missing(event) };
        let limited = route.max_clicks.is_some();
        let followed = |variant| Some(Followed { variant, limited });
        match decide(route, lot, &event.raw_query_string, now) {
            Decision::Go { location, .. } if asked.preview => {
                let page = shown(pages::preview, route, event, asked, &location);
                Reply { answer: self.page(200, page), outcome: Outcome::Page, click: None }
            }
            Decision::Go { location, status, variant } => {
                let agent = event.headers.user_agent.as_deref().unwrap_or_default();
                if is_preview(agent) {
                    let card = shown(pages::card, route, event, asked, &location);
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
                click: followed(None).filter(|_| !asked.preview),
            },
            Decision::Gone => {
                self.refuse(event, Outcome::Gone, Problem::gone("link"), pages::expired)
            }
            Decision::Blocked(reason) => {
                let problem = Problem::blocked("link", reason);
                self.refuse(event, Outcome::Blocked, problem, || pages::blocked(reason))
            }
            Decision::Missing => self.missing(event),
        }
    }

    /// There is no such link.
    pub(crate) fn missing(&self, event: &HttpEvent) -> Reply {
        let code = event.raw_path.trim_start_matches('/');
        self.refuse(event, Outcome::NotFound, Problem::unknown("link"), || pages::missing(code))
    }

    /// The store could not be asked.
    pub(crate) fn unavailable(&self, event: &HttpEvent) -> Reply {
        let problem = Problem::unavailable("The link could not be looked up.", RETRY_SECONDS);
        let mut reply = self.refuse(event, Outcome::Fault, problem, pages::unavailable);
        if reply.answer.get_header("retry-after").is_none() {
            reply.answer = reply.answer.header("retry-after", RETRY_SECONDS.to_string());
        }
        reply
    }

    /// Neither `GET` nor `HEAD`.
    pub(crate) fn wrong_method(event: &HttpEvent) -> Reply {
        let problem = Problem::method_not_allowed(vec!["GET"]);
        let answer = EdgeResponse::problem(problem, &event.raw_path);
        Reply { answer, outcome: Outcome::NotFound, click: None }
    }

    /// The firewall or a quota says no.
    pub(crate) fn refused(problem: Problem, event: &HttpEvent) -> Reply {
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

/// What `show` makes of a link, under the URL by which it was asked for.
fn shown(
    show: fn(&Preview<'_>) -> String,
    route: &Route,
    event: &HttpEvent,
    asked: &Asked,
    location: &str,
) -> String {
    let host = event.headers.host.as_deref().unwrap_or("localhost");
    let scheme = if is_this_machine(host) { "http" } else { "https" };
    let warnings: Vec<&str> = route.warnings.iter().map(String::as_str).collect();
    show(&Preview {
        short_url: &format!("{scheme}://{host}/{}", asked.code()),
        destination: location,
        host: Target::stored(location).host(),
        created: route.created_at,
        expires: route.expires_at,
        title: route.title.as_deref(),
        description: route.description.as_deref(),
        image: route.image.as_deref(),
        warnings: &warnings,
        several: route.ways.len().max(1),
    })
}

/// Nobody has a certificate for these.
fn is_this_machine(host: &str) -> bool {
    ["localhost", "127.", "[::1]"].iter().any(|start| host.starts_with(start))
}
