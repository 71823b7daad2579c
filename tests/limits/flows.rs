//! Limits and the firewall: what other programs ask, what admins decide, and what every caller meets.

mod atomic;
mod auto_block;
mod check;
mod check_input;
mod firewall;
mod firewall_input;
mod headers;
mod lockout;
mod outage;
mod overrides;
mod quotas;
mod reach;
mod rules;
mod rules_input;
mod settings;
mod statistics;

use std::net::IpAddr;

use futures::future::join_all;
use http::Method;
use serde_json::{Value, json};
use tests::{Lab, Response, root_key};

const CHECK: &str = "/internal/ratelimit/check";
const RULES: &str = "/admin/ratelimits";
const FIREWALL: &str = "/admin/firewall";

/// A PUT by the bootstrap admin.
async fn put(lab: &Lab, path: &str, body: &Value) -> Response {
    lab.call(Method::PUT, path).by(&root_key()).json(body).send().await
}

/// A DELETE by the bootstrap admin.
async fn delete(lab: &Lab, path: &str) -> Response {
    lab.call(Method::DELETE, path).by(&root_key()).send().await
}

/// Saves something and lets it reach every node.
async fn decide(lab: &Lab, path: &str, body: &Value) {
    let saved = put(lab, path, body).await;
    assert!(saved.status.is_success(), "{path}: {}", saved.body);
    settle(lab, 6).await;
}

/// Lets instances finish, and time pass.
async fn settle(lab: &Lab, seconds: i64) {
    lab.cloud.functions.quiesce().await;
    lab.advance_seconds(seconds);
}

/// A rule of so many units a minute for each user, counted in windows that begin with the minute.
fn per_user(path: &str, limit: i64) -> Value {
    json!({
        "resources": [path], "dimension": "user", "limit": limit, "windowSeconds": 60,
        "algorithm": "fixed-window",
    })
}

/// A check by the bootstrap admin.
async fn check(lab: &Lab, body: &Value) -> Response {
    lab.post(CHECK, body).await
}

/// A check of one unit for a user.
async fn ask(lab: &Lab, user: &str, path: &str) -> Response {
    check(lab, &json!({ "userId": user, "resource": path })).await
}

/// A GET without a key from an address.
async fn visit(lab: &Lab, address: &str, path: &str) -> Response {
    let source: IpAddr = address.parse().unwrap();
    lab.call(Method::GET, path).from_ip(source).send().await
}

/// What the usage of a rule is for a user.
async fn usage(lab: &Lab, user: &str, path: &str, rule: &str) -> Value {
    let answer = lab.get(&format!("{RULES}/usage?userId={user}&resource={path}")).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let rules = answer.body["usage"].as_array().unwrap();
    rules.iter().find(|usage| usage["rule"] == rule).cloned().unwrap_or(Value::Null)
}

/// The same request on as many instances at once, which then finish.
async fn on_each<F: Future<Output = Response>>(
    lab: &Lab,
    instances: usize,
    request: impl Fn() -> F,
) -> Vec<Response> {
    let answers = join_all((0..instances).map(|_| request())).await;
    lab.cloud.functions.quiesce().await;
    answers
}

fn count(answers: &[Response], status: u16) -> usize {
    answers.iter().filter(|answer| answer.status == status).count()
}

/// The sum of a metric over all lines so far.
fn metric(lab: &Lab, name: &str) -> f64 {
    let lines = lab.lines();
    let lines = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter_map(|line| line[name].as_f64()).sum()
}

fn assert_field(answer: &Response, field: &str, about: &str) {
    assert_eq!(answer.status, 422, "{about}: {}", answer.body);
    assert_eq!(answer.body["errors"][0]["field"], field, "{about}: {}", answer.body);
}

fn assert_problem(answer: &Response, status: u16, slug: &str) {
    let kind = format!("/docs#{slug}");
    assert_eq!((answer.status.as_u16(), answer.text("type")), (status, kind.as_str()));
    assert_eq!(answer.header("content-type"), "application/problem+json");
}
