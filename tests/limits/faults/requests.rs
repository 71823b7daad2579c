//! Who asks for what, and what they were told.

use std::net::{IpAddr, Ipv4Addr};

use domain::limits::{Dimension, Rule};
use futures::future::join_all;
use http::Method;
use serde_json::{Value, json};
use tests::{RequestBuilder, Response, Result, root_key};

use super::World;
use super::setup::rules;

/// Names that appear in no other place, so that a leak can be seen.
pub(super) const USERS: [&str; 3] = ["canary-ada", "canary-bob", "canary-eve"];
pub(super) const TENANT: &str = "canary-acme";
pub(super) const API_KEY: &str = "canary-key.canary-secret";

pub(super) const CHECK: &str = "/internal/ratelimit/check";
pub(super) const VISITED: &str = "/api/v1/canary";
pub(super) const RESOURCES: [&str; 6] =
    ["/t/pair", "/t/mixed", "/t/leased", "/t/bucket", "/t/log", VISITED];

/// A request that wants units.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) resource: String,
    pub(super) user: String,
    pub(super) ip: IpAddr,
    pub(super) units: i64,
    /// Whether it goes to the resource itself, and not through a check.
    pub(super) visit: bool,
}

/// What became of it.
#[derive(Debug, Clone)]
pub(super) struct Exchange {
    pub(super) request: Request,
    pub(super) trace: String,
    pub(super) sent_ms: i64,
    pub(super) answered_ms: i64,
    pub(super) status: u16,
    /// The rule that said most, and its limit; nothing for a visit.
    pub(super) rule: Option<String>,
    pub(super) limit: Option<i64>,
    /// The rules that the headers tell of.
    pub(super) policy: String,
}

impl Exchange {
    /// Whether it may pass.
    pub(super) fn is_admitted(&self) -> bool {
        self.status == 200 || (self.request.visit && self.status == 404)
    }

    /// Whether the node knew the rules that are there from the beginning.
    pub(super) fn knew_rules(&self) -> bool {
        let told = self.rule.iter().map(String::as_str).chain([self.policy.as_str()]);
        let mut held = self.request.rules();
        held.any(|rule| told.clone().any(|told| told.contains(rule.id.as_str())))
    }
}

impl Request {
    /// The rules it is held to.
    pub(super) fn rules(&self) -> impl Iterator<Item = Rule> {
        let path = self.resource.clone();
        rules().into_iter().filter(move |rule| rule.resources[0] == path && rule.id != "shadow")
    }

    /// Whom a rule counts.
    pub(super) fn entity(&self, dimension: Dimension) -> String {
        match dimension {
            Dimension::User => self.user.clone(),
            Dimension::Tenant => TENANT.to_owned(),
            Dimension::Ip => self.ip.to_string(),
            Dimension::Global => "all".to_owned(),
            Dimension::ApiKey => API_KEY.to_owned(),
        }
    }

    fn body(&self) -> Value {
        let mut body = json!({ "resource": self.resource, "tokens": self.units });
        if ["/t/log", VISITED].contains(&self.resource.as_str()) {
            body["clientIp"] = json!(self.ip.to_string());
        } else {
            body["userId"] = json!(self.user);
            body["tenantId"] = json!(TENANT);
            body["apiKey"] = json!(API_KEY);
        }
        body
    }
}

pub(super) fn address(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(203, 0, 113, last))
}

impl World {
    /// Several callers at once, each on a node of its own, and then several more: nodes that think they
    /// know how things stand are wrong by then.
    pub(super) async fn traffic(&mut self) {
        let resource = if self.dice.below(5) == 0 { "/t/leased" } else { self.theme };
        for _ in 0..2 {
            let count = 1 + self.dice.below(3);
            let request = (0..count).map(|_| self.random_request(resource)).collect();
            self.send(request).await;
        }
    }

    fn random_request(&mut self, resource: &str) -> Request {
        let units = 1 + match resource {
            "/t/pair" => self.dice.below(3),
            "/t/mixed" | "/t/leased" => self.dice.below(60),
            "/t/bucket" => self.dice.below(50),
            _ => self.dice.below(2),
        };
        // Mostly the same caller: quotas are to be used up.
        let (user, last) = if self.dice.below(3) == 0 { (self.dice.index(2), 8) } else { (0, 7) };
        let visit = resource == VISITED && self.dice.below(2) == 0;
        Request {
            resource: resource.to_owned(),
            user: USERS[user].to_owned(),
            ip: address(last),
            units: if visit { 1 } else { i64::try_from(units).unwrap_or(1) },
            visit,
        }
    }

    /// Sends all of them at once, and notes what became of each.
    pub(super) async fn send(&mut self, request: Vec<Request>) -> Vec<Exchange> {
        let first = self.traces + 1;
        self.traces += request.len() as u64;
        let asks = (first..).zip(request).map(|(trace, request)| self.send_one(trace, request));
        let exchange = join_all(asks).await;
        self.exchanges.extend(exchange.iter().cloned());
        exchange
    }

    async fn send_one(&self, trace: u64, request: Request) -> Exchange {
        let trace = format!("{trace:032x}");
        let sent_ms = self.lab.clock.now_ms();
        let parent = format!("00-{trace}-00000000000000aa-01");
        let answer = self.call(&request).header("traceparent", &parent).send().await;
        Exchange {
            request,
            trace,
            sent_ms,
            answered_ms: self.lab.clock.now_ms(),
            status: answer.status.as_u16(),
            rule: answer.body["rule"].as_str().map(str::to_owned),
            limit: answer.body["limit"].as_i64(),
            policy: answer.header("ratelimit-policy").to_owned(),
        }
    }

    fn call(&self, request: &Request) -> RequestBuilder<'_> {
        if request.visit {
            return self.lab.call(Method::GET, VISITED).from_ip(request.ip);
        }
        self.lab.call(Method::POST, CHECK).by(&root_key()).json(&request.body())
    }

    /// Repeats a call until it has a definite answer; says whether it was in trouble before.
    pub(super) async fn retry<'a>(
        &'a self,
        call: impl Fn() -> RequestBuilder<'a>,
    ) -> Result<(Response, bool)> {
        for attempt in 0..40 {
            if attempt == 20 {
                // Enough went wrong; from here on only a bug can keep the answer away.
                self.lab.cloud.faults.stop();
            }
            let answer = call().send().await;
            if !answer.status.is_server_error() {
                return Ok((answer, attempt > 0));
            }
            self.lab.advance_seconds(3);
        }
        Err(format!("{:?} never got a definite answer", call()))
    }
}
