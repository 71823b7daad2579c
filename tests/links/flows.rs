//! Links, from being made to being forgotten, by what callers and visitors see.

mod access;
mod analytics;
mod blocklist;
mod bulk;
mod click_counts;
mod create;
mod domains;
mod idempotency;
mod limits;
mod manage;
mod previews;
mod qr_codes;
mod redirect;
mod reports;
mod reuse;
mod safety;
mod transfer;
mod visits;

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, Response, root_key, send};

const SHORTEN: &str = "/api/v1/shorten";

/// A browser of a person, as counters see it.
const CHROME: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like \
                      Gecko) Chrome/131.0.0.0 Safari/537.36";

async fn get(lab: &Lab, path: &str, key: &str) -> Response {
    send(lab, Method::GET, path, key, &Value::Null).await
}

async fn post(lab: &Lab, path: &str, key: &str, body: &Value) -> Response {
    send(lab, Method::POST, path, key, body).await
}

async fn delete(lab: &Lab, path: &str, key: &str) -> Response {
    send(lab, Method::DELETE, path, key, &Value::Null).await
}

async fn patch(lab: &Lab, path: &str, key: &str, version: u64, body: &Value) -> Response {
    let call = lab.call(Method::PATCH, path).by(key).header("if-match", &format!("\"{version}\""));
    call.json(body).send().await
}

/// Makes a link that must be new.
async fn shorten(lab: &Lab, key: &str, body: &Value) -> Response {
    let made = post(lab, SHORTEN, key, body).await;
    assert_eq!(made.status, 201, "{body}: {}", made.body);
    made
}

/// The code of a new link.
async fn code(lab: &Lab, key: &str, body: &Value) -> String {
    shorten(lab, key, body).await.text("shortCode").to_owned()
}

/// Follows a link as a person would, and lets its instance finish.
async fn visit(lab: &Lab, code: &str) -> Response {
    let answer =
        lab.call(Method::GET, &format!("/{code}")).header("user-agent", CHROME).send().await;
    lab.cloud.functions.quiesce().await;
    answer
}

/// Status and destination of a visit.
async fn redirect_of(lab: &Lab, code: &str) -> (u16, String) {
    let answer = visit(lab, code).await;
    (answer.status.as_u16(), answer.header("location").to_owned())
}

fn to(location: &str) -> (u16, String) {
    (302, location.to_owned())
}

/// Lets the redirect's memory run out: what was changed is seen by everyone then.
fn wait_out_cache(lab: &Lab) {
    lab.advance_seconds(5);
}

/// How many rows of the table begin with `start`.
async fn rows(lab: &Lab, start: &str) -> usize {
    rows_in(lab, "LinksTable", start).await
}

/// Counters of quotas for links that anything was taken from.
async fn counters(lab: &Lab) -> usize {
    rows_in(lab, "LimitsTable", "count#links-").await
        + rows_in(lab, "LimitsTable", "count#anonymous-links-").await
}

async fn rows_in(lab: &Lab, table: &str, start: &str) -> usize {
    let (client, table) = (lab.aws().dynamodb(), lab.table(table));
    let (mut count, mut from) = (0, None);
    loop {
        let page = client.scan().table_name(&table).set_exclusive_start_key(from);
        let page = page.send().await.unwrap();
        let begins = |item: &&std::collections::HashMap<String, _>| {
            let pk: &aws_sdk_dynamodb::types::AttributeValue = &item["pk"];
            pk.as_s().unwrap().starts_with(start)
        };
        count += page.items().iter().filter(begins).count();
        from = page.last_evaluated_key().cloned();
        if from.is_none() {
            return count;
        }
    }
}

/// A problem about that field, and nothing else.
fn assert_names(answer: &Response, field: &str, about: &Value) {
    assert_eq!(answer.status, 422, "{about}: {}", answer.body);
    assert_eq!(answer.header("content-type"), "application/problem+json", "{about}");
    assert_eq!(answer.body["errors"][0]["field"], field, "{about}: {}", answer.body);
}

/// A problem of that kind.
fn assert_problem(answer: &Response, status: u16, kind: &str) {
    let expected = (status, format!("/docs#{kind}"));
    assert_eq!(
        (answer.status.as_u16(), answer.text("type").to_owned()),
        expected,
        "{}",
        answer.body
    );
    assert_eq!(answer.header("content-type"), "application/problem+json");
}

/// The codes of a list's items, in its order.
fn codes(list: &Response) -> Vec<&str> {
    let items = list.body["items"].as_array().unwrap();
    items.iter().map(|item| item["shortCode"].as_str().unwrap()).collect()
}

fn plain(url: &str) -> Value {
    json!({ "longUrl": url })
}

#[tokio::test(start_paused = true)]
async fn a_link_lives_from_creation_to_restoration() {
    let (lab, ada) = Lab::with_member().await;
    let made = shorten(&lab, &ada, &plain("https://example.org/page")).await;
    let code = made.text("shortCode").to_owned();
    let one = format!("/api/v1/url/{code}");
    assert_eq!(code.len(), 7);
    assert_eq!((made.header("location"), made.header("etag")), (one.as_str(), "\"1\""));
    assert_eq!(redirect_of(&lab, &code).await, to("https://example.org/page"));

    let changed = patch(&lab, &one, &ada, 1, &plain("https://example.org/new")).await;
    assert_eq!((changed.status.as_u16(), changed.header("etag")), (200, "\"2\""));
    wait_out_cache(&lab);
    assert_eq!(redirect_of(&lab, &code).await, to("https://example.org/new"));

    assert_eq!(delete(&lab, &one, &ada).await.status, 204);
    wait_out_cache(&lab);
    assert_eq!(redirect_of(&lab, &code).await.0, 404);
    let restored = post(&lab, &format!("{one}/restore"), &ada, &Value::Null).await;
    assert_eq!((restored.status.as_u16(), restored.text("state")), (200, "live"));
    wait_out_cache(&lab);
    assert_eq!(redirect_of(&lab, &code).await, to("https://example.org/new"));

    let block = json!({ "reason": "Phishing." });
    let blocked = post(&lab, &format!("{one}/block"), &root_key(), &block).await;
    assert_eq!((blocked.text("state"), blocked.text("blockReason")), ("blocked", "Phishing."));
    wait_out_cache(&lab);
    let visitor = visit(&lab, &code).await;
    assert_problem(&visitor, 451, "blocked");
    assert!(visitor.text("detail").contains("Phishing."), "{}", visitor.body);
    let unblocked = post(&lab, &format!("{one}/unblock"), &root_key(), &Value::Null).await;
    assert_eq!(unblocked.text("state"), "live");
    wait_out_cache(&lab);
    assert_eq!(redirect_of(&lab, &code).await, to("https://example.org/new"));
}
