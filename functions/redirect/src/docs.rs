//! The sentences about this function in the OpenAPI document, and the operation they are about.

use boundary::http::Access;
use boundary::openapi::{Doc, Routed};
use http::Method;

/// What the section is about.
pub const ABOUT: &str = "Following short links. A link that was followed in the last four seconds \
                         costs no call to anything; a change is seen everywhere within five.";

/// The operation; a hot path has no table of them.
pub fn routed() -> Vec<Routed> {
    vec![Routed { method: Method::GET, path: "/{code}", id: "followLink", access: Access::Public }]
}

/// One entry an operation.
pub fn docs() -> Vec<Doc> {
    vec![Doc {
        description: "Answers 302 (or the 301 or 307 that the link was made with) with `location` \
                      and `cache-control: no-store`. `HEAD` answers the same and is not counted. A \
                      `+` after the code shows where the link leads instead. Crawlers that draw \
                      cards get a page with Open Graph tags. The `Host` selects the namespace. \
                      Whoever prefers `text/html` gets refusals as a page.",
        path: &[("code", "The link's code; `code+` for its preview.")],
        status: 302,
        problems: &[404, 405, 410, 451, 503],
        ..Doc::new("followLink", "Follow a link")
    }]
}
