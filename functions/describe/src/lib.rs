//! Answers for the API as a whole: `/health`, `/openapi.json`, `/docs`, and paths nobody claims.
//!
//! Trigger: HTTP. Effect: none. Guarantee: what it serves was generated from the functions' own
//! routes and types; a contract test fails when the files beside this one are out of date.

pub mod docs;

use boundary::http::{Access, Answer, Api, Builder, Problem, Request, Response};
use boundary::{Host, Misconfigured};
use http::{HeaderValue, Method, StatusCode, header};
use schemars::JsonSchema;
use serde::Serialize;

const DOCUMENT: &str = include_str!("../openapi.json");
const PAGE: &str = include_str!("../docs.html");

/// The page has its style inside and no script.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
const CACHED: &str = "public, max-age=300";

/// What the handlers share.
#[derive(Debug)]
pub struct State {
    stage: String,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Api<State>, Misconfigured> {
    const OPEN: Access = Access::Public;
    let stage = host.vars.optional("STAGE").unwrap_or("local").to_owned();
    Builder::default()
        .on(Method::GET, "/health", "readHealth", OPEN, |s, r| Box::pin(health(s, r)))
        .on(Method::GET, "/openapi.json", "readDocument", OPEN, |s, r| Box::pin(document(s, r)))
        .on(Method::GET, "/docs", "readDocs", OPEN, |s, r| Box::pin(page(s, r)))
        .unclaimed(|s, r| Box::pin(unclaimed(s, r)))
        .build(host, State { stage })
}

/// The service is up.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Health {
    /// `ok`.
    status: &'static str,
    stage: String,
    version: &'static str,
}

async fn health(state: &State, _: Request) -> Answer {
    let health =
        Health { status: "ok", stage: state.stage.clone(), version: env!("CARGO_PKG_VERSION") };
    Ok(Response::json(StatusCode::OK, &health))
}

async fn document(_: &State, _: Request) -> Answer {
    Ok(Response::typed(StatusCode::OK, "application/json", DOCUMENT)
        .with_header(header::CACHE_CONTROL, HeaderValue::from_static(CACHED)))
}

async fn page(_: &State, _: Request) -> Answer {
    Ok(Response::typed(StatusCode::OK, "text/html; charset=utf-8", PAGE)
        .with_header(header::CACHE_CONTROL, HeaderValue::from_static(CACHED))
        .with_header(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY)))
}

async fn unclaimed(_: &State, request: Request) -> Answer {
    Err(Problem::unknown_path(&request.path).into())
}
