//! One message, from one of its sides.

use std::fmt::Write as _;

use super::text::{escape, headline};
use super::{Tab, View};
use crate::{Message, Via, Word};

/// Links in a mail open beside the page, and know nothing of it.
const FRAME: &str = "sandbox=\"allow-popups allow-popups-to-escape-sandbox\" \
    referrerpolicy=\"no-referrer\"";

pub(super) fn html(view: &View<'_>, message: &Message, tab: Tab) -> String {
    format!(
        "<article>\n<p class=\"back\"><a href=\"{back}\">&larr; All messages</a></p>\n\
         <h1>{headline}</h1>\n<dl class=\"meta\">{meta}</dl>\n{words}{tabs}\n{body}</article>\n",
        back = view.link(None, view.via),
        headline = escape(headline(message)),
        meta = meta(message),
        words = words(view, message),
        tabs = tabs(view, message, tab),
        body = body(message, tab),
    )
}

fn meta(message: &Message) -> String {
    let mut html = String::new();
    let mut entry = |name: &str, value: &str| {
        let _ = write!(html, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    };
    let (via, label) = (message.via.name(), message.via.label());
    entry("Via", &format!("<span class=\"via {via}\">{label}</span>"));
    entry("To", &escape(&message.to));
    if let Some(from) = &message.from {
        entry("From", &escape(from));
    }
    let at = message.at.strftime("%Y-%m-%d %H:%M:%S UTC");
    entry("Sent", &format!("<time datetime=\"{}\">{at}</time>", message.at));
    html
}

/// What its provider can be made to say of a mail.
fn words(view: &View<'_>, message: &Message) -> String {
    if !matches!(message.via, Via::Smtp | Via::Ses) {
        return String::new();
    }
    let mut html = String::from("<div class=\"actions words\">");
    for (word, label) in [(Word::Bounced, "Let it bounce"), (Word::Complained, "Call it spam")] {
        let to = escape(&format!("{}/{}/{}", view.at, message.id, word.name()));
        let _ =
            write!(html, "<form method=\"post\" action=\"{to}\"><button>{label}</button></form>");
    }
    html.push_str("</div>\n");
    html
}

fn tabs(view: &View<'_>, message: &Message, open: Tab) -> String {
    let mut html = String::from("<nav class=\"tabs\" aria-label=\"Sides of the message\">");
    for tab in Tab::ALL {
        let empty = match tab {
            Tab::Html => message.html.is_none(),
            Tab::Headers => message.headers.is_empty(),
            Tab::Text | Tab::Source => false,
        };
        if empty {
            continue;
        }
        let current = if tab == open { " aria-current=\"page\"" } else { "" };
        let link = view.link(Some((message.id, tab)), view.via);
        let _ = write!(html, "<a href=\"{link}\"{current}>{}</a>", tab.label());
    }
    let json = escape(&format!("{}/{}.json", view.at, message.id));
    let _ = write!(html, "<a class=\"json\" href=\"{json}\">JSON</a></nav>");
    html
}

fn body(message: &Message, tab: Tab) -> String {
    match tab {
        Tab::Html => {
            let html = message.html.as_deref().unwrap_or_default();
            let framed = escape(&format!("<base target=\"_blank\">{html}"));
            format!("<iframe title=\"The mail\" {FRAME} srcdoc=\"{framed}\"></iframe>\n")
        }
        Tab::Text => format!("<pre class=\"text\">{}</pre>\n", escape(&message.text)),
        Tab::Headers => headers(message),
        Tab::Source => format!("<pre class=\"source\">{}</pre>\n", escape(&message.source)),
    }
}

fn headers(message: &Message) -> String {
    let mut html = String::from("<table class=\"headers\"><tbody>\n");
    for (name, value) in &message.headers {
        let (name, value) = (escape(name), escape(value));
        let _ = writeln!(html, "<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>");
    }
    html.push_str("</tbody></table>\n");
    html
}
