//! The document as a page people read.

use serde_json::Value;

/// Renders the page.
pub fn render(document: &Value) -> String {
    format!("<!doctype html><title>{}</title>", document["info"]["title"])
}
