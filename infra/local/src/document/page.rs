//! The document as a page people read: one HTML file without scripts or anything to fetch.
//!
//! Everything on it comes from the document but the guide at the top. Anchors are kept stable,
//! since problem types (`/docs#not-found`) point at them: `#slug` for a problem, `#op-…` for an
//! operation, `#tag-…` and `#guide-…` for sections, so that no two can meet.

use serde_json::Value;

use operation::Operation;
use schema::Schemas;
use text::{escape, list, paragraphs, string};

mod curl;
mod guide;
mod nav;
mod operation;
mod problems;
mod sample;
mod schema;
mod tables;
mod text;

#[cfg(test)]
mod tests;

/// The rails of a switchyard: one track in, three out.
const LOGO: &str = "<svg class=\"logo\" viewBox=\"0 0 24 24\" width=\"24\" height=\"24\" \
    aria-hidden=\"true\"><path d=\"M2 12h20M7 12c4 0 4-7 8-7h7M7 12c4 0 4 7 8 7h7\"/>\
    <circle cx=\"7\" cy=\"12\" r=\"2.5\"/></svg>";

/// One tag with its operations in reading order.
struct Section<'a> {
    name: &'a str,
    about: &'a str,
    operations: Vec<Operation<'a>>,
}

/// Renders the page.
pub fn render(document: &Value) -> String {
    let sections = sections(document);
    let info = &document["info"];
    let title = escape(string(info, "title"));
    let reference: String = sections.iter().map(|section| section.html(document)).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title} API reference</title>\n<style>\n{style}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#guide-overview\">Skip to the content</a>\n{nav}<main>\n\
         {guide}{reference}{problems}<footer>{title} {version} &middot; \
         <a href=\"/openapi.json\">OpenAPI document</a></footer>\n</main>\n</body>\n</html>\n",
        style = include_str!("page/style.css"),
        nav = nav::html(document, &sections),
        guide = guide::html(document, &sections),
        problems = problems::html(document),
        version = escape(string(info, "version")),
    )
}

impl Section<'_> {
    /// Where links to this section lead.
    fn anchor(&self) -> String {
        let plain =
            |character: char| if character.is_ascii_alphanumeric() { character } else { '-' };
        format!("tag-{}", self.name.to_lowercase().chars().map(plain).collect::<String>())
    }

    fn html(&self, document: &Value) -> String {
        let operations: String =
            self.operations.iter().map(|operation| operation.html(Schemas(document))).collect();
        format!(
            "<section id=\"{}\">\n<header class=\"tag\"><h2>{}</h2>\n{}</header>\n\
             {operations}</section>\n",
            self.anchor(),
            escape(self.name),
            paragraphs(self.about),
        )
    }
}

/// The tags in the document's order; an operation without a tag is in none and so not shown.
fn sections(document: &Value) -> Vec<Section<'_>> {
    let operations = operation::all(document);
    let section = |tag| {
        let name = string(tag, "name");
        let tagged = operations.iter().filter(|operation| operation.tag() == name).copied();
        Section { name, about: string(tag, "description"), operations: tagged.collect() }
    };
    list(document, "tags").iter().map(section).collect()
}
