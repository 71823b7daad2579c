//! Short links: the API, the redirect, click counts and the sweep.

pub mod count_clicks;
pub mod http;
pub mod redirect;
pub mod store;
pub mod sweep;

use boundary::System;

pub fn system() -> System {
    System::new(
        "links",
        "Links",
        "Short links: create, amend, list, analyse, draw, import and export, report.",
    )
    .http_tagged("redirect", redirect::HEADING, redirect::function, redirect::document)
    .http("shorten", http::function, http::operations)
    .queue("count-clicks", count_clicks::function)
    .schedule("sweep-links", sweep::function)
    .table(&store::TABLE)
    .example(
        "curl -XPOST $SWITCHYARD_URL/api/v1/shorten -d '{\"longUrl\":\"https://example.com/\",\"customAlias\":\"hello\"}'\n\
         curl -i $SWITCHYARD_URL/hello",
    )
}
