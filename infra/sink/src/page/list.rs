//! The list: what was sent, newest first, and by whom.

use std::fmt::Write as _;

use super::View;
use super::text::{escape, gist, headline, time};
use crate::{Message, Via};

pub(super) fn html(view: &View<'_>) -> String {
    let shown =
        view.messages.iter().filter(|message| view.via.is_none_or(|via| via == message.via));
    let rows: String = shown.map(|message| row(view, message)).collect();
    let rows = if rows.is_empty() {
        "<li class=\"none\">Nothing yet. Whatever is sent shows up here.</li>".to_owned()
    } else {
        rows
    };
    format!("<aside>\n{}<ol class=\"list\">\n{rows}</ol>\n</aside>", filters(view))
}

fn filters(view: &View<'_>) -> String {
    let mut html = String::from("<nav class=\"filters\" aria-label=\"Providers\">");
    let all = (None, "All", view.messages.len());
    let each = Via::ALL.map(|via| {
        let count = view.messages.iter().filter(|message| message.via == via).count();
        (Some(via), via.label(), count)
    });
    for (via, label, count) in std::iter::once(all).chain(each) {
        if count == 0 && via.is_some() && via != view.via {
            continue;
        }
        let current = if via == view.via { " aria-current=\"page\"" } else { "" };
        let link = view.link(None, via);
        let _ = write!(html, "<a href=\"{link}\"{current}>{label} <span>{count}</span></a>");
    }
    html.push_str("</nav>\n");
    html
}

fn row(view: &View<'_>, message: &Message) -> String {
    let open = view.open.is_some_and(|(id, _)| id == message.id);
    let current = if open { " aria-current=\"true\"" } else { "" };
    format!(
        "<li><a href=\"{link}\"{current}><span class=\"line\"><span class=\"via {name}\">{label}</span>\
         <span class=\"to\">{to}</span><time datetime=\"{at}\">{time}</time></span>\
         <b>{headline}</b><span class=\"gist\">{gist}</span></a></li>\n",
        link = view.link(Some((message.id, View::first_tab(message))), view.via),
        name = message.via.name(),
        label = message.via.label(),
        to = escape(&message.to),
        at = message.at,
        time = time(message),
        headline = escape(headline(message)),
        gist = escape(&gist(message)),
    )
}
