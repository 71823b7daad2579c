//! The operation in the OpenAPI document; the function itself has no router.

use boundary::http::Operation;
use boundary::openapi::{Document, OperationEntry};

/// The section's title and description.
pub const HEADING: (&str, &str) = (
    "Redirect",
    "Following short links. A link that was followed in the last four seconds costs no call to \
     anything; a change is seen everywhere within five.",
);

const FOLLOW: Operation = Operation::get("/{code}", "followLink", "Follow a link")
    .description(
        "Answers 302 (or the 301 or 307 that the link was made with) with `location` and `cache-control: \
         no-store`. `HEAD` answers the same and is not counted. A `+` after the code shows where the \
         link leads instead. Crawlers that draw cards get a page with Open Graph tags. The `Host` \
         selects the namespace. Clients that prefer `text/html` get refusals as a page.",
    )
    .statuses(&[200, 301, 302, 307])
    .refuses(&[404, 405, 410, 451, 503]);

/// Adds the operation to the document.
pub fn document(document: &mut Document) {
    let mut entry = OperationEntry::default();
    entry.path_parameter("code", "The link's code; `code+` for its preview.");
    document.add(FOLLOW, entry);
}
