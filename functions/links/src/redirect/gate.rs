//! Before a link is looked up: the firewall, and the quotas that somebody set for links.
//!
//! By default there are none for links, because a counter for each visitor would cost more than the
//! rest of a redirect. Then passing the gate makes no call, but for one small read every five seconds
//! that keeps firewall and rules fresh. Of the headers, the firewall sees those that an
//! [`HttpEvent`] has.

use boundary::edge::{EdgeReply, EdgeResponse, HttpEvent};
use boundary::http::Problem;
use boundary::limits::Caller;
use boundary::telemetry::{Stopwatch, collect_metrics};
use domain::Timestamp;
use domain::limits::firewall::FirewallRequest;
use domain::limits::headers::RateLimitHeaders;
use store::capacity;

use crate::redirect::reply::Replies;
use crate::redirect::{State, follow};

impl State {
    /// Whether the gate has to be waited for.
    pub(crate) fn must_wait(&self, event: &HttpEvent, caller: &Caller, now: Timestamp) -> bool {
        !self.limiter.is_fresh(now) || self.limiter.applies(caller, &event.raw_path, event.method())
    }

    /// The firewall's refusal, if it turns the visitor away.
    pub(crate) fn turned_away(
        &self,
        event: &HttpEvent,
        caller: &Caller,
        now: Timestamp,
    ) -> Option<Problem> {
        let headers = &event.headers;
        let asked = FirewallRequest {
            ip: caller.ip,
            path: &event.raw_path,
            method: event.method(),
            header: &|name| match name {
                "host" => headers.host.as_deref(),
                "user-agent" => headers.user_agent.as_deref(),
                "referer" => headers.referer.as_deref(),
                "accept" => headers.accept.as_deref(),
                // Others were not decoded. An empty value makes no test of a header hold, not even that
                // it is absent.
                _ => Some(""),
            },
        };
        let reason = self.limiter.firewall_refusal(&asked, now)?;
        Some(Problem::firewalled(&reason))
    }

    /// Answers a request that has to wait at the gate.
    pub(crate) async fn held_up(
        &self,
        event: HttpEvent,
        caller: Caller,
        now: Timestamp,
        stopwatch: Stopwatch,
    ) -> EdgeResponse {
        let passing = capacity::metered(self.pass(&event, &caller, now));
        let ((passed, capacity), measures) = Box::pin(collect_metrics(passing)).await;
        self.numbers.spent(capacity);
        self.numbers.measured(&measures);
        match passed {
            Ok(fields) => {
                let answer = match follow(self, event, now, stopwatch) {
                    EdgeReply::Ready(answer) => answer,
                    EdgeReply::Pending(work) => work.await,
                };
                announced(answer, fields)
            }
            Err((problem, fields)) => announced(self.turn_away(problem, &event, stopwatch), fields),
        }
    }

    pub(crate) fn turn_away(
        &self,
        problem: Problem,
        event: &HttpEvent,
        stopwatch: Stopwatch,
    ) -> EdgeResponse {
        let reply = Replies::refused(problem, event);
        self.send_off(reply, event.method() == "HEAD", stopwatch)
    }

    /// Passes the gate, however long it takes: what the answer's headers say, or a problem.
    async fn pass(
        &self,
        event: &HttpEvent,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<Option<RateLimitHeaders>, (Problem, Option<RateLimitHeaders>)> {
        self.limiter.refresh(now).await;
        if let Some(problem) = self.turned_away(event, caller, now) {
            return Err((problem, None));
        }
        let (path, method) = (&event.raw_path, event.method());
        if !self.limiter.applies(caller, path, method) {
            return Ok(None);
        }
        let admission = self.limiter.admit(caller, "GET /{code}", path, method, 1).await;
        match admission.problem() {
            Some(problem) => Err((problem, admission.headers())),
            None => Ok(admission.headers()),
        }
    }

    /// Who is at the gate: all that is known of a visitor is an address.
    pub(crate) fn caller(&self, event: &HttpEvent) -> Caller {
        let address = self.address(event).trim_matches(['[', ']']);
        Caller { ip: address.parse().ok(), ..Caller::default() }
    }
}

/// Tells the visitor how they stand.
fn announced(answer: EdgeResponse, fields: Option<RateLimitHeaders>) -> EdgeResponse {
    let Some(fields) = fields else { return answer };
    answer
        .header("ratelimit-policy", fields.policy)
        .header("ratelimit", fields.current)
        .header("x-ratelimit-limit", fields.limit.to_string())
        .header("x-ratelimit-remaining", fields.remaining.to_string())
        .header("x-ratelimit-reset", fields.reset.to_string())
}
