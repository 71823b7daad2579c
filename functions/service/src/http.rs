//! The function `describe`: `/`, `/health`, `/openapi.json`, `/docs`, and every path that no operation takes.
//!
//! Trigger: HTTP. Effect: none. Guarantee: what it serves was generated from the functions' own operations and
//! types, and contains only what is deployed; a contract test fails when the document beside this package's
//! manifest is out of date. Absent, on purpose: anything that a browser would fetch from another host.

mod docs;
mod document;
mod health;
mod home;

use boundary::http::{Api, Operations};
use boundary::{Host, Misconfigured, Switches};

use document::Deployed;

/// What the handlers share.
#[derive(Debug)]
pub struct App {
    stage: String,
    deployed: Deployed,
    sink: Option<String>,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Api, Misconfigured> {
    let app = App {
        stage: host.vars.optional("STAGE").unwrap_or("local").to_owned(),
        deployed: Deployed(Switches::from_vars(&host.vars)),
        sink: host.vars.optional("SINK_URL").map(str::to_owned),
    };
    Api::new(host, app, |to| {
        operations(to);
        to.fallback(document::not_found);
    })
}

/// What it answers.
pub fn operations(to: &mut impl Operations<App>) {
    to.on(home::HOME, home::home);
    to.on(health::HEALTH, health::health);
    to.on(document::DOCUMENT, document::document);
    to.on(docs::DOCS, docs::docs);
    to.on(docs::FILE, docs::file);
}
