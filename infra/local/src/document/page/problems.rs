//! The problems an answer can be: the list that problem types point into, and links to it.

use serde_json::Value;

use super::text::{code, escape, inline, list, string};

/// A problem of the document's list.
pub(super) struct Problem<'a>(&'a Value);

/// Every problem, in the document's order.
pub(super) fn all(document: &Value) -> impl Iterator<Item = Problem<'_>> {
    list(document, "x-problems").iter().map(Problem)
}

impl<'a> Problem<'a> {
    /// The part of the type after `#`, which is the anchor too.
    pub(super) fn slug(&self) -> &'a str {
        string(self.0, "type").rsplit('#').next().unwrap_or_default()
    }

    /// The status as text.
    pub(super) fn status(&self) -> String {
        self.0["status"].as_u64().unwrap_or_default().to_string()
    }

    fn title(&self) -> &'a str {
        string(self.0, "title")
    }

    /// The status, then the slug as a link to the explanation.
    fn link(&self) -> String {
        let slug = escape(self.slug());
        let title = escape(self.title());
        format!(
            "<li><a href=\"#{slug}\" title=\"{title}\"><b>{}</b> {slug}</a></li>",
            self.status()
        )
    }

    fn html(&self) -> String {
        format!(
            "<div class=\"problem\" id=\"{slug}\">\n<p class=\"status bad\">{status}</p>\n\
             <div><h3><a href=\"#{slug}\">{title}</a></h3>\n<p>{kind}</p>\n\
             <p>{advice}</p></div>\n</div>\n",
            slug = escape(self.slug()),
            status = self.status(),
            title = escape(self.title()),
            kind = code(string(self.0, "type")),
            advice = inline(string(self.0, "advice")),
        )
    }
}

/// The section that explains each problem.
pub(super) fn html(document: &Value) -> String {
    let entries: String = all(document).map(|problem| problem.html()).collect();
    format!(
        "<section id=\"guide-problems\">\n<header class=\"tag\"><h2>Problems</h2>\n\
         <p>Every error answers with one of these as its <code>type</code>. Programs should \
         branch on the type, never on the text of <code>title</code> or <code>detail</code>.</p>\
         </header>\n<div class=\"problems\">\n{entries}</div>\n</section>\n"
    )
}

/// Links to the problems that an operation's responses name.
pub(super) fn of(document: &Value, responses: &Value) -> String {
    let named = |problem: &Problem<'_>| {
        let Some(response) = responses.get(problem.status()) else { return false };
        let titles = string(response, "description");
        // Several problems share a status. The response names its own by title; when it names
        // none that is known, all of the status are offered.
        titles.split(" / ").any(|title| title == problem.title())
            || !all(document).any(|other| titles.split(" / ").any(|title| title == other.title()))
    };
    let links: String = all(document).filter(named).map(|problem| problem.link()).collect();
    if links.is_empty() {
        return links;
    }
    format!("<h4>Problems</h4>\n<ul class=\"links\">{links}</ul>\n")
}
