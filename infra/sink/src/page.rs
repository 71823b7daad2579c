//! The page on which a developer reads what was sent, and tells the sink how to behave.
//!
//! Guarantee: it is one HTML document without scripts and with nothing to fetch; whatever was sent is
//! escaped, and an HTML mail is shown in a frame of its own that can run nothing and load nothing.
//! What [`respond`] changes, it changes for no other site: a form that was posted from elsewhere is
//! refused, and so is a visitor who came by a name that is not this machine's.

mod answer;
mod controls;
mod detail;
mod list;
mod text;

use std::sync::Arc;

pub(crate) use answer::respond_at;
pub use answer::{callback, respond};

use self::text::escape;
use crate::{Message, Plan, Via};

/// Where the sink's own server has it.
pub const AT: &str = "/_sink";

/// The rails of a switchyard: one track in, three out.
const LOGO: &str = "<svg class=\"logo\" viewBox=\"0 0 24 24\" width=\"22\" height=\"22\" \
    aria-hidden=\"true\"><path d=\"M2 12h20M7 12c4 0 4-7 8-7h7M7 12c4 0 4 7 8 7h7\"/>\
    <circle cx=\"7\" cy=\"12\" r=\"2.5\"/></svg>";

/// What the page shows.
#[derive(Debug, Clone)]
pub struct View<'a> {
    /// Where the page is mounted, as in `/_sink`.
    pub at: &'a str,
    /// Everything that is kept, newest first.
    pub messages: &'a [Arc<Message>],
    /// What each provider was told.
    pub plans: &'a [(Via, Plan)],
    /// Only what was sent by this one.
    pub via: Option<Via>,
    /// What is being read: the number of a message and a tab.
    pub open: Option<(u64, Tab)>,
}

/// A side of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    /// The mail as its sender designed it.
    Html,
    /// What is read.
    Text,
    /// What goes with it.
    Headers,
    /// As it came.
    Source,
}

impl Tab {
    /// Each of them.
    pub const ALL: [Self; 4] = [Self::Html, Self::Text, Self::Headers, Self::Source];

    /// Its name in addresses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Text => "text",
            Self::Headers => "headers",
            Self::Source => "source",
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::Html => "HTML",
            Self::Text => "Text",
            Self::Headers => "Headers",
            Self::Source => "Source",
        }
    }
}

impl View<'_> {
    /// The address of a view of the page.
    fn link(&self, open: Option<(u64, Tab)>, via: Option<Via>) -> String {
        let path = open.map_or_else(String::new, |(id, _)| format!("/{id}"));
        let tab = open.map(|(_, tab)| format!("tab={}", tab.name()));
        let via = via.map(|via| format!("via={}", via.name()));
        let query: Vec<String> = via.into_iter().chain(tab).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        escape(&format!("{}{path}{mark}{}", self.at, query.join("&")))
    }

    /// The tab a message opens with: the one its reader would see.
    fn first_tab(message: &Message) -> Tab {
        if message.html.is_some() { Tab::Html } else { Tab::Text }
    }

    fn message(&self) -> Option<(&Message, Tab)> {
        let (id, tab) = self.open?;
        let message = self.messages.iter().find(|message| message.id == id)?;
        // A message without HTML has no such tab.
        Some((message, if message.html.is_none() && tab == Tab::Html { Tab::Text } else { tab }))
    }
}

/// The whole page.
pub fn render(view: &View<'_>) -> String {
    let open = view.message();
    let title = open.map_or("Sink", |(message, _)| text::headline(message));
    let reading = if open.is_some() { " class=\"reading\"" } else { "" };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <style>\n{style}</style>\n</head>\n<body{reading}>\n\
         <header class=\"top\"><a class=\"brand\" href=\"{home}\">{LOGO}<b>Switchyard</b>\
         <span>sink</span></a>{actions}</header>\n\
         <div class=\"panes\">\n{list}\n<main>\n{main}</main>\n</div>\n</body>\n</html>\n",
        title = escape(title),
        style = include_str!("page/style.css"),
        home = view.link(None, None),
        actions = controls::actions(view),
        list = list::html(view),
        main = open.map_or_else(
            || controls::html(view),
            |(message, tab)| detail::html(view, message, tab)
        ),
    )
}

#[cfg(test)]
mod tests;
