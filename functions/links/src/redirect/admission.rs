//! Before a link is looked up: the firewall, and the quotas that an admin set for links.
//!
//! By default there are no quotas for links, because a counter for each visitor would cost more than
//! the rest of a redirect. Admission makes no call then, but for one small read every five seconds
//! that keeps firewall and rules fresh. Of the headers, the firewall sees those that an
//! [`HttpEvent`] has.

use boundary::edge::{EdgeReply, EdgeResponse, HttpEvent};
use boundary::http::Problem;
use boundary::limits::QuotaSubject;
use boundary::telemetry::{Stopwatch, collect_metrics};
use domain::Timestamp;
use domain::limits::firewall::FirewallRequest;
use domain::limits::headers::RateLimitHeaders;
use store::capacity;

use crate::redirect::reply::Responder;
use crate::redirect::{State, follow};

impl State {
    /// Whether admission makes a call: the rules are stale, or one of them applies.
    pub(crate) fn needs_admission(
        &self,
        event: &HttpEvent,
        caller: &QuotaSubject,
        now: Timestamp,
    ) -> bool {
        !self.limiter.is_fresh(now) || self.limiter.applies(caller, &event.raw_path, event.method())
    }

    /// The problem to answer with, if the firewall refuses the request.
    pub(crate) fn firewall_refusal(
        &self,
        event: &HttpEvent,
        caller: &QuotaSubject,
        now: Timestamp,
    ) -> Option<Problem> {
        let headers = &event.headers;
        let request = FirewallRequest {
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
        let reason = self.limiter.firewall_refusal(&request, now)?;
        Some(Problem::firewalled(&reason))
    }

    /// Refreshes the rules, takes from the quotas that apply, and answers.
    pub(crate) async fn answer_after_admission(
        &self,
        event: HttpEvent,
        caller: QuotaSubject,
        now: Timestamp,
        stopwatch: Stopwatch,
    ) -> EdgeResponse {
        let admitting = capacity::metered(self.admit(&event, &caller, now));
        let ((admitted, capacity), measures) = Box::pin(collect_metrics(admitting)).await;
        self.metrics.record_capacity(capacity);
        self.metrics.record_measures(&measures);
        match admitted {
            Ok(fields) => {
                let answer = match follow(self, event, now, stopwatch) {
                    EdgeReply::Ready(answer) => answer,
                    EdgeReply::Pending(work) => work.await,
                };
                with_rate_limit_headers(answer, fields)
            }
            Err((problem, fields)) => {
                with_rate_limit_headers(self.refuse(problem, &event, stopwatch), fields)
            }
        }
    }

    pub(crate) fn refuse(
        &self,
        problem: Problem,
        event: &HttpEvent,
        stopwatch: Stopwatch,
    ) -> EdgeResponse {
        let reply = Responder::rejected(problem, event);
        self.finish(reply, event.method() == "HEAD", stopwatch)
    }

    /// The rate-limit headers for the answer, with a problem if the request is refused.
    async fn admit(
        &self,
        event: &HttpEvent,
        caller: &QuotaSubject,
        now: Timestamp,
    ) -> Result<Option<RateLimitHeaders>, (Problem, Option<RateLimitHeaders>)> {
        self.limiter.refresh(now).await;
        if let Some(problem) = self.firewall_refusal(event, caller, now) {
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

    /// The caller as quotas know it: by address alone.
    pub(crate) fn caller(&self, event: &HttpEvent) -> QuotaSubject {
        let address = self.address(event).trim_matches(['[', ']']);
        QuotaSubject { ip: address.parse().ok(), ..QuotaSubject::default() }
    }
}

fn with_rate_limit_headers(answer: EdgeResponse, fields: Option<RateLimitHeaders>) -> EdgeResponse {
    let Some(fields) = fields else { return answer };
    answer
        .header("ratelimit-policy", fields.policy)
        .header("ratelimit", fields.current)
        .header("x-ratelimit-limit", fields.limit.to_string())
        .header("x-ratelimit-remaining", fields.remaining.to_string())
        .header("x-ratelimit-reset", fields.reset.to_string())
}
