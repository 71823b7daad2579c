//! `/`: the start page, for browsers.

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use boundary::http::{Call, Operation, Problem, Result, State, prefers_html};
use http::{HeaderMap, header};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::App;
use super::document::Tag;

const STYLE: &str = include_str!("home/style.css");
const ICON: &str = include_str!("home/icon.html");

/// The page has its style inside and no script.
const CSP: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; frame-ancestors 'none'";

pub(super) const HOME: Operation = Operation::get("/", "readHome", "What runs here")
    .description("For browsers: a page with links. Programs that don't ask for HTML get a 404.")
    .media(&["text/html"])
    .refuses(&[404]);

pub(super) async fn home(
    State(app): State<Arc<App>>,
    call: Call,
    headers: HeaderMap,
) -> Result<Response> {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    if !prefers_html(accept) {
        return Err(Problem::unknown_path(&call.path));
    }
    let page = page(&app.deployed.tags()?, &app.stage, app.sink.as_deref()).into_string();
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, CSP),
        (header::VARY, "accept"),
    ];
    Ok((headers, page).into_response())
}

fn page(tags: &[Tag], stage: &str, sink: Option<&str>) -> Markup {
    // A system has a tag of its own name; its other tags are a part of it.
    let is_own = |tag: &&Tag| tag.name.eq_ignore_ascii_case(&tag.system);
    let systems = tags.iter().filter(is_own).filter(|tag| tag.system != "service");
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Switchyard" }
                (PreEscaped(ICON))
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    svg viewBox="0 0 24 24" width="28" height="28" aria-hidden="true" {
                        path d="M2 12h20M7 12c4 0 4-7 8-7h7M7 12c4 0 4 7 8 7h7" {}
                        circle cx="7" cy="12" r="2.5" {}
                    }
                    b { "Switchyard" }
                }
                main {
                    h1 { "Serverless building blocks" }
                    p.lead {
                        "They run here, behind one HTTP API, with the same accounts, errors and retries."
                    }
                    nav {
                        a.go href="/docs" { "Read the API reference" }
                        " "
                        @if let Some(url) = sink {
                            a href=(url) { "What was sent " small { "mails, texts, webhooks" } }
                            " "
                        }
                        a href="/openapi.json" { "OpenAPI 3.1" }
                        " "
                        a href="/health" { "Health" }
                    }
                    h2 { "What runs here" }
                    ul {
                        @for tag in systems {
                            li {
                                a href={ "/docs#tag/" (tag.name.to_lowercase()) } {
                                    b { (tag.name) }
                                    span { (tag.description) }
                                }
                            }
                        }
                    }
                }
                footer { "Version " (env!("CARGO_PKG_VERSION")) " · stage " (stage) }
            }
        }
    }
}
