//! `/`: where a person who opens the service in a browser finds out what it is.

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use boundary::http::{Call, Operation, Problem, State, prefers_html};
use domain::html::escape;
use http::{HeaderMap, header};

use super::App;
use super::document::Tag;

const STYLE: &str = include_str!("home/style.css");
const ICON: &str = include_str!("home/icon.html");

/// The page has its style inside and no script.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; frame-ancestors 'none'";

pub(super) const HOME: Operation = Operation::get("/", "readHome", "What runs here")
    .description("For browsers: a page with links. Programs that don't ask for HTML get a 404.")
    .media(&["text/html"])
    .refuses(&[404]);

pub(super) async fn home(
    State(app): State<Arc<App>>,
    call: Call,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    if !prefers_html(accept) {
        return Err(Problem::unknown_path(&call.path));
    }
    let page = page(&app.deployed.tags()?, &app.stage, app.sink.as_deref());
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::VARY, "accept"),
    ];
    Ok((headers, page).into_response())
}

fn page(tags: &[Tag], stage: &str, sink: Option<&str>) -> String {
    let card = |tag: &Tag| {
        let anchor = tag.name.to_lowercase();
        let (name, about) = (escape(&tag.name), escape(&tag.description));
        format!("<li><a href=\"/docs#tag/{anchor}\"><b>{name}</b><span>{about}</span></a></li>\n")
    };
    // A system has a heading of its own name; what else it has headings for is a part of it.
    let is_own = |tag: &&Tag| tag.name.eq_ignore_ascii_case(&tag.system);
    let blocks = tags.iter().filter(is_own).filter(|tag| tag.system != "service");
    let cards: String = blocks.map(card).collect();
    let sink = sink.map_or_else(String::new, |url| {
        format!(
            "<a href=\"{}\">What was sent <small>mails, texts, webhooks</small></a>\n",
            escape(url)
        )
    });
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Switchyard</title>\n{ICON}<style>{STYLE}</style>\n</head>\n<body>\n\
         <header><svg viewBox=\"0 0 24 24\" width=\"28\" height=\"28\" aria-hidden=\"true\">\
         <path d=\"M2 12h20M7 12c4 0 4-7 8-7h7M7 12c4 0 4 7 8 7h7\"/>\
         <circle cx=\"7\" cy=\"12\" r=\"2.5\"/></svg><b>Switchyard</b></header>\n<main>\n\
         <h1>Serverless building blocks</h1>\n\
         <p class=\"lead\">They run here, behind one HTTP API, with the same accounts, errors and retries.</p>\n\
         <nav><a class=\"go\" href=\"/docs\">Read the API reference</a>\n{sink}\
         <a href=\"/openapi.json\">OpenAPI 3.1</a>\n<a href=\"/health\">Health</a></nav>\n\
         <h2>What runs here</h2>\n<ul>\n{cards}</ul>\n</main>\n\
         <footer>Version {version} · stage {stage}</footer>\n</body>\n</html>\n",
        version = env!("CARGO_PKG_VERSION"),
        stage = escape(stage),
    )
}
