//! The sidebar: the guide, each tag with its operations, and the problems.

use serde_json::Value;

use super::guide::TOPICS;
use super::text::{escape, string};
use super::{LOGO, Section, problems};

/// The sidebar. On a narrow screen it folds behind a checkbox, which needs no script.
pub(super) fn html(document: &Value, sections: &[Section<'_>]) -> String {
    let info = &document["info"];
    let topics: String = TOPICS.iter().map(|(anchor, title)| entry(anchor, "", title)).collect();
    let tags: String = sections.iter().map(tag).collect();
    let problems = problems::all(document).map(|problem| {
        let status = format!("<span class=\"method\">{}</span>", problem.status());
        entry(&escape(problem.slug()), &status, problem.slug())
    });
    format!(
        "<aside>\n<div class=\"brand\"><a href=\"#guide-overview\">{LOGO}<b>{title}</b></a>\
         <span>v{version}</span><label for=\"menu\">Menu</label></div>\n\
         <input type=\"checkbox\" id=\"menu\" aria-label=\"Show the menu\">\n\
         <nav aria-label=\"Contents\">\n{guide}{tags}{problems}</nav>\n</aside>\n",
        title = escape(string(info, "title")),
        version = escape(string(info, "version")),
        guide = group("guide-overview", "Guide", &topics),
        problems = group("guide-problems", "Problems", &problems.collect::<String>()),
    )
}

fn tag(section: &Section<'_>) -> String {
    let operations = section.operations.iter();
    let operations: String = operations
        .map(|operation| entry(&operation.anchor(), &operation.badge(true), operation.summary()))
        .collect();
    group(&section.anchor(), section.name, &operations)
}

fn group(anchor: &str, title: &str, entries: &str) -> String {
    format!("<h2><a href=\"#{anchor}\">{}</a></h2>\n<ul>\n{entries}</ul>\n", escape(title))
}

fn entry(anchor: &str, badge: &str, title: &str) -> String {
    format!("<li><a href=\"#{anchor}\">{badge}<span>{}</span></a></li>\n", escape(title))
}
